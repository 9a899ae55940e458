//! The notifications: the programs of a person's `notify.toml` that fail, as the notifier has noted it.

use client::notifications::Health;
use runtime::Place;

use crate::{Area, Finding};

/// Names the programs that fail. Nothing is started for that.
pub(super) fn look(place: &Place, found: &mut Vec<Finding>) {
    let words = Health::of(place).unwrap_or_default().words().into_iter();
    found.extend(words.map(|(says, hint)| Finding::wrong(Area::Settings, says, hint)));
}
