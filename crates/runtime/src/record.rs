//! The record that a repository's last engine made of the repository's place and of the places of its own
//! folders.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use crate::{Error, Place, Result};

/// The record's file, in crew's own folder.
const FILE: &str = "places";
/// The record's name until it is whole.
const PASSING: &str = ".places.new";
/// Ends each of its parts: a path may have anything else in it.
const END: u8 = 0;

/// Where things stood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    /// The folder of the workspaces; as the next, from the repository's root where it is in that.
    workspaces: PathBuf,
    /// The queue's folder.
    tickets: PathBuf,
    /// The repository's git directory.
    pub(crate) repository: PathBuf,
    /// That directory's own number: it moves with it, and no copy beside it has the same.
    inode: u64,
}

impl Record {
    /// How it is now.
    pub(crate) fn of(place: &Place, workspaces: &Path) -> Result<Self> {
        let repository = place.repository.common_dir().to_owned();
        let metadata = repository.metadata().map_err(|source| Error::Io {
            doing: "look at",
            path: repository.clone(),
            source,
        })?;
        let tickets = &place.tickets_dir;
        let tickets = tickets.canonicalize().unwrap_or_else(|_| tickets.clone());
        let from_root = |path: &Path| path.strip_prefix(&place.root).unwrap_or(path).to_owned();
        Ok(Self {
            workspaces: from_root(workspaces),
            tickets: from_root(&tickets),
            repository,
            inode: metadata.ino(),
        })
    }

    /// The folder of the workspaces, which moves with the repository where it is in that.
    pub(crate) fn workspaces(&self, place: &Place) -> PathBuf {
        place.root.join(&self.workspaces)
    }

    /// The queue's folder, as well.
    pub(crate) fn tickets(&self, place: &Place) -> PathBuf {
        place.root.join(&self.tickets)
    }

    /// Whether the record is of the repository of this place, which may have moved in between, and not of a
    /// repository that this one is a copy of. The old path decides, by what stands there now: the repository
    /// itself, by another way; the original of the copy; or something else.
    pub(crate) fn is_of(&self, place: &Place) -> bool {
        let now = place.repository.common_dir();
        let Ok(is) = now.metadata() else { return false };
        match self.repository.metadata() {
            _ if self.repository == now => true,
            Ok(was) if (was.dev(), was.ino()) == (is.dev(), is.ino()) => true,
            Ok(was) => was.ino() != self.inode && is.ino() == self.inode,
            Err(error) => is_gone(&error) || is.ino() == self.inode,
        }
    }

    /// The record; nothing before the first engine.
    pub(crate) fn read(place: &Place) -> Result<Option<Self>> {
        let path = place.crew_dir.join(FILE);
        let failed = |doing, source| Error::Io {
            doing,
            path: path.clone(),
            source,
        };
        match fs::read(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed("read", error)),
            Ok(bytes) => match Self::parse(&bytes) {
                Some(record) => Ok(Some(record)),
                None => Err(failed("understand", ErrorKind::InvalidData.into())),
            },
        }
    }

    /// Notes it, whole or not at all, also when the power goes.
    pub(crate) fn write(&self, place: &Place) -> Result<()> {
        let (path, passing) = (place.crew_dir.join(FILE), place.crew_dir.join(PASSING));
        let write = || {
            drop(fs::remove_file(&passing));
            let mut new = File::options();
            let mut new = new.write(true).create_new(true).mode(0o600).open(&passing)?;
            new.write_all(&self.bytes())?;
            new.sync_all()?;
            fs::rename(&passing, &path)?;
            File::open(&place.crew_dir)?.sync_all()
        };
        write().map_err(|source| {
            drop(fs::remove_file(&passing));
            Error::Io {
                doing: "write",
                path: path.clone(),
                source,
            }
        })
    }

    fn bytes(&self) -> Vec<u8> {
        let inode = self.inode.to_string();
        let paths = [&self.workspaces, &self.tickets, &self.repository].map(|path| path.as_os_str());
        let mut bytes = Vec::new();
        for part in paths.into_iter().chain([OsStr::new(&inode)]) {
            bytes.extend(part.as_bytes());
            bytes.push(END);
        }
        bytes
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let parts: Vec<&OsStr> = bytes.split(|byte| *byte == END).map(OsStr::from_bytes).collect();
        let [workspaces, tickets, repository, inode, _] = parts[..] else {
            return None;
        };
        Some(Self {
            workspaces: workspaces.into(),
            tickets: tickets.into(),
            repository: repository.into(),
            inode: inode.to_str()?.parse().ok()?,
        })
    }
}

/// Whether there is nothing; what cannot be looked at may be there.
pub(crate) fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_read_as_it_was_written_whatever_the_paths() {
        let record = Record {
            workspaces: PathBuf::from(OsStr::from_bytes(b"/home/\xff\n x")),
            tickets: PathBuf::from(".tickets"),
            repository: PathBuf::from("/r/.git"),
            inode: u64::MAX,
        };
        assert_eq!(Record::parse(&record.bytes()), Some(record.clone()));
        let bytes = record.bytes();
        for cut in 0..bytes.len() {
            assert_eq!(Record::parse(&bytes[..cut]), None, "{cut}");
        }
    }
}
