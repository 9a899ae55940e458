//! Whether the machine lacks what git says it lacks, found out by an act of crew's own.
//!
//! What git says holds names of files, which an agent chooses, so its words alone prove nothing.

use std::fs::File;
use std::path::{Path, PathBuf};

use rustix::fs::StatVfsMountFlags;

use super::Call;
use crate::error::{IoContext, Result};

/// Bytes that are written on trial, and that must be free where git writes.
const LEAST: u64 = 4 << 20;

/// What the system says when it has no more of something, as git (in the C locale) passes it on.
const LACKS: [&str; 10] = [
    "No space left on device",
    "Disk quota exceeded",
    "Read-only file system",
    "Too many open files",
    "Cannot allocate memory",
    "Resource temporarily unavailable",
    "Out of memory",
    // Where git leaves out what the system said.
    "Out of diskspace",
    "unable to write",
    "write error",
];

/// Whether the system's words for a lack are in it, wherever.
pub(super) fn may_say_lacking(stderr: &str) -> bool {
    LACKS.iter().any(|lack| stderr.contains(lack))
}

/// Where a call reads and writes.
pub(super) struct Places {
    git_dir: Option<PathBuf>,
    all: Vec<PathBuf>,
}

impl Places {
    pub(super) fn of(call: &Call) -> Self {
        let value = |name: &str| {
            let (_, value) = call.env.iter().rfind(|(known, _)| *known == name)?;
            Some(PathBuf::from(value))
        };
        let git_dir = value("GIT_DIR");
        let others = ["GIT_INDEX_FILE", "GIT_WORK_TREE"].into_iter().filter_map(value);
        Self {
            all: git_dir.iter().cloned().chain(others).collect(),
            git_dir,
        }
    }
}

impl Call {
    /// Whether nothing can be written there now, whoever tries: the disk is full or read-only, or a git that stores an object
    /// whose name and content nobody else chose fails too.
    pub(super) fn is_lacking(&self, places: &Places) -> bool {
        places.all.iter().any(|place| is_full(place))
            || places
                .git_dir
                .as_ref()
                .is_some_and(|git_dir| !matches!(self.store_on_trial(git_dir), Ok(true)))
    }

    /// Stores an object in a store of its own, which is taken away again; a gc of the user's knows the name should this be killed.
    fn store_on_trial(&self, git_dir: &Path) -> Result<bool> {
        let objects = git_dir.join("objects");
        let beside = if objects.is_dir() { &objects } else { git_dir };
        let store = tempfile::Builder::new()
            .prefix("tmp_objdir-crew-")
            .tempdir_in(beside)
            .doing("make in", beside)?;
        let content = rustix::fs::memfd_create("crew-git-trial", rustix::fs::MemfdFlags::CLOEXEC)
            .map(File::from)
            .doing("make", "crew-git-trial")?;
        content.set_len(LEAST).doing("make", "crew-git-trial")?;
        let stored = self
            .git
            .call("hash-object")
            .git_dir(git_dir)
            .env("GIT_OBJECT_DIRECTORY", store.path())
            .config("core.looseCompression=0")
            .args(["-w", "--stdin"])
            .input_file(content)
            .carry_out(&mut |_| Ok(()))?;
        Ok(stored.code == Some(0))
    }
}

fn is_full(place: &Path) -> bool {
    // A file that is still to be made stands where its folder does.
    let Some(stat) = place
        .ancestors()
        .find_map(|folder| rustix::fs::statvfs(folder).ok())
    else {
        return false;
    };
    let free = stat.f_bavail.saturating_mul(stat.f_frsize);
    (free < LEAST && stat.f_blocks > 0) || stat.f_flag.contains(StatVfsMountFlags::RDONLY)
}
