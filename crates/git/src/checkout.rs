//! Where the user has a branch checked out.

use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::diff::path_of;
use crate::error::{IoContext, Result};
use crate::id::Branch;
use crate::repository::Repository;

/// A checkout of the user's: the main one or a linked worktree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkout {
    /// Its files.
    pub root: PathBuf,
    /// Its own git directory: index, HEAD, operations.
    pub git_dir: PathBuf,
    /// What the user is in the middle of.
    pub operation: Option<Operation>,
}

/// Something that the user has begun and not ended in a checkout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operation {
    /// `git merge`
    Merge,
    /// `git rebase` or `git am`
    Rebase,
    /// `git cherry-pick`
    CherryPick,
    /// `git revert`
    Revert,
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Merge => "merge",
            Self::Rebase => "rebase",
            Self::CherryPick => "cherry-pick",
            Self::Revert => "revert",
        })
    }
}

impl Operation {
    pub(crate) fn of(git_dir: &Path) -> Option<Self> {
        let known = [
            ("rebase-merge", Self::Rebase),
            ("rebase-apply", Self::Rebase),
            ("MERGE_HEAD", Self::Merge),
            ("CHERRY_PICK_HEAD", Self::CherryPick),
            ("REVERT_HEAD", Self::Revert),
        ];
        known
            .into_iter()
            .find(|(name, _)| git_dir.join(name).exists())
            .map(|(_, operation)| operation)
    }
}

impl Repository {
    /// Every checkout that has the branch checked out, or is rebasing it.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io), [`Error::Failed`](crate::Error::Failed).
    pub fn checkouts_of(&self, branch: &Branch) -> Result<Vec<Checkout>> {
        let found = self.places()?;
        let full = branch.full();
        let mut checkouts = Vec::new();
        for (root, git_dir) in found {
            let head = match self.stored_head(&git_dir) {
                Some(head) => head,
                None => {
                    let call = self.git().call("symbolic-ref").git_dir(&git_dir);
                    call.args(["--quiet", "HEAD"]).run()?.path()
                }
            };
            let rebased = ["rebase-merge/head-name", "rebase-apply/head-name"]
                .iter()
                .any(|file| {
                    std::fs::read(git_dir.join(file)).is_ok_and(|name| name.trim_ascii() == full.as_bytes())
                });
            if head.as_os_str().as_bytes() == full.as_bytes() || rebased {
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

    /// Gives back every `index.lock` that a killed engine of crew's left in a checkout, so that the user's git works
    /// again; for start-up, after open landings were carried on (until then the lock keeps the user's commits from taking
    /// a landed change back). Does nothing without the repository's lock. Locks of other gits stay.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io): one could not be given back; the others are.
    pub fn release_left_behind(&self) -> Result<()> {
        if self.lock().is_none() {
            return Ok(());
        }
        let mut outcome = Ok(());
        for (root, git_dir) in self.places()? {
            let checkout = Checkout {
                root,
                git_dir,
                operation: None,
            };
            if checkout.git_dir.join("index.lock").exists() {
                outcome = outcome.and(crate::follow::IndexLock::take(self, &checkout).map(drop));
            }
            outcome = outcome.and(crate::follow::forget_marks(&checkout.git_dir));
        }
        outcome
    }

    /// Every `index.lock` that is crew's own. While no engine works on the repository, one was killed while a checkout followed
    /// what landed.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io).
    pub fn own_index_locks(&self) -> Result<Vec<PathBuf>> {
        let locks = self
            .places()?
            .into_iter()
            .map(|(_, git_dir)| git_dir.join("index.lock"));
        Ok(locks.filter(|lock| crate::follow::is_marked(lock)).collect())
    }

    /// Root and git directory of every checkout.
    fn places(&self) -> Result<Vec<(PathBuf, PathBuf)>> {
        let mut found = vec![(self.root().to_owned(), self.common_dir().to_owned())];
        let admin = self.common_dir().join("worktrees");
        match std::fs::read_dir(&admin) {
            Ok(entries) => {
                for entry in entries {
                    let git_dir = entry.doing("read", &admin)?.path();
                    let Ok(link) = std::fs::read(git_dir.join("gitdir")) else {
                        continue;
                    };
                    let link = git_dir.join(path_of(link.strip_suffix(b"\n").unwrap_or(&link)));
                    if let Some(root) = link.parent().filter(|root| root.is_dir() && link.exists()) {
                        found.push((root.to_owned(), git_dir));
                    }
                }
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(crate::Error::io("read", &admin, error)),
        }
        found.sort();
        Ok(found)
    }
}
