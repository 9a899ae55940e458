//! What changed in the folder since it was looked at last.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::fd::AsFd;

use jiff::Timestamp;

use crate::folder::{Folder, Stamp};
use crate::problem::Problem;
use crate::{Error, Reading, Readings, Ticket};

/// A file whose last change is not older than this when it is read may change again within the same tick of the file
/// system's clock, and look the same.
const TICK_NS: i128 = 100_000_000;

/// The folder as it was seen last. Not itself a source of truth: a new one starts from nothing.
#[derive(Debug)]
pub struct Scan {
    folder: Folder,
    files: BTreeMap<String, Seen>,
    started: bool,
}

/// A file as it was seen last.
#[derive(Clone, Debug)]
pub struct Seen {
    /// The ticket, or why there is none.
    pub outcome: Result<Ticket, Problem>,
    /// The last good reading: stands while the file cannot be read.
    pub last_good: Option<Ticket>,
    /// Since when the file is still: when a change of it was noticed, or its own time at the first look. Compare with the
    /// `settle` setting before the ticket is given out.
    pub changed_at: Timestamp,
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A readable ticket that was not there, or could not be read before.
    Added,
    /// A readable ticket with other content.
    Changed,
    /// The file is gone.
    Removed,
    /// It cannot be read now; new, or readable before.
    Unreadable,
    /// Its content is other than before, and still cannot be read.
    StillUnreadable,
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
        let (dir, names) = match self.folder.open().and_then(|dir| Ok((dir, self.folder.names()?))) {
            Ok((dir, names)) => (Some(dir), names),
            Err(Error::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {
                (None, Vec::new())
            }
            Err(error) => return Err(error),
        };
        let mut changes = Vec::new();
        let mut files = BTreeMap::new();
        if let Some(dir) = dir {
            for name in names {
                let path = self.folder.path().join(format!("{name}.md"));
                let stamp = std::fs::symlink_metadata(path)
                    .map(|metadata| Stamp::of(&metadata))
                    .unwrap_or_default();
                let before = self.files.remove(&name);
                if let Some(before) = before.as_ref()
                    && before.stamp == stamp
                    && !before.fresh
                {
                    files.insert(name, before.clone());
                    continue;
                }
                let Some(reading) = self.folder.reading(dir.as_fd(), name.clone()) else {
                    // Gone since it was listed: the next look would find the same.
                    changes.extend(before.map(|_| Change {
                        name,
                        kind: Kind::Removed,
                    }));
                    continue;
                };
                let (seen, kind) = look(before, reading, stamp, now, self.started);
                changes.extend(kind.map(|kind| Change {
                    name: name.clone(),
                    kind,
                }));
                files.insert(name, seen);
            }
        }
        changes.extend(std::mem::take(&mut self.files).into_keys().map(|name| Change {
            name,
            kind: Kind::Removed,
        }));
        changes.sort_by(|a, b| a.name.cmp(&b.name));
        self.files = files;
        self.started = true;
        Ok(changes)
    }

    /// Every file as it was seen last, by name.
    pub fn files(&self) -> &BTreeMap<String, Seen> {
        &self.files
    }

    /// The same as readings, for the graph and the listings.
    pub fn readings(&self) -> Readings {
        let reading = |(name, seen): (&String, &Seen)| Reading {
            name: name.clone(),
            outcome: seen.outcome.clone(),
        };
        Readings(self.files.iter().map(reading).collect())
    }

    /// The folder that is looked at.
    pub fn folder(&self) -> &Folder {
        &self.folder
    }
}

fn look(
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
    let kind = match (&before, &reading.outcome) {
        (None, Ok(_)) => Some(Kind::Added),
        (None, Err(_)) => Some(Kind::Unreadable),
        (Some(before), outcome) => match (&before.outcome, outcome) {
            (Ok(_), Err(_)) => Some(Kind::Unreadable),
            (Err(_), Ok(_)) if before.last_good.is_none() => Some(Kind::Added),
            (Err(_), Ok(_)) => Some(Kind::Changed),
            (Ok(_), Ok(_)) => (before.digest != digest).then_some(Kind::Changed),
            (Err(_), Err(_)) => (before.digest != digest).then_some(Kind::StillUnreadable),
        },
    };
    let own_time = Timestamp::from_nanosecond(stamp.mtime_ns).unwrap_or(now).min(now);
    let changed_at = match &before {
        Some(before) if before.digest == digest && before.stamp == stamp => before.changed_at,
        // At the first look nothing is known to have just changed.
        None if !started => own_time,
        _ => now,
    };
    let last_good = match &reading.outcome {
        Ok(_) => None,
        Err(_) => before.and_then(|before| before.outcome.ok().or(before.last_good)),
    };
    let fresh = now.as_nanosecond() - stamp.mtime_ns.max(stamp.ctime_ns) < TICK_NS;
    (
        Seen {
            outcome: reading.outcome,
            last_good,
            changed_at,
            stamp,
            digest,
            fresh,
        },
        kind,
    )
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
        let wanted = Change {
            name: "ab-1".to_owned(),
            kind: Kind::Changed,
        };
        assert_eq!(scan.rescan(now).unwrap(), [wanted]);
    }
}
