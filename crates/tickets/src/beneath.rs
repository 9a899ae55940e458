//! Files of one folder, opened so that no name leads out of it.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::{Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use crate::document::MAX_BYTES;
use crate::folder::Stamp;
use crate::problem::ProblemKind;

/// Opens a folder; a symbolic link to one is the person's own choice and is followed.
pub(crate) fn folder(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?)
}

/// Opens `name` in `dir`. Symbolic links are refused, on the way and at the end.
pub(crate) fn open(dir: BorrowedFd<'_>, name: &str, flags: OFlags, mode: Mode) -> Result<OwnedFd, Errno> {
    debug_assert!(!name.contains('/'));
    let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    match rustix::fs::openat2(dir, name, flags, mode, resolve) {
        // Old kernels and old container filters lack the call; for a name without a slash NOFOLLOW is as strict.
        Err(Errno::NOSYS | Errno::PERM) => rustix::fs::openat(dir, name, flags, mode),
        other => other,
    }
}

/// What a file held, and its state then.
pub(crate) struct Content {
    pub(crate) bytes: Vec<u8>,
    pub(crate) stamp: Stamp,
    /// Its permissions.
    pub(crate) mode: u32,
}

/// Why a file could not be read.
pub(crate) enum Failure {
    /// It is not there.
    Missing,
    /// It is there and no good.
    Bad(ProblemKind),
    /// The system refused to read it, maybe only for the moment.
    Refused(io::Error),
}

/// Reads a regular file of at most [`MAX_BYTES`].
pub(crate) fn read(dir: BorrowedFd<'_>, name: &str) -> Result<Content, Failure> {
    const TRIES: u32 = 3;
    let mut tries = 0;
    loop {
        // NONBLOCK: to open a pipe must not wait for its writer.
        let file = match open(dir, name, OFlags::RDONLY | OFlags::NONBLOCK, Mode::empty()) {
            Ok(fd) => File::from(fd),
            Err(Errno::NOENT) => return Err(Failure::Missing),
            Err(Errno::LOOP | Errno::NXIO | Errno::XDEV) => {
                return Err(Failure::Bad(ProblemKind::NotRegularFile));
            }
            Err(error) => return Err(Failure::Refused(error.into())),
        };
        let before = file.metadata().map_err(Failure::Refused)?;
        if !before.is_file() {
            return Err(Failure::Bad(ProblemKind::NotRegularFile));
        }
        if before.len() > MAX_BYTES {
            return Err(Failure::Bad(ProblemKind::TooLarge { bytes: before.len() }));
        }
        let mut bytes = Vec::with_capacity(usize::try_from(before.len()).unwrap_or_default());
        (&file)
            .take(MAX_BYTES + 1)
            .read_to_end(&mut bytes)
            .map_err(Failure::Refused)?;
        let after = file.metadata().map_err(Failure::Refused)?;
        let stamp = Stamp::of(&after);
        tries += 1;
        // Written while it was read: what was read may be half of each.
        if stamp == Stamp::of(&before) || tries == TRIES {
            return Ok(Content {
                bytes,
                stamp,
                mode: after.mode() & 0o777,
            });
        }
    }
}
