//! Dependencies that would never end: what the ticket files alone do not show.

use model::TicketId;
use model::policy::route::{self, Refusal};
use model::settings::Settings;
use runtime::Place;

use crate::error::Result;
use crate::outbox::Outbox;
use crate::queue_facts::Facts;
use crate::{clock, follow, repository};

/// The way round on which a ticket would wait for itself if it depended on another one, also over who has
/// delegated what.
///
/// # Errors
/// The journal or the ticket folder cannot be read.
pub async fn cycle_with(
    place: &Place,
    settings: &Settings,
    id: &TicketId,
    on: &TicketId,
) -> Result<Option<Refusal>> {
    let ledger = repository::journal(place).await?;
    let crew = follow::present(ledger.as_ref()).await?;
    let outbox = Outbox::read(ledger.as_ref()).await?;
    let facts = Facts::gather(&crew, place, settings, &outbox.unwritten, clock::now())?;
    Ok(route::cycle_with(facts.queue(), id, on))
}
