//! What an address and its query give, read as the model's own names: no text of an address becomes a path,
//! an option or a ref.

use axum::extract::Query;
use axum::extract::rejection::QueryRejection;
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use model::{RunId, TicketId};
use serde::Serialize;

use crate::problem::Problem;

/// The most entries of one answer.
const MOST: usize = 200;

/// The values of a query.
pub(crate) fn query<T>(query: Result<Query<T>, QueryRejection>) -> Result<T, Problem> {
    match query {
        Ok(Query(values)) => Ok(values),
        Err(rejected) => Err(Problem::bad_request(
            text::sanitise::line(&rejected.body_text()),
            "docs/web.md has the values of each address",
        )),
    }
}

/// A ticket's id.
pub(crate) fn ticket(id: &str) -> Result<TicketId, Problem> {
    TicketId::new(id).map_err(|error| Problem::bad_request(error.to_string(), "name a ticket by its id"))
}

/// A run's id.
pub(crate) fn run(id: &str) -> Result<RunId, Problem> {
    RunId::new(id).map_err(|error| Problem::bad_request(error.to_string(), "name a run by its id"))
}

/// The number of entries that are asked for, within bounds.
pub(crate) fn limit(asked: Option<usize>, usual: usize) -> usize {
    asked.unwrap_or(usual).clamp(1, MOST)
}

/// A document whose JSON is written already.
pub(crate) fn json(text: String) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], text).into_response()
}

/// A document.
pub(crate) fn document<T: Serialize>(document: &T) -> Result<Response, Problem> {
    match serde_json::to_string(document) {
        Ok(text) => Ok(json(text)),
        Err(error) => Err(Problem::Failed {
            what: format!("the answer cannot be written: {error}"),
            hint: None,
        }),
    }
}

/// Does work that takes git or the disk its time, on a thread of its own.
pub(crate) async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => Err(Problem::Failed {
            what: format!("this answer broke off, which is a bug in crew: {error}"),
            hint: Some("other pages go on; load this one again".to_owned()),
        }),
    }
}
