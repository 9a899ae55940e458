//! `GET /hello`: that this is crew, for whoever asks.

use axum::routing::get;
use axum::{Json, Router};
use serde::Serialize;

use crate::app::App;

/// The version of the interface.
pub(crate) const API: u32 = 1;

/// That this is crew. The names of repositories are data, and need a token.
#[derive(Debug, Serialize)]
struct Hello {
    api: u32,
    version: &'static str,
}

pub(crate) fn routes() -> Router<App> {
    Router::new().route("/hello", get(hello))
}

async fn hello() -> Json<Hello> {
    Json(Hello {
        api: API,
        version: env!("CARGO_PKG_VERSION"),
    })
}
