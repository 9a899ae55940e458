//! Checkouts of the user: which of them have a branch checked out.

mod additions;
pub(crate) mod check;
pub(crate) mod filled;
pub(crate) mod follow;
pub(crate) mod index_lock;
pub(crate) mod made;
mod operation;
pub(crate) mod submodules;
mod writer;

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::repository::Repository;
use crate::types::id::Branch;
use crate::types::operation::Operation;

/// A checkout of the user's: the main one or a linked worktree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkout {
    /// Its files.
    pub root: PathBuf,
    /// Its own git directory: index, HEAD, operations.
    pub git_dir: PathBuf,
    /// The operation that the user has begun and not ended.
    pub operation: Option<Operation>,
}

impl Repository {
    /// Every checkout that has the branch checked out, or is rebasing it.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io), [`Error::Failed`](crate::Error::Failed).
    pub fn checkouts_of(&self, branch: &Branch) -> Result<Vec<Checkout>> {
        let mut checkouts = Vec::new();
        for (root, git_dir) in self.places()? {
            if self.shows(&git_dir, branch)? {
                let operation = Operation::of(&git_dir);
                checkouts.push(Checkout {
                    root,
                    git_dir,
                    operation,
                });
            }
        }
        Ok(checkouts)
    }

    /// The linked worktrees that show the branch and whose folders are away: moved, or not mounted. Their
    /// root is their git directory.
    pub(crate) fn checkouts_away(&self, branch: &Branch) -> Result<Vec<Checkout>> {
        let mut away = Vec::new();
        for git_dir in self.places_away()? {
            if self.shows(&git_dir, branch)? {
                away.push(Checkout {
                    root: git_dir.clone(),
                    git_dir,
                    operation: None,
                });
            }
        }
        Ok(away)
    }

    /// Whether the checkout of a git directory has the branch checked out, or is rebasing it.
    fn shows(&self, git_dir: &Path, branch: &Branch) -> Result<bool> {
        let full = branch.full();
        let head = match self.head_file(git_dir) {
            Some(head) => head,
            None => {
                let call = self.git().call("symbolic-ref").git_dir(git_dir);
                call.args(["--quiet", "HEAD"]).run()?.path()
            }
        };
        let head = self.followed_name(head)?;
        let is_rebased = ["rebase-merge/head-name", "rebase-apply/head-name"]
            .iter()
            .any(|file| {
                std::fs::read(git_dir.join(file)).is_ok_and(|name| name.trim_ascii() == full.as_bytes())
            });
        Ok(is_rebased || head.as_os_str().as_bytes() == full.as_bytes())
    }

    /// The name of the branch that a ref leads to, where it is a symbolic one.
    fn followed_name(&self, name: PathBuf) -> Result<PathBuf> {
        let branch = name.to_str().and_then(|name| name.parse::<Branch>().ok());
        match branch {
            Some(branch) => Ok(self.followed(&branch)?.full().into()),
            None => Ok(name),
        }
    }

    /// The roots of all checkouts: the main one and the linked worktrees.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io).
    pub fn checkout_roots(&self) -> Result<Vec<PathBuf>> {
        Ok(self.places()?.into_iter().map(|(root, _)| root).collect())
    }
}
