//! `PUT …/tickets/{id}/status/{command}`: a person opens a ticket again, or closes it.

use axum::extract::{Path, State};
use axum::response::Response;
use axum::routing::put;
use axum::{Extension, Json, Router};
use client::status;
use client::ticket_folder::Status;
use model::TicketId;
use model::command::Seen;
use serde::Deserialize;
use tokio::runtime::Handle;

use super::commands::{again, asked_for, command_id};
use super::given;
use crate::app::{App, Device, Repo};
use crate::asking::Asked;
use crate::problem::Problem;

/// A status of a ticket that a person has looked at.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Body {
    status: Wanted,
    /// The `seen` of the ticket's document.
    seen: String,
}

/// What a person wants of a ticket.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Wanted {
    /// It is to be done, or done again.
    Open,
    /// It is over.
    Closed,
}

pub(crate) fn routes() -> Router<App> {
    Router::new().route("/r/{repo}/tickets/{id}/status/{command}", put(set))
}

async fn set(
    State(app): State<App>,
    Extension(device): Extension<Device>,
    Path((repo, ticket, id)): Path<(String, String, String)>,
    Json(body): Json<Body>,
) -> Result<Response, Problem> {
    let repo = app.repo(&repo)?;
    let (ticket, id) = (given::ticket(&ticket)?, command_id(&id)?);
    repo.board.ready().await;
    if let Some(answer) = again(&app, repo, &device, &id).await {
        return Ok(answer);
    }
    let Some(seen) = Seen::from_mark(ticket.clone(), &body.seen) else {
        return Err(Problem::bad_request(
            "`seen` is no mark of a ticket",
            "it is the `seen` of the ticket's document",
        ));
    };
    Ok(carry_out(&app, repo, &device, id, (ticket, body.status, Some(seen))).await)
}

/// Sets the status of a ticket in the name of a device, once.
pub(super) async fn carry_out(
    app: &App,
    repo: &Repo,
    device: &Device,
    id: String,
    (ticket, wanted, seen): (TicketId, Wanted, Option<Seen>),
) -> Response {
    let person = app.submitter(repo, device);
    let (words, status) = match wanted {
        Wanted::Open => (format!("open {ticket} again"), Status::Open),
        Wanted::Closed => (format!("close {ticket}"), Status::Closed),
    };
    let asked = Asked::now(id.clone(), words, person.person().to_owned());
    let runtime = Handle::current();
    // Files are written: that may take the disk its time.
    let set = move || runtime.block_on(status::set_as_seen(&person, id, &ticket, status, seen.as_ref()));
    let task = async move {
        match tokio::task::spawn_blocking(set).await {
            Ok(done) => done,
            Err(error) => Err(client::Error::refused(
                format!("the status could not be set: {error}"),
                "try it again",
            )),
        }
    };
    asked_for(repo, asked, task).await
}
