//! Undeletable files of workspaces, which somebody else put there: moved apart, so that nothing waits for
//! them.

use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use crate::error::{IoContext, Result};
use crate::files::delete::delete_tree;
use crate::repository::Repository;
use crate::workspace::remove::{ARCHIVED, is_archived};

/// The folder of undeletable files, beside the workspaces; no workspace has such a name.
const UNDELETABLE: &str = ".undeletable";
/// The deepest nesting of folders in which the obstacle is looked for.
const DEPTH: usize = 1000;

/// The remains of a workspace. Its work is kept, and all of it that may be deleted is gone.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Undeletable {
    /// The workspace's name, `<agent>-<ticket>`.
    pub workspace: String,
    /// The remains, with nothing else in the folder.
    pub folder: PathBuf,
    /// A file among them that cannot be deleted.
    pub path: PathBuf,
    /// Whether that file is another user's, or in a folder of theirs.
    pub is_anothers: bool,
    /// Whether another file system is mounted on the way to it.
    pub is_mount: bool,
}

impl Repository {
    /// The remains of the workspaces of a folder.
    #[must_use]
    pub fn undeletable(root: &Path) -> Vec<Undeletable> {
        let user = rustix::process::geteuid().as_raw();
        let device = |path: &Path| path.symlink_metadata().ok().map(|it| it.dev());
        let here = device(root);
        let left = entries(&root.join(UNDELETABLE)).into_iter().map(|folder| {
            let name = folder.file_name().unwrap_or_default().to_string_lossy();
            let workspace = name.rsplit_once(ARCHIVED).map_or("", |(of, _)| of).to_owned();
            let path = leaf(&folder);
            let is_anothers = |path: &Path| path.symlink_metadata().is_ok_and(|it| it.uid() != user);
            let mut way = path.ancestors().take_while(|above| above.starts_with(&folder));
            Undeletable {
                is_mount: way.any(|above| device(above) != here),
                is_anothers: is_anothers(&path) || path.parent().is_some_and(is_anothers),
                workspace,
                folder: folder.clone(),
                path,
            }
        });
        left.collect()
    }

    /// Deletes the remains that may be deleted by now, and returns the others.
    pub fn clear_undeletable(&self, root: &Path) -> Vec<Undeletable> {
        let all = root.join(UNDELETABLE);
        for folder in entries(&all) {
            // The reason for a failure is found out again by the next question for the remains.
            delete_tree(&folder).ok();
        }
        // It stays with what is in it.
        std::fs::remove_dir(&all).ok();
        Self::undeletable(root)
    }

    /// Deletes a folder with a workspace's files; those that may not be deleted are moved out of everybody's
    /// way.
    pub(crate) fn delete_or_part(&self, root: &Path, folder: &Path, workspace: &str) -> Result<()> {
        let Err(error) = delete_tree(folder) else {
            return Ok(());
        };
        if error.is_passing() {
            return Err(error);
        }
        let all = root.join(UNDELETABLE);
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&all)
            .doing("make", &all)?;
        let mut parted = all.clone();
        for number in 1_u32.. {
            parted = all.join(format!("{workspace}{ARCHIVED}{number}"));
            if parted.symlink_metadata().is_err() {
                break;
            }
        }
        // If it may not even be moved, the error of the deletion is the more useful one.
        std::fs::rename(folder, &parted).map_err(|_| error)
    }
}

/// The entries that were moved into the folder, by name; other entries are not crew's.
fn entries(folder: &Path) -> Vec<PathBuf> {
    // An agent may have put a link there.
    if !folder.symlink_metadata().is_ok_and(|is| is.is_dir()) {
        return Vec::new();
    }
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let parted = entries.filter(|entry| is_archived(&entry.file_name()));
    let mut found: Vec<PathBuf> = parted.map(|entry| entry.path()).collect();
    found.sort();
    found
}

/// Finds the first path below which there is nothing, or nothing visible.
fn leaf(folder: &Path) -> PathBuf {
    let mut at = folder.to_owned();
    for _ in 0..DEPTH {
        let mut names: Vec<PathBuf> = match at.symlink_metadata() {
            Ok(meta) if meta.is_dir() => std::fs::read_dir(&at)
                .into_iter()
                .flatten()
                .flatten()
                .map(|entry| entry.path())
                .collect(),
            Ok(_) | Err(_) => break,
        };
        names.sort();
        match names.into_iter().next() {
            Some(first) => at = first,
            None => break,
        }
    }
    at
}
