//! First sightings of git's lock files: how long each has been seen unchanged.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::clock::{self, Since};

/// The locks of git's own that the holder of the repository's lock has looked at. The age of a lock is the
/// time for which it was looked at, because the wall clock may be set.
#[derive(Debug, Default)]
pub(crate) struct Seen(Mutex<BTreeMap<PathBuf, (Version, First)>>);

/// The moment at which a lock was seen for the first time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct First {
    pub(crate) since: Since,
    pub(crate) uptime: Duration,
}

/// The identity of an unchanged file: its inode, and its change time, which nobody can set.
pub(crate) type Version = (u64, i64, i64);

impl Seen {
    /// The moment at which this version of the file was seen for the first time; `None` if that is now.
    pub(crate) fn first(&self, path: &Path, version: Version) -> Option<First> {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match seen.get(path) {
            Some((known, first)) if *known == version => Some(*first),
            Some(_) | None => {
                let first = First {
                    since: Since::now(),
                    uptime: clock::uptime(),
                };
                seen.insert(path.to_owned(), (version, first));
                None
            }
        }
    }

    pub(crate) fn forget(&self, path: &Path) {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        seen.remove(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The naive version subtracts the file's time from the wall clock: a clock that is set forward makes
    /// every lock an old one.
    #[test]
    fn a_lock_is_as_old_as_it_was_seen_unchanged() {
        let (seen, path) = (Seen::default(), Path::new("HEAD.lock"));
        let old = |version| seen.first(path, version).is_some();
        assert!(!old((7, 1, 0)), "of 1970, and seen for the first time");
        assert!(old((7, 1, 0)));
        assert!(!old((7, 1, 1)), "another git took it");
        assert!(old((7, 1, 1)));
        assert!(!old((8, 1, 1)), "and another");
        assert!(old((8, 1, 1)));
        seen.forget(path);
        assert!(!old((8, 1, 1)), "it was gone in between");
    }
}
