//! Candidate pins: a candidate has a ref of its own for as long as its ticket waits for it.

use std::collections::BTreeSet;

use model::TicketId;
use model::ticket::{Candidate, Ticket};

use super::perform::git_oid;
use crate::executor::Executor;

impl Executor {
    /// Pins what was built, before anybody learns of it.
    pub(super) fn pin(&self, ticket: &Ticket, round: u32, commit: &git::Oid) -> git::Result<()> {
        let id = git::Id::parse(ticket.id.as_str())?;
        self.repository.pin_candidate(&id, round, commit)
    }

    /// Removes the pins of a ticket that waits for no candidate any more. A pin that cannot be removed only
    /// holds its commit until the ticket is built again or an engine starts.
    pub(super) fn unpin(&self, ticket: &TicketId) {
        let removed = git::Id::parse(ticket.as_str()).and_then(|id| self.repository.unpin_candidates(&id));
        if let Err(error) = removed {
            tracing::warn!(
                "{ticket}: the ref of its candidate stays: {}",
                text::with_causes(&error)
            );
        }
    }

    /// Removes every pin of a candidate that no ticket waits for. Only before anything is performed: a
    /// candidate that is being built is pinned before its ticket waits for it.
    pub(crate) fn unpin_left_over<'a>(&self, tickets: impl Iterator<Item = &'a Ticket>) {
        let wanted: BTreeSet<&str> = tickets
            .filter_map(Ticket::candidate)
            .map(|candidate| candidate.commit.as_str())
            .collect();
        let removed = self.repository.candidate_pins().and_then(|pins| {
            pins.iter()
                .filter(|pin| !wanted.contains(pin.commit.as_str()))
                .try_for_each(|pin| self.repository.forget_candidate_pin(pin))
        });
        if let Err(error) = removed {
            tracing::warn!("the ref of a candidate stays: {}", text::with_causes(&error));
        }
    }

    /// Whether a candidate is gone from the repository: then it has to be built again, as when the target has
    /// moved.
    pub(crate) fn is_gone(&self, candidate: &Candidate) -> bool {
        let looked = git_oid(&candidate.commit).and_then(|commit| self.repository.require_candidate(&commit));
        match looked {
            Err(error @ git::Error::CandidateGone { .. }) => {
                tracing::warn!("{}: it is built again", text::with_causes(&error));
                true
            }
            Ok(()) | Err(_) => false,
        }
    }
}
