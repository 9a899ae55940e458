//! The index lock: git's own lock of a checkout's index, held by crew in a way that crew can recognise.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rustix::fs::{Mode, OFlags};

use crate::checkout::Checkout;
use crate::error::{Error, IoContext, Result};
use crate::repository::Repository;

/// The content of `index.lock` when crew holds it. git writes an index there, which begins with `DIRC`, or
/// nothing yet.
const MARK: &[u8] = b"crew follows the landed branch here\n";

/// The beginning of the file's name before it becomes `index.lock`.
const TEMPORARY: &str = "crew-lock-";

/// The locks that this process holds; any other lock with crew's mark was left by a killed engine.
static HELD: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// A held `index.lock`; released when dropped, unless the checkout has still to follow.
pub(crate) struct IndexLock {
    path: PathBuf,
    stays: bool,
}

impl IndexLock {
    /// Takes the lock; `None` if another git has it. The holder of the repository's lock, and nobody else,
    /// takes over a lock with crew's mark whose process is gone.
    pub(crate) fn take(repository: &Repository, checkout: &Checkout) -> Result<Option<Self>> {
        let path = path_of(checkout);
        let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
        if held.contains(&path) {
            return Ok(None);
        }
        // The lock appears by a link, so that it never stands there without its mark.
        let file = crate::files::atomic_write::temporary_file(&checkout.git_dir, TEMPORARY)?;
        file.as_file()
            .write_all(MARK)
            .doing("write in", &checkout.git_dir)?;
        for _ in 0..2 {
            match std::fs::hard_link(file.path(), &path) {
                Ok(()) => {
                    held.insert(path.clone());
                    return Ok(Some(Self { path, stays: false }));
                }
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                    if !is_left_behind(repository, &path) {
                        return Ok(None);
                    }
                    crate::files::atomic_write::remove_if_there(&path)?;
                }
                Err(error) => return Err(Error::io("lock", &path, error)),
            }
        }
        Ok(None)
    }

    /// Lets the file outlive a failure, as it outlives a kill, until a later try takes it over. From now on
    /// the branch is ahead of the checkout, and a commit of the user's would take back what landed.
    pub(crate) fn keep(&mut self) {
        self.stays = true;
    }

    /// Releases the lock: the checkout has followed.
    pub(crate) fn release(mut self) {
        self.stays = false;
    }
}

impl Drop for IndexLock {
    fn drop(&mut self) {
        let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.stays && is_marked(&self.path) {
            std::fs::remove_file(&self.path).ok();
        }
        held.remove(&self.path);
    }
}

impl Repository {
    /// Releases every `index.lock` that a killed engine of crew's left in a checkout, so that the user's git
    /// works again. For start-up, after open landings were carried on: until then the lock keeps a commit of
    /// the user's from taking a landed change back. Does nothing without the repository's lock. Locks of
    /// other gits stay.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io) if a lock could not be released; the others are.
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
                outcome = outcome.and(IndexLock::take(self, &checkout).map(drop));
            }
            outcome = outcome.and(forget_marks(&checkout.git_dir));
        }
        outcome
    }

    /// Every `index.lock` that is crew's own. If no engine works on the repository, an engine was killed
    /// while a checkout followed what landed.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io).
    pub fn own_index_locks(&self) -> Result<Vec<PathBuf>> {
        let locks = self
            .places()?
            .into_iter()
            .map(|(_, git_dir)| git_dir.join("index.lock"));
        Ok(locks.filter(|lock| is_marked(lock)).collect())
    }
}

/// Removes the file that an engine left which was killed as it took a lock. For the holder of the
/// repository's lock.
pub(crate) fn forget_marks(git_dir: &Path) -> Result<()> {
    let _held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
    let entries = match std::fs::read_dir(git_dir) {
        // The checkout was removed meanwhile.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        entries => entries.doing("list", git_dir)?,
    };
    for entry in entries {
        let entry = entry.doing("list", git_dir)?;
        if entry.file_name().to_string_lossy().starts_with(TEMPORARY)
            && beginning(&entry.path()).is_some_and(|content| MARK.starts_with(&content))
        {
            crate::files::atomic_write::remove_if_there(&entry.path())?;
        }
    }
    Ok(())
}

fn path_of(checkout: &Checkout) -> PathBuf {
    checkout.git_dir.join("index.lock")
}

fn is_left_behind(repository: &Repository, path: &Path) -> bool {
    repository.lock().is_some() && is_marked(path)
}

/// Whether the lock at this path is crew's own.
pub(crate) fn is_marked(path: &Path) -> bool {
    beginning(path).is_some_and(|content| content == MARK)
}

/// The content of a file that is no longer than the mark; a longer one is not crew's. Another program may
/// have made the file: reading a pipe would block, and a large file would be read for nothing.
fn beginning(path: &Path) -> Option<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty()).ok()?);
    let limit = u64::try_from(MARK.len()).ok()?;
    let is_ours = |meta: &std::fs::Metadata| meta.is_file() && meta.len() <= limit;
    file.metadata().ok().filter(is_ours)?;
    let mut content = Vec::new();
    file.take(limit).read_to_end(&mut content).ok()?;
    Some(content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checkout_that_was_removed_meanwhile_holds_nothing_to_forget() {
        let folder = tempfile::tempdir().unwrap();
        forget_marks(&folder.path().join("gone")).unwrap();
    }
}
