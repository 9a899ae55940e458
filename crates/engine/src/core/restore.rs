//! Archived tickets: forgotten once they were archived, and restored when an input needs them again.

use std::collections::BTreeSet;
use std::sync::Arc;

use model::TicketId;
use model::ticket::{FileStatus, Ticket};

use super::Core;
use crate::{Input, Observation};

impl Core {
    /// Tickets that must be known before `input` is taken, and are not: they may be archived. A ticket whose
    /// file is closed need not be known.
    #[must_use]
    pub fn unknown(&self, input: &Input) -> BTreeSet<TicketId> {
        match input {
            Input::Observed { seen, .. } => self.unknown_in(seen),
            Input::Commanded { command, .. } => self.not_here(command.ticket()),
            Input::GitMoved
            | Input::FolderReplaced
            | Input::TimerDue(_)
            | Input::Reported { .. }
            | Input::RunEnded(_)
            | Input::CheckEnded(_)
            | Input::Sampled { .. }
            | Input::GivenUp { .. }
            | Input::ModesAnnounced { .. }
            | Input::TargetSeen(_)
            | Input::TargetChecked { .. }
            | Input::Ticked => BTreeSet::new(),
        }
    }

    /// Tickets that must be known before these observations are handled, and are not.
    pub(crate) fn unknown_in(&self, seen: &[Observation]) -> BTreeSet<TicketId> {
        let mut asked: BTreeSet<&TicketId> = BTreeSet::new();
        for observation in seen {
            match observation {
                Observation::Read {
                    ticket,
                    spec,
                    status,
                    renamed,
                    ..
                } if *status != FileStatus::Closed => {
                    asked.insert(ticket);
                    asked.extend(spec.deps.iter().chain(&spec.recovers).chain(renamed));
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
        let open = self.tickets.all().values().filter(|ticket| !ticket.is_done());
        self.not_here(open.flat_map(|ticket| ticket.spec.deps.iter().chain(&ticket.spec.recovers)))
    }

    pub(crate) fn not_here<'a>(&self, ids: impl IntoIterator<Item = &'a TicketId>) -> BTreeSet<TicketId> {
        let ids = ids.into_iter().filter(|id| !self.tickets.contains(id));
        ids.cloned().collect()
    }

    /// Restores an archived ticket as the journal has it.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "callers have no other use for the id"
    )]
    pub fn restore(&mut self, id: TicketId, version: u64, ticket: Arc<Ticket>) {
        if !self.tickets.contains(&id) {
            self.put(ticket, version);
        }
    }

    /// Forgets tickets that were archived, over and quiet as they are.
    pub fn forget(&mut self, ids: &BTreeSet<TicketId>) {
        for id in ids {
            if let Some(ticket) = self.tickets.forget(id) {
                self.spending.forgotten(&ticket);
                self.folder.forget(id);
                self.failures.forget(id);
            }
        }
    }
}
