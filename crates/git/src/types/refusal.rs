//! Refusals of an agent's work, and the limits for it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::types::id::Branch;
use crate::types::oid::Oid;
use crate::types::operation::Operation;

/// The limits of one import.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Objects (commits, trees, blobs) in one import.
    pub objects: usize,
    /// Their unpacked size together, in bytes.
    pub bytes: u64,
    /// The size of one file, in bytes. Work that is only kept, and does not land, needs no such limit.
    pub file_bytes: u64,
    /// Paths that differ from the base.
    pub paths: usize,
    /// Top folders that no agent may touch, compared without case.
    pub protected: Vec<String>,
    /// The branch that work lands on: a commit of a submodule that it records may come in.
    pub target: Option<Branch>,
    /// Time for each of its git calls.
    pub deadline: Duration,
}

impl Limits {
    /// The same limits without those of work that lands.
    pub(crate) fn for_kept_work(&self) -> Self {
        Self {
            protected: Vec::new(),
            file_bytes: u64::MAX,
            ..self.clone()
        }
    }
}

impl Default for Limits {
    /// 200,000 objects, 1 GiB, files of any size in that, 20,000 paths, `.crew` and `agents`, no target,
    /// 120 s.
    fn default() -> Self {
        Self {
            objects: 200_000,
            bytes: 1 << 30,
            file_bytes: u64::MAX,
            paths: 20_000,
            protected: vec![".crew".to_owned(), "agents".to_owned()],
            target: None,
            deadline: Duration::from_secs(120),
        }
    }
}

/// The most paths of one merge that a message names.
const PATHS_OF_A_MERGE: usize = 20;

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
    /// A repository inside the repository, committed as a link to nothing; or a submodule's commit that only
    /// the workspace has.
    Submodule {
        /// The path.
        path: PathBuf,
        /// The commit that the target records there; none if this is no submodule of the target's.
        recorded: Option<Oid>,
    },
    /// A repository that the agent made in the workspace: git records none of its files.
    Nested {
        /// Its folder.
        path: PathBuf,
    },
    /// A linked worktree that the agent made in the workspace, with work that the branch does not have.
    Worktree {
        /// Its folder.
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
    /// A commit of the branch that takes back what the target has changed where the branch had changed
    /// nothing.
    TakesBack {
        /// The commit.
        commit: Oid,
        /// It is a merge of the target, and not an ordinary commit on top of it.
        is_merge: bool,
        /// The commit of the target's that it merged, or stands on.
        of: Oid,
        /// The paths that it has as they were before.
        paths: Vec<PathBuf>,
    },
    /// A path that was not committed, and that a filter is for which only the agent's own attributes name.
    NewFilter {
        /// The path.
        path: PathBuf,
        /// The filter.
        filter: String,
    },
    /// A path that was not committed, and that a filter is for which only the workspace has.
    AgentsFilter {
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
    /// A file that is too large by itself, in a commit or not committed.
    LargeFile {
        /// The path.
        path: PathBuf,
        /// Its size in git.
        bytes: u64,
        /// The size that is allowed.
        limit: u64,
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
            Self::Submodule {
                path,
                recorded: Some(_),
            } => write!(
                f,
                "{} is a submodule, and crew brings over no commit of one that the target does not record",
                text::quoted(path)
            ),
            Self::Submodule { path, recorded: None } => write!(
                f,
                "{} is a repository inside the repository, and git would record no file of it",
                text::quoted(path)
            ),
            Self::Nested { path } => write!(
                f,
                "{} is a repository inside the repository, and none of its files would land",
                text::quoted(path)
            ),
            Self::Worktree { path } => write!(
                f,
                "{} is a worktree inside the repository, and what it has beside this branch would not land",
                text::quoted(path)
            ),
            Self::Unfinished { operation } => write!(
                f,
                "git {operation} is under way in the workspace: finish it (git {operation} --continue), or give it up (git {operation} --abort)"
            ),
            Self::TakesBack {
                commit,
                is_merge,
                of,
                paths,
            } => {
                let more = paths.len().saturating_sub(PATHS_OF_A_MERGE);
                let shown: Vec<String> = paths
                    .iter()
                    .take(PATHS_OF_A_MERGE)
                    .map(|path| text::quoted(path).to_string())
                    .collect();
                write!(
                    f,
                    "the {} {commit} takes back what the target has in {}",
                    if *is_merge { "merge" } else { "commit" },
                    shown.join(", ")
                )?;
                if more > 0 {
                    write!(f, " and {more} more")?;
                }
                if *is_merge {
                    write!(
                        f,
                        ": it has only this branch's version, although what {of} has there is not, or not all, in \
                         conflict with it"
                    )
                } else {
                    write!(f, ": it has them as they were when this work began, before {of}")
                }
            }
            Self::InConflict { path } => {
                write!(
                    f,
                    "{} is in conflict: resolve it, git add it, and commit",
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
            Self::AgentsFilter { path, filter } => write!(
                f,
                "{} is to go through the filter {}, which crew does not run, since only this workspace has it: \
                 git add the file and commit it",
                text::quoted(path),
                text::quoted(Path::new(filter))
            ),
            Self::LfsObject { path, object } => write!(
                f,
                "{} points to the LFS object {object}, which is neither in this repository's LFS store nor in the \
                 user's: put the content into the file, git add it, and git commit --amend",
                text::quoted(path)
            ),
            Self::LargeFile { path, bytes, limit } => write!(
                f,
                "{} has {:.1} MiB, and a file may have {} MiB",
                text::quoted(path),
                tenths_of_mib(*bytes),
                limit >> 20
            ),
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
        }
    }
}

impl Refusal {
    /// What the author of the work can do about it, with the commands to type in the workspace; none where
    /// the refusal itself says that. `base`: the commit from which the work began.
    #[must_use]
    pub fn remedy(&self, base: &Oid) -> Option<String> {
        let anew = format!("git reset --soft {base} && git add -A && git commit");
        Some(match self {
            Self::Head { .. } => "Make HEAD name a commit again: .git/logs/HEAD lists those that it had, and git checkout -B \
                 <this branch> <commit> takes one. Where git does not run at all, write `ref: refs/heads/<this branch>` into \
                 .git/HEAD first."
                .to_owned(),
            Self::Objects { .. } => format!(
                "git fsck names what is missing or broken. This makes one sound commit of the files as they are: {anew}"
            ),
            Self::Unsound { .. } => format!(
                "Mend the file that git names, in every commit of the branch. This makes one commit of the files as they \
                 are: {anew}"
            ),
            Self::DotGit { path } => format!(
                "Give it another name, or take it out of the branch: git rm -r --cached {}, and commit.",
                shell(path)
            ),
            Self::Protected { path } => format!(
                "Take it out of the branch: git rm -r --cached {0}, and commit; if the target has it, git checkout {base} -- \
                 {0} puts it back.",
                shell(path)
            ),
            Self::Submodule {
                path,
                recorded: Some(recorded),
            } => format!(
                "Put back the commit that the target records: git -C {0} checkout --detach {recorded} && git add {0} && git \
                 commit. For the new commit to land, a person brings it into the target first: git -C {0} push <address of \
                 the submodule> HEAD:<branch> from here; then, in a checkout of the target, git -C {0} fetch, git -C {0} \
                 checkout <the commit>, git commit {0}.",
                shell(path)
            ),
            Self::Submodule { path, recorded: None } => format!(
                "Take the link out of the branch: git rm --cached {0}, and commit. For its files to land, remove {0}/.git \
                 and git add {0}. A new submodule can only be added by a person, on the target.",
                shell(path)
            ),
            Self::LargeFile { path, .. } => format!(
                "GitHub and others refuse a push with so large a file, also where a later commit deletes it. If it is not \
                 meant to land, name it in .gitignore; if it is, have Git LFS keep it (git lfs track {0}, then git add \
                 .gitattributes), or ask a person to raise max_file_mib of [land] in crew.toml. Where it is committed, take \
                 it out of every commit first: git reset --soft {base} && git rm --cached {0} && git commit",
                shell(path)
            ),
            Self::Nested { path } => format!(
                "For its files to land: rm -rf {0}/.git && git reset -q -- {0} && git add {0} && git \
                 commit. If it is no part of the work, delete the folder, or name it in .gitignore and commit that. A new \
                 submodule can only be added by a person, on the target.",
                shell(path)
            ),
            Self::Worktree { path } => format!(
                "For its work to land, commit it there, and merge its commit here: git merge <commit>. Then, or if it is no \
                 part of the work: git worktree remove --force {}",
                shell(path)
            ),
            Self::TooMuch { most: None, .. } => format!(
                "git diff --stat {base} shows where it is. A later commit that deletes files does not help: take them out of \
                 every commit (git reset --soft {base}, git rm --cached <file>, git commit), and name them in .gitignore."
            ),
            Self::TakesBack {
                commit,
                is_merge,
                of,
                paths,
            } => {
                let more = if paths.len() > PATHS_OF_A_MERGE {
                    format!(" The other paths are among those that git diff --name-only HEAD {of} names.")
                } else {
                    String::new()
                };
                let shown: Vec<String> = paths.iter().take(PATHS_OF_A_MERGE).map(|path| shell(path)).collect();
                let own = if *is_merge {
                    format!(
                        " Where this branch has changes of its own in the file, take the target's in with: git diff \
                         {commit}^...{of} -- <file> | git apply -3."
                    )
                } else {
                    String::new()
                };
                format!(
                    "Put back what this ticket does not ask to be undone: git checkout {of} -- {} && git commit (git rm what the \
                     target has deleted; no git add -A, which would put an old commit of a submodule back).{own}{more} What the \
                     ticket asks to be undone, undo in a commit after that.",
                    shown.join(" ")
                )
            }
            Self::Unfinished { .. }
            | Self::InConflict { .. }
            | Self::NewFilter { .. }
            | Self::AgentsFilter { .. }
            | Self::LfsObject { .. }
            | Self::TooLarge { .. }
            | Self::TooMuch { most: Some(_), .. } => return None,
        })
    }
}

/// A size in MiB, rounded up: one that is above a limit never looks equal to it.
#[expect(clippy::cast_precision_loss, reason = "for people to read")]
fn tenths_of_mib(bytes: u64) -> f64 {
    bytes.saturating_mul(10).div_ceil(1 << 20) as f64 / 10.0
}

/// A path as a shell takes it.
fn shell(path: &Path) -> String {
    let path = path.to_string_lossy();
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+,:@%".contains(&byte);
    match path.bytes().all(plain) {
        true => path.into_owned(),
        false => format!("'{}'", path.replace('\'', "'\\''")),
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
