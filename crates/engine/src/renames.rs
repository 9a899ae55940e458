//! Ticket files under another name: each states to be a ticket whose own file is gone.

use std::collections::BTreeMap;

use model::TicketId;

use crate::Observation;

/// The files, each by the ticket that it states to be.
#[derive(Clone, Debug, Default)]
pub(crate) struct Renames(BTreeMap<TicketId, Observation>);

impl Renames {
    pub(crate) fn put(&mut self, of: TicketId, seen: Observation) {
        self.0.insert(of, seen);
    }

    /// The name of the file that states to be the ticket.
    pub(crate) fn of(&self, id: &TicketId) -> Option<&TicketId> {
        self.0.get(id).and_then(name_of)
    }

    /// A file is gone.
    pub(crate) fn gone(&mut self, name: &TicketId) {
        self.0.retain(|_, seen| name_of(seen) != Some(name));
    }

    /// Takes out the files that are tickets of their own now.
    pub(crate) fn take_over(&mut self, is_own: impl Fn(&TicketId, &Observation) -> bool) -> Vec<Observation> {
        let own = self.0.iter().filter(|(of, seen)| is_own(of, seen));
        let own: Vec<TicketId> = own.map(|(of, _)| of.clone()).collect();
        own.iter().filter_map(|of| self.0.remove(of)).collect()
    }
}

fn name_of(seen: &Observation) -> Option<&TicketId> {
    match seen {
        Observation::Read { ticket, .. } => Some(ticket),
        Observation::Unreadable { .. } | Observation::Gone { .. } => None,
    }
}
