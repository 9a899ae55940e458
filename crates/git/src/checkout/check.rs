//! The check checkout: a clean checkout in which checks run.

use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::command::call::Call;
use crate::error::{Error, IoContext, Result};
use crate::files::delete::delete_tree;
use crate::repository::Repository;
use crate::repository::git_dir::Layout;
use crate::types::identity::Identity;
use crate::types::oid::Oid;
use crate::types::paths::fields;

/// A checkout for checks, in use as long as this value lives.
#[derive(Debug)]
pub struct CheckCheckout {
    tree: PathBuf,
    fresh: bool,
    _claim: File,
}

impl CheckCheckout {
    /// The folder of files in which the checks run.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.tree
    }

    /// Whether the folder was empty before, so that set-up commands have to run.
    #[must_use]
    pub fn is_fresh(&self) -> bool {
        self.fresh
    }
}

impl Repository {
    /// Makes `<folder>/tree` a checkout of the commit, with attributes and filters: tracked files are exactly
    /// those of the commit, ignored files stay from one check to the next (`target/`, `node_modules/`), and
    /// everything else is deleted. Safe to repeat after a kill at any point. `folder` (absolute) must be
    /// crew's own. The checks can write the tree, so crew never reads its `.git`, which is made anew each
    /// time, detached at the commit.
    ///
    /// # Errors
    /// [`Error::CheckBusy`] when it is in use; [`Error::CheckUnequal`] when it cannot be made equal;
    /// [`Error::NoSuchCommit`].
    pub fn check_checkout(&self, folder: &Path, commit: &Oid) -> Result<CheckCheckout> {
        self.require_commits(&[commit])?;
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)
            .doing("make", folder)?;
        let path = folder.join("lock");
        let opened = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path);
        let claim = opened.doing("open", &path)?;
        match claim.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(Error::CheckBusy {
                    path: folder.to_owned(),
                });
            }
            Err(TryLockError::Error(source)) => return Err(Error::io("lock", &path, source)),
        }
        let place = Place {
            tree: folder.join("tree"),
            index: folder.join("index"),
        };
        let fresh = !place.index.exists() || !place.tree.is_dir();
        let filled = if fresh {
            self.fill_anew(&place, commit)
        } else {
            self.refill(&place, commit)
        };
        let fresh = match filled {
            Ok(None) => fresh,
            // Whatever the fault is (a broken index, a folder that cannot be entered), filling the folder
            // from nothing must work.
            Ok(Some(_)) | Err(Error::Failed { .. } | Error::Io { .. }) => {
                if let Some(what) = self.fill_anew(&place, commit)? {
                    return Err(Error::CheckUnequal {
                        path: place.tree,
                        commit: commit.clone(),
                        what,
                    });
                }
                true
            }
            Err(other) => return Err(other),
        };
        Ok(CheckCheckout {
            tree: place.tree,
            fresh,
            _claim: claim,
        })
    }

    /// Fills the tree from nothing, and returns the first thing that still differs.
    fn fill_anew(&self, place: &Place, commit: &Oid) -> Result<Option<String>> {
        delete_tree(&place.tree)?;
        crate::files::atomic_write::remove_if_there(&place.index)?;
        Self::make_room(place)?;
        self.fill(place, commit)
    }

    /// Makes a tree that was filled before equal to the commit, and returns the first thing that still
    /// differs.
    fn refill(&self, place: &Place, commit: &Oid) -> Result<Option<String>> {
        Self::make_room(place)?;
        if self.attributes_change(place, commit)? {
            // Files with the same content may have to be written in another way now.
            crate::files::atomic_write::remove_if_there(&place.index)?;
        }
        self.fill(place, commit)
    }

    fn make_room(place: &Place) -> Result<()> {
        std::fs::create_dir_all(&place.tree).doing("make", &place.tree)?;
        // The folder is crew's own and claimed: a lock in it is that of a dead child.
        crate::files::atomic_write::remove_if_there(&place.index.with_extension("lock"))?;
        delete_tree(&place.tree.join(".git"))
    }

    fn fill(&self, place: &Place, commit: &Oid) -> Result<Option<String>> {
        let call = |subcommand| self.check_call(place, subcommand);
        failpoint::hit("check.begun");
        call("read-tree")
            .args([
                "--reset",
                "-u",
                "--no-sparse-checkout",
                "--end-of-options",
                commit.as_str(),
            ])
            .ok()?;
        failpoint::hit("check.read");
        call("clean").args(["-f", "-f", "-d", "-q"]).ok()?;
        let refreshed = call("update-index").args(["-q", "--refresh"]).run()?;
        let changed = call("diff-files")
            .args(["-z", "--name-only", "--no-ext-diff", "--ignore-submodules=all"])
            .ok()?;
        let others = call("ls-files")
            .args(["--others", "--exclude-standard", "-z"])
            .ok()?;
        if let Some(path) = fields(&changed).chain(fields(&others)).next() {
            return Ok(Some(String::from_utf8_lossy(path).into_owned()));
        }
        drop(refreshed);
        let git_dir = place.tree.join(".git");
        let layout = Layout {
            head: commit.to_string(),
            refs: Vec::new(),
            identity: &Identity::crew(),
            excludes: &[],
        };
        self.write_git_dir(&git_dir, &layout)?;
        std::fs::copy(&place.index, git_dir.join("index")).doing("copy", &place.index)?;
        Ok(None)
    }

    fn attributes_change(&self, place: &Place, commit: &Oid) -> Result<bool> {
        let said = self
            .check_call(place, "diff-index")
            .args([
                "--cached",
                "-z",
                "--name-only",
                "--no-ext-diff",
                "--end-of-options",
                commit.as_str(),
            ])
            .output_limit(512 << 20)
            .ok()?;
        let changed =
            fields(&said).any(|path| path == b".gitattributes" || path.ends_with(b"/.gitattributes"));
        Ok(changed)
    }

    fn check_call(&self, place: &Place, subcommand: &'static str) -> Call {
        self.git()
            .call(subcommand)
            .users_settings()
            .config("core.sparseCheckout=false")
            .git_dir(self.common_dir())
            .work_tree(&place.tree)
            .throwaway_index(&place.index)
            .lock(self.lock().map(crate::repository::lock::Lock::file))
            .deadline(Duration::from_secs(600))
    }
}

struct Place {
    tree: PathBuf,
    index: PathBuf,
}
