//! The dispatcher's failpoints: each decision before and after it is durable, each effect before and after it
//! is performed.

use model::journal::Write;
use model::ticket::Effect;

use crate::timing;

/// The names of what was decided, in order; none where nobody could die of it.
pub(crate) fn decided(writes: &[Write]) -> Vec<&'static str> {
    match failpoint::ARMED {
        true => writes
            .iter()
            .flat_map(|write| &write.entries)
            .map(|entry| entry.fact.name())
            .collect(),
        false => Vec::new(),
    }
}

/// An effect's turn has come: `begun`, or it was `performed`.
pub(crate) fn effect(when: &str, effect: &Effect) {
    failpoint::hit_each(when, || std::iter::once(timing::name(effect)));
}
