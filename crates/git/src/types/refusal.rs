//! Refusals of an agent's work, and the limits for it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::types::operation::Operation;

/// The limits of one import.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Objects (commits, trees, blobs) in one import.
    pub objects: usize,
    /// Their unpacked size together, in bytes.
    pub bytes: u64,
    /// Paths that differ from the base.
    pub paths: usize,
    /// Top folders that no agent may touch, compared without case.
    pub protected: Vec<String>,
    /// Time for each of its git calls.
    pub deadline: Duration,
}

impl Default for Limits {
    /// 200,000 objects, 1 GiB, 20,000 paths, `.crew` and `agents`, 120 s.
    fn default() -> Self {
        Self {
            objects: 200_000,
            bytes: 1 << 30,
            paths: 20_000,
            protected: vec![".crew".to_owned(), "agents".to_owned()],
            deadline: Duration::from_secs(120),
        }
    }
}

/// The reason for which something of an agent's may not come in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// HEAD cannot be followed to a commit.
    Head {
        /// The fault.
        why: String,
    },
    /// Objects are missing, or broken so that git cannot read them.
    Objects {
        /// git's message, shortened.
        why: String,
    },
    /// git can read the objects, and refuses one of them by the rules of `receive.fsckObjects`.
    Unsound {
        /// git's message, shortened.
        why: String,
    },
    /// A path that would harm a checkout (`.git` and its look-alikes).
    DotGit {
        /// The path.
        path: PathBuf,
    },
    /// A path in a folder of crew's.
    Protected {
        /// The path.
        path: PathBuf,
    },
    /// A repository inside the repository, committed as a link to nothing.
    Submodule {
        /// The path.
        path: PathBuf,
    },
    /// An operation of git's was begun in the workspace and not finished: the files hold half of its result.
    Unfinished {
        /// The operation.
        operation: Operation,
    },
    /// A path that git has in conflict: its file holds two versions.
    InConflict {
        /// The path.
        path: PathBuf,
    },
    /// A path that was not committed, and that a filter is for which only the agent's own attributes name.
    NewFilter {
        /// The path.
        path: PathBuf,
        /// The filter.
        filter: String,
    },
    /// A path that points to an LFS object which is nowhere to be had.
    LfsObject {
        /// The path.
        path: PathBuf,
        /// The object's SHA-256.
        object: String,
    },
    /// Files that are not committed, each small enough to be saved, but not all of them together.
    TooLarge {
        /// Their size together.
        bytes: u64,
        /// The size that is allowed.
        limit: u64,
        /// The largest of them.
        largest: Vec<PathBuf>,
    },
    /// More than the [`Limits`] allow.
    TooMuch {
        /// The thing that is counted.
        what: &'static str,
        /// The number that was found (at least).
        found: u64,
        /// The number that is allowed.
        limit: u64,
        /// The folder that most of it is in, with the number there.
        most: Option<(PathBuf, u64)>,
    },
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Head { why } => write!(f, "HEAD of the workspace {why}"),
            Self::Objects { why } => write!(f, "git cannot read the objects: {why}"),
            Self::Unsound { why } => write!(f, "git finds the objects unsound: {why}"),
            Self::DotGit { path } => write!(f, "{} is a name of git's own", text::quoted(path)),
            Self::Protected { path } => write!(f, "{} is in a folder of crew's", text::quoted(path)),
            Self::Submodule { path } => {
                write!(
                    f,
                    "{} is a repository inside the repository, and no commit of one can land: put back what the target has there",
                    text::quoted(path)
                )
            }
            Self::Unfinished { operation } => write!(
                f,
                "git {operation} is under way in the workspace: finish it (git {operation} --continue), or give it up (git {operation} --abort)"
            ),
            Self::InConflict { path } => {
                write!(
                    f,
                    "{} is in conflict: resolve it, and add it to the index",
                    text::quoted(path)
                )
            }
            Self::NewFilter { path, filter } => write!(
                f,
                "{} is to go through the filter {}, which crew does not run, since only this branch's attributes name it: \
                 take that out, or ask a person to put it into the target's attributes first",
                text::quoted(path),
                text::quoted(Path::new(filter))
            ),
            Self::LfsObject { path, object } => write!(
                f,
                "{} points to the LFS object {object}, which is neither in this repository's LFS store nor in the \
                 user's: put the content into the file, add it anew, and amend the commit",
                text::quoted(path)
            ),
            Self::TooLarge {
                bytes,
                limit,
                largest,
            } => {
                let largest: Vec<String> = largest.iter().map(text::quoted).collect();
                write!(
                    f,
                    "files that are not committed are too large to be saved together ({bytes} bytes, {limit} are \
                     allowed); remove them, or have git ignore them. The largest: {}",
                    largest.join(", ")
                )
            }
            Self::TooMuch {
                what,
                found,
                limit,
                most,
            } => {
                write!(f, "{found} {what}, {limit} are allowed")?;
                let Some((folder, number)) = most else {
                    return Ok(());
                };
                write!(
                    f,
                    "; {number} of them are in {}: where they are not meant to land, git rm -r --cached there, name the \
                     folder in .gitignore, and commit",
                    text::quoted(folder)
                )
            }
        }
    }
}

/// The first refusals of a list, for a message.
pub(crate) fn list(refusals: &[Refusal]) -> String {
    let shown: Vec<String> = refusals.iter().take(5).map(ToString::to_string).collect();
    let more = refusals.len().saturating_sub(5);
    if more == 0 {
        shown.join("; ")
    } else {
        format!("{}; and {more} more", shown.join("; "))
    }
}
