//! Work in a workspace that could not be kept, or stands in a repository inside it.

use std::path::PathBuf;

use crate::types::oid::Oid;

/// A path whose content git does not take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsaved {
    /// Relative to the workspace.
    pub path: PathBuf,
    /// Why.
    pub why: String,
}

/// A repository inside a workspace, which a plain commit would have recorded as an empty link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NestedWork {
    /// Relative to the workspace.
    pub path: PathBuf,
    /// A commit of its files, on top of its own HEAD where that could be brought over.
    pub commit: Oid,
    /// The ref that keeps it.
    pub kept: String,
}

/// The first of them, for a message.
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
