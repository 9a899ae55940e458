//! Target `records`: a record of the journal reads back as it was written, or is refused as a whole.

use std::fmt::Debug;

use model::journal::Fact;
use model::{command, project, ticket, view};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The first byte selects the type of the record, which is the rest.
pub(crate) fn check(bytes: &[u8]) {
    let Some((first, record)) = bytes.split_first() else {
        return;
    };
    match first % 7 {
        0 => {
            if let Some(event) = round_trip::<ticket::Event>(record) {
                let _ = view::describe(&Fact::Ticket(event));
            }
        }
        1 => {
            if let Some(event) = round_trip::<project::Event>(record) {
                let _ = view::describe(&Fact::Project(event));
            }
        }
        2 => {
            if let Some(ticket) = round_trip::<ticket::Ticket>(record) {
                let _ = (ticket.state_name(), ticket.is_done());
            }
        }
        3 => {
            round_trip::<project::Project>(record);
        }
        4 => {
            round_trip::<ticket::Effect>(record);
        }
        5 => {
            round_trip::<command::Command>(record);
        }
        _ => {
            round_trip::<command::Outcome>(record);
        }
    }
}

/// Parses a record; `None` when it is not valid. Panics unless the value, written and read again, is the
/// same.
fn round_trip<T: Serialize + DeserializeOwned + PartialEq + Debug>(record: &[u8]) -> Option<T> {
    let value: T = serde_json::from_slice(record).ok()?;
    let written = serde_json::to_string(&value).unwrap_or_else(|error| panic!("{value:?}: {error}"));
    let read: T = serde_json::from_str(&written).unwrap_or_else(|error| panic!("{written}: {error}"));
    assert_eq!(read, value, "{written}");
    Some(value)
}
