//! The pool of checkouts: files of removed workspaces, of which the next workspaces are made.

use std::os::fd::AsFd;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, flistxattr};

use crate::error::{IoContext, Result};
use crate::files::delete::delete_tree;
use crate::files::openat;
use crate::repository::Repository;
use crate::repository::file_settings::is_attributes;
use crate::types::oid::Oid;
use crate::types::paths::path_of;
use crate::workspace::Workspace;
use crate::workspace::index::Index;
use crate::workspace::look::{Own, walk};

/// The folder of the pool, beside the workspaces; no workspace has such a name.
const POOL: &str = ".pool";
/// The file in a pooled checkout that names the commit with which it was filled, and the settings for files.
const FILLED: &str = "filled";
/// The ending of a checkout that is being put there.
const HALF: &str = ".half";

impl Repository {
    /// The same repository, with a pool: up to so many checkouts of removed workspaces are kept for later
    /// workspaces, until [`Repository::clear_pool`].
    #[must_use]
    pub fn pooling_checkouts(mut self, count: usize) -> Self {
        self.pool_size = count;
        self
    }

    /// Empties the pool of a folder of workspaces.
    ///
    /// # Errors
    /// [`crate::Error::Io`].
    pub fn clear_pool(&self, root: &Path) -> Result<()> {
        self.delete_pooled(root, |_| true)?;
        // A folder with anything else in it is deleted like any other.
        delete_tree(&root.join(POOL))
    }

    /// Removes pooled checkouts that are incomplete because an engine was killed. For start-up, before any
    /// workspace is removed: a checkout that is just being put there looks the same.
    ///
    /// # Errors
    /// [`crate::Error::Io`] if one could not be removed; the others are.
    pub fn clear_half_pooled(&self, root: &Path) -> Result<()> {
        self.delete_pooled(root, |pooled| !is_whole(pooled))
    }

    fn delete_pooled(&self, root: &Path, which: impl Fn(&std::fs::DirEntry) -> bool) -> Result<()> {
        let mut outcome = Ok(());
        let folder = root.join(POOL);
        // An agent may have put a link there.
        if !folder.symlink_metadata().is_ok_and(|is| is.is_dir()) {
            return Ok(());
        }
        for pooled in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            if which(&pooled) {
                outcome = outcome.and(self.delete_or_part(root, &pooled.path(), &whose(&pooled)));
            }
        }
        outcome
    }

    /// Puts a removed workspace's files and crew's own index of them into the pool, without the agent's git
    /// directory; returns whether it did.
    pub(crate) fn pool_checkout(&self, workspace: &Workspace, trash: &Path) -> Result<bool> {
        let folder = workspace.root().join(POOL);
        let index = workspace.index();
        let kept = std::fs::read_dir(&folder).map_or(0, |entries| entries.flatten().filter(is_whole).count());
        if kept >= self.pool_size || !index.exists() {
            return Ok(false);
        }
        let (half, whole) = (
            folder.join(workspace.name() + HALF),
            folder.join(workspace.name()),
        );
        // A file that crew may not delete must never get into another workspace.
        if delete_tree(&trash.join(".git")).is_err() {
            return Ok(false);
        }
        for earlier in [&half, &whole] {
            self.delete_or_part(workspace.root(), earlier, &workspace.name())?;
        }
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&half)
            .doing("make", &half)?;
        std::fs::rename(trash, half.join("tree")).doing("keep", trash)?;
        std::fs::rename(&index, half.join("index")).doing("keep", &index)?;
        let filled = half.join(FILLED);
        std::fs::write(&filled, self.filled(workspace)?).doing("write", &filled)?;
        failpoint::hit("remove.half_pooled");
        std::fs::rename(&half, &whole).doing("keep", &whole)?;
        Ok(true)
    }

    /// Moves a pooled checkout to `tree`, which holds nothing but a `.git`, and deletes the files that are
    /// not as the checkout's index has them. Returns that index. `None`: there is no checkout that can be
    /// used.
    pub(crate) fn take_pooled(&self, workspace: &Workspace, tree: &Path) -> Option<PathBuf> {
        let taken = workspace.beside().join("pooled");
        let (root, name) = (workspace.root(), workspace.name());
        self.delete_or_part(root, &taken, &name).ok()?;
        for pooled in std::fs::read_dir(workspace.root().join(POOL)).ok()?.flatten() {
            if !is_whole(&pooled) {
                continue;
            }
            // The first caller that renames a checkout has it.
            if std::fs::rename(pooled.path(), &taken).is_err() {
                continue;
            }
            let index = taken.join("index");
            let usable = Index::read(&index, self.format()).and_then(|known| {
                let filled = std::fs::read(taken.join(FILLED)).ok()?;
                self.is_filled_alike(workspace, &filled, &known.tree)?;
                let git_dir = tree.join(".git").metadata().ok()?;
                let mode = git_dir.permissions().mode() & 0o7777;
                std::fs::set_permissions(taken.join("tree"), git_dir.permissions()).ok()?;
                scrub(&taken.join("tree"), &known, mode)
            });
            if usable.is_some() {
                let git_dir = taken.join("tree/.git");
                std::fs::rename(tree.join(".git"), git_dir).ok()?;
                std::fs::remove_dir(tree).ok()?;
                std::fs::rename(taken.join("tree"), tree).ok()?;
                return Some(index);
            }
            // The checkout is of another ticket, so the present one must not fail because of it.
            self.delete_or_part(root, &taken, &whose(&pooled)).ok()?;
        }
        None
    }
}

impl Repository {
    /// The commit and the settings with which a workspace was filled.
    fn filled(&self, workspace: &Workspace) -> Result<Vec<u8>> {
        let form = self.files_of(workspace.base())?.form();
        Ok([workspace.start().as_str().as_bytes(), b"\n", &form].concat())
    }

    /// Whether files of a pooled checkout are as git would write them in the workspace: under the same
    /// settings, and under attributes that were never others. `tree`: what the checkout holds.
    fn is_filled_alike(&self, workspace: &Workspace, filled: &[u8], tree: &Oid) -> Option<()> {
        let end = filled.iter().position(|byte| *byte == b'\n')?;
        if filled[end + 1..] != self.files_of(workspace.base()).ok()?.form() {
            return None;
        }
        for from in [&Oid::from_bytes(&filled[..end]).ok()?, tree] {
            let changes = self.changes(from, workspace.start()).ok()?;
            if changes.iter().any(|change| is_attributes(&change.path)) {
                return None;
            }
        }
        Some(())
    }
}

/// The name of the workspace from which a checkout came.
fn whose(pooled: &std::fs::DirEntry) -> String {
    let name = pooled.file_name().to_string_lossy().into_owned();
    name.trim_end_matches(HALF).to_owned()
}

fn is_whole(pooled: &std::fs::DirEntry) -> bool {
    !pooled.file_name().to_string_lossy().ends_with(HALF)
}

/// Deletes everything that is not as the index has it. An agent had these files, so nothing is believed but
/// the kernel's word that a file was not written to, renamed or relabelled since. `None`: the checkout cannot
/// be used.
fn scrub(tree: &Path, index: &Index, mode: u32) -> Option<()> {
    let root = openat::root(tree).ok()?;
    let top = openat::folder(&root, Path::new("")).ok()?;
    let (mut files, mut folders) = (Vec::new(), Vec::new());
    is_plain(&top)?;
    let own = Own::of(&top)?;
    walk(&top, &mut Vec::new(), 0, &mut |place| {
        let path = path_of(place.path);
        if let FileType::Directory = FileType::from_raw_mode(place.stat.st_mode) {
            if !index.has_under(&[place.path, b"/"].concat()) {
                folders.push(path.to_owned());
                return Some(());
            }
            is_plain(&openat::folder(&root, path).ok()?)?;
            return (own.has(place.stat) && place.stat.st_mode & 0o7777 == mode).then_some(());
        }
        let known = index.get(place.path);
        if !known.is_some_and(|entry| index.is_untouched(entry, place.stat)) {
            files.push(path.to_owned());
        }
        Some(())
    })?;
    for file in files {
        std::fs::remove_file(tree.join(file)).ok()?;
    }
    for folder in folders.into_iter().rev() {
        std::fs::remove_dir(tree.join(folder)).ok()?;
    }
    Some(())
}

/// Whether a folder has no access rules beyond its mode, which new files in it would inherit.
fn is_plain(folder: impl AsFd) -> Option<()> {
    let mut names = [0_u8; 1024];
    let length = match flistxattr(folder, &mut names[..]) {
        Ok(length) => length,
        Err(rustix::io::Errno::NOTSUP) => 0,
        Err(_) => return None,
    };
    names[..length]
        .split(|byte| *byte == 0)
        .filter(|name| !name.is_empty())
        .all(|name| name.starts_with(b"security."))
        .then_some(())
}
