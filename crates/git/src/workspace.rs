//! Workspaces: a folder for one agent's work on one ticket, with a git directory of its own.

mod agent_refs;
mod agents_index;
mod agents_settings;
mod branches;
pub(crate) mod copy;
mod fetch_objects;
mod filled;
mod filters;
mod fingerprint;
mod hidden;
pub(crate) mod import;
mod index;
mod large_files;
pub(crate) mod leftovers;
pub(crate) mod lfs;
mod local_settings;
mod look;
pub(crate) mod moved;
mod nested;
mod pool;
mod prepare;
pub(crate) mod present;
mod record;
mod remove;
pub(crate) mod root;
pub(crate) mod save;
pub(crate) mod set_up;
mod snapshot;
mod staged;
mod strict;
pub(crate) mod submitted;
pub(crate) mod turns;
mod unchanged;
pub(crate) mod undeletable;
mod untouched;

use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use crate::error::{Error, IoContext, Result};
use crate::files::delete::open_unlocked;
use crate::files::openat;
use crate::types::id::{Branch, Id};
use crate::types::identity::Identity;
use crate::types::oid::Oid;

/// The record beside a workspace, which names its owner and says that it is whole.
pub(crate) const MADE: &str = "made";
/// The instructions' file in a workspace's git directory.
const INSTRUCTIONS: &str = "crew-instructions.md";

/// The description of a workspace that is to be made.
#[derive(Clone, Debug)]
pub struct Spec {
    /// The folder under which workspaces stand (absolute; made, 0700, if need be).
    pub root: PathBuf,
    /// The agent that works in it.
    pub agent: Id,
    /// The ticket that the agent works on.
    pub ticket: Id,
    /// The number of the attempt: `refs/crew/base/<ticket>/<attempt>` pins the base.
    pub attempt: u32,
    /// The target's commit that the work is compared with; imports bring only what is not in it.
    pub base: Oid,
    /// The commit from which the work starts: the base, or an earlier attempt's kept tip.
    pub start: Oid,
    /// The author of the agent's commits.
    pub identity: Identity,
    /// Ignore patterns beyond the repository's own (`.crew/`, an agent client's folders …).
    pub excludes: Vec<String>,
    /// The text that `CREW_INSTRUCTIONS` points at.
    pub instructions: Vec<u8>,
}

/// A workspace, as crew knows it: nothing here is read from a place where an agent can write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workspace {
    root: PathBuf,
    agent: Id,
    ticket: Id,
    attempt: u32,
    base: Oid,
    start: Oid,
    identity: Identity,
    excludes: Vec<String>,
}

/// The ref that pins an attempt's base.
pub(crate) fn base_ref(ticket: &Id, attempt: u32) -> String {
    format!("refs/crew/base/{ticket}/{attempt}")
}

impl Workspace {
    /// The workspace of a spec, whether it stands or not.
    #[must_use]
    pub fn of(spec: &Spec) -> Self {
        Self {
            root: spec.root.clone(),
            agent: spec.agent.clone(),
            ticket: spec.ticket.clone(),
            attempt: spec.attempt,
            base: spec.base.clone(),
            start: spec.start.clone(),
            identity: spec.identity.clone(),
            excludes: spec.excludes.clone(),
        }
    }

    /// Whether the folder below `root` for an agent's work on a ticket is a workspace, by the record that was
    /// made beside it. Anybody can give a folder of their own such a name.
    ///
    /// # Errors
    /// [`Error::Io`] when the record cannot be read.
    pub fn is_made(root: &Path, agent: &Id, ticket: &Id) -> Result<bool> {
        let record = root.join(format!(".{agent}-{ticket}")).join(MADE);
        match std::fs::read_to_string(&record) {
            Ok(says) => Ok(says.starts_with(&format!("agent={agent}\nticket={ticket}\n"))),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(Error::io("read", record, error)),
        }
    }

    /// A text that distinguishes this workspace from earlier and later ones at the same place, if there is a
    /// record of it; only to be compared for equality.
    #[must_use]
    pub fn birth(&self) -> Option<String> {
        let record = self.beside().join(MADE).metadata().ok()?;
        Some(format!(
            "{:x}-{:x}-{:x}",
            record.ino(),
            record.mtime(),
            record.mtime_nsec()
        ))
    }

    /// `<agent>-<ticket>`.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{}-{}", self.agent, self.ticket)
    }

    /// The folder the agent works in.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.root.join(self.name())
    }

    /// Whether the folder stands.
    #[must_use]
    pub fn exists(&self) -> bool {
        self.path().symlink_metadata().is_ok_and(|meta| meta.is_dir())
    }

    /// The instructions' file, in the workspace's git directory.
    #[must_use]
    pub fn instructions(&self) -> PathBuf {
        self.path().join(".git").join(INSTRUCTIONS)
    }

    /// `agent/<agent>-<ticket>`, in the workspace and in the user's repository.
    #[must_use]
    pub fn branch(&self) -> Branch {
        Branch::of_agent(&self.agent, &self.ticket)
    }

    /// The ref that keeps the base from the user's gc.
    #[must_use]
    pub fn base_ref(&self) -> String {
        base_ref(&self.ticket, self.attempt)
    }

    /// The folder in which git stops looking for a repository: the agent's processes get it as
    /// `GIT_CEILING_DIRECTORIES`, so that a lost `.git` does not resolve to the user's.
    #[must_use]
    pub fn ceiling(&self) -> &Path {
        &self.root
    }

    /// The commit the work is compared with.
    #[must_use]
    pub fn base(&self) -> &Oid {
        &self.base
    }

    /// The same workspace, in which another agent works now: what is committed for that one is its work.
    #[must_use]
    pub fn worked_in_by(self, identity: Identity) -> Self {
        Self { identity, ..self }
    }

    /// The commit at which its branch began, by its record; none where there is none.
    ///
    /// # Errors
    /// [`Error::Unreadable`] where it is not as crew wrote it.
    pub fn started_at(&self) -> Result<Option<Oid>> {
        let record = std::fs::read_to_string(self.beside().join(MADE)).unwrap_or_default();
        let start = record.lines().find_map(|line| line.strip_prefix("start="));
        start.map(Oid::parse).transpose()
    }

    /// The commit the work started from.
    #[must_use]
    pub fn start(&self) -> &Oid {
        &self.start
    }

    /// The ticket.
    #[must_use]
    pub fn ticket(&self) -> &Id {
        &self.ticket
    }

    /// The agent.
    #[must_use]
    pub fn agent(&self) -> &Id {
        &self.agent
    }

    /// Writes the instructions anew. Nothing the agent did to its git directory can lead the write elsewhere.
    ///
    /// # Errors
    /// [`Error::Io`], also when a part of the path is a symlink; [`Error::WorkspaceMissing`].
    pub fn write_instructions(&self, text: &[u8]) -> Result<()> {
        let root = self.open()?;
        let file = Path::new(".git").join(INSTRUCTIONS);
        openat::replace(&root, &file, text).doing("write", self.instructions())
    }

    /// Removes the locks that a git of the agent's left in its git directory when it was killed: until they
    /// are gone no other git can commit there. Nothing that the agent did to its git directory can lead this
    /// elsewhere. A lock that cannot be removed stays.
    ///
    /// No process of the agent may be running.
    ///
    /// # Errors
    /// [`Error::WorkspaceMissing`].
    pub fn clear_locks(&self) -> Result<()> {
        let root = self.open()?;
        for folder in [".git", ".git/refs", ".git/refs/heads", ".git/refs/heads/agent"] {
            let Ok(folder) = openat::folder(&root, Path::new(folder)) else {
                continue;
            };
            let entries = rustix::fs::Dir::read_from(&folder)
                .into_iter()
                .flatten()
                .flatten();
            for entry in entries.filter(|entry| entry.file_name().to_bytes().ends_with(b".lock")) {
                rustix::fs::unlinkat(&folder, entry.file_name(), rustix::fs::AtFlags::empty()).ok();
            }
        }
        Ok(())
    }

    pub(crate) fn identity(&self) -> &Identity {
        &self.identity
    }

    pub(crate) fn excludes(&self) -> &[String] {
        &self.excludes
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn open(&self) -> Result<std::os::fd::OwnedFd> {
        openat::root(&self.path()).map_err(|error| {
            if openat::is_by_its_writer(&error) {
                Error::WorkspaceMissing { path: self.path() }
            } else {
                Error::io("open", self.path(), error)
            }
        })
    }

    /// The folder with crew's own files about this workspace, beside it: an agent has no business in it.
    pub(crate) fn beside(&self) -> PathBuf {
        self.root.join(format!(".{}", self.name()))
    }

    /// crew's index of the workspace, from its last look at it: the file times in it save reading every file
    /// again.
    pub(crate) fn index(&self) -> PathBuf {
        self.beside().join("index")
    }

    /// Takes the workspace's lock: one thread or process at a time makes, saves or removes a workspace.
    pub(crate) fn claim(&self) -> Result<File> {
        let beside = self.beside();
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&beside)
            .doing("make", &beside)?;
        let path = beside.join("lock");
        loop {
            let opened = OpenOptions::new()
                .read(true)
                .write(true)
                .create(true)
                .truncate(false)
                .open(&path);
            let file = match opened {
                Ok(file) => file,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                    std::fs::create_dir_all(&beside).doing("make", &beside)?;
                    continue;
                }
                Err(error) => return Err(Error::io("open", &path, error)),
            };
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => file.lock().doing("lock", &path)?,
                Err(TryLockError::Error(source)) => return Err(Error::io("lock", &path, source)),
            }
            if file.metadata().doing("look at", &path)?.nlink() > 0 {
                // An agent may have taken away the permissions of its own folder, which crew's user may give
                // back.
                drop(open_unlocked(rustix::fs::CWD, self.path().as_os_str()));
                return Ok(file);
            }
        }
    }

    fn record(&self) -> String {
        format!(
            "agent={}\nticket={}\nattempt={}\nbase={}\nstart={}\n",
            self.agent, self.ticket, self.attempt, self.base, self.start
        )
    }
}
