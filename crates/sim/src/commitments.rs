//! Commitments: which tickets list one, and whether work meets it.

use model::commitment::Promise;
use model::ticket::CheckCommand;
use model::{Oid, TicketId};

/// The command of every commitment.
pub(crate) const COMMAND: &str = "test -e promised";

/// The commitments that a ticket's file lists: every third ticket of a person's has one.
pub(crate) fn of(id: &TicketId) -> Vec<Promise> {
    let number = id
        .as_str()
        .strip_prefix("t-")
        .and_then(|number| number.parse::<u32>().ok());
    let digits = number.iter().flat_map(|number| [number / 10, number % 10]);
    let has_one = number.is_some() && digits.sum::<u32>().is_multiple_of(3);
    let promise = || Promise {
        says: "it is there".to_owned(),
        run: Some(CheckCommand::Shell(COMMAND.to_owned())),
    };
    has_one.then(promise).into_iter().collect()
}

/// Whether the work at this tip meets it: about every third tip does not, so that an agent often has to come
/// back with another one.
pub(crate) fn is_met(tip: &Oid) -> bool {
    let last = tip.as_str().chars().last().and_then(|c| c.to_digit(16));
    last.is_some_and(|digit| digit >= 5)
}
