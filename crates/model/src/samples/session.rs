//! The session machine's alphabet.

use crate::machine::Explored;
use crate::session::{Event, Machine, State};

/// What it is.
pub const ABOUT: &str = "A session is one conversation with an agent's client, a child of the attempt. A new one is never \
    resumed, a resumed one always existed, and a broken one is replaced, not used again.";

/// Every event.
pub const EVENTS: [Event; 5] = [
    Event::FirstMessageSent,
    Event::Suspended,
    Event::Resumed,
    Event::ErrorDetected,
    Event::Closed,
];

/// The machine, explored.
#[must_use]
pub fn explored() -> Explored {
    super::explore_plain::<Machine>(&[State::New], EVENTS)
}
