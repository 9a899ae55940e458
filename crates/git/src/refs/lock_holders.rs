//! Lock holders: the living processes that may hold a lock file of git's.
//!
//! A git that is about to move a ref has closed the lock's file already, and may stay so for long, in a hook.
//! It is recognised by the repository in which it works.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::Duration;

use crate::processes::{Process, processes, real};
use crate::repository::Repository;

/// Commands that lock no ref, and that people leave running in a pager or as a service.
const READERS: &[&[u8]] = &[
    b"blame",
    b"cat-file",
    b"credential-cache--daemon",
    b"daemon",
    b"diff",
    b"fsmonitor--daemon",
    b"grep",
    b"help",
    b"log",
    b"ls-files",
    b"shortlog",
    b"show",
    b"status",
];
/// The one command by which crew's own children lock refs.
const OWN: &[u8] = b"update-ref";

/// Whether a process that is visible from here may hold this lock, which was first seen when the machine was
/// up for `seen`. Such a process has the file open, or is a git that can lock refs, works in this repository
/// and had started by then. A git in a container or on another host is not visible.
pub(super) fn may_hold(repository: &Repository, lock: &Path, seen: Duration) -> bool {
    let owner = lock.symlink_metadata().map(|meta| meta.uid()).ok();
    let common = real(repository.common_dir());
    let lock = common.join(lock.strip_prefix(repository.common_dir()).unwrap_or(lock));
    processes().any(|process| {
        process.has_open(&lock)
            || (may_lock_refs(&process) && process.had_begun(seen) && process.works_in(&common, owner))
    })
}

fn may_lock_refs(process: &Process) -> bool {
    let words = process.git();
    match words.first() {
        Some(command) if process.is_crews() => command == OWN,
        Some(command) => !READERS.contains(&command.as_slice()),
        None => false,
    }
}
