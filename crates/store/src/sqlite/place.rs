//! The journal's file: its path, and whether it is still the file that was opened.

use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::fault::io;
use crate::{Error, Result};

/// The files that SQLite has next to the journal, by the ends of their names.
const BESIDE: [&str; 2] = ["-wal", "-shm"];

/// A journal's file, known by more than its name: a process that has a deleted file open can still write to
/// it.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) path: PathBuf,
    /// Its device and its inode.
    file: (u64, u64),
    /// It is read as it stands, without a log.
    pub(super) is_sealed: bool,
}

impl Place {
    /// The journal at this absolute path.
    pub(super) fn find(path: &Path) -> Result<Self> {
        if !path.is_absolute() {
            return Err(Error::Invalid {
                what: format!("a journal at `{}`, which is not absolute,", path.display()),
            });
        }
        let found = match path.metadata() {
            Ok(found) => found,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                whole(path)?;
                return Err(Error::Missing {
                    path: path.to_owned(),
                });
            }
            Err(error) => return Err(io("opening", path, error)),
        };
        if !found.is_file() {
            return Err(Error::NoFile {
                path: path.to_owned(),
            });
        }
        Ok(Self {
            path: path.to_owned(),
            file: (found.dev(), found.ino()),
            is_sealed: false,
        })
    }

    /// Refuses when another file stands there now, or none, or a log next to one that is read without.
    pub(super) fn stands(&self) -> Result<()> {
        let is_it = match self.path.metadata() {
            Ok(now) => (now.dev(), now.ino()) == self.file,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => false,
            Err(error) => return Err(io("looking at", &self.path, error)),
        };
        match is_it {
            true if self.is_sealed => taken_over(&self.path),
            true => Ok(()),
            false => Err(Error::Replaced {
                path: self.path.clone(),
            }),
        }
    }
}

/// Refuses where there is no journal but files that belong to one: SQLite would take them for a new
/// journal's.
pub(super) fn whole(path: &Path) -> Result<()> {
    let is_there = |end: &str| beside(path, end).symlink_metadata().is_ok();
    let left = BESIDE.into_iter().find(|end| is_there(end));
    match left {
        // Checked last: another process may have made a journal since, with its files.
        Some(beside) if path.symlink_metadata().is_err() => Err(Error::Halved {
            path: path.to_owned(),
            beside,
        }),
        Some(_) | None => Ok(()),
    }
}

/// True if nothing can be made next to the journal: its folder is another user's, or is mounted read-only.
pub(super) fn is_sealed(path: &Path) -> bool {
    use rustix::fs::{Access, AtFlags, CWD, accessat};
    let folder = path.parent().unwrap_or(path);
    // As the effective user: the system opens files with its rights.
    accessat(CWD, folder, Access::WRITE_OK | Access::EXEC_OK, AtFlags::EACCESS).is_err()
}

/// Refuses where the last writes are still in the log: a reader of the file alone would miss them.
pub(super) fn taken_over(path: &Path) -> Result<()> {
    match beside(path, "-wal").symlink_metadata() {
        Ok(log) if log.len() > 0 => Err(Error::Sealed {
            path: path.to_owned(),
        }),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// A file next to the journal, by the end of its name.
pub(super) fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}
