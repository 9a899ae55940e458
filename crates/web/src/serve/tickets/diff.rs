//! `GET …/tickets/{id}/diff`: what a ticket would change on the target, or has changed there, for a person
//! who is to decide about it.

use std::collections::BTreeSet;

use axum::extract::{Path, State};
use axum::response::Response;
use client::diff::Diff;
use client::diff::lines::{Line, lines, those_first};
use client::documents;
use client::repository::settings;
use model::ticket::{Secret, Ticket, Why};
use serde::Serialize;

use super::whole;
use crate::app::App;
use crate::problem::Problem;
use crate::serve::given;

/// The most lines of a patch that are given.
const LINES: usize = 1_000;
/// The most lines among which those of sensitive paths are looked for.
const SCANNED: usize = 100_000;
/// The most files that are listed.
const FILES: usize = 200;

/// The change of a ticket.
#[derive(Debug, Serialize)]
struct Change {
    /// What it is of, and what it is compared with, in words.
    words: String,
    /// The files that differ and the commits, as `crew diff --json` has them; at most 200 files.
    #[serde(flatten)]
    diff: serde_json::Value,
    /// The number of files that are not listed.
    more_files: usize,
    /// The paths for which a person is asked, for themselves or for a secret: their lines come first.
    sensitive: Vec<String>,
    /// The lines of the patch, at most 1,000.
    lines: Vec<Line>,
    /// The number of lines that are not given.
    more_lines: usize,
    /// Whether values that look like secrets are masked.
    has_secrets: bool,
    /// Why the lines cannot be given; `null` where they are.
    trouble: Option<String>,
}

pub(super) async fn diff(
    State(app): State<App>,
    Path((repo, id)): Path<(String, String)>,
) -> Result<Response, Problem> {
    let repo = app.repo(&repo)?.clone();
    let id = given::ticket(&id)?;
    let files = repo.board.files();
    let crew = whole(&repo, repo.board.ledger().as_ref(), &files, &id).await?;
    given::aside(move || {
        let settings = settings(&repo.place)?;
        let change = Diff::of(&repo.place, &settings, &crew, &id)?;
        let sensitive = crew
            .tickets
            .get(&id)
            .map_or_else(Vec::new, |ticket| sensitive(ticket));
        let (mut diff, mut more_files) = (
            serde_json::to_value(documents::Diff::new(&change)?).unwrap_or_default(),
            0,
        );
        if let Some(files) = diff.get_mut("files").and_then(serde_json::Value::as_array_mut) {
            more_files = files.len().saturating_sub(FILES);
            files.truncate(FILES);
        }
        // The files are there also where the patch is too large.
        let (patch, trouble) = match change.readable() {
            Ok(patch) => (patch, None),
            Err(error) => (Default::default(), Some(text::with_causes(&error))),
        };
        let mut given = those_first(lines(&patch.text).take(SCANNED).collect(), &sensitive);
        given.truncate(LINES);
        given::document(&Change {
            words: text::sanitise::line(&change.words(&settings.project.target)),
            diff,
            more_files,
            sensitive,
            more_lines: patch.text.split_terminator('\n').count() - given.len(),
            lines: given,
            has_secrets: patch.has_secrets,
            trouble,
        })
    })
    .await
}

/// The paths of a ticket for which a person is asked, and those in which something looks like a secret.
fn sensitive(ticket: &Ticket) -> Vec<String> {
    let held = ticket.held.as_ref().map(|held| &held.why);
    let (Some(Why::Paths { paths, .. }) | Some(Why::Secrets { paths, .. })) = held else {
        return Vec::new();
    };
    let secrets = ticket.secrets_to_approve().iter();
    let secrets = secrets.filter_map(|secret| match secret {
        Secret::Value { path, .. } | Secret::File { path, .. } => Some(path),
        Secret::Message { .. } => None,
    });
    let all: BTreeSet<&String> = paths.iter().chain(secrets).collect();
    all.into_iter().cloned().collect()
}
