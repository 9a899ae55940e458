//! What changed in the folder since it was looked at last.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::fd::{AsFd, BorrowedFd};

use jiff::Timestamp;

use crate::folder::{Folder, Stamp};
use crate::{Error, Reading, Ticket};

/// A file whose last change is not older than this when it is read may change again within the same tick of the file
/// system's clock, and look the same.
const TICK_NS: i128 = 100_000_000;

/// The folder as it was seen last. Not itself a source of truth: a new one starts from nothing. Of a file it keeps what it
/// takes to see a change; what the file says is in the change.
#[derive(Debug)]
pub struct Scan {
    folder: Folder,
    files: BTreeMap<String, Seen>,
    started: bool,
}

/// A file as it was seen last.
#[derive(Clone, Copy, Debug)]
struct Seen {
    /// Whether it could be read.
    readable: bool,
    /// Whether it ever could.
    was_readable: bool,
    changed_at: Timestamp,
    stamp: Stamp,
    digest: u64,
    /// Whether it could change without a new stamp, and must be read again.
    fresh: bool,
}

/// One file's difference since the last look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The file's name without `.md`.
    pub name: String,
    /// What happened to it.
    pub kind: Kind,
}

/// What happened to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A readable ticket that was not there, or could not be read before.
    Added(Read),
    /// A readable ticket with other content.
    Changed(Read),
    /// The file is gone.
    Removed,
    /// It cannot be read now; new, or readable before: the last good reading stands.
    Unreadable,
    /// Its content is other than before, and still cannot be read.
    StillUnreadable,
}

/// A ticket that could be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read {
    /// What it says.
    pub ticket: Box<Ticket>,
    /// Since when the file is still: when a change of it was noticed, or its own time at the first look. Compare with the
    /// `settle` setting before the ticket is given out.
    pub stable_since: Timestamp,
}

impl Scan {
    /// A look at `folder` that has seen nothing yet.
    pub fn new(folder: Folder) -> Scan {
        Scan {
            folder,
            files: BTreeMap::new(),
            started: false,
        }
    }

    /// Looks again, reading only what may have changed, and gives the differences in the order of the names. A folder that
    /// does not exist is an empty one, so that it may be deleted and made again.
    pub fn rescan(&mut self, now: Timestamp) -> Result<Vec<Change>, Error> {
        let mut changes = Vec::new();
        self.rescan_each(now, |change| changes.push(change))?;
        changes.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(changes)
    }

    /// As [`Scan::rescan`], one difference at a time: those that are gone come first. Nothing of a long queue's first look
    /// need be in memory at once.
    pub fn rescan_each(&mut self, now: Timestamp, mut each: impl FnMut(Change)) -> Result<(), Error> {
        let (dir, names) = match self.folder.open().and_then(|dir| Ok((dir, self.folder.names()?))) {
            Ok((dir, names)) => (Some(dir), names),
            Err(Error::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {
                (None, Vec::new())
            }
            Err(error) => return Err(error),
        };
        let there: BTreeSet<&String> = names.iter().collect();
        let gone: Vec<String> = self
            .files
            .keys()
            .filter(|name| !there.contains(name))
            .cloned()
            .collect();
        drop(there);
        gone.into_iter()
            .filter_map(|name| self.removed(name))
            .for_each(&mut each);
        if let Some(dir) = dir {
            for name in names {
                if let Some(change) = self.look(dir.as_fd(), name, now) {
                    each(change);
                }
            }
        }
        self.started = true;
        Ok(())
    }

    /// Looks at these files only, as [`Scan::rescan`] does at all: names without `.md`. For whoever was told which files
    /// changed; nothing is done for the others, however many there are. The first look must be at everything.
    pub fn rescan_files(&mut self, names: &BTreeSet<String>, now: Timestamp) -> Result<Vec<Change>, Error> {
        let odd = |name: &String| crate::Id::new(name).is_err();
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
            .filter_map(|name| self.look(dir.as_fd(), name.clone(), now));
        Ok(changes.collect())
    }

    /// How many files were there at the last look, readable or not.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Whether no file was there at the last look.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// The folder that is looked at.
    pub fn folder(&self) -> &Folder {
        &self.folder
    }

    fn removed(&mut self, name: String) -> Option<Change> {
        self.files.remove(&name).map(|_| Change {
            name,
            kind: Kind::Removed,
        })
    }

    /// Looks at one file, unless its stamp says that nothing can have changed.
    fn look(&mut self, dir: BorrowedFd<'_>, name: String, now: Timestamp) -> Option<Change> {
        let path = self.folder.path().join(format!("{name}.md"));
        let stamp = std::fs::symlink_metadata(path)
            .map(|metadata| Stamp::of(&metadata))
            .unwrap_or_default();
        let before = self.files.get(&name).copied();
        if before.is_some_and(|before| before.stamp == stamp && !before.fresh) {
            return None;
        }
        let Some(reading) = self.folder.reading(dir, name.clone()) else {
            // Gone, perhaps since it was listed: the next look would find the same.
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
    // What was read counts, should the file have changed since the look at its stamp: then the next look reads it again.
    let digest = match &reading.outcome {
        Ok(ticket) => digest(ticket.document.text()),
        Err(problem) => digest(&(problem.to_string(), stamp.size, stamp.mtime_ns)),
    };
    let own_time = Timestamp::from_nanosecond(stamp.mtime_ns).unwrap_or(now).min(now);
    let changed_at = match &before {
        Some(before) if before.digest == digest && before.stamp == stamp => before.changed_at,
        // At the first look nothing is known to have just changed.
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
        fresh: now.as_nanosecond() - stamp.mtime_ns.max(stamp.ctime_ns) < TICK_NS,
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
        // As if the file system's clock had not moved between the two writes.
        if let Some(seen) = scan.files.get_mut("ab-1") {
            seen.stamp = stamp(&path);
        }
        let changes = scan.rescan(now).unwrap();
        assert!(matches!(&changes[..], [Change { name, kind: Kind::Changed(_) }] if name == "ab-1"));
    }
}
