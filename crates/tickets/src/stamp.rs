//! The stamp of a file, by which a change is noticed.

use std::fs::Metadata;
use std::os::fd::BorrowedFd;
use std::os::unix::fs::MetadataExt;

use rustix::fs::{AtFlags, Stat};
use serde::{Deserialize, Serialize};

/// The resolution of the file system's clock, as a safe bound. A file that changed more recently than this
/// when it was read may change again without a new stamp.
pub(crate) const TICK_NS: i128 = 100_000_000;

/// The state of a file, by which a change is noticed without reading the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    /// The last change of the content, in nanoseconds since 1970.
    pub mtime_ns: i128,
    /// The last change of the content or the attributes, in nanoseconds since 1970. No program can set it.
    pub ctime_ns: i128,
    /// The size in bytes.
    pub size: u64,
    /// The inode number, which changes when another file is renamed over this one.
    pub inode: u64,
}

impl Stamp {
    pub(crate) fn of(metadata: &Metadata) -> Stamp {
        Stamp {
            mtime_ns: nanoseconds(metadata.mtime(), metadata.mtime_nsec()),
            ctime_ns: nanoseconds(metadata.ctime(), metadata.ctime_nsec()),
            size: metadata.size(),
            inode: metadata.ino(),
        }
    }

    /// The stamp of the file `name` in `dir`, or of the symbolic link of that name; none where there is none.
    pub(crate) fn at(dir: BorrowedFd<'_>, name: &str) -> Option<Stamp> {
        let stat = rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        Some(Stamp::of_stat(&stat))
    }

    pub(crate) fn of_stat(stat: &Stat) -> Stamp {
        Stamp {
            mtime_ns: nanoseconds(stat.st_mtime, stat.st_mtime_nsec),
            ctime_ns: nanoseconds(stat.st_ctime, stat.st_ctime_nsec),
            size: u64::try_from(stat.st_size).unwrap_or_default(),
            inode: stat.st_ino,
        }
    }

    /// True if a file with this stamp, read at the moment `at_ns` or later, could have changed since without
    /// a new stamp: its last change was too short before that moment, or the clock was set back.
    pub(crate) fn is_recent(&self, at_ns: i128) -> bool {
        at_ns - self.mtime_ns.max(self.ctime_ns) < TICK_NS
    }
}

/// The parts of a time are of other types on other machines.
fn nanoseconds(seconds: impl Into<i128>, rest: impl Into<i128>) -> i128 {
    seconds.into() * 1_000_000_000 + rest.into()
}
