//! The preflight: refuse to start work when a disk is full, or when a folder that crew writes in cannot be
//! written. The agent could not commit its work, and the step would be paid for nothing.

use std::path::{Path, PathBuf};

use model::settings::Settings;
use rustix::fs::{Access, AtFlags, CWD, accessat};
use rustix::io::Errno;

use crate::executor::Executor;
use crate::{Error, Place, Result};

/// With fewer bytes free than this, nothing new begins. An agent's work takes more as a rule; this is for
/// crew's own part.
const LEAST: u64 = 4 << 20;

/// Where git writes, below its folder, and where crew's refs go.
const OF_GIT: [&str; 9] = [
    "objects",
    "objects/pack",
    "refs",
    "refs/heads",
    "refs/heads/agent",
    "refs/crew",
    "refs/crew/base",
    "refs/crew/candidate",
    "reftable",
];

impl Place {
    /// The reason why nothing new can begin here, in words: a disk is full, or a folder cannot be written.
    /// Nothing where work can begin.
    #[must_use]
    pub fn refuses_work(&self, settings: &Settings) -> Option<String> {
        self.refuses_work_with(self.workspaces_dir(settings).ok().as_ref())
    }

    /// The reason why no ticket's file can be written now, in words; nothing where files can be written, or
    /// where crew has not begun.
    #[must_use]
    pub fn refuses_files(&self) -> Option<String> {
        if !self.tickets_dir.exists() && self.journal.exists() {
            let folder = self.tickets_dir.display();
            return Some(format!("the ticket folder {folder} is not there"));
        }
        let folder = tickets::Folder::at(&self.tickets_dir).ok()?;
        folder
            .check_writable()
            .err()
            .map(|error| text::with_causes(&error))
    }

    fn refuses_work_with(&self, workspaces: Option<&PathBuf>) -> Option<String> {
        let git = self.repository.common_dir();
        let of_git = OF_GIT.map(|folder| git.join(folder));
        let slots = self.check_slots_dir().ok();
        let places = [self.runs_dir.as_path(), &self.checks_dir, git]
            .into_iter()
            .chain(slots.as_deref())
            .chain(of_git.iter().map(PathBuf::as_path))
            .chain(workspaces.map(PathBuf::as_path));
        // A user who may not write in crew's own folder only looks; the engine may have other rights.
        let looks_only = refusal(&self.crew_dir).is_some();
        std::iter::once(self.crew_dir.as_path())
            .chain(places)
            .find_map(|place| full(place).or_else(|| refusal(place).filter(|_| !looks_only)))
    }
}

impl Executor {
    /// As [`Place::refuses_work`] says, with the folder that the workspaces of this engine stand in.
    pub(crate) fn refuses_work(&self) -> Option<String> {
        self.place.refuses_work_with(Some(&self.workspaces))
    }
}

/// The folder itself; for a folder that is still to be made, its nearest parent that is there. A reftable has
/// a file in the place of a folder.
fn standing(place: &Path) -> Option<&Path> {
    place.ancestors().find(|folder| folder.is_dir())
}

/// Why crew may not write in a folder, as whom it acts and not as whom it was started.
fn refusal(place: &Path) -> Option<String> {
    let place = standing(place)?;
    let writes = Access::WRITE_OK | Access::EXEC_OK;
    let Err(why @ (Errno::ACCESS | Errno::PERM | Errno::ROFS)) =
        accessat(CWD, place, writes, AtFlags::EACCESS)
    else {
        return None;
    };
    Some(format!(
        "{} cannot be written ({}): nothing new begins before it can",
        place.display(),
        text::os_message(&why.into())
    ))
}

/// Refuses a start without a folder for temporary files: merging needs one, and so do most agents and checks.
/// It comes from the environment, which does not change while the engine runs.
pub(crate) fn temporary_folder() -> Result<()> {
    let path = std::env::temp_dir();
    if path.is_dir() && refusal(&path).is_none() {
        return Ok(());
    }
    Err(Error::NoTemporaryFolder { path })
}

fn full(place: &Path) -> Option<String> {
    let place = standing(place)?;
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
