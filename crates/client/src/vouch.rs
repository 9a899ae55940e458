//! A person's word that a ticket which they have just made is theirs: while agents are at work, crew cannot
//! see that by its file.

use std::time::Duration;

use model::TicketId;
use model::command::Command;
use model::journal::State;
use model::settings::ReviewWhen;
use runtime::Place;
use store::Recorded;
use tokio::time::{Instant, timeout_at};

use crate::engine::Engine;
use crate::error::Result;
use crate::follow::{self, Follow};
use crate::repository;
use crate::submit::Submitter;

/// The longest wait for the engine to see a ticket's file.
const SEEN_WITHIN: Duration = Duration::from_secs(20);

/// Says that a new ticket is a person's, where crew may take it for an agent's and something follows from
/// that. `leads`: it has the tag with which its agent may delegate.
///
/// # Errors
/// The journal cannot be read, or crew cannot be told.
pub async fn vouch_for_new(submitter: &Submitter, place: &Place, id: &TicketId, leads: bool) -> Result<()> {
    let by_tag = |when: &ReviewWhen| match when {
        ReviewWhen::Some(some) => !some.labels.is_empty(),
        ReviewWhen::Never | ReviewWhen::Always => false,
    };
    let matters = leads || repository::settings(place).is_ok_and(|settings| by_tag(&settings.review.when));
    let Some(ledger) = repository::journal(place).await?.filter(|_| matters) else {
        return Ok(());
    };
    let crew = follow::present(Some(&ledger)).await?;
    if crew.tickets.values().all(|ticket| ticket.attempt().is_none()) {
        return Ok(());
    }
    if Engine::of(place)?.is_some() {
        if !crew.tickets.contains_key(id) {
            wait_until_known(Follow::new(ledger.clone(), crew.seq), id).await?;
        }
        let crew = follow::present(Some(&ledger)).await?;
        let ticket = crew.tickets.get(id);
        if ticket.is_some_and(|ticket| !ticket.may_be_vouched_for()) {
            return Ok(());
        }
    }
    let approve = Command::Approve {
        ticket: id.clone(),
        tip: None,
    };
    // Refused, nobody doubts it.
    submitter.submit(&approve).await?;
    Ok(())
}

/// Waits until the engine that runs knows a ticket, or for as long as it may take: then the engine is asked
/// all the same, and says what is in the way.
///
/// # Errors
/// The journal cannot be read.
pub async fn wait_until_known(mut follow: Follow, ticket: &TicketId) -> Result<()> {
    let deadline = Instant::now() + SEEN_WITHIN;
    let is_of_it = |row: &Recorded| matches!(&row.after, State::Ticket(after) if after.id == *ticket);
    loop {
        let rows = follow.more().await?;
        let is_late = rows.is_empty() && timeout_at(deadline, follow.changed()).await.is_err();
        if is_late || rows.iter().any(is_of_it) {
            return Ok(());
        }
    }
}
