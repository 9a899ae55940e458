//! Whether the machine lacks what git says it lacks, found out by an act of crew's own.
//!
//! What git says of files holds their names, which an agent chooses, so its words alone prove nothing there. What it says of objects
//! and refs holds none.

use std::fs::File;
use std::path::{Path, PathBuf};

use rustix::fs::StatVfsMountFlags;

use super::call::Call;
use crate::error::{IoContext, Result};

/// Bytes that must be free where git writes, and that are written on trial where no more is known to be needed.
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
pub(crate) fn may_say_lacking(text: &str) -> bool {
    LACKS.iter().any(|lack| text.contains(lack))
}

/// Where a call reads and writes.
pub(super) struct Places {
    git_dir: Option<PathBuf>,
    all: Vec<PathBuf>,
    /// Whether it looks at files, whose names may be in what git says.
    has_files: bool,
}

impl Places {
    pub(super) fn of(call: &Call) -> Self {
        let value = |name: &str| {
            let (_, value) = call.env.iter().rfind(|(known, _)| *known == name)?;
            Some(PathBuf::from(value))
        };
        let git_dir = value("GIT_DIR");
        let others: Vec<PathBuf> = ["GIT_INDEX_FILE", "GIT_WORK_TREE"]
            .into_iter()
            .filter_map(value)
            .collect();
        Self {
            has_files: !others.is_empty(),
            all: git_dir.iter().cloned().chain(others).collect(),
            git_dir,
        }
    }
}

impl Call {
    /// Whether it is so when git says that something lacks: its words cannot be another's, or what it needs cannot be written there
    /// now, whoever tries: the disk is full or read-only, or a git that stores an object whose name and content nobody else chose
    /// fails too.
    pub(super) fn is_lacking(&self, places: &Places) -> bool {
        let needs = self.needs.max(LEAST);
        !places.has_files
            || places.all.iter().any(|place| is_full(place, needs))
            || places
                .git_dir
                .as_ref()
                .is_some_and(|git_dir| !matches!(self.store_on_trial(git_dir, needs), Ok(true)))
    }

    /// Stores an object in a store of its own, which is taken away again; a gc of the user's knows the name should this be killed.
    fn store_on_trial(&self, git_dir: &Path, bytes: u64) -> Result<bool> {
        let objects = git_dir.join("objects");
        let beside = if objects.is_dir() { &objects } else { git_dir };
        let store = tempfile::Builder::new()
            .prefix("tmp_objdir-crew-")
            .tempdir_in(beside)
            .doing("make in", beside)?;
        let content = rustix::fs::memfd_create("crew-git-trial", rustix::fs::MemfdFlags::CLOEXEC)
            .map(File::from)
            .doing("make", "crew-git-trial")?;
        content.set_len(bytes).doing("make", "crew-git-trial")?;
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

fn is_full(place: &Path, needs: u64) -> bool {
    // A file that is still to be made stands where its folder does.
    let Some(stat) = place
        .ancestors()
        .find_map(|folder| rustix::fs::statvfs(folder).ok())
    else {
        return false;
    };
    let free = stat.f_bavail.saturating_mul(stat.f_frsize);
    (free < needs && stat.f_blocks > 0)
        || (stat.f_favail == 0 && stat.f_files > 0)
        || stat.f_flag.contains(StatVfsMountFlags::RDONLY)
}
