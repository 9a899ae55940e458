//! A trial that finds out whether the machine really lacks the disk space or memory that git misses.
//!
//! A message of git's about files holds their names, which an agent chooses, so the words alone prove
//! nothing. A message about objects and refs holds no such name.

use std::fs::File;
use std::path::{Path, PathBuf};

use rustix::fs::StatVfsMountFlags;

use super::call::Call;
use crate::error::{IoContext, Result};

/// Bytes that must be free where git writes, and that the trial writes where no greater need is known.
const LEAST: u64 = 4 << 20;

/// The system's words for having no more of something, as git passes them on in the C locale.
const LACKS: [&str; 10] = [
    "No space left on device",
    "Disk quota exceeded",
    "Read-only file system",
    "Too many open files",
    "Cannot allocate memory",
    "Resource temporarily unavailable",
    "Out of memory",
    // Messages in which git leaves out the system's words.
    "Out of diskspace",
    "unable to write",
    "write error",
];

/// Whether the text contains the system's words for a lack, at any place.
pub(crate) fn may_say_lacking(text: &str) -> bool {
    LACKS.iter().any(|lack| text.contains(lack))
}

/// The places where a call reads and writes.
pub(super) struct Places {
    git_dir: Option<PathBuf>,
    all: Vec<PathBuf>,
    /// Whether the call looks at files, whose names may be in git's messages.
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
    /// Whether a lack that git reports is real. It is when the words cannot be another's, or when nobody
    /// could write there what the call needs: the disk is full or read-only, or a git that stores an object
    /// with a name and content that nobody else chose fails too.
    pub(super) fn is_lacking(&self, places: &Places) -> bool {
        let needs = self.needs.max(LEAST);
        !places.has_files
            || places.all.iter().any(|place| is_full(place, needs))
            || places
                .git_dir
                .as_ref()
                .is_some_and(|git_dir| !matches!(self.store_on_trial(git_dir, needs), Ok(true)))
    }

    /// Stores an object in a temporary store, which is removed again; `git gc` of the user's removes the
    /// folder if this process is killed meanwhile.
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
    // A file that does not exist yet will stand in its folder.
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
