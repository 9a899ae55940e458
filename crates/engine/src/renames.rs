//! Ticket files under another name: each states to be a ticket whose own file is gone.

use std::collections::BTreeMap;
use std::time::Duration;

use model::{TicketId, Time};

use crate::Observation;

/// How long a file stays there beside that of the ticket that it states to be, before it is a ticket of its
/// own. One that was renamed back is seen to be gone a moment after the other one is seen again.
const STANDS: Duration = Duration::from_secs(1);

/// The files, each by the ticket that it states to be.
#[derive(Clone, Debug, Default)]
pub(crate) struct Renames(BTreeMap<TicketId, Renamed>);

#[derive(Clone, Debug)]
struct Renamed {
    seen: Observation,
    /// Since when it is a file of its own.
    own_since: Option<Time>,
}

impl Renames {
    pub(crate) fn put(&mut self, of: TicketId, seen: Observation) {
        self.0.insert(
            of,
            Renamed {
                seen,
                own_since: None,
            },
        );
    }

    /// The name of the file that states to be the ticket.
    pub(crate) fn of(&self, id: &TicketId) -> Option<&TicketId> {
        self.0.get(id).and_then(name_of)
    }

    /// A file is gone.
    pub(crate) fn gone(&mut self, name: &TicketId) {
        self.0.retain(|_, renamed| name_of(renamed) != Some(name));
    }

    /// Whether one is about to be a ticket of its own.
    pub(crate) fn is_any_about_to_count(&self) -> bool {
        self.0.values().any(|renamed| renamed.own_since.is_some())
    }

    /// Takes out the files that are tickets of their own now; with when the next one is.
    pub(crate) fn take_over(
        &mut self,
        now: Time,
        is_own: impl Fn(&TicketId, &Observation) -> bool,
    ) -> (Vec<Observation>, Option<Time>) {
        let mut due = Vec::new();
        let mut next = None;
        for (of, renamed) in &mut self.0 {
            if !is_own(of, &renamed.seen) {
                renamed.own_since = None;
                continue;
            }
            let at = *renamed.own_since.get_or_insert(now) + STANDS;
            if at <= now {
                due.push(of.clone());
            } else {
                next = Some(next.map_or(at, |next: Time| next.min(at)));
            }
        }
        let taken = due.iter().filter_map(|of| self.0.remove(of));
        (taken.map(|renamed| renamed.seen).collect(), next)
    }
}

fn name_of(renamed: &Renamed) -> Option<&TicketId> {
    match &renamed.seen {
        Observation::Read { ticket, .. } => Some(ticket),
        Observation::Unreadable { .. } | Observation::Gone { .. } => None,
    }
}
