//! Crew's own folder, which goes at once or not at all, and the folder of the workspaces, which goes after it.

use std::io::ErrorKind;
use std::path::Path;

use runtime::Place;

use crate::error::{Doing as _, Error, Result};

/// What `.crew` is called while it is deleted. A part of it must not stand under its own name: without the journal, the next one
/// would take the old runs for its own.
const REMOVED: &str = ".crew.removed";

/// Removes `.crew`, and what an earlier clean that was killed has left of one.
pub(super) fn remove(place: &Place) -> Result<()> {
    let removed = place.root.join(REMOVED);
    delete(&removed)?;
    if place.crew_dir.symlink_metadata().is_err() {
        return Ok(());
    }
    place.repository.exclude(&[&format!("{REMOVED}/")])?;
    match std::fs::rename(&place.crew_dir, &removed) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error).doing("rename", &place.crew_dir),
        Ok(()) | Err(_) => {
            failpoint::hit("clean.renamed");
            delete(&removed)
        }
    }
}

/// Removes the folder that the workspaces stood in, when nothing is in it. After [`remove`]: where crew's own folder says that they
/// stand, whoever finds none misses them.
pub(super) fn remove_workspaces(workspaces: &Path) -> Result<()> {
    match std::fs::remove_dir(workspaces) {
        // What somebody has put there, and a link to where they want the workspaces, is theirs.
        Err(error) => match error.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::DirectoryNotEmpty => Ok(()),
            _ => Err(error).doing("remove", workspaces),
        },
        Ok(()) => Ok(()),
    }
}

fn delete(removed: &Path) -> Result<()> {
    match git::delete_tree(removed) {
        // What a check has started as another user may have written there.
        Err(git::Error::Io { source, path, .. }) if source.kind() == ErrorKind::PermissionDenied => {
            Err(Error::refused(
                format!("cannot remove {}: {}", path.display(), text::os_message(&source)),
                format!(
                    "delete it, then clean again: {}",
                    runtime::undeletable::delete(removed)
                ),
            ))
        }
        deleted => Ok(deleted?),
    }
}
