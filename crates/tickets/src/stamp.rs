//! The stamp of a file, by which a change is noticed.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;

/// The state of a file, by which a change is noticed without reading the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    /// The last change of the content, in nanoseconds since 1970.
    pub mtime_ns: i128,
    /// The last change of the content or the attributes, in nanoseconds since 1970.
    pub ctime_ns: i128,
    /// The size in bytes.
    pub size: u64,
    /// The inode number, which changes when another file is renamed over this one.
    pub inode: u64,
}

impl Stamp {
    pub(crate) fn of(metadata: &Metadata) -> Stamp {
        let nanoseconds = |seconds: i64, rest: i64| i128::from(seconds) * 1_000_000_000 + i128::from(rest);
        Stamp {
            mtime_ns: nanoseconds(metadata.mtime(), metadata.mtime_nsec()),
            ctime_ns: nanoseconds(metadata.ctime(), metadata.ctime_nsec()),
            size: metadata.size(),
            inode: metadata.ino(),
        }
    }
}
