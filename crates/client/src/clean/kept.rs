//! Commits that were kept for tickets which were closed long ago.

use std::time::{Duration, UNIX_EPOCH};

use git::{Kept, Repository};
use model::TicketId;

use super::older::Old;
use crate::error::Result;

/// Kept commits of old tickets that were not kept later. The commits of a ticket that nobody knows stay.
pub(super) async fn old(repository: &Repository, old: &Old) -> Result<Vec<Kept>> {
    let limit = UNIX_EPOCH + Duration::from_millis(u64::try_from(old.before.0).unwrap_or(0));
    let mut found = Vec::new();
    for kept in repository.kept(None)? {
        let Ok(id) = TicketId::new(kept.ticket.as_str()) else {
            continue;
        };
        // A clean-up may keep something more, long after the ticket was closed.
        if old.has(&id).await? && repository.kept_at(&kept).is_none_or(|at| at <= limit) {
            found.push(kept);
        }
    }
    Ok(found)
}

/// Forgets them; one that has become another commit meanwhile is somebody's, and stays.
pub(crate) fn forget(repository: &Repository, kept: Vec<Kept>) -> Result<Vec<Kept>> {
    let mut gone = Vec::new();
    for kept in kept {
        match repository.forget(&kept) {
            Ok(()) => {
                failpoint::hit("clean.forgotten");
                gone.push(kept);
            }
            Err(git::Error::RefMoved { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(gone)
}
