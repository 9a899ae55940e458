//! The end of the engine: when nothing is left that it would be waited for.

use model::command::OnStop;
use model::ticket::{State, Ticket};

use super::Driver;
use super::effect_queues::{Kind, QueueKey};
use crate::Duty;

impl Driver {
    /// Whether the core has ended and its effects are done: the file of a ticket that has just landed is
    /// closed too. Nobody waits for an effect that failed and is tried again later.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        let is_left = self.core.stopping() == Some(OnStop::Leave);
        let is_at_work = || self.queues.is_stopping() || self.queues.at_work().next().is_some();
        self.ended && (is_left || !is_at_work())
    }

    /// Whether every effect is performed and every end of a run was handled. An effect that a person has to
    /// mend waits for the next engine too, with all effects behind it.
    #[must_use]
    pub fn is_at_rest(&self) -> bool {
        let not_counted = |(id, kind): &QueueKey| match kind {
            Kind::File => self.core.is_unreadable(id) || self.core.is_unwritten(id),
            Kind::Work => self.core.is_kept(id),
        };
        self.queues.are_at_rest(not_counted) && self.ends.is_empty()
    }

    /// Whether nothing can move any more without a person.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.is_at_rest() && !self.core.is_at_work() && !self.core.rest().moving
    }

    /// Whether what a command has begun is done, for an engine that is up for one command.
    #[must_use]
    pub fn is_carried_out(&self) -> bool {
        self.is_at_rest() && self.watched.is_empty() && !self.is_landing()
    }

    /// Whether the ticket that a command brings to landing is still on its way.
    fn is_landing(&self) -> bool {
        let Duty::Command { lands: Some(id) } = &self.duty else {
            return false;
        };
        // Gatekeepers are the next engine's.
        let waits = |t: &Ticket| {
            t.deadline().is_none() && matches!(t.state, State::Verify(_)) && t.reviewing().is_none()
        };
        self.core.ticket(id).is_some_and(waits) && self.core.moves(id)
    }
}
