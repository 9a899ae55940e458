//! What an agent leaves beside its work: notes for people, and other tickets.

use super::{Draft, Taken};
use crate::Actor;
use crate::ticket::{Effect, NewTicket};

impl Draft<'_> {
    /// A note of an agent's stands in the journal first, and is written into the file then. It leaves the
    /// ticket as it is: it is no edit of the task, and no progress on it.
    pub(super) fn comment(&mut self, by: &Actor, text: &str) -> Taken {
        let Actor::Agent { run } = by else {
            return Ok(());
        };
        let Some(agent) = self.ticket.agent_of_run(run).cloned() else {
            return self.no("the agent's step is over");
        };
        self.effects.push(Effect::AddNote {
            text: text.to_owned(),
            by: Some(agent),
        });
        Ok(())
    }
    /// Each ticket that is made has a number of its own, so that its file is written once.
    pub(super) fn make_ticket(&mut self, new: &NewTicket) -> Taken {
        let Some(attempt) = self.ticket.attempt_mut() else {
            return self.no("no agent has it");
        };
        if !attempt.conversation.has_live_worker() {
            return self.no("the agent's step is over");
        }
        attempt.conversation.made += 1;
        self.ticket.made += 1;
        self.effects.push(Effect::CreateTicket(Box::new(new.clone())));
        Ok(())
    }
}
