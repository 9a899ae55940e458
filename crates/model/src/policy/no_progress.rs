//! No progress: work that fails three times in the same way on unchanged input is not paid for again.

use crate::policy::failure::REPEATS;
use crate::ticket::{Again, Same, Ticket};

/// What it means that this came of the ticket's submitted work: how often it was so already, and how often it may still be.
#[must_use]
pub fn again(ticket: Option<&Ticket>, of: Same) -> Again {
    let before = ticket.and_then(|t| t.again.as_ref());
    let times = before.filter(|before| before.of == of).map_or(0, |b| b.times) + 1;
    Again {
        of,
        times,
        left: REPEATS.saturating_sub(times),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Oid, TicketId};

    fn tip(digit: char) -> Same {
        let tip = Oid::new(String::from(digit).repeat(40)).unwrap();
        Same::Check {
            which: "make".to_owned(),
            tip,
        }
    }

    #[test]
    fn the_third_of_the_same_is_one_too_many_and_anything_else_begins_anew() {
        let mut ticket = Ticket::new(TicketId::new("t-1").unwrap());
        let mut left = |of: Same| {
            let again = again(Some(&ticket), of);
            ticket.again = Some(again.clone());
            again.left
        };
        assert_eq!([left(tip('a')), left(tip('a'))], [2, 1]);
        assert_eq!(left(tip('b')), 2, "another commit");
        assert_eq!(left(Same::NothingCommitted), 2);
        assert_eq!(
            [tip('b'), tip('b'), tip('b'), tip('b')].map(&mut left),
            [2, 1, 0, 0]
        );
    }
}
