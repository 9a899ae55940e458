//! The user's repository.

mod create;
pub(crate) mod file_settings;
pub(crate) mod git_dir;
mod head;
mod ignore;
mod later_filters;
pub(crate) mod lock;
pub(crate) mod memory;
mod name;
mod open;
pub(crate) mod root;
pub(crate) mod seen;
pub(crate) mod traces;
mod tracked;

use std::path::{Path, PathBuf};

use crate::command::call::Call;
use crate::command::cat_file::CatFile;
use crate::command::git::Git;
use crate::error::{Error, IoContext, Result};
use crate::repository::file_settings::ReadOnce;
use crate::repository::lock::Lock;
use crate::repository::memory::Memories;
use crate::types::oid::{Format, Oid};
use crate::types::shortened::shortened;

/// A repository of the user: it has commits, a checkout and its whole history.
#[derive(Clone, Debug)]
pub struct Repository {
    git: Git,
    /// The main checkout; none in a bare repository with worktrees beside it.
    main: Option<PathBuf>,
    root: PathBuf,
    root_git_dir: PathBuf,
    here: PathBuf,
    git_dir: PathBuf,
    common: PathBuf,
    format: Format,
    lock: Option<Lock>,
    memories: Memories,
    standing_gits: StandingGits,
    file_settings: ReadOnce,
    /// The folder to which new objects go; none for the repository's own.
    scratch: Option<PathBuf>,
    /// The number of checkouts that the pool for later workspaces holds at most.
    pub(crate) pool_size: usize,
}

/// The git processes that stay up.
#[derive(Clone, Debug, Default)]
pub(crate) struct StandingGits {
    /// The process that reads objects.
    pub(crate) objects: CatFile,
}

impl Repository {
    /// The same repository, worked on by the holder of its lock: git children get the lock as their stdin.
    #[must_use]
    pub fn locked(mut self, lock: &Lock) -> Self {
        self.lock = Some(lock.clone());
        self
    }

    /// The same repository, whose new objects go to an empty folder. They are there as long as the folder is.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(crate) fn writing_to(&self, folder: &Path) -> Result<Self> {
        let info = folder.join("info");
        std::fs::create_dir_all(&info).doing("make", &info)?;
        let alternates = info.join("alternates");
        std::fs::write(&alternates, self.alternates()).doing("write", alternates)?;
        Ok(Self {
            scratch: Some(folder.to_owned()),
            // One that stays up reads the objects of the repository alone.
            standing_gits: StandingGits::default(),
            ..self.clone()
        })
    }

    /// The root of the checkout (absolute) in which `.crew/` and `crew.toml` stand: the one that was
    /// [noted](Self::note_root), else the main one, else the one that was opened.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The root of the checkout that was opened: the main one or a linked worktree.
    #[must_use]
    pub fn here(&self) -> &Path {
        &self.here
    }

    /// The git directory that all checkouts share.
    #[must_use]
    pub fn common_dir(&self) -> &Path {
        &self.common
    }

    /// The git directory of the root.
    pub(crate) fn root_git_dir(&self) -> &Path {
        &self.root_git_dir
    }

    /// The path at which [`Lock::take`] takes this repository's lock.
    #[must_use]
    pub fn lock_path(&self) -> PathBuf {
        self.common.join("crew.lock")
    }

    /// The git that works on it.
    #[must_use]
    pub fn git(&self) -> &Git {
        &self.git
    }

    /// Begins a call on the shared git directory, without a work tree, in-tree attributes or the user's
    /// settings.
    pub(crate) fn call(&self, subcommand: &'static str) -> Call {
        let call = self.call_at(&self.common, subcommand);
        match &self.scratch {
            Some(folder) => call.env("GIT_OBJECT_DIRECTORY", folder),
            None => call,
        }
    }

    /// Begins the same kind of call on another git directory of the user's, that of a submodule.
    pub(crate) fn call_at(&self, git_dir: &Path, subcommand: &'static str) -> Call {
        self.git
            .call(subcommand)
            .git_dir(git_dir)
            .cwd(git_dir)
            .lock(self.lock.as_ref().map(Lock::file))
    }

    /// Begins such a call that takes no attributes from the tree.
    pub(crate) fn call_without_attributes(&self, subcommand: &'static str) -> Call {
        self.call(subcommand).attributes_from(self.format.empty_tree())
    }

    pub(crate) fn format(&self) -> Format {
        self.format
    }

    pub(crate) fn lock(&self) -> Option<&Lock> {
        self.lock.as_ref()
    }

    pub(crate) fn objects(&self) -> PathBuf {
        self.common.join("objects")
    }

    pub(crate) fn standing_gits(&self) -> &StandingGits {
        &self.standing_gits
    }

    pub(crate) fn file_settings(&self) -> &ReadOnce {
        &self.file_settings
    }

    /// Ends the git processes that stay up for this repository and that nobody needed since the last call of
    /// this. An owner that keeps a repository open for long calls this now and then.
    pub fn rest(&self) {
        self.standing_gits.objects.rest();
    }

    pub(crate) fn memories(&self) -> &Memories {
        &self.memories
    }

    pub(crate) fn rev_parse(&self, name: &str) -> Result<Option<Oid>> {
        let said = self
            .call("rev-parse")
            .args(["--quiet", "--verify", "--end-of-options", name])
            .run()?;
        match said.code {
            Some(0) => Oid::from_bytes(said.stdout.trim_ascii()).map(Some),
            Some(1 | 128) => Ok(None),
            _ => Err(said.failed()),
        }
    }

    pub(crate) fn no_such_commit(&self, name: &str) -> Error {
        Error::NoSuchCommit {
            name: shortened(name, 80),
            path: self.root.clone(),
        }
    }
}
