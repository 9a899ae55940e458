//! Kept commits: work that no branch has, and that a ref under refs/crew/ keeps.

use git::Id;
use model::TicketId;
use model::ticket::{KeptWork, Ticket};
use runtime::Place;

use crate::documents::Kept;
use crate::error::Result;

/// The work of a ticket that a person finds in no branch: also what was rescued of it, and that its record
/// does not name, since an engine was killed before or something else failed.
///
/// # Errors
/// The repository's refs cannot be read.
pub fn apart(place: &Place, ticket: Option<&Ticket>) -> Result<Vec<KeptWork>> {
    let Some(ticket) = ticket else {
        return Ok(Vec::new());
    };
    let mut work: Vec<KeptWork> = ticket.work_apart().cloned().collect();
    let id = Id::parse(ticket.id.as_str())?;
    for kept in place.repository.kept(Some(&id))? {
        let is_known = ticket.kept.iter().any(|known| known.place() == kept.name);
        if kept.kind == git::KeptKind::Rescue && !is_known {
            work.push(KeptWork::Workspace { reference: kept.name });
        }
    }
    Ok(work)
}

/// The commits that are kept for a ticket.
///
/// # Errors
/// The repository's refs cannot be read.
pub fn of_ticket(place: &Place, ticket: &TicketId) -> Result<Vec<Kept>> {
    let id = Id::parse(ticket.as_str())?;
    let kept = place.repository.kept(Some(&id))?;
    Ok(kept.into_iter().filter_map(Kept::of).collect())
}
