//! The session machine's alphabet.

use crate::machine::Explored;
use crate::session::{Event, Machine, State};

/// A description for the page.
pub const ABOUT: &str = "A session is the memory of an agent's client under one id, a child of the conversation. A new one is never \
    resumed, a resumed one always existed, and a broken one is replaced, not used again.";

/// All events.
pub const EVENTS: [Event; 4] = [
    Event::FirstMessageSent,
    Event::Suspended,
    Event::Resumed,
    Event::ErrorDetected,
];

/// The machine, explored.
#[must_use]
pub fn explored() -> Explored {
    super::explore_plain::<Machine>(&[State::New], EVENTS)
}
