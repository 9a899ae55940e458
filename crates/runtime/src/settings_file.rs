//! `crew.toml` on the disk: read only if nobody else can have written it, since what it names is run as whoever runs crew.

use std::fs::File;
use std::io::{Error, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

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

/// The bytes of the file at `path`, of the repository at `root`. What is no file is not opened: a pipe would be waited for, a
/// device has no end.
///
/// # Errors
/// [`Refused`], and why.
pub(crate) fn read(path: &Path, root: &Path) -> Result<Vec<u8>, Refused> {
    let unreadable = |why: &str| Refused::Unreadable(Error::other(why));
    if !path.metadata().map_err(Refused::Unreadable)?.is_file() {
        return Err(unreadable("it is no regular file"));
    }
    let file = File::open(path).map_err(Refused::Unreadable)?;
    // Of the file that is open, not of the name: another may stand there by now.
    let meta = file.metadata().map_err(Refused::Unreadable)?;
    if meta.len() > MOST_BYTES {
        return Err(unreadable("it is larger than 1 MiB"));
    }
    let root = root.metadata().map_err(Refused::Unreadable)?;
    let me = rustix::process::geteuid().as_raw();
    trusted(meta.uid(), meta.mode(), &[0, me, root.uid()])?;
    let mut bytes = Vec::new();
    file.take(MOST_BYTES)
        .read_to_end(&mut bytes)
        .map_err(Refused::Unreadable)?;
    Ok(bytes)
}

/// Whether a file of this owner and mode is written by nobody but `users`: root, the user, and whose the repository is. One of
/// another's is one that the user told git to trust, or git had refused it.
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
