//! Changes: the paths in which two trees differ.

use std::path::PathBuf;

use crate::types::oid::Oid;

/// The kind of a tree's entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mode {
    /// A plain file.
    File,
    /// A file that may be executed.
    Executable,
    /// A symbolic link; its blob is the target.
    Symlink,
    /// A submodule; its object is a commit of another repository.
    Submodule,
}

impl Mode {
    pub(crate) fn parse(octal: &[u8]) -> Option<Self> {
        match octal {
            b"100644" | b"100664" => Some(Self::File),
            b"100755" => Some(Self::Executable),
            b"120000" => Some(Self::Symlink),
            b"160000" => Some(Self::Submodule),
            _ => None,
        }
    }

    pub(crate) fn octal(self) -> &'static str {
        match self {
            Self::File => "100644",
            Self::Executable => "100755",
            Self::Symlink => "120000",
            Self::Submodule => "160000",
        }
    }
}

/// One side of a change.
pub(crate) type Entry = Option<(Mode, Oid)>;

/// One path that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Relative to the repository's root; any bytes but NUL.
    pub path: PathBuf,
    /// The old entry; `None`: the path did not exist.
    pub old: Option<(Mode, Oid)>,
    /// The new entry; `None`: the path no longer exists.
    pub new: Option<(Mode, Oid)>,
}

/// A file as one commit wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The commit.
    pub commit: Oid,
    /// Relative to the repository's root; any bytes but NUL.
    pub path: PathBuf,
    /// The blobs that its parents have at that path; empty where it is new.
    pub old: Vec<Oid>,
    /// The blob that it wrote.
    pub blob: Oid,
}
