//! `GET …/events`: the rows of the journal, the newest first, and one of them with what it ordered.

use axum::Router;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::response::Response;
use axum::routing::get;
use client::documents::{Event, HistoryEvent};
use client::history;
use model::journal::Stream;
use serde::{Deserialize, Serialize};
use store::{Journal as _, Ledger, Recorded};

use super::given;
use crate::app::App;
use crate::problem::Problem;

/// The rows of an answer, unless more or fewer are asked for.
const USUAL: usize = 100;
/// Rows that are read at a time.
const PAGE: u32 = 250;
/// The rows that are looked through at most for one answer. It then says where the next one goes on.
const LOOKED: u64 = 20_000;

#[derive(Debug, Deserialize)]
struct Asked {
    /// Only rows before this one.
    before: Option<u64>,
    /// Only rows after this one, the nearest.
    after: Option<u64>,
    /// Only of this stream: `project`, or `ticket/` and the ticket's id.
    stream: Option<String>,
    /// Only of this kind, by its name.
    kind: Option<String>,
    limit: Option<usize>,
}

/// Rows of the journal.
#[derive(Debug, Default, Serialize)]
struct Events {
    /// The newest first.
    events: Vec<Event>,
    /// What to give as `before` (or `after`, where that was given) for those that follow; `null` where there
    /// are none.
    next: Option<u64>,
}

pub(crate) fn routes() -> Router<App> {
    Router::new()
        .route("/r/{repo}/events", get(events))
        .route("/r/{repo}/events/{seq}", get(event))
}

async fn events(
    State(app): State<App>,
    Path(repo): Path<String>,
    query: Result<Query<Asked>, QueryRejection>,
) -> Result<Response, Problem> {
    let asked = given::query(query)?;
    let repo = app.repo(&repo)?;
    let found = match repo.board.ledger() {
        None => Events::default(),
        Some(ledger) => {
            let wanted = Wanted {
                stream: asked.stream.as_deref().map(stream).transpose()?,
                kind: asked.kind,
                most: given::limit(asked.limit, USUAL),
            };
            match (asked.before, asked.after) {
                (before, None) => wanted.before(&ledger, before).await?,
                (None, Some(after)) => wanted.after(&ledger, after).await?,
                (Some(_), Some(_)) => {
                    return Err(Problem::bad_request(
                        "`before` and `after` exclude each other",
                        "give one of them",
                    ));
                }
            }
        }
    };
    given::document(&found)
}

async fn event(
    State(app): State<App>,
    Path((repo, seq)): Path<(String, String)>,
) -> Result<Response, Problem> {
    let repo = app.repo(&repo)?;
    let seq: u64 = seq.parse().map_err(|_no_number| {
        Problem::bad_request(
            format!("{} is no row of a journal", text::quoted(&seq)),
            "rows are counted from 1",
        )
    })?;
    let none = || {
        Problem::not_found(
            format!("the journal has no row {seq}"),
            "its rows are counted from 1",
        )
    };
    let ledger = repo.board.ledger().ok_or_else(none)?;
    let row = match ledger.row(seq).await {
        Err(store::Error::NotFound { .. }) => return Err(none()),
        row => row?,
    };
    let effects = history::effects(&ledger, seq).await?;
    given::document(&HistoryEvent::of(&row, &effects))
}

/// A stream by its name.
fn stream(name: &str) -> Result<Stream, Problem> {
    match name.strip_prefix("ticket/") {
        Some(id) => Ok(Stream::Ticket(given::ticket(id)?)),
        None if name == "project" => Ok(Stream::Project),
        None => Err(Problem::bad_request(
            format!("{} is no stream", text::quoted(name)),
            "write `project`, or `ticket/` and the id of a ticket",
        )),
    }
}

/// The rows that are wanted.
struct Wanted {
    stream: Option<Stream>,
    kind: Option<String>,
    most: usize,
}

impl Wanted {
    fn takes(&self, row: &Recorded) -> bool {
        self.stream.as_ref().is_none_or(|stream| *stream == row.stream)
            && self.kind.as_ref().is_none_or(|kind| kind == row.fact.name())
    }

    /// The latest before a row.
    async fn before(&self, ledger: &Ledger, before: Option<u64>) -> Result<Events, Problem> {
        let head = ledger.0.head().await?.0;
        let mut end = before.map_or(head, |before| before.saturating_sub(1).min(head));
        let last = end.saturating_sub(LOOKED);
        let mut events = Vec::new();
        while end > last && events.len() < self.most {
            let begin = end.saturating_sub(u64::from(PAGE));
            let rows = ledger.tail(begin, PAGE).await?;
            let before = end;
            for row in rows.iter().rev().filter(|row| row.seq <= before) {
                if events.len() == self.most {
                    break;
                }
                if self.takes(row) {
                    events.push(Event::of(row));
                }
                end = row.seq - 1;
            }
            if rows.is_empty() {
                end = begin;
            }
        }
        Ok(Events {
            events,
            next: Some(end + 1).filter(|_| end > 0),
        })
    }

    /// The nearest after a row.
    async fn after(&self, ledger: &Ledger, after: u64) -> Result<Events, Problem> {
        let head = ledger.0.head().await?.0;
        let last = after.saturating_add(LOOKED).min(head);
        let mut at = after;
        let mut events = Vec::new();
        while at < last && events.len() < self.most {
            let rows = ledger.tail(at, PAGE).await?;
            if rows.is_empty() {
                break;
            }
            for row in &rows {
                if events.len() == self.most {
                    break;
                }
                if self.takes(row) {
                    events.push(Event::of(row));
                }
                at = row.seq;
            }
        }
        events.reverse();
        Ok(Events {
            events,
            next: Some(at).filter(|at| *at < head),
        })
    }
}
