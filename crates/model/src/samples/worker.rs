//! The worker machine's alphabet.

use crate::machine::Explored;
use crate::worker::{Event, Machine, State};

/// A description for the page.
pub const ABOUT: &str = "A worker is the process of one step, a child of the conversation. Its end counts once, and \
    only for its conversation.";

/// All events.
pub const EVENTS: [Event; 4] = [Event::Spawned, Event::Exited, Event::Failed, Event::Killed];

/// The machine, explored.
#[must_use]
pub fn explored() -> Explored {
    super::explore_plain::<Machine>(&[State::Spawning], EVENTS)
}
