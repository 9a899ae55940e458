//! Reopening: tickets that crew held back or had in work go back to the queue.

use std::collections::BTreeSet;

use model::view::Snapshot;
use runtime::Place;
use tickets::{Folder, Status};

use crate::error::Result;

/// Gives tickets that crew held back to the queue: nothing would hold them for it any more.
pub(super) fn reopen_files(place: &Place, crew: &Snapshot) -> Result<()> {
    let Ok(folder) = Folder::at(&place.tickets_dir) else {
        return Ok(());
    };
    for ticket in crew.tickets.values().filter(|ticket| !ticket.is_done()) {
        let Ok(id) = tickets::Id::new(ticket.id.as_str()) else {
            continue;
        };
        if !folder.file(&id).is_file() {
            continue;
        }
        let status = ticket.attempt().map(|_| Status::Open);
        match folder.set_status_and_tags(&id, status, BTreeSet::clear) {
            // A file that cannot be read is its author's, and stays as it is.
            Ok(()) | Err(tickets::Error::Unreadable(_) | tickets::Error::NotFound { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}
