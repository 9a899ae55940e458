//! Locks of refs that a killed git left behind.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::lock_holders;
use crate::clock::{self, Since};
use crate::error::Result;
use crate::repository::Repository;
use crate::repository::lock::{Lock, PACKED};
use crate::repository::seen::Version;

/// A lock that is older than crew's own lock of the repository is most likely of a git that was killed with
/// the last engine. A git that no look can find (in a container, on another host) has released its lock after
/// this long.
const STALE_FROM_BEFORE: Duration = Duration::from_secs(2);
/// A younger lock may be of a child of crew's that ran into its deadline.
const STALE: Duration = Duration::from_secs(10);
/// Packing takes longer the more refs there are. crew's own gits pack none, so this is not for a lock that
/// one of them left behind.
const STALE_PACKING: Duration = Duration::from_mins(1);
/// The interval between two looks at a lock that is waited for.
const LOOK_EVERY: Duration = Duration::from_millis(50);

const HEAD: &str = "HEAD.lock";

/// The result of a look at a lock file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Look {
    /// There is no lock, or none that may be removed from here.
    Nothing,
    /// The lock is not known to have stood there for long enough.
    Young,
    /// A living process may hold the lock.
    Held,
    /// The lock was a dead git's, and was removed.
    Cleared,
}

impl Repository {
    /// Removes the lock of a ref that does not exist any more. A git that was killed as it deleted the ref
    /// leaves that lock, and nothing would come by it again. Waits until the lock is old enough to be a dead
    /// git's; one that does not get so old is held by somebody.
    pub(crate) fn clear_lock_of_gone(&self, name: &str) -> Result<()> {
        let [lock, ..] = self.ref_locks(name);
        self.wait_for_lock(&lock, 2 * STALE)
    }

    /// Removes the locks that an earlier engine's git has left and that keep the user's git from its work:
    /// that of HEAD, of a git that was killed as it moved the branch that HEAD names, and that of the packed
    /// refs, of a git that was killed as it deleted a ref. For start-up. Waits until they are old enough to
    /// be a dead git's, and not at all for a lock that somebody may hold. Does nothing without the
    /// repository's lock.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io) if a lock could not be removed.
    pub fn release_locks(&self) -> Result<()> {
        let release = |name| {
            let lock = self.common_dir().join(name);
            if self.is_left(&lock) {
                self.wait_for_lock(&lock, 2 * STALE_FROM_BEFORE)?;
            }
            Ok(())
        };
        // A lock that cannot be removed does not keep the other one.
        release(HEAD).and(release(PACKED))
    }

    fn wait_for_lock(&self, lock: &Path, for_long: Duration) -> Result<()> {
        let begun = Since::now();
        while self.clear_if_stale(lock)? == Look::Young && begun.elapsed() < for_long {
            clock::pause(LOOK_EVERY);
        }
        Ok(())
    }

    pub(super) fn ref_locks(&self, name: &str) -> [PathBuf; 4] {
        let common = self.common_dir();
        [
            format!("{name}.lock"),
            // git takes this lock too when it moves the branch that HEAD names, because it writes HEAD's log.
            HEAD.to_owned(),
            PACKED.to_owned(),
            "reftable/tables.list.lock".to_owned(),
        ]
        .map(|file| common.join(file))
    }

    /// Removes stale lock files of a ref; only the holder of the repository's lock may do so.
    pub(super) fn clear_stale_locks(&self, name: &str) -> Result<bool> {
        let mut cleared = false;
        for path in self.ref_locks(name) {
            cleared |= self.clear_if_stale(&path)? == Look::Cleared;
        }
        Ok(cleared)
    }

    /// Waits for locks that are older than crew's own to be old enough: a git that was killed with an engine
    /// releases none. Returns whether it is worth trying again.
    pub(super) fn wait_for_locks(&self, name: &str) -> Result<bool> {
        let begun = Since::now();
        loop {
            let (mut stands, mut is_near) = (false, false);
            for lock in self.ref_locks(name) {
                let look = self.clear_if_stale(&lock)?;
                if look == Look::Cleared {
                    return Ok(true);
                }
                stands |= lock.exists();
                is_near |= look == Look::Young && self.is_left(&lock);
            }
            if !stands {
                return Ok(true);
            }
            if !is_near || begun.elapsed() > 2 * STALE_FROM_BEFORE {
                return Ok(false);
            }
            clock::pause(LOOK_EVERY);
        }
    }

    /// Whether a lock is most likely that of a git which died with an earlier engine.
    fn is_left(&self, lock: &Path) -> bool {
        self.lock().is_some_and(|held| is_left(held, lock))
    }

    /// Removes a lock that stood there unchanged for long and that no living process can hold, as far as can
    /// be found out.
    fn clear_if_stale(&self, path: &Path) -> Result<Look> {
        let Some(held) = self.lock() else {
            return Ok(Look::Nothing);
        };
        let Some(version) = version(path) else {
            held.seen().forget(path);
            if path.ends_with(PACKED) {
                held.is_cleared();
            }
            return Ok(Look::Nothing);
        };
        let stale_after = if is_left(held, path) {
            STALE_FROM_BEFORE
        } else if path.ends_with(PACKED) {
            STALE_PACKING
        } else {
            STALE
        };
        let first = held.seen().first(path, version);
        let Some(first) = first.filter(|first| first.since.elapsed() >= stale_after) else {
            return Ok(Look::Young);
        };
        // The process that made the lock was there before the lock was seen, and before this look at all
        // living processes.
        if lock_holders::may_hold(self, path, first.uptime) {
            return Ok(Look::Held);
        }
        if self::version(path) != Some(version) {
            return Ok(Look::Young);
        }
        crate::files::atomic_write::remove_if_there(path)?;
        held.seen().forget(path);
        if path.ends_with(PACKED) {
            held.is_cleared();
        }
        failpoint::hit("recover.lock_cleared");
        Ok(Look::Cleared)
    }
}

fn is_left(held: &Lock, path: &Path) -> bool {
    let modified = path.symlink_metadata().and_then(|meta| meta.modified());
    let is_from_before = modified.is_ok_and(|modified| modified < held.taken());
    is_from_before && (!path.ends_with(PACKED) || held.left_deleting())
}

fn version(path: &Path) -> Option<Version> {
    let meta = path.symlink_metadata().ok()?;
    Some((meta.ino(), meta.ctime(), meta.ctime_nsec()))
}
