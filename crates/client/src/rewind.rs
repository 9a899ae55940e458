//! The commits of a ticket's past that git still has.

use model::Oid;
use model::journal::{Fact, State, Stream};
use model::ticket::{Event, KeptWork};
use model::{TicketId, attempt};
use runtime::Place;
use store::{Ledger, Recorded};

use crate::error::Result;

/// A commit at which a ticket's work stood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Past {
    /// The commit.
    pub commit: Oid,
    /// The event of the ticket's history with which it was known.
    pub seq: u64,
}

/// What names a commit in the journal.
enum Named {
    Commit(Oid),
    Reference(String),
}

/// The last commit of a ticket at or before the event `at` that git still has: what was submitted, what an
/// attempt left at its end, or where one began. None where there is none.
pub async fn find(place: &Place, ledger: &Ledger, ticket: &TicketId, at: u64) -> Result<Option<Past>> {
    let mut named: Vec<(u64, Named)> = Vec::new();
    ledger
        .each_of(&Stream::Ticket(ticket.clone()), 0, |row| {
            if row.seq <= at {
                named.extend(of(&row).map(|one| (row.seq, one)));
            }
        })
        .await?;
    let there = |revision: &str| {
        let found = place.repository.resolve(revision).ok()?;
        Oid::new(found.to_string()).ok()
    };
    Ok(named.into_iter().rev().find_map(|(seq, one)| {
        let commit = match one {
            Named::Commit(commit) => there(commit.as_str())?,
            Named::Reference(name) => there(&name)?,
        };
        Some(Past { commit, seq })
    }))
}

/// The commit that an event of a ticket tells of.
fn of(row: &Recorded) -> Option<Named> {
    let (Fact::Ticket(event), State::Ticket(ticket)) = (&row.fact, &row.after) else {
        return None;
    };
    if let Event::Attempt(attempt::Event::WorkspaceReady { base, .. }) = event {
        return Some(Named::Commit(base.clone()));
    }
    if let Event::Rewound { commit, .. } = event {
        return Some(Named::Commit(commit.clone()));
    }
    if let Event::WorkKept { work } = event {
        return work.iter().rev().find_map(|work| match work {
            KeptWork::Attempt { reference } => Some(Named::Reference(reference.clone())),
            KeptWork::Workspace { .. } | KeptWork::Nested { .. } | KeptWork::Folder { .. } => None,
        });
    }
    let candidate = ticket.candidate();
    candidate.map(|candidate| Named::Commit(candidate.tip.clone()))
}
