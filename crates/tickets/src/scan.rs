//! Scans of the folder: the changes since the last scan.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::fd::{AsFd, BorrowedFd};

use jiff::Timestamp;

use crate::error::Error;
use crate::folder::{Folder, Reading};
use crate::stamp::Stamp;
use crate::ticket::Ticket;

/// The state of the folder at the last scan. It is a cache, and a new one starts empty. It keeps of each
/// file only what is needed to notice a change; the content is in the change that is returned.
#[derive(Debug)]
pub struct Scan {
    folder: Folder,
    files: BTreeMap<String, Seen>,
    started: bool,
}

/// A file at the last scan.
#[derive(Clone, Copy, Debug)]
struct Seen {
    /// True if the ticket could be read.
    readable: bool,
    /// True if the ticket could be read at any scan.
    was_readable: bool,
    changed_at: Timestamp,
    stamp: Stamp,
    digest: u64,
    /// True if the file could change without a new stamp, so that the next scan must read it again.
    is_recent: bool,
}

/// A change of one file since the last scan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The name of the file without `.md`.
    pub name: String,
    /// The kind of the change.
    pub kind: Kind,
}

/// The kinds of changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A readable ticket is new, or could not be read before.
    Added(Read),
    /// A readable ticket has other content.
    Changed(Read),
    /// The file was removed.
    Removed,
    /// The file is new or was readable, and cannot be read now. The last readable content still counts.
    Unreadable,
    /// The content has changed, and still cannot be read.
    StillUnreadable,
}

/// A ticket that could be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read {
    /// The ticket.
    pub ticket: Box<Ticket>,
    /// The time since when the file has not changed: when its last change was noticed, or its own time at
    /// the first scan. The caller waits for a while after this time before it uses the ticket, since a
    /// person may still be writing.
    pub stable_since: Timestamp,
}

impl Scan {
    /// A scan of `folder` that has seen no file yet.
    pub fn new(folder: Folder) -> Scan {
        Scan {
            folder,
            files: BTreeMap::new(),
            started: false,
        }
    }

    /// Scans the folder, reads the files that may have changed, and returns the changes, ordered by name. A
    /// folder that does not exist counts as empty, so that it may be deleted and made again.
    ///
    /// Errors: [`Error::Io`], [`Error::NotAFolder`].
    pub fn rescan(&mut self, now: Timestamp) -> Result<Vec<Change>, Error> {
        let mut changes = Vec::new();
        self.rescan_each(now, |change| changes.push(change))?;
        changes.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(changes)
    }

    /// As [`Scan::rescan`], but calls `each` for one change at a time, removed files first, so that the
    /// first scan of a long queue is never in memory as a whole.
    pub fn rescan_each(&mut self, now: Timestamp, mut each: impl FnMut(Change)) -> Result<(), Error> {
        let listed = self.folder.open().and_then(|dir| {
            let names = self.folder.names(dir.as_fd())?;
            Ok((dir, names))
        });
        let (dir, names) = match listed {
            Ok((dir, names)) => (Some(dir), names),
            Err(Error::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {
                (None, Vec::new())
            }
            Err(error) => return Err(error),
        };
        // A listing may lack a file that is replaced meanwhile: that it is gone is asked of the file itself.
        let is_there = |name: &str| {
            names.binary_search_by(|other| other.as_str().cmp(name)).is_ok()
                || dir
                    .as_ref()
                    .is_some_and(|dir| Stamp::at(dir.as_fd(), &format!("{name}.md")).is_some())
        };
        let removed: Vec<String> = self
            .files
            .keys()
            .filter(|name| !is_there(name))
            .cloned()
            .collect();
        removed
            .into_iter()
            .filter_map(|name| self.removed(name))
            .for_each(&mut each);
        if let Some(dir) = dir {
            for name in names {
                if let Some(change) = self.scan_file(dir.as_fd(), name, now) {
                    each(change);
                }
            }
        }
        self.started = true;
        Ok(())
    }

    /// As [`Scan::rescan`], for the files of these names (without `.md`) only. The time this takes does not
    /// depend on the number of other files. The first scan always covers the whole folder.
    pub fn rescan_files(&mut self, names: &BTreeSet<String>, now: Timestamp) -> Result<Vec<Change>, Error> {
        let odd = |name: &String| crate::id::Id::new(name).is_err();
        if !self.started || names.iter().any(odd) {
            return self.rescan(now);
        }
        let dir = match self.folder.open() {
            Ok(dir) => dir,
            Err(Error::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {
                return self.rescan(now);
            }
            Err(error) => return Err(error),
        };
        let changes = names
            .iter()
            .filter_map(|name| self.scan_file(dir.as_fd(), name.clone(), now));
        Ok(changes.collect())
    }

    /// The names of the files at the last scan, without `.md`.
    pub fn names(&self) -> impl Iterator<Item = &String> {
        self.files.keys()
    }

    /// The number of files at the last scan, readable or not.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// True if the folder had no file at the last scan.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// The folder.
    pub fn folder(&self) -> &Folder {
        &self.folder
    }

    fn removed(&mut self, name: String) -> Option<Change> {
        self.files.remove(&name).map(|_| Change {
            name,
            kind: Kind::Removed,
        })
    }

    /// Reads one file, unless its stamp shows that it cannot have changed.
    fn scan_file(&mut self, dir: BorrowedFd<'_>, name: String, now: Timestamp) -> Option<Change> {
        let stamp = Stamp::at(dir, &format!("{name}.md")).unwrap_or_default();
        let before = self.files.get(&name).copied();
        if before.is_some_and(|before| before.stamp == stamp && !before.is_recent) {
            return None;
        }
        let Some(reading) = self.folder.reading(dir, name.clone()) else {
            // The file may have been removed since the folder was listed.
            return self.removed(name);
        };
        let (seen, kind) = compare(before, reading, stamp, now, self.started);
        self.files.insert(name.clone(), seen);
        kind.map(|kind| Change { name, kind })
    }
}

fn compare(
    before: Option<Seen>,
    reading: Reading,
    stamp: Stamp,
    now: Timestamp,
    started: bool,
) -> (Seen, Option<Kind>) {
    // If the file has changed since its stamp was taken, the next scan reads it again.
    let digest = match &reading.outcome {
        Ok(ticket) => digest(ticket.document.text()),
        Err(problem) => digest(&(problem.to_string(), stamp.size, stamp.mtime_ns)),
    };
    let own_time = Timestamp::from_nanosecond(stamp.mtime_ns).unwrap_or(now).min(now);
    let changed_at = match &before {
        Some(before) if before.digest == digest && before.stamp == stamp => before.changed_at,
        // At the first scan, a file is not known to have just changed.
        None if !started => own_time,
        _ => now,
    };
    let readable = reading.outcome.is_ok();
    let read = |ticket| Read {
        ticket: Box::new(ticket),
        stable_since: changed_at,
    };
    let kind = match (&before, reading.outcome) {
        (None, Ok(ticket)) => Some(Kind::Added(read(ticket))),
        (None, Err(_)) => Some(Kind::Unreadable),
        (Some(before), Err(_)) if before.readable => Some(Kind::Unreadable),
        (Some(before), Err(_)) => (before.digest != digest).then_some(Kind::StillUnreadable),
        (Some(before), Ok(ticket)) if !before.was_readable => Some(Kind::Added(read(ticket))),
        (Some(before), Ok(ticket)) => {
            let is_other = !before.readable || before.digest != digest;
            is_other.then(|| Kind::Changed(read(ticket)))
        }
    };
    let seen = Seen {
        readable,
        was_readable: readable || before.is_some_and(|before| before.was_readable),
        changed_at,
        stamp,
        digest,
        is_recent: stamp.is_recent(now.as_nanosecond()),
    };
    (seen, kind)
}

fn digest(value: &(impl Hash + ?Sized)) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_within_one_tick_of_the_clock_is_seen() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("ab-1.md");
        std::fs::write(&path, "---\nstatus: open\npriority: 2\n---\n").unwrap();
        let stamp = |path| Stamp::of(&std::fs::metadata(path).unwrap());
        let now = Timestamp::from_nanosecond(stamp(&path).mtime_ns).unwrap();
        let mut scan = Scan::new(Folder::at(root.path()).unwrap());
        scan.rescan(now).unwrap();
        std::fs::write(&path, "---\nstatus: open\npriority: 1\n---\n").unwrap();
        // This is the state that a clock which did not move between the two writes would leave.
        if let Some(seen) = scan.files.get_mut("ab-1") {
            seen.stamp = stamp(&path);
        }
        let changes = scan.rescan(now).unwrap();
        assert!(matches!(&changes[..], [Change { name, kind: Kind::Changed(_) }] if name == "ab-1"));
    }
}
