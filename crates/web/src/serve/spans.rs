//! `GET …/spans`: where the time of the latest tickets went, as segments of a chart.

mod segments;

use axum::Router;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::response::Response;
use axum::routing::get;
use client::clock;
use model::journal::Stream;
use model::view::{AttemptSummary, Snapshot};
use model::{Moment, TicketId, Time};
use serde::{Deserialize, Serialize};

use self::segments::{Segment, Segments};
use super::given;
use crate::app::App;
use crate::problem::Problem;

/// The tickets that are shown.
const TICKETS: usize = 50;
/// How far back it goes, unless another moment is asked for.
const USUAL: &str = "24h";

#[derive(Debug, Deserialize)]
struct Asked {
    /// A span (`24h`), a day of UTC or a moment.
    since: Option<String>,
}

/// Where the time of tickets went.
#[derive(Debug, Serialize)]
struct Spans {
    since: Moment,
    until: Moment,
    /// How long the checks of a ticket usually take: the median of those that ended in this time, in ms;
    /// `null` where none has.
    usual_check_ms: Option<i64>,
    /// A row for each ticket, the one that was given to an agent last on top.
    rows: Vec<Row>,
}

/// The time of one ticket.
#[derive(Debug, Serialize)]
struct Row {
    ticket: TicketId,
    title: String,
    /// The agent of its last attempt.
    agent: String,
    segments: Vec<Segment>,
}

pub(crate) fn routes() -> Router<App> {
    Router::new().route("/r/{repo}/spans", get(spans))
}

async fn spans(
    State(app): State<App>,
    Path(repo): Path<String>,
    query: Result<Query<Asked>, QueryRejection>,
) -> Result<Response, Problem> {
    let asked = given::query(query)?;
    let repo = app.repo(&repo)?;
    let until = clock::now();
    let since = clock::since(asked.since.as_deref().unwrap_or(USUAL), until)?;
    let crew = repo.board.snapshot();
    let mut rows = Vec::new();
    if let Some(ledger) = repo.board.ledger() {
        for work in latest(&crew, since) {
            let mut segments = Segments::default();
            let stream = Stream::Ticket(work.ticket.clone());
            ledger.each_of(&stream, 0, |row| segments.take(&row)).await?;
            rows.push(Row {
                ticket: work.ticket.clone(),
                title: work.title.clone(),
                agent: work.agent.to_string(),
                segments: segments.since(since),
            });
        }
    }
    let checks = rows.iter().flat_map(|row| &row.segments);
    let mut checks: Vec<i64> = checks.filter_map(Segment::check_ms).collect();
    checks.sort_unstable();
    given::document(&Spans {
        since: Moment(since),
        until: Moment(until),
        usual_check_ms: checks.get(checks.len() / 2).copied(),
        rows,
    })
}

/// The last attempt at each of the tickets that were worked on since a moment, the latest first.
fn latest(crew: &Snapshot, since: Time) -> Vec<&AttemptSummary> {
    let is_since = |work: &&AttemptSummary| work.until.is_none_or(|until| until >= since);
    let mut works: Vec<&AttemptSummary> = crew.attempts.values().filter(is_since).collect();
    works.sort_by(|a, b| AttemptSummary::latest_first(a, b));
    let mut latest: Vec<&AttemptSummary> = Vec::new();
    for work in works {
        if latest.len() == TICKETS {
            break;
        }
        if !latest.iter().any(|other| other.ticket == work.ticket) {
            latest.push(work);
        }
    }
    latest
}
