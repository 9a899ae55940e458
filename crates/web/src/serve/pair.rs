//! `POST /pair`: a code of a person's makes a browser a paired device, once.

use axum::extract::State;
use axum::routing::post;
use axum::{Json, Router};
use serde::{Deserialize, Serialize};

use crate::app::{App, Device};
use crate::problem::Problem;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Body {
    code: String,
    /// The name that the device gives itself; one that the person gave with the code stands before it.
    #[serde(default)]
    name: String,
}

#[derive(Debug, Serialize)]
struct Paired {
    /// It is told here and never again.
    token: String,
    device: Device,
}

pub(crate) fn routes() -> Router<App> {
    Router::new().route("/pair", post(pair))
}

async fn pair(State(app): State<App>, Json(body): Json<Body>) -> Result<Json<Paired>, Problem> {
    match app.devices.pair(&body.code, &body.name)? {
        Ok((token, device)) => Ok(Json(Paired { token, device })),
        Err(invalid) => Err(Problem::forbidden(
            invalid.words(),
            "`crew web pair` prints a new one",
        )),
    }
}
