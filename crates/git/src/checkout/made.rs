//! What the set-up of a check checkout has made, and whether a check has changed it since.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, statat};

use crate::checkout::additions::is_in_kept;
use crate::checkout::check::Place;
use crate::error::Result;
use crate::repository::Repository;
use crate::types::paths::{fields, path_of};

/// The files that a set-up has made, and the folders without files, by their path from the root of the
/// checkout, each with what tells whether it has changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Made(BTreeMap<Vec<u8>, Vec<u8>>);

impl Made {
    /// As [`Made::to_bytes`] wrote it. What cannot be read counts as changed.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Self {
        let all: Vec<&[u8]> = fields(bytes).collect();
        let pairs = all.chunks(2).filter_map(|pair| {
            let (path, look) = (pair.first()?, pair.get(1).copied().unwrap_or_default());
            Some((path.to_vec(), look.to_vec()))
        });
        Self(pairs.collect())
    }

    /// For a file of crew's own.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (path, look) in &self.0 {
            for field in [path, look] {
                bytes.extend_from_slice(field);
                bytes.push(0);
            }
        }
        bytes
    }

    /// The paths alone.
    #[must_use]
    pub fn paths(&self) -> BTreeSet<Vec<u8>> {
        self.0.keys().cloned().collect()
    }

    /// The first file in the checkout in `folder` that is not as the set-up has left it. What lies in a
    /// folder of `kept`, which are named as in [`Stay`](crate::Stay), may change.
    #[must_use]
    pub fn first_changed(&self, folder: &Path, kept: &[String]) -> Option<PathBuf> {
        let tree = Place::of(folder).tree;
        let changed = self
            .0
            .iter()
            .find(|(path, look)| !is_in_kept(path, kept) && look_of(&tree, path) != **look);
        changed.map(|(path, _)| path_of(path).to_owned())
    }
}

impl Repository {
    /// What the set-up has made in a check checkout. It has ended, and no check has begun.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io); [`Error::Failed`](crate::Error::Failed).
    pub fn made_by_set_up(&self, folder: &Path) -> Result<Made> {
        let tree = Place::of(folder).tree;
        let paths = self.check_additions(folder)?;
        let looks = paths.into_iter().map(|path| {
            let look = look_of(&tree, &path);
            (path, look)
        });
        Ok(Made(looks.collect()))
    }
}

/// What tells whether a file has changed: nobody can set its time of change. A link count changes that time
/// too, and other projects add links to a file that a package manager has linked from its store: of such a
/// file the time of modification counts. A folder counts as its kind alone.
fn look_of(tree: &Path, path: &[u8]) -> Vec<u8> {
    let Ok(stat) = statat(CWD, tree.join(path_of(path)), AtFlags::SYMLINK_NOFOLLOW) else {
        return b"none".to_vec();
    };
    if FileType::from_raw_mode(stat.st_mode) == FileType::Directory {
        return b"folder".to_vec();
    }
    let (seconds, nanos) = match stat.st_nlink {
        1 => (stat.st_ctime, stat.st_ctime_nsec),
        _ => (stat.st_mtime, stat.st_mtime_nsec),
    };
    format!("{:o} {} {seconds}.{nanos}", stat.st_mode, stat.st_size).into_bytes()
}
