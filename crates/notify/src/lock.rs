//! Lock: one notifier runs at a time for a person and a repository.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{Read as _, Seek as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

use client::error::Doing as _;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

/// The lock, until it is dropped or this process ends.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

/// What came of an attempt to take the lock.
#[derive(Debug)]
pub(crate) enum Taken {
    /// This process has it.
    Here(Lock),
    /// Another process has it: which, where that is known.
    Elsewhere(Option<u32>),
}

impl Lock {
    /// Takes the lock of a notifier's folder, which is made for its owner alone.
    ///
    /// # Errors
    /// The folder or the file cannot be made.
    pub(crate) fn take(folder: &Path) -> client::Result<Taken> {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)
            .doing("make", folder)?;
        let path = folder.join("lock");
        let mut options = OpenOptions::new();
        options
            .create(true)
            .read(true)
            .write(true)
            .truncate(false)
            .mode(0o600);
        let mut file = options.open(&path).doing("open", &path)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) => {
                let mut pid = String::new();
                // It may not have said yet who it is.
                let _ = file.read_to_string(&mut pid);
                return Ok(Taken::Elsewhere(pid.trim().parse().ok()));
            }
            Err(errno) => return Err(std::io::Error::from(errno)).doing("lock", &path),
        }
        // For people only: the lock holds without it.
        let _ = file
            .set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| writeln!(file, "{}", std::process::id()));
        Ok(Taken::Here(Self { _file: file }))
    }
}
