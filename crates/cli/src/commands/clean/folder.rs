//! Crew's own folder, which goes at once or not at all.

use std::io::ErrorKind;

use runtime::Place;

use crate::error::{Doing as _, Result};

/// What `.crew` is called while it is deleted. A part of it must not stand under its own name: without the journal, the next one
/// would take the old runs for its own.
const REMOVED: &str = ".crew.removed";

/// Removes `.crew`, and what an earlier clean that was killed has left of one.
pub(super) fn remove(place: &Place) -> Result<()> {
    let removed = place.root.join(REMOVED);
    git::delete_tree(&removed)?;
    if place.crew_dir.symlink_metadata().is_err() {
        return Ok(());
    }
    place.repository.exclude(&[&format!("{REMOVED}/")])?;
    match std::fs::rename(&place.crew_dir, &removed) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error).doing("rename", &place.crew_dir),
        Ok(()) | Err(_) => {
            crash::point("clean.renamed");
            Ok(git::delete_tree(&removed)?)
        }
    }
}
