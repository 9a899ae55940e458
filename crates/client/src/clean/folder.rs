//! Removing crew's own folder, which goes at once or not at all, and the folder of the workspaces after it.

use std::io::ErrorKind;
use std::path::Path;

use runtime::Place;

use crate::error::{Doing as _, Error, Result};

/// The name of `.crew` while it is deleted. A part of the folder must not stand under its own name: without
/// the journal, the next journal would take the old runs for its own.
const REMOVED: &str = ".crew.removed";

/// Removes `.crew`, and the remains of an earlier clean that was killed.
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

/// Removes the checkouts of checks, in which there is no work.
pub(super) fn remove_checks(place: &Place) -> Result<()> {
    match place.check_slots_dir() {
        Ok(slots) => delete(&slots),
        // No check can have run where there is no place for one.
        Err(runtime::Error::NoStateDir | runtime::Error::ChecksInside { .. }) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Removes the checkouts of reviews, from which no work is ever taken, and returns the names of
/// their folders. The runs in them have ended.
pub(super) fn remove_reviews(place: &Place) -> Result<Vec<String>> {
    let root = match place.reviews_dir() {
        Ok(root) => root,
        // No review can have run where there is no place for one.
        Err(runtime::Error::NoStateDir | runtime::Error::ChecksInside { .. }) => return Ok(Vec::new()),
        Err(error) => return Err(error.into()),
    };
    let folders = runtime::folders(&root).doing("list", &root)?;
    let names = folders.iter().filter_map(|folder| folder.file_name());
    let names = names.map(|name| name.to_string_lossy().into_owned()).collect();
    delete(&root)?;
    Ok(names)
}

/// Removes the folder that the workspaces stood in, when it is empty. This follows [`remove`]: while crew's
/// own folder names the workspaces' folder, a reader that finds none misses them.
pub(super) fn remove_workspaces(workspaces: &Path) -> Result<()> {
    match std::fs::remove_dir(workspaces) {
        // Files that somebody has put there, and a link to where they want the workspaces, are theirs.
        Err(error) => match error.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::DirectoryNotEmpty => Ok(()),
            _ => Err(error).doing("remove", workspaces),
        },
        Ok(()) => Ok(()),
    }
}

fn delete(removed: &Path) -> Result<()> {
    match git::delete_tree(removed) {
        // A process that a check has started as another user may have written there.
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
