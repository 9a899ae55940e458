//! The ticket folder's identity: whether the folder is still the one that an engine has seen.
//!
//! Files that vanished with their folder were not deleted one by one, also where somebody has made a folder
//! of that name again.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use super::origins::AFTERMATH;
use crate::Place;
use crate::clock::Stopwatch;

/// The file in crew's folder with the identity of the ticket folder that an engine accepted last.
const FILE: &str = "ticket-folder";

pub(super) struct Identity {
    dir: PathBuf,
    file: PathBuf,
    accepted: Option<String>,
    /// The identity of another folder that stands there now, and the time since it was noticed.
    replacement: Option<(String, Stopwatch)>,
}

impl Identity {
    pub(super) fn new(place: &Place) -> Self {
        let file = place.crew_dir.join(FILE);
        Self {
            dir: place.tickets_dir.clone(),
            accepted: std::fs::read_to_string(&file).ok(),
            file,
            replacement: None,
        }
    }

    /// Looks at the folder. A replacement is accepted once the core has had the time to record what is
    /// missing in it: an engine that is killed before leaves that to the next one.
    pub(super) fn look(&mut self) {
        let Some(now) = identity(&self.dir) else { return };
        if self.accepted.as_ref() == Some(&now) {
            self.replacement = None;
            return;
        }
        let since = self.replacement.as_ref().filter(|(seen, _)| *seen == now);
        let is_over = since.is_some_and(|(_, since)| since.elapsed() >= AFTERMATH);
        if self.accepted.is_none() || is_over {
            // Without the file, the next engine takes the folder as it is.
            if let Err(error) = std::fs::write(&self.file, &now) {
                tracing::debug!(%error, "the identity of the ticket folder is not kept");
            }
            (self.accepted, self.replacement) = (Some(now), None);
        } else if since.is_none() {
            self.replacement = Some((now, Stopwatch::start()));
        }
    }

    /// Whether the folder has replaced another one a moment ago, or since the last engine.
    pub(super) fn is_replaced(&self) -> bool {
        self.replacement.is_some()
    }
}

/// The number of the folder and the time at which it was made: a number alone is given out again.
fn identity(dir: &Path) -> Option<String> {
    let folder = std::fs::metadata(dir).ok().filter(std::fs::Metadata::is_dir)?;
    let made = folder.created().ok();
    let made = made.and_then(|made| made.duration_since(UNIX_EPOCH).ok());
    let made = made.map(|made| made.as_nanos()).unwrap_or_default();
    Some(format!("{} {made}\n", folder.ino()))
}
