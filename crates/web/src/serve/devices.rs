//! `GET /devices`, `DELETE /devices/{id}`: the paired devices, and revoking one.

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::{delete, get};
use axum::{Extension, Json, Router};
use client::documents;
use serde::Serialize;

use crate::app::{App, Device};
use crate::pairing::Paired;
use crate::problem::Problem;

#[derive(Debug, Serialize)]
struct Devices {
    devices: Vec<Listed>,
}

#[derive(Debug, Serialize)]
struct Listed {
    #[serde(flatten)]
    device: documents::WebDevice,
    /// Whether it is the device that asks.
    this: bool,
}

pub(crate) fn routes() -> Router<App> {
    Router::new()
        .route("/devices", get(list))
        .route("/devices/{id}", delete(revoke))
}

async fn list(State(app): State<App>, Extension(this): Extension<Device>) -> Result<Json<Devices>, Problem> {
    let paired = app.devices.all()?;
    let listed = paired.iter().map(|paired| Listed {
        device: Paired::document(paired),
        this: paired.id == this.id,
    });
    Ok(Json(Devices {
        devices: listed.collect(),
    }))
}

async fn revoke(State(app): State<App>, Path(id): Path<String>) -> Result<StatusCode, Problem> {
    if app.devices.revoke(&id)? {
        Ok(StatusCode::NO_CONTENT)
    } else {
        Err(Problem::not_found(
            "no device has this id",
            "the list of devices has those that are paired",
        ))
    }
}
