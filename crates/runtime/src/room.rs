//! Room on the disks: a step that could not commit what it makes is paid for in vain, so that none is begun without some.

use std::path::Path;

use crate::hands::Hands;

/// With less than this, nothing new begins. What an agent writes takes more as a rule; this is for crew's own part.
const LEAST: u64 = 4 << 20;

impl Hands {
    /// Where there is no room for a further workspace or step, in words; nothing where there is.
    pub(crate) fn lacks_room(&self) -> Option<String> {
        [
            self.place.crew_dir.as_path(),
            &self.place.runs_dir,
            &self.place.checks_dir,
            &self.workspaces,
            self.repository.common_dir(),
        ]
        .into_iter()
        .find_map(lacks)
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
