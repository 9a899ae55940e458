//! Obstacles: files of a person that are in the way of a landing.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

/// Something in a checkout that landing would have to touch, or that keeps it from touching anything.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InTheWay {
    /// The file: from the root of the repository's own checkout, absolute in another one. The checkout itself
    /// where it is about no file.
    pub path: String,
    /// The obstacle at the path.
    pub what: Obstacle,
}

impl fmt::Display for InTheWay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.path, self.what.words())
    }
}

/// A kind of file that may be in the way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Obstacle {
    /// A tracked file with changes that are in no commit, or that was deleted.
    Edited,
    /// A tracked file with such changes that a person hides from git.
    Hidden,
    /// Changes that are in the index only.
    Staged,
    /// A conflict that is not resolved.
    Unmerged,
    /// A file or folder that git does not know.
    Untracked,
    /// A file that is ignored.
    Ignored,
    /// The files of a submodule whose place other files take.
    Submodule,
    /// `git merge` is under way.
    Merge,
    /// `git rebase` is under way.
    Rebase,
    /// `git am` is under way.
    Am,
    /// `git cherry-pick` is under way.
    CherryPick,
    /// `git revert` is under way.
    Revert,
    /// crew may not write there: another owner, a mount, a folder that is read-only.
    Unwritable,
    /// Another git holds the index.
    IndexLocked,
    /// Another git is at work there: a commit whose hook runs or whose editor is open, for example.
    Git {
        /// Its command, `commit` for one.
        command: String,
        /// The number of its process.
        process: u32,
    },
}

impl Obstacle {
    /// The obstacle in words.
    #[must_use]
    pub fn words(&self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Obstacle::Edited => "edited",
            Obstacle::Hidden => "edited, and hidden from git status",
            Obstacle::Staged => "staged",
            Obstacle::Unmerged => "in conflict",
            Obstacle::Untracked => "not tracked",
            Obstacle::Ignored => "ignored",
            Obstacle::Submodule => "a submodule's files are there",
            Obstacle::Merge => "a merge is under way",
            Obstacle::Rebase => "a rebase is under way",
            Obstacle::Am => "git am is under way",
            Obstacle::CherryPick => "a cherry-pick is under way",
            Obstacle::Revert => "a revert is under way",
            Obstacle::Unwritable => "cannot be written",
            Obstacle::IndexLocked => "another git holds the index; if none runs, remove its `index.lock`",
            Obstacle::Git { command, process } => {
                return format!("`git {command}` is under way, process {process}").into();
            }
        })
    }
}

/// All of it, in words: `README (edited), .env (ignored)`. Paths are not sanitised.
#[must_use]
pub fn in_words(all: &[InTheWay]) -> String {
    let words: Vec<String> = all.iter().map(ToString::to_string).collect();
    words.join(", ")
}

/// The remedy for all of them, each once: commands of git's, without the folder.
#[must_use]
pub fn remedy(all: &[InTheWay]) -> String {
    let mut todo: Vec<Cow<'_, str>> = Vec::new();
    for one in all {
        let what = one.what.remedy();
        if !todo.contains(&what) {
            todo.push(what);
        }
    }
    todo.join("; ")
}

/// For a person's own edits.
const COMMIT: &str = "git commit or git stash";

impl Obstacle {
    fn remedy(&self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Obstacle::Edited | Obstacle::Staged => COMMIT,
            Obstacle::Hidden => {
                "git update-index --no-skip-worktree --no-assume-unchanged and the file, then git commit or git stash"
            }
            Obstacle::Unmerged => "resolve the conflict, git add and git commit",
            Obstacle::Untracked => "git add and git commit, or move the file away",
            Obstacle::Ignored => "move the ignored file away",
            Obstacle::Submodule => "git submodule deinit and the submodule's path",
            Obstacle::Merge => "git merge --continue or --abort",
            Obstacle::Rebase => "git rebase --continue or --abort",
            Obstacle::Am => "git am --continue or --abort",
            Obstacle::CherryPick => "git cherry-pick --continue or --abort",
            Obstacle::Revert => "git revert --continue or --abort",
            Obstacle::Unwritable => "get the right to write, or take away what is mounted",
            Obstacle::IndexLocked => "let that git end; if none runs, remove its index.lock",
            Obstacle::Git { command, process } => {
                return format!("let `git {command}` end, or end process {process}").into();
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_thing_in_the_way_has_a_remedy_that_is_shown_once() {
        let seen = |path: &str, what| InTheWay {
            path: path.to_owned(),
            what,
        };
        let all = [
            seen("/repo", Obstacle::Merge),
            seen("a", Obstacle::Edited),
            seen("b", Obstacle::Staged),
        ];
        assert_eq!(
            remedy(&all),
            "git merge --continue or --abort; git commit or git stash"
        );
        let git = Obstacle::Git {
            command: "commit".to_owned(),
            process: 7,
        };
        let all = [seen("/repo", git)];
        assert_eq!(in_words(&all), "/repo (`git commit` is under way, process 7)");
        assert_eq!(remedy(&all), "let `git commit` end, or end process 7");
    }

    #[test]
    fn a_path_is_a_path() {
        let seen = InTheWay {
            path: ".env".to_owned(),
            what: Obstacle::Ignored,
        };
        let stored = serde_json::to_string(&seen).unwrap();
        assert_eq!(stored, r#"{"path":".env","what":"ignored"}"#);
        assert_eq!(serde_json::from_str::<InTheWay>(&stored).unwrap(), seen);
        assert_eq!(seen.to_string(), ".env (ignored)");
    }
}
