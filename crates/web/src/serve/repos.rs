//! `GET /repos`: the repositories that are shown.

use axum::extract::State;
use axum::routing::get;
use axum::{Json, Router};
use serde::Serialize;

use crate::app::App;

#[derive(Debug, Serialize)]
struct Repos {
    repos: Vec<Shown>,
}

#[derive(Debug, Serialize)]
struct Shown {
    id: String,
    name: String,
    path: String,
}

pub(crate) fn routes() -> Router<App> {
    Router::new().route("/repos", get(repos))
}

async fn repos(State(app): State<App>) -> Json<Repos> {
    let shown = app.repos.iter().map(|repo| Shown {
        id: repo.id.clone(),
        name: repo.id.clone(),
        path: repo.place.root.to_string_lossy().into_owned(),
    });
    Json(Repos {
        repos: shown.collect(),
    })
}
