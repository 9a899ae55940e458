//! The file `crew.toml` on the disk: it is read only if nobody else can have written it, since the programs
//! that it names run as the user who runs crew.

use std::fs::{File, Metadata};
use std::io::{Error, Read as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use rustix::fs::OFlags;

/// The largest settings file that is read, in bytes.
const MOST_BYTES: u64 = 1 << 20;

/// Anybody may write.
const OTHERS_WRITE: u32 = 0o002;

/// Why a settings file is not read.
#[derive(Debug)]
pub(crate) enum Refused {
    /// The system's answer, or what it is instead of a file.
    Unreadable(Error),
    /// Everybody on this machine can change it.
    OpenToAll,
    /// It is another user's.
    Foreign {
        /// Whose: the user's number.
        owner: u32,
    },
}

/// The bytes of the file at `path`, of the repository at `root`.
///
/// # Errors
/// [`Refused`], and why.
pub(crate) fn read(path: &Path, root: &Path) -> Result<Vec<u8>, Refused> {
    // Anything but a file is not even opened: with some devices, that alone does something.
    is_file(&path.metadata().map_err(Refused::Unreadable)?)?;
    read_what_stands(path, root, MOST_BYTES)
}

/// Judges the file that is open and not the name: another file may stand there by now. Opening a pipe would
/// wait.
fn read_what_stands(path: &Path, root: &Path, most: u64) -> Result<Vec<u8>, Refused> {
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits();
    let mut options = File::options();
    options.read(true).custom_flags(flags.cast_signed());
    let file = options.open(path).map_err(Refused::Unreadable)?;
    let meta = file.metadata().map_err(Refused::Unreadable)?;
    is_file(&meta)?;
    let root = root.metadata().map_err(Refused::Unreadable)?;
    let me = rustix::process::geteuid().as_raw();
    trusted(meta.uid(), meta.mode(), &[0, me, root.uid()])?;
    let mut bytes = Vec::new();
    // It may be longer than it says, and grow.
    file.take(most + 1)
        .read_to_end(&mut bytes)
        .map_err(Refused::Unreadable)?;
    if u64::try_from(bytes.len()).is_ok_and(|read| read <= most) {
        Ok(bytes)
    } else {
        Err(unreadable("it is larger than 1 MiB"))
    }
}

fn is_file(meta: &Metadata) -> Result<(), Refused> {
    // A pipe is waited for, a device has no end.
    if meta.is_file() {
        Ok(())
    } else {
        Err(unreadable("it is no regular file"))
    }
}

fn unreadable(why: &str) -> Refused {
    Refused::Unreadable(Error::other(why))
}

/// Whether a file of this owner and mode is written by nobody but `users`: root, the user, and the owner of
/// the repository. The user told git to trust a repository of another owner, or git had refused it.
fn trusted(owner: u32, mode: u32, users: &[u32]) -> Result<(), Refused> {
    if !users.contains(&owner) {
        return Err(Refused::Foreign { owner });
    }
    if mode & OTHERS_WRITE != 0 {
        return Err(Refused::OpenToAll);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn what_others_can_write_is_not_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("crew.toml");
        std::fs::write(&path, "x").unwrap();
        // A umask of 002 leaves 664 behind, in a group of the user's own.
        for mode in [0o400, 0o600, 0o644, 0o664, 0o660] {
            std::fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            assert_eq!(read(&path, dir.path()).unwrap(), b"x", "{mode:o}");
        }
        for mode in [0o666, 0o602, 0o777] {
            std::fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            assert!(
                matches!(read(&path, dir.path()), Err(Refused::OpenToAll)),
                "{mode:o}"
            );
        }
    }

    #[test]
    fn a_pipe_that_has_come_in_its_place_is_not_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("crew.toml");
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        let refused = read_what_stands(&path, dir.path(), MOST_BYTES).unwrap_err();
        assert!(format!("{refused:?}").contains("no regular file"), "{refused:?}");
    }

    #[test]
    fn no_more_is_read_than_there_may_be() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("crew.toml");
        std::fs::write(&path, "12345").unwrap();
        assert_eq!(read_what_stands(&path, dir.path(), 5).unwrap(), b"12345");
        // One that says that it is empty, and is not.
        for path in [path.as_path(), Path::new("/proc/self/status")] {
            let refused = read_what_stands(path, dir.path(), 4).unwrap_err();
            assert!(format!("{refused:?}").contains("larger"), "{refused:?}");
        }
    }

    #[test]
    fn it_is_of_nobody_else() {
        assert!(trusted(1000, 0o100_644, &[0, 1000, 1000]).is_ok());
        assert!(trusted(0, 0o100_644, &[0, 1000, 1000]).is_ok());
        assert!(trusted(1000, 0o100_644, &[0, 0, 1000]).is_ok());
        let foreign = trusted(1001, 0o100_600, &[0, 1000, 1000]);
        assert!(
            matches!(foreign, Err(Refused::Foreign { owner: 1001 })),
            "{foreign:?}"
        );
    }
}
