//! The one place of the program that reads the clock, and where ids are minted.

use model::Time;

/// The present time.
pub fn now() -> Time {
    Time(jiff::Timestamp::now().as_millisecond())
}

/// An id for a command: unique, and in the order of time.
pub fn command_id() -> String {
    #[expect(
        clippy::disallowed_methods,
        reason = "the face is the edge where commands begin"
    )]
    let id = uuid::Uuid::now_v7();
    id.to_string()
}
