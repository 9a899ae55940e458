//! No progress: work that fails three times in the same way on unchanged input is not paid for again.

use crate::policy::failure::REPEATS;
use crate::ticket::{Fingerprint, Repeat, Ticket};

/// The meaning of this result of the ticket's submitted work: how often it came already, and how often it may
/// still come.
#[must_use]
pub fn repeat(ticket: Option<&Ticket>, of: Fingerprint) -> Repeat {
    let before = ticket.and_then(|t| t.repeat.as_ref());
    let times = before.filter(|before| before.of == of).map_or(0, |b| b.times) + 1;
    Repeat {
        of,
        times,
        left: REPEATS.saturating_sub(times),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Oid, TicketId};

    fn tip(digit: char) -> Fingerprint {
        let tip = Oid::new(String::from(digit).repeat(40)).unwrap();
        Fingerprint::Check {
            which: "make".to_owned(),
            tip,
        }
    }

    #[test]
    fn the_third_of_the_same_is_one_too_many_and_anything_else_begins_anew() {
        let mut ticket = Ticket::new(TicketId::new("t-1").unwrap());
        let mut left = |of: Fingerprint| {
            let repeat = repeat(Some(&ticket), of);
            ticket.repeat = Some(repeat.clone());
            repeat.left
        };
        assert_eq!([left(tip('a')), left(tip('a'))], [2, 1]);
        assert_eq!(left(tip('b')), 2, "another commit");
        assert_eq!(left(Fingerprint::NothingCommitted), 2);
        assert_eq!(
            [tip('b'), tip('b'), tip('b'), tip('b')].map(&mut left),
            [2, 1, 0, 0]
        );
    }
}
