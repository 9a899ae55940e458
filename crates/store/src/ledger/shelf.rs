//! What is in memory already.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use model::TicketId;
use model::journal::State;
use model::ticket::Ticket;

/// The latest state of each ticket that somebody has: whoever reads the same once more gets that one, and a long queue is in
/// memory once, however many look at it.
#[derive(Clone, Debug, Default)]
pub(super) struct Shelf(Arc<Mutex<Known>>);

#[derive(Debug, Default)]
struct Known {
    /// Each with its stream's version.
    tickets: BTreeMap<TicketId, (u64, Weak<Ticket>)>,
    /// With so many entries, those that nobody has any more are taken out.
    full: usize,
}

/// Fewer entries are not worth a look.
const LEAST: usize = 1000;

impl Shelf {
    /// A stream's state at a version, as somebody has it already.
    pub(super) fn one(&self, version: u64, state: State) -> State {
        match state {
            State::Ticket(ticket) => State::Ticket(self.ticket(version, ticket)),
            State::Project(_) => state,
        }
    }

    /// A ticket at its stream's version (0: of a version that is not known), as somebody has it already.
    pub(super) fn ticket(&self, version: u64, ticket: Arc<Ticket>) -> Arc<Ticket> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (newest, same) = match known.tickets.get(&ticket.id) {
            Some((newest, known)) => (*newest, known.upgrade()),
            None => (0, None),
        };
        match same.filter(|same| *same == ticket) {
            Some(same) => same,
            // Who reads a history comes by what is over.
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
    fn what_somebody_has_is_given_again_and_what_differs_is_not() {
        let shelf = Shelf::default();
        let first = shelf.ticket(1, ticket(1, 0));
        for version in [0, 1] {
            assert!(Arc::ptr_eq(&first, &shelf.ticket(version, ticket(1, 0))));
        }
        let second = shelf.ticket(2, ticket(1, 1));
        assert_eq!(second.tries, 1);
        // The latest is kept, whatever is read in between.
        assert!(!Arc::ptr_eq(&first, &shelf.ticket(1, ticket(1, 0))));
        assert!(Arc::ptr_eq(&second, &shelf.ticket(2, ticket(1, 1))));
    }

    #[test]
    fn what_nobody_has_any_more_is_not_kept() {
        let shelf = Shelf::default();
        for n in 0..10 * LEAST {
            drop(shelf.ticket(1, ticket(n, 0)));
        }
        assert!(shelf.0.lock().unwrap().tickets.len() <= LEAST);
    }
}
