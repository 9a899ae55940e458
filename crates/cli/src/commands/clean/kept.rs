//! Commits that were kept for tickets which were closed long ago.

use std::time::{Duration, UNIX_EPOCH};

use git::{Kept, Repository};
use model::view::Crew;
use model::{TicketId, Time};

use crate::error::Result;

/// Kept commits of tickets that were closed before `before` and are closed still, and that were not kept later. What is kept for
/// a ticket that nobody knows stays.
pub(crate) fn old(repository: &Repository, crew: &Crew, before: Time) -> Result<Vec<Kept>> {
    let limit = UNIX_EPOCH + Duration::from_millis(u64::try_from(before.0).unwrap_or(0));
    let is_old = |kept: &Kept| {
        let id = TicketId::new(kept.ticket.as_str());
        let ticket = id.ok().and_then(|id| crew.tickets.get(&id));
        // A clean-up may keep something more, long after the ticket was closed.
        ticket.is_some_and(|ticket| ticket.is_done() && ticket.since <= before)
            && repository.kept_at(kept).is_none_or(|at| at <= limit)
    };
    Ok(repository.kept(None)?.into_iter().filter(is_old).collect())
}

/// Forgets them; one that has become another commit meanwhile is somebody's, and stays.
pub(crate) fn forget(repository: &Repository, kept: Vec<Kept>) -> Result<Vec<Kept>> {
    let mut gone = Vec::new();
    for kept in kept {
        match repository.forget(&kept) {
            Ok(()) => gone.push(kept),
            Err(git::Error::RefMoved { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(gone)
}
