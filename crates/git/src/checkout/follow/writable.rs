//! Whether a path of a checkout can be written: found out before the branch moves, by looking alone.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, AtFlags, StatxAttributes, StatxFlags, accessat, statx};
use rustix::io::Errno;

use crate::checkout::Checkout;
use crate::checkout::follow::beside::is_on_one_mount;
use crate::files::openat;

/// Bit of a folder in which only the owner of a file may rename it.
const STICKY: u16 = 0o1000;

/// Answers for the paths of one checkout; each folder is looked at once.
pub(super) struct Writable<'a> {
    checkout: &'a Checkout,
    root: &'a OwnedFd,
    folders: BTreeMap<PathBuf, bool>,
}

impl<'a> Writable<'a> {
    pub(super) fn new(checkout: &'a Checkout, root: &'a OwnedFd) -> Self {
        Self {
            checkout,
            root,
            folders: BTreeMap::new(),
        }
    }

    /// Whether the path can be written, replaced or removed: its folder belongs to somebody who lets crew
    /// write there, nothing is mounted over the path, and nothing forbids to change it.
    pub(super) fn has_room_for(&mut self, path: &Path) -> bool {
        let parent = path.parent().unwrap_or(Path::new(""));
        if !self.can_change(parent) {
            return false;
        }
        let Ok(folder) = openat::folder(self.root, parent) else {
            // The folder is missing, and is made in one that was looked at.
            return true;
        };
        can_be_replaced(&folder, path.file_name().unwrap_or_default())
    }

    /// Whether names can be made and removed in a folder. One that does not exist is made in the next above.
    fn can_change(&mut self, path: &Path) -> bool {
        if let Some(known) = self.folders.get(path) {
            return *known;
        }
        let can = match openat::folder(self.root, path) {
            Ok(folder) => {
                is_changeable(&folder) && is_on_one_mount(&self.checkout.root.join(path), self.checkout)
            }
            // A file or a link stands there: whether it may be replaced is asked for its own path.
            Err(_) if path.as_os_str().is_empty() => false,
            Err(error) if error.raw_os_error() == Some(Errno::ACCESS.raw_os_error()) => false,
            Err(_) => self.can_change(path.parent().unwrap_or(Path::new(""))),
        };
        self.folders.insert(path.to_owned(), can);
        can
    }
}

/// Whether another index can take the place of a checkout's, and the lock of it can stand beside it.
pub(super) fn is_index_replaceable(checkout: &Checkout) -> bool {
    let Ok(folder) = openat::root(&checkout.git_dir) else {
        return false;
    };
    is_changeable(&folder) && can_be_replaced(&folder, OsStr::new("index"))
}

/// Whether names can be made and removed in an open folder.
fn is_changeable(folder: &OwnedFd) -> bool {
    let access = accessat(folder, ".", Access::WRITE_OK | Access::EXEC_OK, AtFlags::EACCESS);
    access.is_ok() && !is_frozen(folder, OsStr::new("."))
}

/// Whether a file could be read, which comparing it takes.
pub(super) fn is_readable(root: &OwnedFd, path: &Path) -> bool {
    let parent = path.parent().unwrap_or(Path::new(""));
    let name = path.file_name().unwrap_or_default();
    openat::folder(root, parent)
        .is_ok_and(|folder| accessat(&folder, name, Access::READ_OK, AtFlags::EACCESS).is_ok())
}

/// Whether another file can take the place of this one, should there be one.
fn can_be_replaced(folder: &OwnedFd, name: &OsStr) -> bool {
    let flags = StatxFlags::BASIC_STATS;
    let Ok(file) = statx(folder, name, AtFlags::SYMLINK_NOFOLLOW, flags) else {
        return true;
    };
    if file
        .stx_attributes
        .intersects(StatxAttributes::MOUNT_ROOT | fixed())
    {
        return false;
    }
    let Ok(parent) = statx(folder, ".", AtFlags::empty(), flags) else {
        return false;
    };
    let user = rustix::process::geteuid();
    let is_owner = user.is_root() || [file.stx_uid, parent.stx_uid].contains(&user.as_raw());
    parent.stx_mode & STICKY == 0 || is_owner
}

fn is_frozen(folder: &OwnedFd, name: &OsStr) -> bool {
    statx(folder, name, AtFlags::empty(), StatxFlags::BASIC_STATS)
        .is_ok_and(|stat| stat.stx_attributes.intersects(fixed()))
}

/// Attributes under which not even the owner may rename a file, or a name in a folder.
fn fixed() -> StatxAttributes {
    StatxAttributes::IMMUTABLE | StatxAttributes::APPEND
}
