//! `GET …/find`: the lines of an output that contain a text.

use std::time::Duration;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::response::Response;
use client::conversation::{Placed, Placing};
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use super::kept;
use crate::app::App;
use crate::problem::Problem;
use crate::serve::given;

/// The most lines of an answer.
const MOST: usize = 1_000;
/// The longest time of a search. The answer then says where the next one goes on.
const PATIENCE: Duration = Duration::from_secs(2);

#[derive(Debug, Deserialize)]
pub(super) struct Asked {
    /// The text, in upper or lower case.
    q: String,
    /// The byte at which the search begins.
    #[serde(default)]
    from: u64,
}

/// The lines that were found.
#[derive(Debug, Serialize)]
struct Found {
    matches: Vec<Match>,
    /// The byte at which the next search goes on; `null` where all was searched.
    next: Option<u64>,
}

/// A line that was found.
#[derive(Debug, Serialize)]
struct Match {
    /// The byte at which it begins.
    at: u64,
    line: String,
}

pub(super) async fn find(
    State(app): State<App>,
    Path((repo, run)): Path<(String, String)>,
    query: Result<Query<Asked>, QueryRejection>,
) -> Result<Response, Problem> {
    let asked = given::query(query)?;
    let kept = kept(&app, &repo, &run)?;
    let words = asked.q.to_lowercase();
    if words.is_empty() {
        return Err(Problem::bad_request("there is no text to find", "give it as `q`"));
    }
    let until = Instant::now() + PATIENCE;
    given::aside(move || {
        let mut placing = Placing::new(&kept.dir, kept.is_of_agent, asked.from)?;
        let mut matches: Vec<Match> = Vec::new();
        // The first line that is not in the answer any more.
        let mut beyond = None;
        let mut goes_on = true;
        while goes_on && beyond.is_none() && Instant::now() < until {
            goes_on = placing.more(&mut |Placed { at, line }| {
                let is_new = matches.last().is_none_or(|last| last.at != at);
                if matches.len() >= MOST && is_new {
                    beyond.get_or_insert(at);
                } else if line.text.to_lowercase().contains(&words) {
                    matches.push(Match { at, line: line.text });
                }
            })?;
        }
        let next = beyond.or(goes_on.then(|| placing.offset()));
        given::document(&Found { matches, next })
    })
    .await
}
