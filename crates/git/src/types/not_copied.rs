//! The reasons for which `[workspace] copy` leaves a file out.

use std::fmt;
use std::path::PathBuf;

/// The number of files that a message names.
const NAMED: usize = 5;

/// Something that the settings name, and that a workspace did not get.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// The path from the root of the checkout, or the pattern that nothing fits.
    pub path: PathBuf,
    /// Why not.
    pub why: NotCopied,
}

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

/// The files of a list, each with its reason, for a message.
pub(crate) fn list(files: &[LeftOut]) -> String {
    let named = files.iter().take(NAMED).map(|file| {
        let path = text::quoted(&file.path.to_string_lossy());
        format!("{path}, which {}", file.why)
    });
    let more = files.len().saturating_sub(NAMED);
    let more = (more > 0).then(|| format!("and {more} more"));
    named.chain(more).collect::<Vec<_>>().join("; ")
}

/// What a person can do about the files of a list.
pub(crate) fn remedy(files: &[LeftOut]) -> &'static str {
    let mut remedies = files.iter().map(|file| file.why.remedy());
    let first = remedies.next().unwrap_or_default();
    match remedies.all(|remedy| remedy == first) {
        true => first,
        false => "mend each of them, or take it out of `copy`",
    }
}
