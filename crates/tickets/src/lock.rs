//! The folder's lock, which admits one writer at a time among all processes of crew.

use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::event::Timespec;
use rustix::fs::{Access, AtFlags, FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use crate::error::Error;
use crate::folder::Folder;
use crate::openat;

/// The lock file. It is hidden and has no `.md`, so that tk never takes it for a ticket.
const FILE: &str = ".lock";

/// The longest wait for another writer.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The folder's lock, held until dropped. The kernel frees it when its holder dies.
///
/// tk and editors do not use it. Therefore a write checks the content that it displaced (see [`Lock::edit`]).
#[derive(Debug)]
pub struct Lock<'a> {
    pub(crate) folder: &'a Folder,
    pub(crate) dir: OwnedFd,
    /// The open file, which holds the lock.
    _file: OwnedFd,
}

impl Folder {
    /// Takes the folder's lock, and finishes a write that was interrupted.
    ///
    /// Errors: [`Error::Locked`] after 30 s, [`Error::Io`], [`Error::NotAFolder`].
    pub fn lock(&self) -> Result<Lock<'_>, Error> {
        self.lock_within(TIMEOUT)
    }

    /// As [`Folder::lock`], without waiting.
    pub(crate) fn try_lock(&self) -> Result<Lock<'_>, Error> {
        self.lock_within(Duration::ZERO)
    }

    /// Checks whether a write in the folder could succeed at this moment, without changing anything.
    ///
    /// Errors: [`Error::Io`] where the folder, or the lock in it, is not writable; [`Error::NotAFolder`].
    pub fn check_writable(&self) -> Result<(), Error> {
        let failed = |doing, path: PathBuf, source: Errno| Error::Io {
            doing,
            path,
            source: source.into(),
        };
        let dir = self.open()?;
        let access = Access::WRITE_OK | Access::EXEC_OK;
        let may = rustix::fs::accessat(&dir, ".", access, AtFlags::EACCESS);
        // If the system cannot answer, opening the lock below shows more.
        if let Err(source @ (Errno::ACCESS | Errno::PERM | Errno::ROFS)) = may {
            return Err(failed("write in", self.path().to_owned(), source));
        }
        match openat::open(dir.as_fd(), FILE, OFlags::RDWR, Mode::empty()) {
            Ok(_) | Err(Errno::NOENT) => Ok(()),
            Err(source) => Err(failed("open the lock", self.path().join(FILE), source)),
        }
    }

    fn lock_within(&self, timeout: Duration) -> Result<Lock<'_>, Error> {
        let path = self.path().join(FILE);
        let failed = |doing, source: Errno| Error::Io {
            doing,
            path: path.clone(),
            source: source.into(),
        };
        let mut backoff = Backoff::new(timeout);
        loop {
            let dir = self.open()?;
            let flags = OFlags::RDWR | OFlags::CREATE;
            let file = openat::open(dir.as_fd(), FILE, flags, Mode::from_raw_mode(0o666))
                .map_err(|source| failed("open the lock", source))?;
            loop {
                match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
                    Ok(()) => break,
                    Err(Errno::WOULDBLOCK | Errno::INTR) if backoff.pause() => {}
                    Err(Errno::WOULDBLOCK | Errno::INTR) => {
                        return Err(Error::Locked {
                            path: path.clone(),
                            seconds: timeout.as_secs(),
                        });
                    }
                    Err(source) => return Err(failed("lock", source)),
                }
            }
            // A lock file that was deleted in the meantime would not keep the next writer out.
            if same_file(&file, &self.path().join(FILE)) {
                let lock = Lock {
                    folder: self,
                    dir,
                    _file: file,
                };
                return lock.finish_interrupted_write().map(|()| lock);
            }
            if !backoff.pause() {
                return Err(Error::Locked {
                    path,
                    seconds: timeout.as_secs(),
                });
            }
        }
    }
}

fn same_file(file: &OwnedFd, path: &std::path::Path) -> bool {
    match (rustix::fs::fstat(file), rustix::fs::lstat(path)) {
        (Ok(held), Ok(there)) => held.st_ino == there.st_ino && held.st_dev == there.st_dev,
        _ => false,
    }
}

/// Pauses that grow, until a timeout.
struct Backoff {
    until: Instant,
    milliseconds: i64,
}

impl Backoff {
    #[expect(
        clippy::disallowed_methods,
        reason = "a lock that another program holds is waited for with a deadline"
    )]
    fn new(timeout: Duration) -> Backoff {
        Backoff {
            until: Instant::now() + timeout,
            milliseconds: 1,
        }
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "a lock that another program holds is waited for with a deadline"
    )]
    /// Pauses; `false` when the timeout has passed.
    fn pause(&mut self) -> bool {
        if Instant::now() >= self.until {
            return false;
        }
        let pause = Timespec {
            tv_sec: 0,
            tv_nsec: self.milliseconds * 1_000_000,
        };
        // An interrupted pause is only shorter.
        let _ = rustix::event::poll(&mut [], Some(&pause));
        self.milliseconds = (self.milliseconds * 2).min(8);
        true
    }
}
