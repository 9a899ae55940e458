//! The task mode machine's alphabet.

use super::{Alphabet, fixed};
use crate::attempt::Mode;
use crate::attempt::mode::{Event, Machine};
use crate::machine::{self, Explored, Sample};

/// A description for the page.
pub const ABOUT: &str = "A task mode is the way in which an agent goes about its task: the inside of `working` in the attempt. Every \
    attempt begins in `execute`, but the one after a ticket was broken up: that begins in `unify`, when the tickets for the parts are \
    over. Work that comes back is mended in `execute`.";

/// Every event, with its guards.
#[must_use]
pub fn alphabet() -> Vec<Sample<Event>> {
    let mut all = Alphabet::new();
    for mode in Mode::ALL {
        all.when(mode.name(), Event::Chosen { mode });
    }
    all.event(Event::Delegated)
        .event(Event::ChildrenOver)
        .when("with parts", Event::SaidDone { has_parts: true })
        .when("without parts", Event::SaidDone { has_parts: false })
        .event(Event::Returned);
    all.0
}

/// The machine, explored.
#[must_use]
pub fn explored() -> Explored {
    let first = [false, true].map(Mode::first);
    machine::explore::<Machine>(&first, fixed(alphabet()), |mode| vec![mode.name().to_owned()])
}
