//! The interner: one copy of each ticket's state in memory, however many readers have it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use model::TicketId;
use model::journal::State;
use model::ticket::Ticket;

/// Remembers, weakly, the latest state of each ticket that a reader holds, and gives it to the next reader of
/// the same state: a long queue is in memory once.
#[derive(Clone, Debug, Default)]
pub(super) struct Interner(Arc<Mutex<Known>>);

#[derive(Debug, Default)]
struct Known {
    /// Each state with the version of its stream.
    tickets: BTreeMap<TicketId, (u64, Weak<Ticket>)>,
    /// At this many entries, those whose state nobody holds any more are removed.
    full: usize,
}

/// Fewer entries than this are never looked through.
const LEAST: usize = 1000;

impl Interner {
    /// The copy that a reader holds of a stream's state at this version; else this one.
    pub(super) fn one(&self, version: u64, state: State) -> State {
        match state {
            State::Ticket(ticket) => State::Ticket(self.ticket(version, ticket)),
            State::Project(_) => state,
        }
    }

    /// The copy that a reader holds of this ticket at its stream's version (0: unknown); else this one.
    pub(super) fn ticket(&self, version: u64, ticket: Arc<Ticket>) -> Arc<Ticket> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (newest, same) = match known.tickets.get(&ticket.id) {
            Some((newest, known)) => (*newest, known.upgrade()),
            None => (0, None),
        };
        match same.filter(|same| *same == ticket) {
            Some(same) => same,
            // A reader of a history comes by states that are over.
            None if version < newest => ticket,
            None => {
                known.put(version, &ticket);
                ticket
            }
        }
    }
}

impl Known {
    fn put(&mut self, version: u64, ticket: &Arc<Ticket>) {
        if self.tickets.len() >= self.full.max(LEAST) {
            self.tickets.retain(|_, (_, ticket)| ticket.strong_count() > 0);
            self.full = self.tickets.len() * 2;
        }
        self.tickets
            .insert(ticket.id.clone(), (version, Arc::downgrade(ticket)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticket(n: usize, tries: u32) -> Arc<Ticket> {
        let mut ticket = Ticket::new(TicketId::new(format!("t-{n}")).unwrap());
        ticket.tries = tries;
        ticket.into()
    }

    #[test]
    fn the_same_state_is_shared_and_another_is_not() {
        let interner = Interner::default();
        let first = interner.ticket(1, ticket(1, 0));
        for version in [0, 1] {
            assert!(Arc::ptr_eq(&first, &interner.ticket(version, ticket(1, 0))));
        }
        let second = interner.ticket(2, ticket(1, 1));
        assert_eq!(second.tries, 1);
        // The latest stays known, whatever is read in between.
        assert!(!Arc::ptr_eq(&first, &interner.ticket(1, ticket(1, 0))));
        assert!(Arc::ptr_eq(&second, &interner.ticket(2, ticket(1, 1))));
    }

    #[test]
    fn a_state_that_nobody_holds_is_forgotten() {
        let interner = Interner::default();
        for n in 0..10 * LEAST {
            drop(interner.ticket(1, ticket(n, 0)));
        }
        assert!(interner.0.lock().unwrap().tickets.len() <= LEAST);
    }
}
