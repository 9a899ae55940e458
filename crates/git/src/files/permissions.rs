//! Permissions that an agent has taken away (`chmod 0`): git passes over such a file without an error, and
//! what is in it is work like the rest.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawMode, fstat, openat, statat};
use rustix::io::Errno;

use crate::error::{Error, Result};
use crate::files::delete::{DEPTH, names, open_unlocked, unlock};
use crate::types::unsaved::Unsaved;

/// The rights without which an owner cannot look into a folder.
const LOOK: RawMode = 0o500;
/// The right without which an owner cannot read a file.
const READ: RawMode = 0o400;

/// Gives the owner the right to look into every folder below `at` and to read every file. Returns the folders
/// that stay closed, which are another user's. Follows no symlink, enters no other file system, and leaves
/// the folder's own `.git` as it is.
///
/// # Errors
/// [`Error::Io`] where a folder cannot be looked into for want of a resource of the machine.
pub(crate) fn open_up(at: &Path) -> Result<Vec<Unsaved>> {
    let folder =
        open_unlocked(rustix::fs::CWD, at.as_os_str()).map_err(|errno| Error::io("look into", at, errno))?;
    let device = fstat(&folder)
        .map_err(|errno| Error::io("look at", at, errno))?
        .st_dev;
    let mut walk = Walk {
        at,
        device,
        shut: Vec::new(),
    };
    walk.open_in(&folder, Path::new(""), 0)?;
    Ok(walk.shut)
}

struct Walk<'a> {
    at: &'a Path,
    device: u64,
    shut: Vec<Unsaved>,
}

impl Walk<'_> {
    fn open_in(&mut self, folder: &OwnedFd, path: &Path, depth: usize) -> Result<()> {
        let found = match names(folder) {
            Ok(found) if depth < DEPTH => found,
            Ok(_) => return self.tell(path, Errno::NAMETOOLONG),
            Err(errno) => return self.tell(path, errno),
        };
        for name in found {
            let name = OsStr::from_bytes(name.as_bytes());
            if depth == 0 && name == ".git" {
                continue;
            }
            let Ok(stat) = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) else {
                continue;
            };
            if stat.st_dev != self.device {
                continue;
            }
            let path = path.join(name);
            match FileType::from_raw_mode(stat.st_mode) {
                FileType::Directory => {
                    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                    let opened = if stat.st_mode & LOOK == LOOK {
                        openat(folder, name, flags, Mode::empty())
                    } else {
                        open_unlocked(folder, name)
                    };
                    match opened {
                        Ok(inner) => self.open_in(&inner, &path, depth + 1)?,
                        Err(errno) => self.tell(&path, errno)?,
                    }
                }
                // A file that stays unreadable is reported when it is added.
                FileType::RegularFile if stat.st_mode & READ == 0 => {
                    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                    let held = openat(folder, name, flags, Mode::empty());
                    if let Ok(held) = held
                        && let Ok(stat) = fstat(&held)
                        && FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile
                    {
                        unlock(&held, stat.st_mode, READ);
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn tell(&mut self, path: &Path, errno: Errno) -> Result<()> {
        let error = Error::io("look into", self.at.join(path), errno);
        if error.is_passing() {
            return Err(error);
        }
        self.shut.push(Unsaved {
            path: path.to_owned(),
            why: format!("it cannot be looked into: {}", std::io::Error::from(errno)),
        });
        Ok(())
    }
}
