//! `GET …/inbox/{item}`: what became of an entry of the inbox that may wait no more.

use axum::Router;
use axum::extract::{Path, State};
use axum::response::Response;
use axum::routing::get;
use client::{documents, history};
use model::TicketId;
use serde::Serialize;

use super::given;
use crate::app::{App, Repo};
use crate::problem::Problem;

/// An entry of the inbox, whether it waits or not.
#[derive(Debug, Serialize)]
struct Entry {
    id: String,
    /// `true` while it waits.
    waits: bool,
    /// Its ticket; `null` where it is no ticket's.
    ticket: Option<TicketId>,
    /// Its kind, and why it waited; `null` where the journal does not keep entries of its kind.
    kind: Option<String>,
    why: Option<String>,
    /// The event with which it was settled; `null` where no event of its ticket says so.
    settled: Option<documents::HistoryEvent>,
}

/// The first words of the ids of entries that depend on more than the rows of one ticket, and whether a
/// ticket follows: no row says how these were settled.
const UNKEPT: [(&str, bool); 13] = [
    ("dependency", true),
    ("dependency_failed", true),
    ("failing", true),
    ("stuck", true),
    ("file", false),
    ("files", false),
    ("harness", false),
    ("disk", false),
    ("settings", false),
    ("unwritten", false),
    ("target", false),
    ("lock", false),
    ("set_up", false),
];

pub(crate) fn routes() -> Router<App> {
    Router::new().route("/r/{repo}/inbox/{item}", get(entry))
}

async fn entry(
    State(app): State<App>,
    Path((repo, id)): Path<(String, String)>,
) -> Result<Response, Problem> {
    let repo = app.repo(&repo)?;
    repo.board.ready().await;
    if let Some(item) = repo.board.item(&id) {
        return given::document(&Entry {
            waits: true,
            ticket: item.ticket,
            kind: Some(item.kind.name().to_owned()),
            why: Some(item.why),
            settled: None,
            id,
        });
    }
    let never = || {
        Problem::not_found(
            "nothing with this address ever waited here",
            "the inbox has what waits now",
        )
    };
    let mut pieces = id.split(':');
    let (Some(group), named) = (pieces.next(), pieces.next()) else {
        return Err(never());
    };
    let ticket = named
        .and_then(|id| TicketId::new(id).ok())
        .filter(|id| knows(repo, id));
    if let (Some(ticket), Some(ledger)) = (&ticket, repo.board.ledger())
        && let Some(waited) = history::waited(&ledger, ticket, &id).await?
    {
        let settled = match &waited.settled {
            Some(row) => {
                let effects = history::effects(&ledger, row.seq).await?;
                Some(documents::HistoryEvent::of(row, &effects))
            }
            None => None,
        };
        return given::document(&Entry {
            waits: false,
            ticket: Some(ticket.clone()),
            kind: Some(waited.item.kind.name().to_owned()),
            why: Some(waited.item.why),
            settled,
            id,
        });
    }
    let unkept = UNKEPT.iter().find(|(word, _)| *word == group);
    if unkept.is_none_or(|(_, of_ticket)| *of_ticket && ticket.is_none()) {
        return Err(never());
    }
    given::document(&Entry {
        waits: false,
        ticket,
        kind: None,
        why: None,
        settled: None,
        id,
    })
}

fn knows(repo: &Repo, id: &TicketId) -> bool {
    let crew = repo.board.snapshot();
    let files = repo.board.files();
    crew.tickets.contains_key(id) || crew.archived.tickets.contains(id) || files.unseen.contains_key(id)
}
