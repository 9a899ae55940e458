//! Drafts: a journal that is being made, under a name of its own, and the drafts whose makers were killed.

use std::ffi::OsString;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::fault::io;
use super::place;
use crate::Result;

/// The part of a draft's name between the journal's name and the draft's number.
const MARK: &str = ".new-";
/// The files that SQLite makes next to another, by the ends of their names.
const BESIDE: [&str; 3] = ["-wal", "-shm", "-journal"];

/// A journal being made; removed when dropped.
pub(super) struct Draft {
    path: PathBuf,
    /// Locked while the draft is being made. SQLite's own locks are others, and held only while it writes.
    _file: File,
}

impl Draft {
    pub(super) fn new(path: &Path) -> Result<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let draft = place::beside(path, &format!("{MARK}{}-{number}", std::process::id()));
            let made = OpenOptions::new()
                .write(true)
                .create_new(true)
                .mode(0o600)
                .open(&draft);
            match made {
                Ok(file) => match file.try_lock() {
                    Ok(()) if is_at(&file, &draft) => {
                        return Ok(Self {
                            path: draft,
                            _file: file,
                        });
                    }
                    // Another process removes drafts and was between the two calls: the file is gone, or
                    // about to be.
                    Ok(()) | Err(TryLockError::WouldBlock) => {}
                    Err(TryLockError::Error(e)) => {
                        remove(&draft);
                        return Err(io("locking", &draft, e));
                    }
                },
                // Left by a process of the same number that was killed here.
                Err(e) if e.kind() == ErrorKind::AlreadyExists => {}
                Err(e) => return Err(io("creating", &draft, e)),
            }
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        remove(&self.path);
    }
}

/// Removes the drafts of this journal whose makers are gone. A draft that cannot be removed is only clutter.
pub(super) fn clear(path: &Path) {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return;
    };
    let mut begins: OsString = name.to_owned();
    begins.push(MARK);
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.as_bytes();
        let is_beside = BESIDE.iter().any(|end| name.ends_with(end.as_bytes()));
        if name.starts_with(begins.as_bytes()) && !is_beside {
            clear_one(path, &entry.path());
        }
    }
}

fn clear_one(path: &Path, draft: &Path) {
    let which = |path: &Path| {
        path.symlink_metadata()
            .map(|found| (found.dev(), found.ino()))
            .ok()
    };
    // The draft became the journal, and only its second name is left. To open and close it would drop
    // SQLite's locks on the journal.
    if which(draft).is_some() && which(draft) == which(path) {
        return remove(draft);
    }
    let Ok(file) = OpenOptions::new().read(true).open(draft) else {
        return;
    };
    if file.try_lock().is_ok() && is_at(&file, draft) && which(draft) != which(path) {
        remove(draft);
    }
}

/// True if this is the file of that name.
fn is_at(file: &File, path: &Path) -> bool {
    let (Ok(this), Ok(there)) = (file.metadata(), path.symlink_metadata()) else {
        return false;
    };
    (this.dev(), this.ino()) == (there.dev(), there.ino())
}

fn remove(draft: &Path) {
    for end in BESIDE {
        drop(std::fs::remove_file(place::beside(draft, end)));
    }
    // Last: the files next to it are found by its name.
    drop(std::fs::remove_file(draft));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Error, Journal, Sqlite};

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name.contains(MARK))
            .collect();
        names.sort();
        names
    }

    #[tokio::test]
    async fn a_creation_that_was_killed_is_no_journal_and_goes_and_one_under_way_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.db");
        for end in ["", "-wal", "-shm"] {
            std::fs::write(folder.path().join(format!("journal.db.new-1-0{end}")), "").unwrap();
        }
        std::fs::write(folder.path().join("journal.db.newer"), "a person's").unwrap();
        let under_way = Draft::new(&path).unwrap();
        assert_eq!(names(folder.path()).len(), 4);
        assert!(matches!(Sqlite::open(&path).await, Err(Error::Missing { .. })));
        Sqlite::create(&path, "id").await.unwrap();
        let name = under_way.path().file_name().unwrap().to_str().unwrap().to_owned();
        assert_eq!(names(folder.path()), [name]);
        drop(under_way);
        assert_eq!(names(folder.path()), Vec::<String>::new());
        assert!(folder.path().join("journal.db.newer").exists());
    }

    #[tokio::test]
    async fn the_second_name_of_one_that_was_killed_when_it_was_named_goes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.db");
        let journal = Sqlite::create(&path, "id").await.unwrap();
        std::fs::hard_link(&path, folder.path().join("journal.db.new-1-0")).unwrap();
        Sqlite::create(&path, "id").await.unwrap();
        assert_eq!(names(folder.path()), Vec::<String>::new());
        journal
            .append(vec![crate::append::tests::minimal("x")])
            .await
            .unwrap();
    }
}
