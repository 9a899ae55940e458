//! The change of a ticket, and the folder in which it is made.

use model::{AgentName, Oid, TicketId};
use schemars::JsonSchema;
use serde::Serialize;

use super::FoundSecret;
use crate::diff::{self, FileChangeKind};
use crate::error::{Error, Result};

/// The change that a ticket would make on the target, or has made there.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Diff {
    /// The ticket.
    ticket: TicketId,
    /// The agent that has done the work; `null` where it is not known.
    agent: Option<AgentName>,
    /// The state of the work: the files of its workspace as they are now, its branch before it is merged,
    /// the merge that is to land, the merge that has landed, or work that did not land and is kept.
    of: Of,
    /// The ref that keeps the work; `null` unless `of` is `kept`.
    reference: Option<String>,
    /// The commit with which the work is compared.
    old: Oid,
    /// The commit that has all of the work; `null` where some of it is in no commit.
    new: Option<Oid>,
    /// `true` if some of the work is in no commit; `null` where that cannot be seen.
    has_uncommitted: Option<bool>,
    /// The files that differ.
    files: Vec<File>,
    /// Lines that are added, over all files.
    added: u64,
    /// Lines that are removed, over all files.
    removed: u64,
    /// Files of the workspace that cannot be read: they are not among the files.
    unread: Vec<String>,
    /// What looks like secrets in it, and waits for a person's word: each file, line and kind.
    secrets: Vec<FoundSecret>,
    /// The commits that it brings to the target, newest first, without crew's merge; at most 1,000, and none
    /// of work that is under way or did not land.
    commits: Vec<BroughtCommit>,
    /// The files that one of the commits wrote and that are neither in the result nor on the target: their
    /// content stays in the target's history.
    passing: Vec<String>,
}

/// A commit that a change brings to the target.
#[derive(Debug, Serialize, JsonSchema)]
struct BroughtCommit {
    /// Its id.
    commit: Oid,
    /// The author's name.
    author: String,
    /// The first line of its message. Values that look like secrets are masked.
    subject: String,
}

/// The state of work.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Of {
    Workspace,
    Branch,
    Candidate,
    Landed,
    Kept,
}

/// A file that differs.
#[derive(Debug, Serialize, JsonSchema)]
struct File {
    /// Its path; the new one, where it was moved.
    path: String,
    /// The path from which it was moved; `null` where it was not.
    moved_from: Option<String>,
    /// What became of it.
    status: Status,
    /// Lines that are added; `null` for a binary file.
    added: Option<u64>,
    /// Lines that are removed; `null` for a binary file.
    removed: Option<u64>,
    /// Its modes before and after; `null` where it has the same one, or is new or gone.
    mode_change: Option<ModeChange>,
    /// `true` if it is a submodule, before or after.
    is_submodule: bool,
}

/// The modes of a file that has another one now.
#[derive(Debug, Serialize, JsonSchema)]
struct ModeChange {
    /// The mode before, such as `100644`.
    old: String,
    /// The mode after, such as `100755` of a file that can be run.
    new: String,
}

/// What became of a file.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Status {
    Added,
    Deleted,
    Modified,
    Renamed,
    TypeChanged,
}

impl Diff {
    /// The document of a diff.
    ///
    /// # Errors
    /// git fails.
    pub fn new(diff: &diff::Diff) -> Result<Self> {
        let files: Vec<File> = diff.files()?.into_iter().map(File::of).collect();
        let sum = |of: fn(&File) -> Option<u64>| files.iter().filter_map(of).sum();
        let (of, reference, has_uncommitted) = match &diff.of {
            diff::Of::Workspace { has_uncommitted } => (Of::Workspace, None, *has_uncommitted),
            diff::Of::Branch => (Of::Branch, None, Some(false)),
            diff::Of::Candidate => (Of::Candidate, None, Some(false)),
            diff::Of::Landed => (Of::Landed, None, Some(false)),
            diff::Of::Kept { reference } => (Of::Kept, Some(reference.clone()), Some(false)),
        };
        let brought = diff.brought()?;
        let commits = brought.commits.into_iter().map(BroughtCommit::of);
        Ok(Self {
            commits: commits.collect::<Result<_>>()?,
            passing: brought
                .passing
                .iter()
                .map(|path| path.to_string_lossy().into_owned())
                .collect(),
            ticket: diff.ticket.clone(),
            agent: diff.agent.clone(),
            of,
            reference,
            old: shown(&diff.old)?,
            new: diff.commit.as_ref().map(shown).transpose()?,
            has_uncommitted,
            added: sum(|file| file.added),
            removed: sum(|file| file.removed),
            files,
            unread: diff.unread.clone(),
            secrets: diff.secrets.iter().map(FoundSecret::of).collect(),
        })
    }
}

fn shown(commit: &git::Oid) -> Result<Oid> {
    Oid::new(commit.as_str())
        .map_err(|error| Error::usage(error.to_string(), "`crew doctor` examines the repository"))
}

impl BroughtCommit {
    fn of(one: git::CommitInfo) -> Result<Self> {
        Ok(Self {
            commit: shown(&one.commit)?,
            author: one.author,
            subject: runtime::secrets::said(one.subject),
        })
    }
}

impl File {
    fn of(file: diff::FileChange) -> Self {
        let (added, removed) = file.lines.unzip();
        Self {
            path: file.path.to_string_lossy().into_owned(),
            moved_from: file.moved_from.map(|path| path.to_string_lossy().into_owned()),
            status: match file.kind {
                FileChangeKind::Added => Status::Added,
                FileChangeKind::Deleted => Status::Deleted,
                FileChangeKind::Modified => Status::Modified,
                FileChangeKind::Renamed => Status::Renamed,
                FileChangeKind::Type => Status::TypeChanged,
            },
            added,
            removed,
            mode_change: file.modes.map(|(old, new)| ModeChange { old, new }),
            is_submodule: file.is_submodule,
        }
    }
}

/// The folder of an agent's work.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WorkFolder {
    /// The folder (absolute).
    path: String,
}

impl WorkFolder {
    /// The document of a folder.
    #[must_use]
    pub fn new(path: &std::path::Path) -> Self {
        Self {
            path: path.to_string_lossy().into_owned(),
        }
    }
}
