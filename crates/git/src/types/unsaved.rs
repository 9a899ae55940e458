//! Work in a workspace that could not be saved, or that is in a repository inside the workspace.

use std::path::PathBuf;

use crate::types::oid::Oid;
use crate::types::refusal::Refusal;

/// A path whose content git cannot store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsaved {
    /// Relative to the workspace.
    pub path: PathBuf,
    /// The reason.
    pub why: String,
}

/// The end of the reason for a file that is too large.
pub(crate) const TOO_LARGE: &str = "bytes are more than may be saved";

/// The beginning of the reason for a file that a filter of the user's fails on.
pub(crate) const FILTER_FAILED: &str = "a filter fails on it: ";

impl Unsaved {
    /// Whether a filter of the user's fails on it: without the file, the work may be half of what its author
    /// means.
    #[must_use]
    pub fn is_refused_by_a_filter(&self) -> bool {
        self.why.starts_with(FILTER_FAILED)
    }

    /// Whether only its size is in the way: its author can do without it, or have git ignore it.
    #[must_use]
    pub fn is_too_large(&self) -> bool {
        self.why.ends_with(TOO_LARGE)
    }
}

/// A repository inside a workspace, which a usual commit would have recorded as an empty link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NestedWork {
    /// Relative to the workspace.
    pub path: PathBuf,
    /// A commit of its files, on top of its own HEAD where that could be brought over.
    pub commit: Oid,
    /// The ref that keeps it.
    pub kept: String,
    /// Whether it is a linked worktree of the workspace.
    pub is_worktree: bool,
}

impl NestedWork {
    /// The refusal of a branch that does not have this work.
    #[must_use]
    pub fn refusal(&self) -> Refusal {
        let path = self.path.clone();
        match self.is_worktree {
            true => Refusal::Worktree { path },
            false => Refusal::Nested { path },
        }
    }
}

/// The first paths of a list, for a message.
pub(crate) fn list(left: &[Unsaved]) -> String {
    let shown: Vec<String> = left
        .iter()
        .take(5)
        .map(|one| format!("{} ({})", text::quoted(&one.path), one.why))
        .collect();
    let more = left.len().saturating_sub(5);
    if more == 0 {
        shown.join(", ")
    } else {
        format!("{}, and {more} more", shown.join(", "))
    }
}
