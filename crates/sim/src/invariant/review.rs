//! Invariants of reviews: who reviews, and what lands without.

use model::TicketId;
use model::settings::ReviewWhen;
use model::ticket::{Clearance, Event, State, Ticket};

use super::{Checked, ensure};
use crate::options::Options;

/// No author reviews its own work, and nothing lands without enough approvals of exactly its tip, unless a
/// person let it pass.
pub(super) fn is_reviewed(id: &TicketId, event: &Event, before: &Ticket, options: &Options) -> Checked {
    if let Event::ReviewClaimed { agent, .. } = event {
        ensure(
            !before.authors.contains(agent),
            "no author reviews its own work",
            || format!("{agent} reviews {id}"),
        )?;
    }
    let (Event::Landed { .. }, State::Verify(verify)) = (event, &before.state) else {
        return Ok(());
    };
    let review = &options.settings.review;
    let candidate = before.candidate();
    let clearance = candidate.and_then(|candidate| verify.clearance(&candidate.tip));
    let is_cleared = match clearance {
        Some(Clearance::Waived { .. }) => true,
        Some(Clearance::Approved { by, .. }) => by.is_empty() || by.len() >= review.agree as usize,
        None => review.when == ReviewWhen::Never,
    };
    ensure(is_cleared, "what lands was approved", || {
        format!("{id} lands with {clearance:?}")
    })?;
    let Some(Clearance::Approved { by, .. }) = clearance else {
        return Ok(());
    };
    ensure(
        by.iter().all(|agent| !before.authors.contains(agent)),
        "no author reviews its own work",
        || format!("{id} was approved by {by:?}"),
    )
}
