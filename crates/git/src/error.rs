//! Errors: every way in which this crate fails, in words on which a person can act.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::types::holder::Holder;
use crate::types::invalid::Invalid;
use crate::types::not_copied::{self, LeftOut};
use crate::types::oid::Oid;
use crate::types::refusal::Refusal;
use crate::types::status::Status;
use crate::types::trouble::Trouble;
use crate::types::unsaved::Unsaved;
use crate::types::version::Version;

/// The crate's result.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Every way in which this crate fails. `Display` says what happened to which thing; [`Error::hint`] what to
/// do next.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No executable `git` in the absolute folders of the PATH that was given.
    #[error("no git program found on PATH")]
    GitMissing,
    /// The git program is older than what crew needs.
    #[error("git too old: {} is version {found}, crew needs {needed} or newer", .program.display())]
    GitTooOld {
        /// The program that was found.
        program: PathBuf,
        /// Its version.
        found: Version,
        /// [`Version::MINIMUM`].
        needed: Version,
    },
    /// `git version` did not answer with a version.
    #[error("cannot tell the version of {}: it said {}", .program.display(), text::quoted(.output))]
    GitVersion {
        /// The program that was asked.
        program: PathBuf,
        /// Its output, shortened.
        output: String,
    },
    /// The git process could not be started or watched.
    #[error("cannot run `git {command}`")]
    Spawn {
        /// The subcommand and its arguments, shortened.
        command: String,
        /// The system's reason.
        source: io::Error,
    },
    /// git ended with an exit status that the call does not expect.
    #[error("`git {command}` failed ({status}): {stderr}")]
    Failed {
        /// The subcommand and its arguments, shortened.
        command: String,
        /// Its exit code, or the signal that ended it.
        status: Status,
        /// The beginning of its standard error.
        stderr: String,
        /// Whether git reported that the machine has no more of something, and a trial of crew's own at the
        /// same place failed too.
        lacking: bool,
    },
    /// git refuses to work with the repository at all.
    #[error("git cannot use the repository at {}: {says}", .path.display())]
    Unusable {
        /// Where git was asked.
        path: PathBuf,
        /// The reason, in git's words.
        says: String,
    },
    /// git did not end in time and was killed.
    #[error("`git {command}` was stopped: not done after {} s", .after.as_secs_f32())]
    Deadline {
        /// The subcommand and its arguments, shortened.
        command: String,
        /// The time it was given.
        after: Duration,
    },
    /// git printed more than the call allows and was killed.
    #[error("`git {command}` was stopped: it printed more than {limit} bytes")]
    OutputTooLarge {
        /// The subcommand and its arguments, shortened.
        command: String,
        /// The limit in bytes.
        limit: u64,
    },
    /// git's answer is not in the form it documents.
    #[error("`git {command}` gave an answer that cannot be read: {what}")]
    Unreadable {
        /// The subcommand.
        command: String,
        /// The part that could not be read.
        what: String,
    },

    /// The folder is in no repository.
    #[error("not a git repository: {}", .path.display())]
    NotARepository {
        /// Where the search began.
        path: PathBuf,
    },
    /// git refuses the repository because another user owns it.
    #[error("the repository at {} belongs to another user", .path.display())]
    ForeignOwner {
        /// Where the search began.
        path: PathBuf,
    },
    /// The repository has no work tree of its own, and none of its worktrees was asked for.
    #[error("the repository at {} is bare", .path.display())]
    Bare {
        /// Its git directory.
        path: PathBuf,
    },
    /// The repository was made with `--separate-git-dir`, and nobody knows its main checkout in a linked
    /// worktree.
    #[error("the main checkout of {} is not known in its worktrees", .path.display())]
    MainUnknown {
        /// Its git directory.
        path: PathBuf,
    },
    /// The repository has no commit.
    #[error("the repository at {} is empty: it has no commit", .path.display())]
    Empty {
        /// Its root.
        path: PathBuf,
    },
    /// The repository's history is cut off.
    #[error("the repository at {} is shallow", .path.display())]
    Shallow {
        /// Its root.
        path: PathBuf,
    },
    /// The repository leaves objects at a remote.
    #[error("the repository at {} is a partial clone: some of its objects are only at the remote", .path.display())]
    PartialClone {
        /// Its root.
        path: PathBuf,
    },
    /// The folder belongs to an agent's workspace, not to a repository of the user.
    #[error("{} is an agent's workspace", .path.display())]
    InsideWorkspace {
        /// Its git directory.
        path: PathBuf,
    },
    /// A branch is needed and none is checked out.
    #[error("HEAD of {} is detached: no branch is checked out", .path.display())]
    Detached {
        /// The checkout.
        path: PathBuf,
    },
    /// The branch that work lands on does not exist.
    #[error("the target branch {branch} does not exist in {}", .path.display())]
    TargetMissing {
        /// Its short name.
        branch: String,
        /// The repository's root.
        path: PathBuf,
    },
    /// A commit or tree that was named is not in the repository.
    #[error("{name} is not a commit of {}", .path.display())]
    NoSuchCommit {
        /// The name that was looked up.
        name: String,
        /// The repository's root.
        path: PathBuf,
    },

    /// A text that is no object id, id or branch name.
    #[error(transparent)]
    Invalid(#[from] Invalid),

    /// Another process holds the repository's lock.
    #[error("the repository is held by {by} ({})", .path.display())]
    Held {
        /// The lock's file.
        path: PathBuf,
        /// The holder's note about itself.
        by: Holder,
    },
    /// A file operation failed.
    #[error("cannot {doing} {}", .path.display())]
    Io {
        /// The verb.
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },

    /// A workspace of this name stands there and is another attempt's.
    #[error("the workspace {} already exists and is not this attempt's", .path.display())]
    WorkspaceTaken {
        /// The workspace.
        path: PathBuf,
    },
    /// The branch for a new workspace exists already and is at another commit.
    #[error("the branch {branch} already exists at {now}")]
    BranchTaken {
        /// Its short name.
        branch: String,
        /// The commit at which it is.
        now: Oid,
    },
    /// The branch for a new workspace is checked out by a person.
    #[error("the branch {branch}, of earlier work, is checked out in {}", .checkout.display())]
    BranchShown {
        /// Its short name.
        branch: String,
        /// The checkout's files.
        checkout: PathBuf,
    },
    /// The branch of an agent's work is checked out by a person, so it is not moved.
    #[error("the branch {branch} is checked out in {}, and does not move there", .checkout.display())]
    BranchInUse {
        /// Its short name.
        branch: String,
        /// The checkout's files.
        checkout: PathBuf,
    },
    /// A branch named `agent` leaves no room for `agent/<agent>-<ticket>`.
    #[error("a branch named `agent` stands in the way of {branch}")]
    BranchBlocked {
        /// The branch that could not be made.
        branch: String,
    },
    /// The workspace's folder is gone.
    #[error("the workspace {} does not exist", .path.display())]
    WorkspaceMissing {
        /// The folder that is missing.
        path: PathBuf,
    },
    /// An agent's commits may not come into the repository.
    #[error("the commits of {} are refused: {}", .workspace.display(), crate::types::refusal::list(.refusals))]
    Refused {
        /// The workspace.
        workspace: PathBuf,
        /// The reasons, one entry for each path or object, at most a hundred.
        refusals: Vec<Refusal>,
    },
    /// Work in a workspace could not be kept, so the workspace stays.
    #[error("{} holds work that cannot be saved, among it {}", .workspace.display(), crate::types::unsaved::list(.left))]
    Unsaved {
        /// The workspace.
        workspace: PathBuf,
        /// The paths and the reasons.
        left: Vec<Unsaved>,
    },
    /// Files that a workspace is to get as copies may not be copied.
    #[error("`[workspace] copy` in crew.toml names {}", not_copied::list(.files))]
    NotCopied {
        /// All of them.
        files: Vec<LeftOut>,
    },
    /// The set-up of a workspace has made more files than can be kept out of the agent's work.
    #[error(
        "the set-up leaves {} that git does not ignore, and at most {most} can be kept out of an agent's work; {}",
        text::counted(*count, "file"),
        where_made(folders)
    )]
    SetUpMade {
        /// How many there are.
        count: usize,
        /// The most that there may be.
        most: usize,
        /// The folders in which only such files are, and the number of them, the fullest first: a few.
        folders: Vec<(PathBuf, usize)>,
    },
    /// A ref is not where the caller saw it.
    #[error("{name} moved: expected {}, is {}", or_absent(.expected.as_ref()), or_absent(.now.as_ref()))]
    RefMoved {
        /// The full ref name.
        name: String,
        /// The commit that the caller expected; `None`: that the ref does not exist.
        expected: Option<Oid>,
        /// The commit at which it is; `None`: the ref does not exist.
        now: Option<Oid>,
    },
    /// Another git holds the ref's lock.
    #[error("{name} is locked by another git ({})", .lock.display())]
    RefBusy {
        /// The full ref name.
        name: String,
        /// The lock's file.
        lock: PathBuf,
    },
    /// Another git holds the index of a checkout.
    #[error("the index of {} is locked by another git", .checkout.display())]
    IndexBusy {
        /// The checkout.
        checkout: PathBuf,
    },
    /// Another check uses this check checkout.
    #[error("the check checkout {} is in use", .path.display())]
    CheckBusy {
        /// Its folder.
        path: PathBuf,
    },
    /// A check checkout differs from its commit even after it was made anew.
    #[error("{} does not become equal to {commit}: {what}", .path.display())]
    CheckUnequal {
        /// Its folder.
        path: PathBuf,
        /// The commit it should show.
        commit: Oid,
        /// The first differing path, or git's message.
        what: String,
    },
    /// The candidate that is to land is no longer in the repository: it has to be built again.
    #[error("the candidate {commit} is gone from {}", .path.display())]
    CandidateGone {
        /// The candidate.
        commit: Oid,
        /// The repository's root.
        path: PathBuf,
    },
    /// The remote of `[land]` did not do what crew asked of it.
    #[error("{}", .trouble.sentence(.remote, .says))]
    Remote {
        /// The remote's name.
        remote: String,
        /// The kind of the trouble.
        trouble: Trouble,
        /// git's words and the remote's, as one sanitised line.
        says: String,
    },
    /// The two commits share no history.
    #[error("{tip} and {target} have no common ancestor")]
    Unrelated {
        /// The branch's tip.
        tip: Oid,
        /// The target's commit.
        target: Oid,
    },
}

impl Error {
    /// A hint at what a person can do about the error, where there is one.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::GitMissing => "install git and put it on PATH",
            Self::GitTooOld { .. } => "install a newer git, or put one first on PATH",
            Self::NotARepository { .. } => "run this inside a git repository, or make one with `git init`",
            Self::ForeignOwner { .. } => {
                "if you trust it: git config --global --add safe.directory <its path>"
            }
            Self::Bare { .. } => "run this in one of its worktrees: git worktree add <folder> <branch>",
            Self::MainUnknown { .. } => {
                "run `crew init` in the main checkout, or `crew run` if it was moved: then they know it"
            }
            Self::Empty { .. } => "make the first commit: git commit --allow-empty -m 'first commit'",
            Self::Shallow { .. } => "fetch the rest of the history: git fetch --unshallow",
            Self::PartialClone { .. } => "fetch the missing objects: git fetch --refetch --no-filter",
            Self::InsideWorkspace { .. } => "run this in your own repository",
            Self::Detached { .. } => "check a branch out: git switch <branch>",
            Self::TargetMissing { .. } => {
                "create the branch, or name another as `[project] target` in crew.toml"
            }
            Self::Held { .. } => "wait for it to end, or stop it",
            Self::WorkspaceTaken { .. } => "keep its work and remove it first",
            Self::BranchTaken { .. } => "keep its commits under another ref and delete it first",
            Self::BranchShown { .. } => {
                "it is yours by now: give it another name with git branch -m <branch> <other name>"
            }
            Self::BranchInUse { .. } => "check another branch out there: git switch -",
            Self::BranchBlocked { .. } => "rename your branch: git branch -m agent <other name>",
            Self::RefBusy { .. } | Self::IndexBusy { .. } => "let the other git finish, then try again",
            Self::NotCopied { files } => not_copied::remedy(files),
            Self::SetUpMade { .. } => "or have `[workspace] setup` in crew.toml leave fewer",
            Self::Unsaved { .. } => "look at these paths by hand; nothing was removed",
            Self::Refused { .. } => "take these paths out of the branch's commits",
            Self::Remote { trouble, .. } => trouble.hint(),
            Self::Failed { .. } | Self::Unusable { .. } => "what git says must be mended first",
            _ => return None,
        })
    }

    /// Whether the error comes from the machine's present state and is nobody's fault: the same call works
    /// later, when there is room or a descriptor, when another git has ended, or when nobody kills the git.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        match self {
            Self::RefBusy { .. } | Self::IndexBusy { .. } | Self::CheckBusy { .. } => true,
            Self::Io { source, .. } | Self::Spawn { source, .. } => text::is_exhausted(source),
            Self::Failed { status, lacking, .. } => *lacking || status.is_killed(),
            _ => false,
        }
    }

    pub(crate) fn io(doing: &'static str, path: impl AsRef<Path>, source: impl Into<io::Error>) -> Self {
        Self::Io {
            doing,
            path: path.as_ref().to_owned(),
            source: source.into(),
        }
    }

    pub(crate) fn unreadable(command: &str, what: impl Into<String>) -> Self {
        Self::Unreadable {
            command: command.to_owned(),
            what: what.into(),
        }
    }
}

/// Turns a file operation's error into [`Error::Io`].
pub(crate) trait IoContext<T> {
    fn doing(self, doing: &'static str, path: impl AsRef<Path>) -> Result<T>;
}

impl<T, E: Into<io::Error>> IoContext<T> for std::result::Result<T, E> {
    fn doing(self, doing: &'static str, path: impl AsRef<Path>) -> Result<T> {
        self.map_err(|source| Error::io(doing, path, source))
    }
}

/// A ref's object in a message.
fn or_absent(oid: Option<&Oid>) -> &str {
    oid.map_or("absent", Oid::as_str)
}

/// The folders in which a set-up has left its files, with the lines of `.gitignore` that help.
fn where_made(folders: &[(PathBuf, usize)]) -> String {
    if folders.is_empty() {
        return "add them to .gitignore and commit that".to_owned();
    }
    let are_in =
        |(folder, number): &(PathBuf, usize)| format!("{number} of them are in {}", text::quoted(folder));
    let line =
        |(folder, _): &(PathBuf, usize)| format!("`{}/`", text::sanitise::line(&folder.to_string_lossy()));
    let are_in: Vec<String> = folders.iter().map(are_in).collect();
    let lines: Vec<String> = folders.iter().map(line).collect();
    format!(
        "{}: add {} to .gitignore and commit that",
        are_in.join(", "),
        lines.join(" and ")
    )
}
