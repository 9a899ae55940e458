//! Runs of a copied directory: their processes belong to the directory that was copied.
//!
//! A copy of a repository has the records of its runs too, and the processes that they name live. What tells
//! the two directories apart is the shim: it works in the directory of its run from its beginning to its end,
//! under whatever path that directory is, and never in a copy of it.

use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;

use crate::error::{Error, Result};
use crate::files;
use crate::linux;
use crate::record::Started;
use crate::run::{RUN_DIR, Run};
use crate::spec::Kept;
use crate::sweep::readable;

impl Run {
    /// The directory that the living shim of this run works in, where that is another than this one: this
    /// one is a copy of it, and nothing that the shim has started belongs here. `None` where the shim is
    /// this directory's own or dead, and where the other directory was removed.
    pub fn elsewhere(&self) -> Result<Option<PathBuf>> {
        let started: Option<Started> = readable(files::read(self.dir(), files::SHIM))?;
        let Some(Started { shim, .. }) = started else {
            return Ok(None);
        };
        let lives = shim.open().map_err(Error::system("look for a shim"))?.is_some();
        let other = other_directory(shim.pid, own_directory(self));
        Ok(other
            .filter(|_| lives)
            .map(|path| fs::read_link(&path).unwrap_or(path)))
    }

    /// A descriptor of the shim, as long as it lives and is this directory's own.
    pub(crate) fn own_shim(&self, started: &Started) -> Result<Option<OwnedFd>> {
        let shim = started.shim.open().map_err(Error::system("look for a shim"))?;
        // Looked at after the descriptor is held: the number is still the shim's.
        let is_own = |_: &OwnedFd| other_directory(started.shim.pid, own_directory(self)).is_none();
        Ok(shim.filter(is_own))
    }
}

/// The shims that hold a run of the same id in another directory.
pub(crate) struct Others {
    run_id: String,
    /// The directory that is not another one: device and inode. None where nobody can look at it, and nothing
    /// can be proved to belong to it.
    own: Option<Directory>,
}

impl Others {
    pub(crate) fn of(run: &Run, run_id: String) -> Self {
        Self {
            run_id,
            own: own_directory(run),
        }
    }

    /// Whether a living process is such a shim.
    pub(crate) fn are_held_by(&self, pid: u32) -> bool {
        let names_the_run = |works_in: &PathBuf| {
            let spec: Result<Option<Kept>> = files::read(works_in, files::SPEC);
            matches!(spec, Ok(Some(spec)) if spec.run_id == self.run_id)
        };
        linux::has_variable(pid, RUN_DIR, None)
            && other_directory(pid, self.own).is_some_and(|works_in| names_the_run(&works_in))
    }
}

/// A directory, whatever its path is: device and inode.
type Directory = (u64, u64);

fn own_directory(run: &Run) -> Option<Directory> {
    let meta = run.dir().metadata().ok()?;
    Some((meta.dev(), meta.ino()))
}

/// A path to the directory that a process works in, if that is another than `own` and still there. Who
/// removes a directory in which a run is held gives up the run, and a copy may have taken its place.
fn other_directory(pid: u32, own: Option<Directory>) -> Option<PathBuf> {
    let works_in = linux::working_directory(pid);
    let meta = works_in.metadata().ok().filter(|meta| meta.nlink() > 0)?;
    (own != Some((meta.dev(), meta.ino()))).then_some(works_in)
}
