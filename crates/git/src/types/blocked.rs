//! Obstacles that keep a checkout from following its branch.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::types::operation::Operation;

/// Something in a checkout that keeps it from following.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocked {
    /// The checkout's root.
    pub checkout: PathBuf,
    /// The path in it, if it is about one.
    pub path: Option<PathBuf>,
    /// The obstacle.
    pub obstacle: Obstacle,
}

/// The kind of an obstacle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Obstacle {
    /// A tracked file with changes that are in no commit (or it was deleted).
    Edited,
    /// A tracked file with such changes that the user hides from git (`--skip-worktree`,
    /// `--assume-unchanged`).
    Hidden,
    /// Changes that are in the index only.
    Staged,
    /// A conflict that is not resolved.
    Unmerged,
    /// A file or folder that git does not know.
    Untracked,
    /// A file that is ignored, `.env` for one.
    Ignored,
    /// The files of a submodule whose place other files take.
    Submodule,
    /// A merge, rebase or the like that is under way.
    Operation(Operation),
    /// A path that crew may not write or rename over: another owner, a mount, a folder that is read-only.
    Unwritable,
    /// Another git holds the index (a `git add`, say).
    IndexLocked,
    /// Another git is at work in the checkout (a commit whose hook runs or whose editor is open, say).
    Git {
        /// Its command, `commit` for one.
        command: &'static str,
        /// The number of its process.
        process: u32,
    },
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Edited => f.write_str("edited"),
            Self::Hidden => f.write_str("edited, and hidden from git"),
            Self::Staged => f.write_str("staged"),
            Self::Unmerged => f.write_str("in conflict"),
            Self::Untracked => f.write_str("not tracked"),
            Self::Ignored => f.write_str("ignored"),
            Self::Submodule => f.write_str("a submodule"),
            Self::Operation(operation) => write!(f, "{operation} under way"),
            Self::Unwritable => f.write_str("cannot be written"),
            Self::IndexLocked => f.write_str("index locked by another git"),
            Self::Git { command, process } => write!(f, "git {command} under way, process {process}"),
        }
    }
}

impl fmt::Display for Blocked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.path {
            Some(path) => write!(
                f,
                "{} in {} stays as it is ({})",
                path.display(),
                self.checkout.display(),
                self.obstacle
            ),
            None => write!(
                f,
                "{} stays as it is ({})",
                self.checkout.display(),
                self.obstacle
            ),
        }
    }
}

impl Blocked {
    pub(crate) fn index_locked(checkout: &Path) -> Self {
        Self {
            checkout: checkout.to_owned(),
            path: None,
            obstacle: Obstacle::IndexLocked,
        }
    }
}

/// A checkout with files that are older than its branch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Behind {
    /// The checkout's root.
    pub checkout: PathBuf,
    /// Whether its index is old too: it follows as soon as no other git holds it.
    pub index: bool,
    /// Files with the content of an earlier commit.
    pub old: Vec<PathBuf>,
    /// Files that the branch has deleted.
    pub deleted: Vec<PathBuf>,
}

/// How far a checkout followed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Followed {
    /// Paths whose file was written or deleted by this call.
    pub updated: usize,
    /// Paths that a person had changed meanwhile, and that were left as they are.
    pub left: Vec<Blocked>,
}
