//! Local settings of a workspace's git: what a child sets there in its turn would hide or change what others
//! do there later.

use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, unlinkat};
use rustix::io::Errno;

use crate::error::{Error, IoContext, Result};
use crate::files::delete::delete_tree;
use crate::files::{atomic_write, openat};
use crate::repository::Repository;
use crate::workspace::Workspace;
use crate::workspace::turns::Turn;
use crate::workspace::unchanged::CONFIG_BYTES;

/// The files with such settings, in the git directory.
const FILES: [&str; 5] = [
    "config",
    "config.worktree",
    "info/exclude",
    "info/attributes",
    "info/sparse-checkout",
];
/// The beginning of the name of a folder with copies.
const COPIES: &str = "settings-";
/// The note that the index had marks by which git does not look at files.
const MARKED: &str = "marked";

impl Workspace {
    /// The copies that were made when a turn began, beside the workspace.
    fn settings_of(&self, turn: &Turn) -> PathBuf {
        self.beside()
            .join(format!("{COPIES}{}-{}", turn.ticket, turn.attempt))
    }

    /// Lets the settings be those with which the turn began. Safe to repeat.
    ///
    /// # Errors
    /// [`Error::Io`], also where something stands in the way that the child has made;
    /// [`Error::WorkspaceMissing`].
    pub fn restore_settings(&self, turn: &Turn) -> Result<()> {
        let copies = self.settings_of(turn);
        if !copies.is_dir() {
            return Ok(());
        }
        let root = self.open()?;
        for file in FILES {
            // What it was is not known, so it is not touched.
            if copies.join(unread(file)).exists() {
                continue;
            }
            let place = Path::new(".git").join(file);
            let doing = || self.path().join(&place);
            let before = match std::fs::read(copies.join(plain(file))) {
                Ok(before) => Some(before),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
                Err(error) => return Err(Error::io("read", copies.join(plain(file)), error)),
            };
            let now = openat::read(&root, &place, CONFIG_BYTES).ok().flatten();
            if now.is_some() && now == before {
                continue;
            }
            let folder = place.parent().unwrap_or(&place);
            match before {
                Some(before) => {
                    openat::made_folder(&root, folder).doing("make", doing())?;
                    openat::replace(&root, &place, &before).doing("write", doing())?;
                }
                None => {
                    let Ok(folder) = openat::folder(&root, folder) else {
                        continue;
                    };
                    let name = place.file_name().unwrap_or_default();
                    match unlinkat(&folder, name, AtFlags::empty()) {
                        Ok(()) | Err(Errno::NOENT) => {}
                        Err(errno) => return Err(Error::io("remove", doing(), errno)),
                    }
                }
            }
        }
        Ok(())
    }

    /// Forgets all copies but those of these turns.
    pub(crate) fn forget_settings_but(&self, turns: &[Turn]) -> Result<()> {
        let kept: Vec<PathBuf> = turns.iter().map(|turn| self.settings_of(turn)).collect();
        let entries = std::fs::read_dir(self.beside()).into_iter().flatten().flatten();
        for entry in entries {
            let is_copy = entry.file_name().to_string_lossy().starts_with(COPIES);
            if is_copy && !kept.contains(&entry.path()) {
                delete_tree(&entry.path())?;
            }
        }
        Ok(())
    }
}

impl Repository {
    /// Notes the settings with which a turn begins, before [the turn itself](Workspace::note_turns).
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::WorkspaceMissing`].
    pub fn note_settings(&self, workspace: &Workspace, turn: &Turn) -> Result<()> {
        let copies = workspace.settings_of(turn);
        delete_tree(&copies)?;
        std::fs::create_dir_all(&copies).doing("make", &copies)?;
        let root = workspace.open()?;
        for file in FILES {
            match openat::read(&root, &Path::new(".git").join(file), CONFIG_BYTES) {
                Ok(Some(content)) => atomic_write::replace(&copies.join(plain(file)), &content)?,
                Ok(None) => {}
                Err(_) => atomic_write::replace(&copies.join(unread(file)), b"")?,
            }
        }
        if self.is_marked(workspace)? {
            atomic_write::replace(&copies.join(MARKED), b"")?;
        }
        Ok(())
    }

    /// Whether the index has marks by which git does not look at files, and had none when the turn began.
    pub(crate) fn is_newly_marked(&self, workspace: &Workspace, turn: &Turn) -> Result<bool> {
        let copies = workspace.settings_of(turn);
        Ok(copies.is_dir() && !copies.join(MARKED).exists() && self.is_marked(workspace)?)
    }

    fn is_marked(&self, workspace: &Workspace) -> Result<bool> {
        let index = self.agents_index(workspace)?;
        Ok(index.is_some_and(|index| {
            let is_marked = index.files.iter().any(|file| file.is_assumed || file.is_skipped);
            is_marked || !index.sparse_folders.is_empty()
        }))
    }
}

/// The name of the note that a file was there which cannot be read: a link, or one that is too large.
fn unread(file: &str) -> String {
    format!("unread-{}", plain(file))
}

/// The name of a copy.
fn plain(file: &str) -> String {
    file.replace('/', "-")
}
