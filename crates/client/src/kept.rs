//! Kept commits: work that no branch has, and that a ref under refs/crew/ keeps.

use git::Id;
use model::TicketId;
use runtime::Place;

use crate::documents::Kept;
use crate::error::Result;

/// The commits that are kept for a ticket.
///
/// # Errors
/// The repository's refs cannot be read.
pub fn of_ticket(place: &Place, ticket: &TicketId) -> Result<Vec<Kept>> {
    let id = Id::parse(ticket.as_str())?;
    let kept = place.repository.kept(Some(&id))?;
    Ok(kept.into_iter().filter_map(Kept::of).collect())
}
