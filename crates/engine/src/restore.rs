//! Tickets that lie behind: forgotten once they were archived, and recalled when something asks for them
//! again.

use std::collections::BTreeSet;
use std::sync::Arc;

use model::TicketId;
use model::ticket::{FileStatus, Ticket};

use crate::core::Core;
use crate::{Input, Observation};

impl Core {
    /// Tickets that must be known before this is heard, and are not: they may be archived. A ticket whose
    /// file is closed need not.
    #[must_use]
    pub fn unknown(&self, input: &Input) -> BTreeSet<TicketId> {
        match input {
            Input::Observed { seen, .. } => self.unknown_in(seen),
            Input::Commanded { command, .. } => self.not_here(command.ticket()),
            Input::TimerDue(_)
            | Input::Reported { .. }
            | Input::RunEnded(_)
            | Input::CheckEnded(_)
            | Input::Sampled { .. }
            | Input::GivenUp { .. }
            | Input::Ticked => BTreeSet::new(),
        }
    }

    /// Tickets that must be known before these observations are handled, and are not.
    pub(crate) fn unknown_in(&self, seen: &[Observation]) -> BTreeSet<TicketId> {
        let mut asked: BTreeSet<&TicketId> = BTreeSet::new();
        for observation in seen {
            match observation {
                Observation::Read {
                    ticket, spec, status, ..
                } if *status != FileStatus::Closed => {
                    asked.insert(ticket);
                    asked.extend(spec.deps.iter().chain(&spec.recovers));
                }
                // Nobody waits for the file of a ticket that is over.
                Observation::Unreadable { ticket, .. } => {
                    asked.insert(ticket);
                }
                Observation::Read { .. } | Observation::Gone { .. } => {}
            }
        }
        self.not_here(asked)
    }

    /// Tickets that open ones depend on or recover, and that are not known: they may be archived.
    #[must_use]
    pub fn unknown_links(&self) -> BTreeSet<TicketId> {
        let open = self.tickets.values().filter(|ticket| !ticket.is_done());
        self.not_here(open.flat_map(|ticket| ticket.spec.deps.iter().chain(&ticket.spec.recovers)))
    }

    pub(crate) fn not_here<'a>(&self, ids: impl IntoIterator<Item = &'a TicketId>) -> BTreeSet<TicketId> {
        let ids = ids.into_iter().filter(|id| !self.tickets.contains_key(*id));
        ids.cloned().collect()
    }

    /// Takes up an archived ticket as the journal has it.
    pub fn restore(&mut self, id: TicketId, version: u64, ticket: Arc<Ticket>) {
        if !self.tickets.contains_key(&id) {
            self.put(id, ticket, version);
        }
    }

    /// Forgets tickets that were archived, over and quiet as they are.
    pub fn forget(&mut self, ids: &BTreeSet<TicketId>) {
        for id in ids {
            if self.tickets.get(id).is_none_or(|ticket| !ticket.is_done()) {
                continue;
            }
            if let Some(ticket) = self.tickets.remove(id) {
                self.spending.forgotten(&ticket);
            }
            self.versions.remove(id);
            self.filing.remove(id);
            self.gone.remove(id);
            self.missed.remove(id);
            self.forget_failing(id);
        }
    }
}

#[cfg(test)]
mod tests {
    use model::Time;
    use model::ticket::{Done, Effect, State};

    use super::*;
    use crate::Loaded;

    /// A crew that has been up for years has forgotten most of what it ever saw.
    #[test]
    fn nothing_is_left_of_a_ticket_that_is_forgotten() {
        let settings = model::settings::Settings::default();
        let mut core = Core::load(settings, uuid::Uuid::nil(), Loaded::default()).unwrap();
        let id = TicketId::new("t-1").unwrap();
        let mut ticket = Ticket::new(id.clone());
        ticket.state = State::Done(Done::Failed {
            reason: "no".to_owned(),
        });
        core.restore(id.clone(), 1, ticket.into());
        let gone = Observation::Gone { ticket: id.clone() };
        let heard = Input::Observed {
            seen: vec![gone],
            whole: false,
        };
        drop(core.step(heard, Time(0)));
        let note = Effect::AddNote {
            text: "why".to_owned(),
        };
        let effect = model::journal::EffectId { seq: 1, index: 0 };
        core.fails(effect, &id, &note, "no".to_owned(), false);
        core.missed_the_file(model::journal::EffectId { seq: 2, index: 0 }, &id, &note);
        assert!(core.gone.contains_key(&id) && !core.missed.is_empty() && !core.failing.is_empty());

        core.forget(&[id].into());
        assert!(core.tickets.is_empty() && core.versions.is_empty());
        assert!(core.gone.is_empty() && core.missed.is_empty() && core.failing.is_empty());
    }
}
