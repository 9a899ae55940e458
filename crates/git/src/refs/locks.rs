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

/// A lock from before crew took the repository's own is of a git that was killed with the last engine, most likely: a git that no
/// look can find (in a container, on another host) has given its lock back after this long.
const STALE_FROM_BEFORE: Duration = Duration::from_secs(2);
/// One from after it may be of a child of crew's that ran into its deadline.
const STALE: Duration = Duration::from_secs(10);
/// Packing takes as long as there are refs to pack; not one that was left by a git of crew's own, which packs none.
const STALE_PACKING: Duration = Duration::from_mins(1);
/// Locks are looked at again this often while they are waited for.
const LOOK_EVERY: Duration = Duration::from_millis(50);

const HEAD: &str = "HEAD.lock";

/// What a look at a lock file found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Look {
    /// There is none, or none that may be taken away from here.
    Nothing,
    /// It is not known to stand there for long enough.
    Young,
    /// Somebody lives who may hold it.
    Held,
    /// It was a dead git's, and is gone.
    Cleared,
}

impl Repository {
    /// Takes the lock of a ref away that is gone: a git leaves it that was killed as it deleted the ref, and nothing
    /// would come by it again. Waits until it is old enough to be a dead one's; one that does not get so old is somebody's.
    pub(crate) fn clear_lock_of_gone(&self, name: &str) -> Result<()> {
        let [lock, ..] = self.ref_locks(name);
        self.wait_for_lock(&lock, 2 * STALE)
    }

    /// Takes away the locks that keep the user's git from its work and that an earlier engine's git has left: HEAD's, of one that was
    /// killed as it moved the branch that HEAD names, and that of the packed refs, of one that was killed as it deleted a ref. For
    /// start-up. Waits until they are old enough to be a dead one's, and not at all for one that somebody may hold. Does nothing
    /// without the repository's lock.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io): one could not be taken away.
    pub fn release_locks(&self) -> Result<()> {
        let release = |name| {
            let lock = self.common_dir().join(name);
            if self.is_left(&lock) {
                self.wait_for_lock(&lock, 2 * STALE_FROM_BEFORE)?;
            }
            Ok(())
        };
        // One that cannot be taken away does not keep the other.
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
            // git takes it too for the branch that HEAD names, whose log is HEAD's.
            HEAD.to_owned(),
            PACKED.to_owned(),
            "reftable/tables.list.lock".to_owned(),
        ]
        .map(|file| common.join(file))
    }

    /// Takes stale lock files of a ref away; only the holder of the repository's lock may (rule 5).
    pub(super) fn clear_stale_locks(&self, name: &str) -> Result<bool> {
        let mut cleared = false;
        for path in self.ref_locks(name) {
            cleared |= self.clear_if_stale(&path)? == Look::Cleared;
        }
        Ok(cleared)
    }

    /// Waits for the locks from before crew's own to be old enough: a git that was killed with an engine gives none back.
    /// Whether it is worth trying again.
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

    /// Whether a lock is most likely of a git that died with an earlier engine.
    fn is_left(&self, lock: &Path) -> bool {
        self.lock().is_some_and(|held| is_left(held, lock))
    }

    /// Takes a lock away that stood there unchanged for long, and that nobody who lives can hold, as far as can be told.
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
        // Whoever made it was there before it was seen, and before this look at all that live.
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
        crash::point("recover.lock_cleared");
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
