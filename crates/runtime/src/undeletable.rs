//! The parts of workspaces that crew may not delete: each engine that comes upon one warns a person once.

use std::path::Path;
use std::sync::PoisonError;

use git::{Repository, Undeletable};

use crate::executor::Executor;

/// The undeletable part, and the remedy.
#[must_use]
pub fn said(left: &Undeletable) -> (String, String) {
    let says = format!(
        "the workspace {} left what crew may not delete{}: {}",
        shown(&left.workspace),
        if left.is_anothers && !left.is_mount {
            ", as it is another user's"
        } else {
            ""
        },
        shown(&left.path.to_string_lossy())
    );
    let protects = if left.is_mount {
        "a file system is mounted there: unmount it (findmnt, umount), then "
    } else if left.is_anothers {
        ""
    } else {
        "see what protects it (findmnt, lsattr), then "
    };
    let hint = format!(
        "its work is kept; {protects}delete the rest: {}",
        delete(&left.folder)
    );
    (says, hint)
}

/// How a person deletes what crew may not.
#[must_use]
pub fn delete(folder: &Path) -> String {
    format!(
        "sudo rm -r --one-file-system {}",
        quoted(&shown(&folder.to_string_lossy()))
    )
}

/// A path in one line: an agent gave it its name, and could have made it look like more of what crew says.
pub(crate) fn shown(path: &str) -> String {
    let shown = |c: char| if text::hides(c) { '\u{fffd}' } else { c };
    path.chars().map(shown).collect()
}

/// A path as a shell takes it.
fn quoted(path: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-~+,:@%".contains(&byte);
    if path.bytes().all(plain) {
        path.to_owned()
    } else {
        format!("'{}'", path.replace('\'', "'\\''"))
    }
}

impl Executor {
    /// Deletes of it what a person has made deletable since, and tells of the rest.
    pub(crate) fn clear_undeletable(&self) {
        self.repository.clear_undeletable(&self.workspaces);
        self.tell_undeletable();
    }

    /// Tells of what this engine has not told of yet.
    pub(crate) fn tell_undeletable(&self) {
        let all = Repository::undeletable(&self.workspaces);
        let mut told = self
            .told_undeletable
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        for left in all {
            if told.insert(left.folder.clone()) {
                let (says, hint) = said(&left);
                tracing::warn!("{says}\n  {hint}");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{quoted, shown};

    #[test]
    fn a_path_is_one_word_of_a_shells() {
        assert_eq!(quoted("/a/.b/ada-t-1~1"), "/a/.b/ada-t-1~1");
        assert_eq!(quoted("/a b/c"), "'/a b/c'");
        assert_eq!(quoted("/it's"), "'/it'\\''s'");
    }

    #[test]
    fn a_name_that_an_agent_gave_is_no_line_of_crews() {
        assert_eq!(
            shown("/a/x\n  hint: y\u{1b}[2J"),
            "/a/x\u{fffd}  hint: y\u{fffd}[2J"
        );
    }
}
