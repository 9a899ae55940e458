//! Checkouts that are behind their branch, because crew could not write in them when the branch moved.
//!
//! A note in the git directory of the checkout names the files that are old. It goes as soon as they are new.

use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use crate::checkout::Checkout;
use crate::checkout::follow::apply::Transfer;
use crate::checkout::follow::inspect::Inspection;
use crate::checkout::follow::users_call::users_call;
use crate::checkout::index_lock::IndexLock;
use crate::error::{Error, IoContext, Result};
use crate::repository::Repository;
use crate::types::blocked::Behind;
use crate::types::id::Branch;
use crate::types::oid::Oid;
use crate::types::paths::fields;

const NOTE: &str = "crew-behind";

/// The content of a note: fields that end with a zero byte. The first is the commit at which the index
/// stayed, or empty; each other one is a path, behind the letter of what has to be done.
#[derive(Default)]
struct Note {
    /// The commit from which the whole checkout has still to follow, where not even the index could.
    index: Option<Oid>,
    /// Files that have the content of an earlier commit.
    old: Vec<PathBuf>,
    /// Files that the branch has deleted.
    deleted: Vec<PathBuf>,
}

impl Note {
    fn read(checkout: &Checkout) -> Result<Option<Self>> {
        let path = checkout.git_dir.join(NOTE);
        let content = match std::fs::read(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            content => content.doing("read", &path)?,
        };
        let mut note = Self::default();
        let mut parts = content.split(|byte| *byte == 0);
        note.index = parts.next().and_then(|commit| Oid::from_bytes(commit).ok());
        for part in parts {
            let file = |name: &[u8]| PathBuf::from(std::ffi::OsString::from_vec(name.to_vec()));
            match part {
                [b'w', name @ ..] => note.old.push(file(name)),
                [b'd', name @ ..] => note.deleted.push(file(name)),
                _ => {}
            }
        }
        Ok(Some(note))
    }

    /// Writes the note, or removes it where nothing is behind.
    fn write(&self, checkout: &Checkout) -> Result<()> {
        let path = checkout.git_dir.join(NOTE);
        if self.index.is_none() && self.old.is_empty() && self.deleted.is_empty() {
            return crate::files::atomic_write::remove_if_there(&path);
        }
        let mut content = self
            .index
            .as_ref()
            .map(ToString::to_string)
            .unwrap_or_default()
            .into_bytes();
        content.push(0);
        for (letter, paths) in [(b'w', &self.old), (b'd', &self.deleted)] {
            for path in paths {
                content.push(letter);
                content.extend(path.as_os_str().as_bytes());
                content.push(0);
            }
        }
        crate::files::atomic_write::replace(&path, &content)
    }

    fn add(&mut self, path: &Path, is_deleted: bool) {
        self.old.retain(|other| other != path);
        self.deleted.retain(|other| other != path);
        match is_deleted {
            true => self.deleted.push(path.to_owned()),
            false => self.old.push(path.to_owned()),
        }
    }

    /// Forgets the files that are new by now.
    fn prune(&mut self, repository: &Repository, checkout: &Checkout) -> Result<()> {
        if !self.old.is_empty() {
            let said = users_call(repository, checkout, "diff")
                .args([
                    "--name-only",
                    "-z",
                    "--no-ext-diff",
                    "--no-textconv",
                    "--ignore-submodules=all",
                ])
                .output_limit(512 << 20)
                .ok()?;
            let differ: Vec<&[u8]> = fields(&said).collect();
            self.old
                .retain(|path| differ.contains(&path.as_os_str().as_bytes()));
        }
        self.deleted
            .retain(|path| checkout.root.join(path).symlink_metadata().is_ok());
        Ok(())
    }
}

impl Transfer<'_> {
    /// Notes files that stay old although the index has moved on.
    pub(super) fn note_behind<'p>(&self, paths: impl Iterator<Item = (&'p Path, bool)>) -> Result<()> {
        let mut paths = paths.peekable();
        if paths.peek().is_none() {
            return Ok(());
        }
        let mut note = Note::read(self.checkout)?.unwrap_or_default();
        for (path, is_deleted) in paths {
            note.add(path, is_deleted);
        }
        note.write(self.checkout)
    }
}

impl Repository {
    /// Follows, and where that fails for good lets the index follow alone: a commit from the old index would
    /// take back what landed. What stays behind is noted, and no lock of crew's stays.
    ///
    /// # Errors
    /// What passes by itself (a full disk), or when not even a note can be left.
    pub(crate) fn follow_as_far_as_possible(&self, checkout: &Checkout, old: &Oid, new: &Oid) -> Result<()> {
        let is_for_now = |error: &Error| error.is_passing() && !matches!(error, Error::IndexBusy { .. });
        match self.follow(checkout, old, new) {
            Ok(_) => return Ok(()),
            Err(error) if is_for_now(&error) => return Err(error),
            Err(_) => {}
        }
        match self.follow_with_the_index_alone(checkout, old, new) {
            Ok(()) => Ok(()),
            Err(error) if is_for_now(&error) => Err(error),
            Err(_) => {
                let mut note = Note::read(checkout)?.unwrap_or_default();
                note.index.get_or_insert_with(|| old.clone());
                note.write(checkout)
            }
        }
    }

    /// Notes, before the branch moves, that checkouts whose folders are away have to follow from where they
    /// are.
    pub(crate) fn note_those_away(&self, branch: &Branch, old: &Oid) -> Result<()> {
        for checkout in self.checkouts_away(branch)? {
            let mut note = Note::read(&checkout)?.unwrap_or_default();
            if note.index.is_none() {
                note.index = Some(old.clone());
                note.write(&checkout)?;
            }
        }
        Ok(())
    }

    fn follow_with_the_index_alone(&self, checkout: &Checkout, old: &Oid, new: &Oid) -> Result<()> {
        let lock = IndexLock::take(self, checkout)?.ok_or_else(|| Error::IndexBusy {
            checkout: checkout.root.clone(),
        })?;
        let transfer = Transfer::new(self, checkout, old, new)?;
        // An edit that a killed engine had just swapped out of the checkout may wait there.
        transfer.keep_others_apart()?;
        let inspection = Inspection::of_index(self, checkout, old, new)?;
        transfer.next_index(&inspection)?;
        transfer.put_index()?;
        let changed = inspection.paths.iter().map(|path| &path.change);
        transfer.note_behind(changed.map(|change| (change.path.as_path(), change.new.is_none())))?;
        lock.release();
        Ok(())
    }

    /// Lets the checkouts of a branch follow that could not when the branch moved, and forgets which files
    /// were old as soon as they are new. For the holder of the repository's lock.
    ///
    /// # Errors
    /// [`Error::Failed`] and the like. A checkout that another git holds waits.
    pub fn catch_up(&self, branch: &Branch) -> Result<()> {
        for checkout in self.checkouts_of(branch)? {
            let Some(mut note) = Note::read(&checkout)? else {
                continue;
            };
            if let (Some(old), Some(now)) = (&note.index, self.branch_tip(branch)?) {
                // The landing that follows names it.
                if self.fixed_index(&checkout).is_some() || self.writer_in(&checkout).is_some() {
                    continue;
                }
                match self.follow(&checkout, old, &now) {
                    Ok(_) => {}
                    Err(Error::IndexBusy { .. }) => continue,
                    Err(error) => return Err(error),
                }
                // Following may have added to the note.
                note = Note::read(&checkout)?.unwrap_or_default();
                note.index = None;
            }
            note.prune(self, &checkout)?;
            note.write(&checkout)?;
        }
        Ok(())
    }

    /// Every checkout with files that are older than its branch, because crew could not write them when the
    /// branch moved.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Failed`].
    pub fn behind(&self) -> Result<Vec<Behind>> {
        let mut behind = Vec::new();
        for (root, git_dir) in self.places()? {
            let checkout = Checkout {
                root,
                git_dir,
                operation: None,
            };
            let Some(mut note) = Note::read(&checkout)? else {
                continue;
            };
            note.prune(self, &checkout)?;
            if note.index.is_some() || !note.old.is_empty() || !note.deleted.is_empty() {
                behind.push(Behind {
                    checkout: checkout.root,
                    index: note.index.is_some(),
                    old: note.old,
                    deleted: note.deleted,
                });
            }
        }
        Ok(behind)
    }
}
