//! The check checkout: a clean checkout in which checks run.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::checkout::additions;
use crate::checkout::submodules::Filling;
use crate::command::call::Call;
use crate::error::{Error, IoContext, Result};
use crate::files::atomic_write::remove_if_there;
use crate::files::delete::delete_tree;
use crate::repository::Repository;
use crate::repository::file_settings::{FilesOf, is_attributes};
use crate::repository::git_dir::Layout;
use crate::types::identity::Identity;
use crate::types::oid::Oid;
use crate::types::paths::{fields, path_of};

/// The files of a check checkout that stay although they are not the commit's.
#[derive(Clone, Copy, Debug)]
pub enum Stay<'a> {
    /// No file stays: the folder is filled from nothing.
    Nothing,
    /// Every file stays, for the next command on the same commit.
    Everything,
    /// Only these stay.
    Named {
        /// Files, and folders without files, by their path from the root.
        files: &'a BTreeSet<Vec<u8>>,
        /// Folders that have no file of the commit: by their path from the root; where it has no `/`, by
        /// their name, in every folder that has a file of the commit.
        folders: &'a [String],
    },
}

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
    /// those of the commit, written by its attributes alone, and of all others only those that `stay` names
    /// are left. Safe to repeat after a kill at any point. `folder` (absolute) must be crew's own. The checks
    /// can write the tree, so crew never reads its `.git`, which is made anew each time, detached at the
    /// commit.
    ///
    /// # Errors
    /// [`Error::CheckBusy`] when it is in use; [`Error::CheckUnequal`] when it cannot be made equal;
    /// [`Error::NoSuchCommit`].
    pub fn check_checkout(&self, folder: &Path, commit: &Oid, stay: Stay<'_>) -> Result<CheckCheckout> {
        if self.tree_from_cat_file(commit).is_none() {
            self.require_commits(&[commit])?;
        }
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
        let mut place = Place::of(folder);
        // An agent may have written the attributes of a candidate.
        let base = self.below_candidates(commit)?;
        let files = self.files_of(&base)?;
        place.base = Some(base);
        place.settings = files.pairs();
        place.form = files.form();
        let fresh = matches!(stay, Stay::Nothing) || !place.index.exists() || !place.tree.is_dir();
        let filled = if fresh {
            self.fill_anew(&place, commit, &files)
        } else {
            self.refill(&place, commit, stay, &files)
        };
        let fresh = match filled {
            Ok(None) => fresh,
            // Whatever the fault is (a broken index, a folder that cannot be entered), filling the folder
            // from nothing must work.
            Ok(Some(_)) | Err(Error::Failed { .. } | Error::Io { .. }) => {
                if let Some(what) = self.fill_anew(&place, commit, &files)? {
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

    /// The files in a check checkout, and the folders without files, that are not of the commit which it was
    /// filled with, by their path from its root.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Failed`].
    pub fn check_additions(&self, folder: &Path) -> Result<BTreeSet<Vec<u8>>> {
        let place = Place::of(folder);
        additions::list(&place.tree, &self.tracked(&place)?)
    }

    /// Fills the tree from nothing, and returns the first thing that still differs.
    fn fill_anew(&self, place: &Place, commit: &Oid, files: &FilesOf) -> Result<Option<String>> {
        delete_tree(&place.tree)?;
        delete_tree(&place.modules)?;
        delete_tree(&place.modules_filled)?;
        remove_if_there(&place.index)?;
        Self::make_room(place)?;
        self.fill(place, commit, Stay::Everything, files)
    }

    /// Makes a tree that was filled before equal to the commit, and returns the first thing that still
    /// differs.
    fn refill(&self, place: &Place, commit: &Oid, stay: Stay<'_>, files: &FilesOf) -> Result<Option<String>> {
        Self::make_room(place)?;
        if !place.has_same_settings() || self.attributes_change(place, commit)? {
            // Files with the same content may have to be written in another way now.
            remove_if_there(&place.index)?;
        }
        self.fill(place, commit, stay, files)
    }

    fn make_room(place: &Place) -> Result<()> {
        std::fs::create_dir_all(&place.tree).doing("make", &place.tree)?;
        // The folder is crew's own and claimed: a lock in it is that of a dead child.
        remove_if_there(&place.index.with_extension("lock"))?;
        let git_dir = place.tree.join(".git");
        // The git directories of submodules that the set-up has filled: their folders in the tree lead there.
        let modules = git_dir.join("modules");
        if modules.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
            delete_tree(&place.modules)?;
            std::fs::rename(&modules, &place.modules).doing("rename", &modules)?;
        }
        delete_tree(&git_dir)
    }

    fn fill(&self, place: &Place, commit: &Oid, stay: Stay<'_>, files: &FilesOf) -> Result<Option<String>> {
        failpoint::hit("check.begun");
        place.note_settings()?;
        remove_if_there(&place.filled)?;
        self.check_call(place, "read-tree")
            .attributes_from(commit.as_str())
            .args([
                "--reset",
                "-u",
                "--no-sparse-checkout",
                "--end-of-options",
                commit.as_str(),
            ])
            .ok()?;
        std::fs::write(&place.filled, commit.as_str()).doing("write", &place.filled)?;
        failpoint::hit("check.read");
        let filling = Filling {
            tree: &place.tree,
            folder: &place.modules_filled,
            commit,
            base: place.base.as_ref().unwrap_or(commit),
            identity: &Identity::crew(),
        };
        self.fill_submodules(filling)?;
        if let Stay::Named { files, folders } = stay {
            self.clear(place, files, folders)?;
        }
        if let Some(path) = self.still_differs(place, commit)? {
            return Ok(Some(String::from_utf8_lossy(&path).into_owned()));
        }
        let git_dir = place.tree.join(".git");
        let layout = Layout {
            head: commit.to_string(),
            refs: Vec::new(),
            identity: &Identity::crew(),
            excludes: &[],
            files,
            users: self.common_dir(),
        };
        self.write_git_dir(&git_dir, &layout)?;
        std::fs::copy(&place.index, git_dir.join("index")).doing("copy", &place.index)?;
        if place.modules.exists() {
            std::fs::rename(&place.modules, git_dir.join("modules")).doing("rename", &place.modules)?;
        }
        Ok(None)
    }

    /// The first file that is not what git writes for the commit.
    ///
    /// A file that differs is written once more. One that differs all the same is as git writes it: its blob
    /// is not what the attributes make of the file, which happens wherever a rule came after the file, and
    /// which every clone shows as a change.
    fn still_differs(&self, place: &Place, commit: &Oid) -> Result<Option<Vec<u8>>> {
        let differing = self.differing(place, commit)?;
        if differing.is_empty() {
            return Ok(None);
        }
        let mut paths = differing.join(&0);
        paths.push(0);
        self.check_call(place, "checkout-index")
            .attributes_from(commit.as_str())
            .args(["--force", "--index", "-z", "--stdin"])
            .input(&paths)?
            .ok()?;
        let again = self.differing(place, commit)?;
        Ok(again.into_iter().find(|path| !differing.contains(path)))
    }

    /// The files of which git makes other blobs than those of the commit.
    fn differing(&self, place: &Place, commit: &Oid) -> Result<Vec<Vec<u8>>> {
        self.check_call(place, "update-index")
            .attributes_from(commit.as_str())
            .args(["-q", "--ignore-submodules", "--refresh"])
            .run()?;
        let changed = self
            .check_call(place, "diff-files")
            .attributes_from(commit.as_str())
            .args(["-z", "--name-only", "--no-ext-diff", "--ignore-submodules=all"])
            .ok()?;
        Ok(fields(&changed).map(<[u8]>::to_vec).collect())
    }

    /// Deletes all files that are neither of the commit nor among those that stay.
    fn clear(&self, place: &Place, files: &BTreeSet<Vec<u8>>, folders: &[String]) -> Result<()> {
        let tracked = self.tracked(place)?;
        additions::walk(&place.tree, &tracked, &mut |path, is_folder| {
            if is_folder && additions::is_kept(path, folders) {
                return Ok(false);
            }
            if files.contains(path) {
                // A folder among them was empty.
                return Ok(is_folder);
            }
            let inside = [path, b"/"].concat();
            let holds_named = || {
                folders
                    .iter()
                    .any(|folder| folder.as_bytes().starts_with(&inside))
            };
            if is_folder && (additions::has_below(files, path) || holds_named()) {
                return Ok(true);
            }
            delete_tree(&place.tree.join(path_of(path)))?;
            Ok(false)
        })
    }

    /// The files of the commit that the checkout was filled with, by their paths.
    fn tracked(&self, place: &Place) -> Result<BTreeSet<Vec<u8>>> {
        let listed = self
            .check_call(place, "ls-files")
            .args(["--stage", "-z"])
            .output_limit(512 << 20)
            .ok()?;
        let paths = fields(&listed).filter_map(|entry| {
            let tab = entry.iter().position(|byte| *byte == b'\t')?;
            let mut path = entry[tab + 1..].to_vec();
            // A submodule is a folder of the commit, and none of the files in it is the commit's.
            if entry.starts_with(b"160000 ") {
                path.push(b'/');
            }
            Some(path)
        });
        let mut paths: BTreeSet<Vec<u8>> = paths.collect();
        paths.extend(self.tracked_in_submodules(&place.modules_filled, &place.tree)?);
        Ok(paths)
    }

    /// Whether the commit has other attributes than the index.
    fn attributes_change(&self, place: &Place, commit: &Oid) -> Result<bool> {
        let noted = std::fs::read(&place.filled).ok();
        let filled = noted.and_then(|noted| Oid::from_bytes(&noted).ok());
        if let Some(changes) = filled.and_then(|filled| self.tree_changes(&filled, commit)) {
            return Ok(changes.iter().any(|change| is_attributes(&change.path)));
        }
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
        Ok(fields(&said).any(|path| is_attributes(path_of(path))))
    }

    fn check_call(&self, place: &Place, subcommand: &'static str) -> Call {
        self.call(subcommand)
            .file_settings(place.settings.clone(), self.root())
            .work_tree(&place.tree)
            .throwaway_index(&place.index)
            .deadline(Duration::from_secs(600))
    }
}

/// Where the parts of a check checkout stand.
pub(super) struct Place {
    pub(super) tree: PathBuf,
    index: PathBuf,
    /// The git directories of submodules, while the tree's own is made anew.
    modules: PathBuf,
    /// The user's settings for files, with which git works on the tree.
    settings: Vec<(String, String)>,
    /// The part of them that decides how content is written into files.
    form: Vec<u8>,
    /// The file that has that part as the tree was filled.
    noted: PathBuf,
    /// The file that names the commit which the index is of, once the index is whole.
    filled: PathBuf,
    /// The indexes of submodules that crew has filled, and the list of them.
    modules_filled: PathBuf,
    /// The commit whose attributes choose the filters, where the tree is filled.
    base: Option<Oid>,
}

impl Place {
    pub(super) fn of(folder: &Path) -> Self {
        Self {
            tree: folder.join("tree"),
            index: folder.join("index"),
            modules: folder.join("modules"),
            settings: Vec::new(),
            form: Vec::new(),
            noted: folder.join("file-settings"),
            filled: folder.join("filled"),
            modules_filled: folder.join("submodules"),
            base: None,
        }
    }

    /// Whether the tree was filled with the same settings for files: other ones write the same content in
    /// another way.
    fn has_same_settings(&self) -> bool {
        std::fs::read(&self.noted).is_ok_and(|noted| noted == self.form)
    }

    fn note_settings(&self) -> Result<()> {
        std::fs::write(&self.noted, &self.form).doing("write", &self.noted)
    }
}
