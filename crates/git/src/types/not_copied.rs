//! The reasons for which `[workspace] copy` leaves a file out.

use std::fmt;

/// The reason for which something is not copied. Displayed, it is the end of a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotCopied {
    /// git has it, so each workspace has it.
    Tracked,
    /// It belongs to another repository.
    InSubmodule,
    /// The copy would land.
    NotIgnored,
    /// The same, since the rule that ignores it is not in the commit that the work starts from.
    NotIgnoredThere,
    /// Only files are copied.
    Folder,
    /// A link, a pipe or the like.
    NotRegular,
    /// Nothing is there.
    Missing,
}

impl NotCopied {
    /// What a person can do about it.
    #[must_use]
    pub fn remedy(self) -> &'static str {
        match self {
            Self::Tracked => "take it out of `copy`: each workspace has it as it is committed",
            Self::InSubmodule => "take it out of `copy`",
            Self::NotIgnored => "add it to .gitignore, or commit it, or take it out of `copy`",
            Self::NotIgnoredThere => {
                "commit the .gitignore that has it, or commit the file itself, or take it out of `copy`"
            }
            Self::Folder => "name the files in it, or all of them as `folder/**`",
            Self::NotRegular => "put a regular file there, or take it out of `copy`",
            Self::Missing => "put it there, or take it out of `copy`",
        }
    }
}

impl fmt::Display for NotCopied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tracked => "is a file of the repository",
            Self::InSubmodule => "is in a submodule",
            Self::NotIgnored => "git does not ignore, so that the copy would land",
            Self::NotIgnoredThere => {
                "git does not ignore in the commit that the work starts from, so that the copy would land"
            }
            Self::Folder => "is a folder",
            Self::NotRegular => "is no regular file",
            Self::Missing => "is not there",
        })
    }
}
