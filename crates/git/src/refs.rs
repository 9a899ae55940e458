//! Refs, moved only from where they were seen.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::clock::{self, Deadline};
use crate::error::{Error, IoContext, Result};
use crate::identity::Identity;
use crate::oid::Oid;
use crate::repository::Repository;

/// A lock file from before crew took the repository's lock is a dead child's, or of a git of the user's that runs this
/// moment; after this long it is not the latter.
const STALE_FROM_BEFORE: Duration = Duration::from_secs(2);
/// One from after it may be of a child that ran into its deadline; no living git holds a ref as long as this.
const STALE: Duration = Duration::from_secs(10);

const HEAD_LOCK: &str = "HEAD.lock";

impl Repository {
    /// Moves a ref by compare-and-swap: `old` and `new` of `None` mean that it does not exist. Repeating it after it
    /// was done is fine.
    pub(crate) fn move_ref(&self, name: &str, old: Option<&Oid>, new: Option<&Oid>, why: &str) -> Result<()> {
        self.clear_stale_locks(name)?;
        let Some(error) = self.try_move(name, old, new, why)? else {
            return self.settle(name);
        };
        let now = self.ref_at(name)?;
        if now.as_ref() == new {
            if new.is_none() {
                self.clear_lock_of_gone(name)?;
            }
            return self.settle(name);
        }
        if now.as_ref() != old {
            return Err(Error::RefMoved {
                name: name.to_owned(),
                expected: old.cloned(),
                now,
            });
        }
        let Some(lock) = self.ref_locks(name).into_iter().find(|lock| lock.exists()) else {
            return Err(self.blocked(name, error));
        };
        if self.outlast_locks(name)? && self.try_move(name, old, new, why)?.is_none() {
            return self.settle(name);
        }
        Err(Error::RefBusy {
            name: name.to_owned(),
            lock,
        })
    }

    /// Moves several refs in one transaction, in this order; each is a name, where it was seen and where it goes (`None`: it
    /// does not exist). `false`: nothing moved, and whoever asks does it one by one, which tells why. Repeating it after it
    /// was done is `false`.
    pub(crate) fn move_refs(&self, moves: &[(&str, Option<&Oid>, Option<&Oid>)], why: &str) -> Result<bool> {
        let zero = "0".repeat(self.format().hex_len());
        let mut input = Vec::new();
        for (name, old, new) in moves {
            self.clear_stale_locks(name)?;
            let old = old.map_or(zero.as_str(), Oid::as_str);
            let line = match new {
                Some(new) => format!("update {name}\0{new}\0{old}\0"),
                None => format!("delete {name}\0{old}\0"),
            };
            input.extend(line.into_bytes());
        }
        let said = self
            .call("update-ref")
            .committer(&Identity::crew(), None)
            .args(["--no-deref", "-m", why, "-z", "--stdin"])
            .input(&input)?
            .silent()
            .run()?;
        if said.code != Some(0) {
            return Ok(false);
        }
        for (name, ..) in moves {
            self.settle(name)?;
        }
        Ok(true)
    }

    /// Takes the lock of a ref away that is gone: a git leaves it that was killed as it deleted the ref, and nothing
    /// would come by it again. Waits until it is old enough to be a dead one's; one that does not get so old is somebody's.
    pub(crate) fn clear_lock_of_gone(&self, name: &str) -> Result<()> {
        let [lock, ..] = self.ref_locks(name);
        let deadline = Deadline::after(2 * STALE);
        while self.lock().is_some() && lock.exists() && !deadline.left().is_zero() {
            if !self.clear_if_stale(&lock)? {
                clock::pause(STALE_FROM_BEFORE / 40);
            }
        }
        Ok(())
    }

    /// Every ref under `prefix` (which ends in `/`) with its object.
    pub(crate) fn refs_under(&self, prefix: &str) -> Result<Vec<(String, Oid)>> {
        let said = self
            .call("for-each-ref")
            .args(["--format=%(objectname) %(refname)", "--end-of-options", prefix])
            .ok()?;
        String::from_utf8_lossy(&said)
            .lines()
            .map(|line| {
                let (oid, name) = line
                    .split_once(' ')
                    .ok_or_else(|| Error::unreadable("for-each-ref", line))?;
                Ok((name.to_owned(), Oid::parse(oid)?))
            })
            .collect()
    }

    fn try_move(&self, name: &str, old: Option<&Oid>, new: Option<&Oid>, why: &str) -> Result<Option<Error>> {
        let zero = "0".repeat(self.format().hex_len());
        let was = old.map_or(zero.as_str(), Oid::as_str);
        let mut call =
            self.call("update-ref")
                .committer(&Identity::crew(), None)
                .args(["--no-deref", "-m", why]);
        call = match new {
            Some(new) => call.args(["--end-of-options", name, new.as_str(), was]),
            None if old.is_none() => return Ok(None),
            None => call.args(["-d", "--end-of-options", name, was]),
        };
        let said = call.run()?;
        Ok(if said.code == Some(0) {
            None
        } else {
            Some(said.failed())
        })
    }

    /// git fsyncs the ref's file; the folder's entry is ours to make durable.
    pub(crate) fn settle(&self, name: &str) -> Result<()> {
        let file = self.common_dir().join(name);
        let folder = file.parent().unwrap_or(self.common_dir());
        match std::fs::File::open(folder) {
            Ok(folder_file) => folder_file.sync_all().doing("make durable", folder),
            Err(_) => Ok(()),
        }
    }

    /// Takes away what a git leaves of HEAD's lock that was killed as it moved the branch that HEAD names, so that the user's git
    /// works again; for start-up. Waits until it is old enough to be a dead one's. Does nothing without the repository's lock.
    ///
    /// # Errors
    /// [`Error::Io`]: it could not be taken away.
    pub fn release_head(&self) -> Result<()> {
        let lock = self.common_dir().join(HEAD_LOCK);
        let deadline = Deadline::after(2 * STALE_FROM_BEFORE);
        while self.is_from_before(&lock) && !self.clear_if_stale(&lock)? && !deadline.left().is_zero() {
            clock::pause(STALE_FROM_BEFORE / 40);
        }
        Ok(())
    }

    fn ref_locks(&self, name: &str) -> [PathBuf; 4] {
        let common = self.common_dir();
        [
            format!("{name}.lock"),
            // git takes it too for the branch that HEAD names, whose log is HEAD's.
            HEAD_LOCK.to_owned(),
            "packed-refs.lock".to_owned(),
            "reftable/tables.list.lock".to_owned(),
        ]
        .map(|file| common.join(file))
    }

    /// Takes stale lock files of a ref away; only the holder of the repository's lock may (rule 5).
    fn clear_stale_locks(&self, name: &str) -> Result<bool> {
        let mut cleared = false;
        for path in self.ref_locks(name) {
            cleared |= self.clear_if_stale(&path)?;
        }
        Ok(cleared)
    }

    /// Waits for the locks from before crew's own to be old enough: a git that was killed with an engine gives none back.
    /// Whether it is worth trying again.
    fn outlast_locks(&self, name: &str) -> Result<bool> {
        let deadline = Deadline::after(2 * STALE_FROM_BEFORE);
        loop {
            if self.clear_stale_locks(name)? {
                return Ok(true);
            }
            let locks: Vec<PathBuf> = self
                .ref_locks(name)
                .into_iter()
                .filter(|lock| lock.exists())
                .collect();
            if locks.is_empty() {
                return Ok(true);
            }
            if deadline.left().is_zero() || !locks.iter().any(|lock| self.is_from_before(lock)) {
                return Ok(false);
            }
            clock::pause(STALE_FROM_BEFORE / 40);
        }
    }

    fn is_from_before(&self, lock: &Path) -> bool {
        let modified = lock.symlink_metadata().and_then(|meta| meta.modified());
        self.lock()
            .is_some_and(|held| modified.is_ok_and(|modified| modified < held.taken()))
    }

    pub(crate) fn clear_if_stale(&self, path: &Path) -> Result<bool> {
        let Some(held) = self.lock() else { return Ok(false) };
        let Ok(modified) = path.symlink_metadata().and_then(|meta| meta.modified()) else {
            return Ok(false);
        };
        let stale_after = if modified < held.taken() {
            STALE_FROM_BEFORE
        } else {
            STALE
        };
        if clock::age(modified) < stale_after {
            return Ok(false);
        }
        crate::plain::remove_if_there(path)?;
        crash::point("recover.lock_cleared");
        Ok(true)
    }

    fn blocked(&self, name: &str, error: Error) -> Error {
        let is_agents = name.starts_with("refs/heads/agent/");
        if is_agents && matches!(self.rev_parse("refs/heads/agent"), Ok(Some(_))) {
            return Error::BranchBlocked {
                branch: name.trim_start_matches("refs/heads/").to_owned(),
            };
        }
        error
    }
}

pub(crate) fn or_absent(oid: Option<&Oid>) -> &str {
    oid.map_or("absent", Oid::as_str)
}
