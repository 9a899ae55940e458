//! `GET …/view`: all documents of a repository, at a cut of its stream.

use axum::Router;
use axum::extract::{Path, State};
use axum::response::Response;
use axum::routing::get;

use super::given;
use crate::app::App;
use crate::problem::Problem;

pub(crate) fn routes() -> Router<App> {
    Router::new().route("/r/{repo}/view", get(view))
}

async fn view(State(app): State<App>, Path(repo): Path<String>) -> Result<Response, Problem> {
    let view = app.repo(&repo)?.board.fresh_view().await;
    given::aside(move || Ok(given::json(view.json()))).await
}
