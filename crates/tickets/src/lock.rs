//! The folder's lock: one writer of crew at a time, among all processes.

use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::event::Timespec;
use rustix::fs::{Access, AtFlags, FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use crate::{Error, Folder, beneath};

/// The file that is locked. Hidden and without `.md`, so that tk never takes it for a ticket.
const FILE: &str = ".lock";

/// How long a write waits for another's.
const PATIENCE: Duration = Duration::from_secs(30);

/// The folder's lock, held until dropped. The kernel frees it when its holder dies.
///
/// tk and editors do not know it: against those, a write checks what it displaced (see [`Lock::edit`]).
#[derive(Debug)]
pub struct Lock<'a> {
    pub(crate) folder: &'a Folder,
    pub(crate) dir: OwnedFd,
    /// Holds the lock by being open.
    _file: OwnedFd,
}

impl Folder {
    /// Takes the folder's lock, waiting at most 30 s ([`Error::Locked`]).
    pub fn lock(&self) -> Result<Lock<'_>, Error> {
        self.lock_within(PATIENCE)
    }

    /// Takes the folder's lock unless another has it.
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
        // A system that cannot be asked leaves it to the lock.
        if let Err(source @ (Errno::ACCESS | Errno::PERM | Errno::ROFS)) = may {
            return Err(failed("write in", self.path().to_owned(), source));
        }
        match beneath::open(dir.as_fd(), FILE, OFlags::RDWR, Mode::empty()) {
            Ok(_) | Err(Errno::NOENT) => Ok(()),
            Err(source) => Err(failed("open the lock", self.path().join(FILE), source)),
        }
    }

    fn lock_within(&self, patience: Duration) -> Result<Lock<'_>, Error> {
        let path = self.path().join(FILE);
        let failed = |doing, source: Errno| Error::Io {
            doing,
            path: path.clone(),
            source: source.into(),
        };
        let mut wait = Wait::new(patience);
        loop {
            let dir = self.open()?;
            let flags = OFlags::RDWR | OFlags::CREATE;
            let file = beneath::open(dir.as_fd(), FILE, flags, Mode::from_raw_mode(0o666))
                .map_err(|source| failed("open the lock", source))?;
            loop {
                match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
                    Ok(()) => break,
                    Err(Errno::WOULDBLOCK | Errno::INTR) if wait.again() => {}
                    Err(Errno::WOULDBLOCK | Errno::INTR) => {
                        return Err(Error::Locked {
                            path: path.clone(),
                            seconds: patience.as_secs(),
                        });
                    }
                    Err(source) => return Err(failed("lock", source)),
                }
            }
            // Deleted by someone in the meantime, it would no longer keep the next one out.
            if same_file(&file, &self.path().join(FILE)) {
                let lock = Lock {
                    folder: self,
                    dir,
                    _file: file,
                };
                return lock.finish_interrupted_write().map(|()| lock);
            }
            if !wait.again() {
                return Err(Error::Locked {
                    path,
                    seconds: patience.as_secs(),
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

/// Short waits that grow, until the patience is spent.
struct Wait {
    until: Instant,
    milliseconds: i64,
}

impl Wait {
    #[expect(
        clippy::disallowed_methods,
        reason = "a lock that another program holds is waited for with a deadline"
    )]
    fn new(patience: Duration) -> Wait {
        Wait {
            until: Instant::now() + patience,
            milliseconds: 1,
        }
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "a lock that another program holds is waited for with a deadline"
    )]
    fn again(&mut self) -> bool {
        if Instant::now() >= self.until {
            return false;
        }
        let pause = Timespec {
            tv_sec: 0,
            tv_nsec: self.milliseconds * 1_000_000,
        };
        // An interrupted wait is a shorter one.
        let _ = rustix::event::poll(&mut [], Some(&pause));
        self.milliseconds = (self.milliseconds * 2).min(8);
        true
    }
}
