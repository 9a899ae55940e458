//! Room on the disks: a step that could not commit what it makes is paid for in vain, so that none is begun without some.

use std::path::{Path, PathBuf};

use model::settings::Settings;

use crate::Place;
use crate::hands::Hands;

/// With less than this, nothing new begins. What an agent writes takes more as a rule; this is for crew's own part.
const LEAST: u64 = 4 << 20;

impl Place {
    /// Where there is no room for a further workspace or step, in words; nothing where there is.
    #[must_use]
    pub fn lacks_room(&self, settings: &Settings) -> Option<String> {
        self.lacks_room_with(self.workspaces_dir(settings).ok().as_ref())
    }

    /// Why no ticket's file can be written now, in words; nothing where they can, or where there is no folder of them.
    #[must_use]
    pub fn refuses_files(&self) -> Option<String> {
        let folder = tickets::Folder::at(&self.tickets_dir).ok()?;
        folder.refuses().map(|error| text::whole(&error))
    }

    fn lacks_room_with(&self, workspaces: Option<&PathBuf>) -> Option<String> {
        [
            self.crew_dir.as_path(),
            &self.runs_dir,
            &self.checks_dir,
            self.repository.common_dir(),
        ]
        .into_iter()
        .chain(workspaces.map(PathBuf::as_path))
        .find_map(lacks)
    }
}

impl Hands {
    /// As [`Place::lacks_room`] says, with the folder that the workspaces of this engine stand in.
    pub(crate) fn lacks_room(&self) -> Option<String> {
        self.place.lacks_room_with(Some(&self.workspaces))
    }
}

fn lacks(place: &Path) -> Option<String> {
    // A folder that is still to be made stands where its parent does.
    let place = place.ancestors().find(|folder| folder.exists())?;
    let stat = rustix::fs::statvfs(place).ok()?;
    let free = stat.f_bavail.saturating_mul(stat.f_frsize);
    (free < LEAST && stat.f_blocks > 0).then(|| {
        format!(
            "no room where {} stands: nothing new begins with less than {} MiB free",
            place.display(),
            LEAST >> 20
        )
    })
}
