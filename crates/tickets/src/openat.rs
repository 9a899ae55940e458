//! Opening files relative to a folder, so that no name leads out of it.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::{Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use crate::document::MAX_BYTES;
use crate::problem::ProblemKind;
use crate::stamp::Stamp;

/// Opens a folder. A symbolic link to a folder is followed, since a person put it there.
pub(crate) fn folder(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?)
}

/// Opens `name`, which has no slash, in `dir`. A symbolic link is refused.
pub(crate) fn open(dir: BorrowedFd<'_>, name: &str, flags: OFlags, mode: Mode) -> Result<OwnedFd, Errno> {
    debug_assert!(!name.contains('/'));
    let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    match rustix::fs::openat2(dir, name, flags, mode, resolve) {
        // Old kernels and old container filters lack `openat2`. For a name without a slash NOFOLLOW is as
        // strict.
        Err(Errno::NOSYS | Errno::PERM) => rustix::fs::openat(dir, name, flags, mode),
        other => other,
    }
}

/// The content of a file, and the file's state when it was read.
pub(crate) struct Content {
    pub(crate) bytes: Vec<u8>,
    pub(crate) stamp: Stamp,
    /// The permission bits.
    pub(crate) mode: u32,
}

/// The reason why a file could not be read.
pub(crate) enum ReadError {
    /// There is no such file.
    Missing,
    /// The file cannot be a ticket.
    Bad(ProblemKind),
    /// The system failed to read the file, maybe only for a moment.
    Io(io::Error),
}

/// Reads a regular file of at most [`MAX_BYTES`].
pub(crate) fn read(dir: BorrowedFd<'_>, name: &str) -> Result<Content, ReadError> {
    const TRIES: u32 = 3;
    let mut tries = 0;
    loop {
        // Without NONBLOCK, opening a pipe would wait for its writer.
        let file = match open(dir, name, OFlags::RDONLY | OFlags::NONBLOCK, Mode::empty()) {
            Ok(fd) => File::from(fd),
            Err(Errno::NOENT) => return Err(ReadError::Missing),
            Err(Errno::LOOP | Errno::NXIO | Errno::XDEV) => {
                return Err(ReadError::Bad(ProblemKind::NotRegularFile));
            }
            Err(error) => return Err(ReadError::Io(error.into())),
        };
        let before = file.metadata().map_err(ReadError::Io)?;
        if !before.is_file() {
            return Err(ReadError::Bad(ProblemKind::NotRegularFile));
        }
        if before.len() > MAX_BYTES {
            return Err(ReadError::Bad(ProblemKind::TooLarge { bytes: before.len() }));
        }
        let mut bytes = Vec::with_capacity(usize::try_from(before.len()).unwrap_or_default());
        (&file)
            .take(MAX_BYTES + 1)
            .read_to_end(&mut bytes)
            .map_err(ReadError::Io)?;
        let after = file.metadata().map_err(ReadError::Io)?;
        let stamp = Stamp::of(&after);
        tries += 1;
        // A file that was written during the read may be a mixture of both contents: read it again.
        if stamp == Stamp::of(&before) || tries == TRIES {
            return Ok(Content {
                bytes,
                stamp,
                mode: after.mode() & 0o777,
            });
        }
    }
}
