//! Where the workspaces stand. Settings and surroundings say where the next ones belong; those that stand already are found where
//! they were made, whatever became of settings, surroundings and the repository's own place since.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use model::settings::Settings;

use crate::{Error, Place, Result};

/// The record, in crew's own folder.
const RECORD: &str = "workspaces";
/// What it is called until it is whole.
const PASSING: &str = ".workspaces.new";

/// Where this repository's workspaces were made the last time, and where the repository stood then.
#[derive(Debug, PartialEq, Eq)]
struct Record {
    folder: PathBuf,
    repository: PathBuf,
    /// That of the repository's git directory: it moves with it, and no copy has it.
    inode: u64,
}

impl Place {
    /// The folder that the workspaces of this repository stand in: where there are some already, else where
    /// [they belong](Place::workspaces_belong).
    ///
    /// # Errors
    /// [`Error::NoStateDir`]; [`Error::WorkspacesElsewhere`].
    pub fn workspaces_dir(&self, settings: &Settings) -> Result<PathBuf> {
        let belong = self.workspaces_belong(settings);
        match self.record()? {
            Some(record) if belong.as_ref().ok() != Some(&record.folder) && self.is_of(&record)? => {
                Ok(record.folder)
            }
            _ => belong,
        }
    }

    /// Where new workspaces belong: the user's state directory, or where the settings put them.
    ///
    /// # Errors
    /// [`Error::NoStateDir`].
    pub fn workspaces_belong(&self, settings: &Settings) -> Result<PathBuf> {
        if let Some(dir) = &settings.workspace_dir {
            return Ok(self.root.join(dir));
        }
        let set = |name: &str| {
            self.env
                .get(name)
                .filter(|value| value.starts_with('/'))
                .map(PathBuf::from)
        };
        let state = set("XDG_STATE_HOME").or_else(|| set("HOME").map(|home| home.join(".local/state")));
        Ok(state
            .ok_or(Error::NoStateDir)?
            .join("crew")
            .join(self.repository.folder_name()))
    }

    /// Notes where the workspaces stand from now on, before one is made there; those that stand there already follow the
    /// repository where that has moved. Says where they belong, if that is another folder. For the holder of the repository's lock.
    pub(crate) fn note_workspaces(&self, settings: &Settings, folder: &Path) -> Result<()> {
        let record = self.record()?;
        let now = Record {
            folder: folder.to_owned(),
            repository: self.repository.common_dir().to_owned(),
            inode: inode(self.repository.common_dir())?,
        };
        if let Some(before) = record.as_ref()
            && before.folder == now.folder
            && before.repository != now.repository
        {
            self.repository.lend_to_workspaces(folder)?;
        }
        if record.as_ref() != Some(&now) {
            self.write(&now)?;
        }
        if let Ok(belong) = self.workspaces_belong(settings)
            && belong != folder
        {
            tracing::warn!(
                "workspaces stand in {}\n  they go on there until none is left; then those to come are made in {}",
                folder.display(),
                belong.display()
            );
        }
        Ok(())
    }

    /// Whether it is this repository's, and not that of one which this is a copy of, and something stands there.
    fn is_of(&self, record: &Record) -> Result<bool> {
        let here = self.repository.common_dir();
        let is_this = record.repository == here
            || record.inode == inode(here)?
            || record.repository.symlink_metadata().is_err();
        if !is_this {
            return Ok(false);
        }
        git::holds_workspaces(&record.folder).map_err(|source| Error::WorkspacesElsewhere {
            folder: record.folder.clone(),
            source,
        })
    }

    fn record(&self) -> Result<Option<Record>> {
        let path = self.crew_dir.join(RECORD);
        let bytes = match fs::read(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            other => other.map_err(|source| Error::Io {
                doing: "read",
                path: path.clone(),
                source,
            })?,
        };
        let record = Record::parse(&bytes).ok_or_else(|| Error::Io {
            doing: "understand",
            path,
            source: ErrorKind::InvalidData.into(),
        })?;
        Ok(Some(record))
    }

    fn write(&self, record: &Record) -> Result<()> {
        let (path, passing) = (self.crew_dir.join(RECORD), self.crew_dir.join(PASSING));
        let written = || {
            drop(fs::remove_file(&passing));
            let mut new = File::options()
                .write(true)
                .create_new(true)
                .mode(0o600)
                .open(&passing)?;
            new.write_all(&record.bytes())?;
            new.sync_all()?;
            fs::rename(&passing, &path)?;
            File::open(&self.crew_dir)?.sync_all()
        };
        written().map_err(|source| {
            drop(fs::remove_file(&passing));
            Error::Io {
                doing: "write",
                path: path.clone(),
                source,
            }
        })
    }
}

impl Record {
    /// A path may have anything in it but this.
    const END: u8 = 0;

    fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let inode = self.inode.to_string();
        for part in [
            self.folder.as_os_str(),
            self.repository.as_os_str(),
            OsStr::new(&inode),
        ] {
            bytes.extend(part.as_bytes());
            bytes.push(Self::END);
        }
        bytes
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let mut parts = bytes.split(|byte| *byte == Self::END).map(OsStr::from_bytes);
        let (folder, repository) = (PathBuf::from(parts.next()?), PathBuf::from(parts.next()?));
        let inode = parts.next()?.to_str()?.parse().ok()?;
        folder.is_absolute().then_some(Self {
            folder,
            repository,
            inode,
        })
    }
}

fn inode(path: &Path) -> Result<u64> {
    let metadata = path.metadata().map_err(|source| Error::Io {
        doing: "look at",
        path: path.to_owned(),
        source,
    })?;
    Ok(metadata.ino())
}
