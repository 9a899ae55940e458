//! Cleaning up after old tickets: the outputs of tickets that were closed long ago, and the commits that are
//! kept for them.

use std::collections::BTreeSet;

use model::ticket::Ticket;
use model::view::Snapshot;
use model::{TicketId, Time};
use runtime::Place;
use store::Ledger;

use super::outputs::Removed;
use super::{kept, outputs};
use crate::clock;
use crate::documents;
use crate::error::Result;
use crate::repository::journal;

/// Removes the outputs of tickets that were closed before `before`, and lists the commits that are kept for
/// them; `forget` forgets these commits. An engine may run meanwhile: it reads none of it.
///
/// # Errors
/// The journal, the repository or a folder cannot be read or written.
pub async fn older(place: &Place, before: Time, forget: bool) -> Result<documents::Removed> {
    let Some(ledger) = journal(place).await? else {
        return Ok(documents::Removed::default());
    };
    let old = Old {
        crew: ledger.snapshot(clock::now()).await?,
        ledger,
        before,
    };
    let Removed { steps, checks, bytes } = outputs::remove(place, &old).await?;
    let commits = kept::old(&place.repository, &old).await?;
    let (forgotten, old) = if forget {
        (kept::forget(&place.repository, commits)?, Vec::new())
    } else {
        (Vec::new(), commits)
    };
    Ok(documents::Removed {
        steps,
        checks,
        freed_bytes: bytes,
        forgotten: forgotten.into_iter().filter_map(documents::Kept::of).collect(),
        old: old.into_iter().filter_map(documents::Kept::of).collect(),
    })
}

/// Tickets that have been closed since before a moment.
pub(super) struct Old {
    pub(super) ledger: Ledger,
    /// Without the archived tickets.
    crew: Snapshot,
    pub(super) before: Time,
}

impl Old {
    /// Returns true for a ticket that was closed before then and is closed still.
    pub(super) async fn has(&self, id: &TicketId) -> Result<bool> {
        let is_old = |ticket: &Ticket| ticket.is_done() && ticket.since <= self.before;
        if !self.crew.archived.tickets.contains(id) {
            return Ok(self.crew.tickets.get(id).is_some_and(|ticket| is_old(ticket)));
        }
        let found = self.ledger.archived(&BTreeSet::from([id.clone()])).await?;
        Ok(found.iter().any(|(_, _, ticket)| is_old(ticket)))
    }
}
