//! Why the engine does not start, or stops.

use std::path::PathBuf;

use git::Holder;
use model::settings::Diagnostic;

/// The result of this crate's calls.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Every way in which this crate fails.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// git, or the repository.
    #[error(transparent)]
    Git(#[from] git::Error),
    /// The journal.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// The journal refuses what is decided on the strength of itself.
    #[error("the journal has refused the same decision {times} times")]
    Disputed {
        /// How often in a row.
        times: u32,
        /// The message, with the stream.
        source: store::Error,
    },
    /// The ticket folder.
    #[error(transparent)]
    Tickets(#[from] tickets::Error),
    /// An agent client.
    #[error(transparent)]
    Harness(#[from] harness::Error),
    /// The program of a harness is missing, or may not be run.
    #[error("{source}")]
    NoProgram {
        /// Which file, and what is wrong with it.
        source: process::NotFound,
    },
    /// A run under a shim.
    #[error(transparent)]
    Process(#[from] process::Error),
    /// The journal's contents.
    #[error(transparent)]
    Engine(#[from] engine::Error),
    /// There is no `crew.toml`.
    #[error("{} has no crew.toml", .root.display())]
    NotInitialised {
        /// The repository.
        root: PathBuf,
        /// Whether crew has begun here before: another branch has the file then.
        has_begun: bool,
    },
    /// `crew.toml` is wrong.
    #[error("{}", list(.0))]
    Settings(Vec<Diagnostic>),
    /// Another engine runs here, or what is left of one.
    #[error("{}", crate::place::holds(by))]
    Held {
        /// Who.
        by: Holder,
    },
    /// A program of `[checks] toolchain` gives no answer.
    #[error("[checks] toolchain: {why}")]
    Toolchain {
        /// The program, and what became of it.
        why: String,
    },
    /// No harness is chosen.
    #[error("no harness is chosen: which agent client is to work?")]
    NoHarness,
    /// The harness asked for has no table.
    #[error("there is no harness named `{name}` in crew.toml")]
    UnknownHarness {
        /// The name.
        name: String,
    },
    /// Neither `HOME` nor `XDG_STATE_HOME` says where workspaces may stand.
    #[error("neither HOME nor XDG_STATE_HOME is set, so there is no place for workspaces and checks")]
    NoStateDir,
    /// The checkouts of checks would stand in a checkout of the user's, and checks would find its files.
    #[error("checks would run in {}, which is inside of {}", .folder.display(), .root.display())]
    ChecksInside {
        /// Where they would stand.
        folder: PathBuf,
        /// The checkout, or the repository's git directory.
        root: PathBuf,
    },
    /// There may be workspaces, with work in them, where crew cannot look.
    #[error("the workspaces of this repository stand in {}, which cannot be looked into", .folder.display())]
    WorkspacesElsewhere {
        /// Where they were made.
        folder: PathBuf,
        /// The system's answer.
        source: std::io::Error,
    },
    /// The folder that the workspaces stand in is gone: deleted, or on a disk that is not mounted.
    #[error("the workspaces of this repository stand in {}, and that is not there", .folder.display())]
    WorkspacesMissing {
        /// Where they were made.
        folder: PathBuf,
    },
    /// The folder of tickets is not the one that the journal knows, and that one is still there: every ticket
    /// would seem deleted.
    #[error("the tickets of this crew are in {}, and not in {}", .known.display(), .given.display())]
    OtherTickets {
        /// Where they were.
        known: PathBuf,
        /// Where they are said to be now.
        given: PathBuf,
    },
    /// A setting that an engine cannot change while it runs.
    #[error("another `project.target` or `workspace_dir` needs a new start: `crew stop`, then `crew run`")]
    NeedsRestart,
    /// The settings of another branch, which the main checkout shows for now.
    #[error("the checkout shows {}, and crew started on {}", branch_in_words(.shown.as_deref()), branch_in_words(.from.as_deref()))]
    OtherBranch {
        /// The branch that is checked out; none where HEAD is detached.
        shown: Option<String>,
        /// The branch that was checked out when the engine started.
        from: Option<String>,
    },
    /// A git, or a lock that a git has left, is in the way of reading the settings.
    #[error("crew.toml has changed, and a git works on the checkout (index.lock)")]
    CheckoutChanges,
    /// The environment names no folder for temporary files that can be written.
    #[error("the folder for temporary files, {}, is not there or cannot be written", path.display())]
    NoTemporaryFolder {
        /// What it names.
        path: PathBuf,
    },
    /// The file of a child has the name of another ticket's.
    #[error("there is a ticket {child} that {parent} has not delegated")]
    ChildTaken {
        /// The id that both have.
        child: String,
        /// The ticket whose agent delegates.
        parent: String,
    },
    /// A child cannot begin where its parent's agent works: that agent has to mend something first.
    #[error("it did not begin, since {why}")]
    NotBegun {
        /// The reason, in words.
        why: String,
    },
    /// A landed merge cannot be taken back.
    #[error("it cannot be taken back: {why}")]
    NotReverted {
        /// The reason, in words.
        why: String,
    },
    /// A prompt template.
    #[error("the prompt template {template} cannot be used: {why}")]
    Prompt {
        /// Its file; of a built-in one its name.
        template: String,
        /// The fault.
        why: String,
    },
    /// The settings file is there, and cannot be read.
    #[error("cannot read {}", .path.display())]
    SettingsFile {
        /// Where it is.
        path: PathBuf,
        /// The system's answer, or what it is instead of a file.
        source: std::io::Error,
    },
    /// The settings could have been written by anybody.
    #[error("everybody on this machine can change {}, and what it names is run as you", .path.display())]
    SettingsOpenToAll {
        /// Where they are.
        path: PathBuf,
    },
    /// The settings are another user's.
    #[error("{} belongs to another user (number {owner}), and what it names is run as you", .path.display())]
    SettingsForeign {
        /// Where they are.
        path: PathBuf,
        /// Whose.
        owner: u32,
    },
    /// There is something else where crew's own folder belongs.
    #[error("{} is {}: crew keeps its journal in a folder of that name", .path.display(), if *.is_link { "a symbolic link" } else { "no folder" })]
    CrewDir {
        /// Where it is.
        path: PathBuf,
        /// Whether it leads elsewhere.
        is_link: bool,
    },
    /// A file of crew's own.
    #[error("cannot {doing} {}", .path.display())]
    Io {
        /// The act that failed.
        doing: &'static str,
        /// To which file.
        path: PathBuf,
        /// The system's answer.
        source: std::io::Error,
    },
}

impl Error {
    /// The hint: a person's remedy, where there is one.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Error::Git(error) => error.hint().map(str::to_owned),
            Error::Store(error) => error.hint().map(str::to_owned),
            Error::Disputed { .. } => Some(
                "its parts do not fit each other: `crew doctor` looks it over. Keep a copy of .crew/journal.db with its -wal and \
                 -shm files; restore a backup, or move all three away and begin a new one with `crew run`"
                    .to_owned(),
            ),
            Error::Tickets(error) => error.hint(),
            Error::Harness(error) => error.hint(),
            Error::Process(error) => error.hint().map(str::to_owned),
            Error::NotInitialised { has_begun: false, .. } => Some("`crew init` writes one".to_owned()),
            Error::NotInitialised { has_begun: true, .. } => Some(
                "crew has begun here: switch to the branch that has it, or bring it back (git checkout <branch> -- crew.toml)"
                    .to_owned(),
            ),
            Error::Held { by } if crate::life_of(by) == process::Life::Gone => Some("try again in a moment".to_owned()),
            Error::Held { by } if by.is_command => Some("try again when it has ended".to_owned()),
            Error::Held { .. } => {
                Some("`crew ps` shows what it does; `crew stop` ends it: then this can be done".to_owned())
            }
            Error::Toolchain { .. } => Some(
                "run it in a terminal; then mend it, or take it out of the list in crew.toml".to_owned(),
            ),
            Error::NoHarness => Some(
                "name one in crew.toml: [agents] harness = \"mine\", and a table [harness.mine] with kind = \"command\" \
                 and command = [\"./agent.sh\"]"
                    .to_owned(),
            ),
            Error::UnknownHarness { name } => Some(format!("add a table [harness.{name}], or choose another with --harness")),
            Error::NoStateDir => Some("set HOME or XDG_STATE_HOME".to_owned()),
            Error::ChecksInside { .. } => Some(
                "set XDG_STATE_HOME to a folder outside: a check must not find the files of your checkout".to_owned(),
            ),
            Error::WorkspacesElsewhere { .. } => Some(
                "run crew as the user who may; to begin anew without what stands there, remove .crew/places".to_owned(),
            ),
            Error::WorkspacesMissing { .. } => Some(
                "mount the disk that it is on; where you know that what was in it is gone, make the folder anew (mkdir -p) or \
                 remove .crew/places, and work under way starts over from the commits that crew has kept"
                    .to_owned(),
            ),
            Error::OtherTickets { known, .. } => Some(format!(
                "TICKETS_DIR has changed: set it as it was, or move the tickets over and remove {}; to begin anew, crew clean with \
                 TICKETS_DIR as it was",
                known.display()
            )),
            Error::Io { source, .. } if text::is_exhausted(source) => {
                Some("see that its disk has room and can be written; nothing was begun".to_owned())
            }
            Error::SettingsFile { .. } => {
                Some("it must be a plain file that you may read, of at most 1 MiB".to_owned())
            }
            Error::SettingsOpenToAll { path } => Some(format!(
                "read it through, then take the right from the others: chmod o-w {}",
                path.display()
            )),
            Error::SettingsForeign { path, .. } => Some(format!(
                "read it through, then make it yours: sudo chown \"$(id -u)\" {}",
                path.display()
            )),
            Error::CrewDir { is_link: true, .. } => Some(
                "`crew stop` ends an engine that runs here; then, if a journal stands behind the link, move its folder here in \
                 the link's place; if not, delete the link"
                    .to_owned(),
            ),
            Error::CrewDir { is_link: false, .. } => {
                Some(
                    "`crew stop` ends an engine that runs here; then move it away: crew makes the folder when it is needed"
                        .to_owned(),
                )
            }
            Error::Io { path, .. } => Some(format!(
                "look at what is there and whose it is: ls -ld {}",
                path.display()
            )),
            Error::OtherBranch { .. } => Some(
                "the settings there count from the next `crew run` on; those in force stand until then".to_owned(),
            ),
            Error::NoTemporaryFolder { .. } => Some("set TMPDIR to a folder that can be written".to_owned()),
            Error::CheckoutChanges => Some("crew looks again twice a minute".to_owned()),
            Error::ChildTaken { child, .. } => Some(format!("rename the file of {child}, and the child is written")),
            Error::NotBegun { .. } | Error::NotReverted { .. } | Error::NoProgram { .. } | Error::NeedsRestart | Error::Engine(_) | Error::Settings(_) | Error::Prompt { .. } => None,
        }
    }
}

impl Error {
    /// Whether it is the machine's moment and nobody's failure: the same works later.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        match self {
            Error::Git(error) => error.is_passing(),
            Error::Store(error) => error.is_passing(),
            Error::Process(error) => error.is_passing(),
            Error::Io { source, .. }
            | Error::SettingsFile { source, .. }
            | Error::WorkspacesElsewhere { source, .. } => text::is_exhausted(source),
            Error::Disputed { .. }
            | Error::Tickets(_)
            | Error::Harness(_)
            | Error::Engine(_)
            | Error::NotInitialised { .. }
            | Error::SettingsOpenToAll { .. }
            | Error::SettingsForeign { .. }
            | Error::CrewDir { .. }
            | Error::Settings(_)
            | Error::Held { .. }
            | Error::NoHarness
            | Error::NoProgram { .. }
            | Error::Toolchain { .. }
            | Error::UnknownHarness { .. }
            | Error::NoStateDir
            | Error::ChecksInside { .. }
            | Error::NeedsRestart
            | Error::OtherBranch { .. }
            | Error::CheckoutChanges
            | Error::NoTemporaryFolder { .. }
            | Error::NotBegun { .. }
            | Error::NotReverted { .. }
            | Error::ChildTaken { .. }
            | Error::OtherTickets { .. }
            | Error::Prompt { .. }
            | Error::WorkspacesMissing { .. } => false,
        }
    }
}

fn list(diagnostics: &[Diagnostic]) -> String {
    diagnostics
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join("\n")
}

fn branch_in_words(branch: Option<&str>) -> String {
    branch.map_or_else(|| "no branch".to_owned(), |branch| format!("`{branch}`"))
}
