//! The commitment machine's alphabet.

use crate::commitment::{Event, Machine, State};
use crate::machine::Explored;

/// A description for the page.
pub const ABOUT: &str = "A commitment is one promise about a ticket's work, with the command that proves it. It is \
    verified outside the agent's session, on the ticket's own candidate, after the checks have passed.";

/// All events.
pub const EVENTS: [Event; 5] = [
    Event::Started,
    Event::Passed,
    Event::Failed,
    Event::Interrupted,
    Event::Reset,
];

/// The machine, explored.
#[must_use]
pub fn explored() -> Explored {
    super::explore_plain::<Machine>(&[State::Pending], EVENTS)
}
