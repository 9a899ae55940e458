//! `GET …/health`: what `crew doctor` finds, and the figures of this server.

use axum::Router;
use axum::extract::{Path, State};
use axum::response::Response;
use axum::routing::get;
use client::documents;
use client::documents::Level;
use doctor::Caller;
use serde::Serialize;
use serde_json::Value;
use store::Journal as _;
use tokio::runtime::Handle;

use super::{given, settings};
use crate::app::App;
use crate::problem::Problem;

/// The health of a repository.
#[derive(Debug, Serialize)]
struct Health {
    doctor: documents::Doctor,
    /// The version of crew that serves this.
    version: &'static str,
    /// The settings in force.
    settings: Value,
    /// The rows of the journal; 0 before the first.
    journal_rows: u64,
    /// Bytes that are free where the repository is; `null` where that cannot be seen.
    disk_free: Option<u64>,
    /// The pages that follow this repository.
    streams: usize,
    /// The devices that are paired.
    devices: usize,
}

pub(crate) fn routes() -> Router<App> {
    Router::new().route("/r/{repo}/health", get(health))
}

async fn health(State(app): State<App>, Path(repo): Path<String>) -> Result<Response, Problem> {
    let repo = app.repo(&repo)?.clone();
    let devices = app.devices.all()?.len();
    let journal_rows = match repo.board.ledger() {
        Some(ledger) => ledger.0.head().await?.0,
        None => 0,
    };
    let runtime = Handle::current();
    // The doctor asks git and the agents' programs, which takes them their time.
    given::aside(move || {
        let caller = Caller {
            dir: &repo.place.root,
            env: &repo.place.env,
            whole_env: &app.env,
        };
        let found = runtime.block_on(doctor::look(&caller, false))?;
        let left = |level| found.iter().filter(|finding| finding.level == level).count();
        let disk = rustix::fs::statvfs(&repo.place.root).ok();
        given::document(&Health {
            doctor: documents::Doctor {
                findings: found.iter().map(documents::Finding::from).collect(),
                wrong: left(Level::Wrong),
                notes: left(Level::Note),
            },
            version: env!("CARGO_PKG_VERSION"),
            settings: settings::shown(&repo.board.files().settings),
            journal_rows,
            disk_free: disk.map(|disk| disk.f_bavail.saturating_mul(disk.f_frsize)),
            streams: repo.board.subscribers(),
            devices,
        })
    })
    .await
}
