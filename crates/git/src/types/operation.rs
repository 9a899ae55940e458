//! Operations of git's that were begun and not ended.

use std::fmt;

/// An operation that was begun and not ended in a checkout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operation {
    /// `git merge`
    Merge,
    /// `git rebase`
    Rebase,
    /// `git am`
    Am,
    /// `git cherry-pick`
    CherryPick,
    /// `git revert`
    Revert,
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Merge => "merge",
            Self::Rebase => "rebase",
            Self::Am => "am",
            Self::CherryPick => "cherry-pick",
            Self::Revert => "revert",
        })
    }
}
