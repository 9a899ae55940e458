//! What the journal's rows hold reads back as it was written, or is refused: it is never half understood.

use std::fmt::Debug;

use model::journal::Fact;
use model::{command, project, ticket, view};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The first byte says what the rest is a record of.
pub(crate) fn check(bytes: &[u8]) {
    let Some((first, record)) = bytes.split_first() else {
        return;
    };
    match first % 7 {
        0 => {
            if let Some(event) = again::<ticket::Event>(record) {
                let _ = view::describe(&Fact::Ticket(event));
            }
        }
        1 => {
            if let Some(event) = again::<project::Event>(record) {
                let _ = view::describe(&Fact::Project(event));
            }
        }
        2 => {
            if let Some(ticket) = again::<ticket::Ticket>(record) {
                let _ = (ticket.state_name(), ticket.is_done());
            }
        }
        3 => {
            again::<project::Project>(record);
        }
        4 => {
            again::<ticket::Effect>(record);
        }
        5 => {
            again::<command::Command>(record);
        }
        _ => {
            again::<command::Outcome>(record);
        }
    }
}

/// The value of a record, if it is one; written and read again, it is the same.
fn again<T: Serialize + DeserializeOwned + PartialEq + Debug>(record: &[u8]) -> Option<T> {
    let value: T = serde_json::from_slice(record).ok()?;
    let written = serde_json::to_string(&value).unwrap_or_else(|error| panic!("{value:?}: {error}"));
    let read: T = serde_json::from_str(&written).unwrap_or_else(|error| panic!("{written}: {error}"));
    assert_eq!(read, value, "{written}");
    Some(value)
}
