//! `GET …/follow`: the lines of an output as they come, as server-sent events.

use std::convert::Infallible;

use axum::body::Bytes;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use client::conversation::Placing;
use client::follow::Changes;
use serde::Deserialize;
use serde_json::json;
use tokio::time::{Duration, timeout};

use super::{OutputLine, kept};
use crate::app::App;
use crate::problem::Problem;
use crate::serve::given;
use crate::serve::streamed::streamed;

/// The time after which a comment shows that the stream is alive.
const ALIVE: Duration = Duration::from_secs(5);

#[derive(Debug, Deserialize)]
pub(super) struct Asked {
    /// The byte at which it begins: the `end` of a window.
    #[serde(default)]
    from: u64,
}

/// An output that is followed.
struct Followed {
    placing: Placing,
    changes: Changes,
    /// Its last part was sent.
    is_over: bool,
    /// There may be more to read at once.
    goes_on: bool,
}

pub(super) async fn follow(
    State(app): State<App>,
    Path((repo, run)): Path<(String, String)>,
    query: Result<Query<Asked>, QueryRejection>,
) -> Result<Response, Problem> {
    let asked = given::query(query)?;
    let kept = kept(&app, &repo, &run)?;
    let changes = Changes::of_run(&kept.dir);
    let placing = given::aside(move || Ok(Placing::new(&kept.dir, kept.is_of_agent, asked.from)?)).await?;
    let followed = Followed {
        placing,
        changes,
        is_over: false,
        goes_on: true,
    };
    let headers = [
        (header::CONTENT_TYPE, "text/event-stream"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    Ok((headers, streamed(followed, more)).into_response())
}

/// The next part of the stream.
async fn more(mut followed: Followed) -> Option<(Result<Bytes, Infallible>, Followed)> {
    if followed.is_over {
        return None;
    }
    let alive = ":\n\n".to_owned();
    loop {
        if !followed.goes_on && timeout(ALIVE, followed.changes.wait()).await.is_err() {
            return Some((Ok(Bytes::from(alive)), followed));
        }
        // Reading takes the disk its time.
        let read = tokio::task::spawn_blocking(move || {
            let is_done = followed.placing.is_done();
            let mut lines = Vec::new();
            let read = followed
                .placing
                .more(&mut |placed| lines.push(OutputLine::of(placed)));
            (followed, is_done, lines, read)
        });
        let (back, is_done, lines, read) = read.await.ok()?;
        followed = back;
        // An output that cannot be read any more was taken away.
        followed.goes_on = read.as_ref().is_ok_and(|goes_on| *goes_on);
        followed.is_over = read.is_err() || (is_done && !followed.goes_on);
        let mut text = String::new();
        if !lines.is_empty() {
            let lines = json!({ "lines": lines, "end": followed.placing.offset() });
            text.push_str(&format!("event: lines\ndata: {lines}\n\n"));
        }
        if followed.is_over {
            text.push_str("event: done\ndata: {}\n\n");
        }
        if !text.is_empty() {
            return Some((Ok(Bytes::from(text)), followed));
        }
    }
}
