//! `GET /stream`: what changes, as server-sent events, from a cut on.
//!
//! The id of a mark is the cut that it ends; where several repositories are shown, it is the cuts of all of
//! them, each after its repository's name. A page that comes back gives the last id that it got.

mod events;

use std::collections::{BTreeMap, VecDeque};
use std::convert::Infallible;
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use client::documents;
use futures_util::future::select_all;
use serde::Deserialize;
use serde_json::json;
use tokio::time::{Instant, sleep_until};

use self::events::{mark, named, of_turn, row};
use super::given;
use super::streamed;
use crate::app::{App, Repo};
use crate::board::{Board, Cut, Next, Subscription};
use crate::problem::Problem;

/// The time after which a comment shows that the stream is alive: the page takes little more for silence.
const ALIVE: Duration = Duration::from_secs(5);
/// The rows that are told at most to a page that begins anew. One that missed more loads them where it shows
/// them.
const MISSED: u64 = 5_000;
/// Rows that are read at a time.
const PAGE: u32 = 250;

#[derive(Debug, Deserialize)]
struct Asked {
    /// The id of the last mark that the page got, or the cut of its view.
    after: Option<String>,
}

pub(crate) fn routes() -> Router<App> {
    Router::new().route("/stream", get(streamed))
}

async fn streamed(
    State(app): State<App>,
    headers: HeaderMap,
    query: Result<Query<Asked>, QueryRejection>,
) -> Result<Response, Problem> {
    let last = headers.get("last-event-id").and_then(|id| id.to_str().ok());
    let asked = given::query(query)?.after;
    let after = cuts(&app, last.or(asked.as_deref()))?;
    let body = streamed::streamed(Streaming::new(&app, &after), Streaming::more);
    let headers = [
        (header::CONTENT_TYPE, "text/event-stream"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    Ok((headers, body).into_response())
}

/// The cuts that an id names, by repository.
fn cuts(app: &App, id: Option<&str>) -> Result<BTreeMap<String, Cut>, Problem> {
    let mut cuts = BTreeMap::new();
    let Some(id) = id.filter(|id| !id.is_empty()) else {
        return Ok(cuts);
    };
    for part in id.split(',') {
        let repo = match part.split_once(':') {
            Some((name, _)) => app.repos.iter().find(|repo| named(&repo.id) == name),
            None => app.repos.first(),
        };
        let cut = part.rsplit(':').next().unwrap_or_default().parse();
        let cut: Cut = cut.map_err(|error| {
            Problem::bad_request(
                format!("{error}"),
                "give the id of the last mark, or the cut of a view",
            )
        })?;
        // Of a repository that is not shown any more there is nothing to go on with.
        cuts.extend(repo.map(|repo| (repo.id.clone(), cut)));
    }
    Ok(cuts)
}

/// A stream that is sent.
struct Streaming {
    repos: Vec<Followed>,
    /// What is sent next.
    ready: VecDeque<String>,
}

/// A repository in a stream.
struct Followed {
    id: String,
    board: Board,
    subscription: Subscription,
    /// The cut of the last mark.
    cut: Cut,
    /// The cut that the page had, where it cannot go on from there.
    had: Option<Cut>,
}

impl Streaming {
    fn new(app: &App, after: &BTreeMap<String, Cut>) -> Self {
        let follow = |repo: &Repo| {
            let had = after.get(&repo.id);
            let subscription = repo.board.subscribe(had);
            Followed {
                id: repo.id.clone(),
                board: repo.board.clone(),
                cut: subscription.begins.clone(),
                had: had.filter(|_| !subscription.resumed).cloned(),
                subscription,
            }
        };
        let repos: Vec<Followed> = app.repos.iter().map(follow).collect();
        let resumed = repos.iter().all(|repo| repo.subscription.resumed);
        let epoch = repos.first().map(|repo| repo.cut.epoch.to_string());
        let hello = json!({ "epoch": epoch, "resumed": resumed });
        Self {
            repos,
            ready: VecDeque::from([format!("event: hello\ndata: {hello}\n\n")]),
        }
    }

    /// The next part of the stream.
    async fn more(mut self) -> Option<(Result<Bytes, Infallible>, Self)> {
        let text = match self.ready.pop_front() {
            Some(text) => text,
            None => self.next().await,
        };
        Some((Ok(Bytes::from(text)), self))
    }

    async fn next(&mut self) -> String {
        let alive = Instant::now() + ALIVE;
        if self.repos.is_empty() {
            sleep_until(alive).await;
            return ":\n\n".to_owned();
        }
        let told = self
            .repos
            .iter_mut()
            .map(|repo| Box::pin(repo.subscription.next()));
        let (told, nth) = tokio::select! {
            (told, nth, _) = select_all(told) => (told, nth),
            () = sleep_until(alive) => return ":\n\n".to_owned(),
        };
        let mut text = String::new();
        match told {
            Next::Turn(turn) => {
                self.repos[nth].cut = turn.cut.clone();
                of_turn(&mut text, &self.repos[nth].id, &turn);
                self.mark(&mut text, nth, turn.at);
            }
            Next::Reset(cut) => {
                if let Some(had) = self.repos[nth].had.take() {
                    missed(&mut text, &self.repos[nth], &had, &cut).await;
                }
                self.repos[nth].cut = cut;
                let reset = json!({ "repo": self.repos[nth].id });
                text.push_str(&format!("event: reset\ndata: {reset}\n\n"));
                self.mark(&mut text, nth, client::clock::now());
            }
        }
        text
    }

    /// Ends a cut of a repository.
    fn mark(&self, text: &mut String, nth: usize, at: model::Time) {
        let id = match self.repos.as_slice() {
            [one] => one.cut.to_string(),
            several => {
                let cuts = several
                    .iter()
                    .map(|repo| format!("{}:{}", named(&repo.id), repo.cut));
                cuts.collect::<Vec<_>>().join(",")
            }
        };
        mark(text, &self.repos[nth].id, &id, self.repos[nth].cut.seq, at);
    }
}

/// The rows that a page missed that begins anew: exactly those after its last one, from the journal.
async fn missed(text: &mut String, repo: &Followed, had: &Cut, now: &Cut) {
    if now.seq.saturating_sub(had.seq) > MISSED {
        return;
    }
    let Some(ledger) = repo.board.ledger() else { return };
    let mut after = had.seq;
    while after < now.seq {
        // A journal that cannot be read now is said in the state, and the page begins anew in any case.
        let Ok(rows) = ledger.tail(after, PAGE).await else {
            return;
        };
        let Some(last) = rows.last() else { return };
        after = last.seq;
        for event in rows.iter().filter(|row| row.seq <= now.seq) {
            row(text, &repo.id, &json!(documents::Event::of(event)).to_string());
        }
    }
}
