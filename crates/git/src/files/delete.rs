//! Deleting a folder and everything in it, as far as crew may.

use std::ffi::{CString, OsStr};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, RawMode, chmod, fstat, openat, statat, unlinkat};
use rustix::io::Errno;

use crate::error::{Error, IoContext, Result};
use crate::files::mounts::mounts_in;

/// The deepest nesting of folders: each level is a call in a call, and an open descriptor, of which there are
/// not many.
pub(crate) const DEPTH: usize = 200;
/// The rights without which an owner can neither look into a folder nor take anything out of it.
const OWNERS: RawMode = 0o700;

/// Deletes a folder and everything in it, also folders whose mode forbids it (Go's module cache has such).
/// Follows no symlink, and enters nothing that is mounted there: its files are somebody else's. A folder that
/// does not exist is no error.
///
/// # Errors
/// [`Error::Io`] for the first entry that may not be deleted; everything else is gone.
pub fn delete_tree(path: &Path) -> Result<()> {
    if path.symlink_metadata().is_ok_and(|meta| meta.is_dir())
        && let mounts = mounts_in(path)
        && !mounts.is_empty()
    {
        return delete_what_may_be(path, &mounts);
    }
    match std::fs::remove_dir_all(path) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => {
            std::fs::remove_file(path).doing("remove", path)
        }
        // The standard library stopped at the first entry that it could not remove.
        Err(_) => delete_what_may_be(path, &[]),
    }
}

/// Deletes all but the entries that may not be deleted, and the places at which something is mounted.
fn delete_what_may_be(path: &Path, mounts: &[PathBuf]) -> Result<()> {
    let mut first = None;
    let opened = open_unlocked(rustix::fs::CWD, path.as_os_str());
    if let Ok(folder) = &opened {
        empty(folder, path, mounts, 0, &mut first);
    }
    match std::fs::remove_dir(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            let of_its_own = || Error::io("remove", path, opened.err().map_or(error, Into::into));
            Err(first.unwrap_or_else(of_its_own))
        }
        _ => Ok(()),
    }
}

/// Deletes the entries of a folder that may be deleted, and notes the first that may not.
fn empty(folder: &OwnedFd, path: &Path, mounts: &[PathBuf], depth: usize, first: &mut Option<Error>) {
    let mut note = |path: &Path, errno: Errno| {
        first.get_or_insert_with(|| Error::io("remove", path, errno));
    };
    let names = match names(folder) {
        Ok(names) if depth < DEPTH => names,
        Ok(_) => return note(path, Errno::NAMETOOLONG),
        Err(errno) => return note(path, errno),
    };
    for name in names {
        let name = OsStr::from_bytes(name.as_bytes());
        let path = path.join(name);
        if mounts.contains(&path) {
            first.get_or_insert_with(|| Error::io("remove", &path, Errno::BUSY));
            continue;
        }
        let is_folder = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)
            .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Directory);
        let mut opened = Ok(());
        if is_folder {
            opened = open_unlocked(folder, name).map(|inner| empty(&inner, &path, mounts, depth + 1, first));
        }
        let how = if is_folder {
            AtFlags::REMOVEDIR
        } else {
            AtFlags::empty()
        };
        match unlinkat(folder, name, how) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(errno) => {
                // "Not empty" is no reason. The reason is the error that kept the folder from being emptied.
                let errno = opened.err().unwrap_or(errno);
                first.get_or_insert_with(|| Error::io("remove", &path, errno));
            }
        }
    }
}

pub(crate) fn names(folder: &OwnedFd) -> rustix::io::Result<Vec<CString>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        if !matches!(entry.file_name().to_bytes(), b"." | b"..") {
            names.push(entry.file_name().to_owned());
        }
    }
    Ok(names)
}

/// Opens a folder for reading its entries. A folder of our own that forbids this gets the rights first. This
/// opens the folder itself, never the target of a link that has taken its place.
pub(crate) fn open_unlocked(at: impl AsFd, name: &OsStr) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let held = openat(at, name, OFlags::PATH | flags, Mode::empty())?;
    unlock(&held, fstat(&held)?.st_mode, OWNERS);
    openat(&held, c".", OFlags::RDONLY | flags, Mode::empty())
}

/// Adds rights for the owner to the file that `held` (opened with `O_PATH`) stands for, whose mode is `mode`.
/// Where the system refuses, the file is another user's and stays as it is.
pub(crate) fn unlock(held: &OwnedFd, mode: RawMode, rights: RawMode) {
    let mode = mode & 0o7777;
    if mode & rights != rights {
        // For a descriptor opened with `O_PATH` there is no other way.
        let this = format!("/proc/self/fd/{}", held.as_raw_fd());
        chmod(this, Mode::from_raw_mode(mode | rights)).ok();
    }
}
