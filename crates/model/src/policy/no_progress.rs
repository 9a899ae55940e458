//! No progress: work that fails three times in the same way on unchanged input is not paid for again.

use crate::policy::failure::REPEATS;
use crate::ticket::{Fingerprint, Repeat, Ticket};

/// The meaning of this result of the ticket's submitted work: how often it came already, and how often it may
/// still come.
#[must_use]
pub fn repeat(ticket: Option<&Ticket>, of: Fingerprint) -> Repeat {
    again(ticket.and_then(|t| t.repeat.as_ref()), of)
}

/// What it means that this came after `before`.
#[must_use]
pub fn again(before: Option<&Repeat>, of: Fingerprint) -> Repeat {
    let times = before
        .filter(|before| before.of.is_same(&of))
        .map_or(0, |b| b.times)
        + 1;
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

    #[test]
    fn a_step_that_says_the_same_with_other_numbers_is_the_same() {
        let step = |workspace: &str, words: &str| Fingerprint::Step {
            workspace: workspace.to_owned(),
            words: words.to_owned(),
        };
        let first = again(None, step("a", "nothing to do, took 12ms at 10:00:01"));
        let second = again(Some(&first), step("a", "nothing to do, took 7ms at 10:02:44"));
        assert_eq!((second.times, second.left), (2, 1));
        let other = again(Some(&second), step("a", "something to do, took 7ms at 10:02:44"));
        assert_eq!(other.times, 1, "other words");
        let changed = again(Some(&second), step("b", "nothing to do, took 7ms at 10:02:44"));
        assert_eq!(changed.times, 1, "other files");
    }
}
