//! Recovery: when a ticket that recovers another lands, the other one is opened again or closed.

use model::TicketId;
use model::ticket::{Done, Event, State};

use super::Core;

impl Core {
    /// Acts on the landing of a ticket that may recover another one. The decision is in the batch of the
    /// landing itself, so that no crash comes between the two.
    pub(super) fn follow_recovery(&mut self, id: &TicketId) {
        let Some(ticket) = self.ticket(id) else { return };
        let (State::Done(Done::Landed { commit, .. }), Some(recovers)) =
            (&ticket.state, &ticket.spec.recovers)
        else {
            return;
        };
        // A ticket that a person has retried in the meantime is under way, and needs nothing.
        if !self
            .ticket(recovers)
            .is_some_and(model::ticket::Ticket::has_failed)
        {
            return;
        }
        let (recovered, event) = (
            recovers.clone(),
            Event::RecoveryLanded {
                by: id.clone(),
                commit: commit.clone(),
                replaces: ticket.spec.replaces,
            },
        );
        self.apply_or_note(&recovered, event, "a ticket that recovers it has landed");
    }
}
