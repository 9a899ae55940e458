//! One engine a repository.

use std::fmt;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use crate::clock::{self, Deadline};
use crate::error::{Error, IoContext, Result, shortened};
use crate::refs::Seen;

/// [`Lock::holder`] takes the lock for an instant to look; that must not turn an engine away.
const LOOKERS: Duration = Duration::from_millis(50);

/// The exclusive lock of a repository. It is held as long as this value, a clone of it, *or a git child that got it as
/// its stdin or its standard output* lives; a git orphaned by a killed engine therefore keeps a new engine out until it has ended.
#[derive(Clone, Debug)]
pub struct Lock {
    file: Arc<File>,
    path: PathBuf,
    taken: SystemTime,
    seen: Arc<Seen>,
}

/// What the holder of a lock wrote into it. For people: only the lock itself says whether it is held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// Its process id.
    pub pid: Option<u32>,
    /// Its host.
    pub host: String,
    /// When it took the lock, seconds since 1970.
    pub started: Option<u64>,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.pid {
            Some(pid) => write!(f, "process {pid}")?,
            None => f.write_str("an unknown process")?,
        }
        if !self.host.is_empty() {
            write!(f, " on {}", self.host)?;
        }
        Ok(())
    }
}

impl Lock {
    /// Takes the lock, making the file (0600) if need be. The file is never deleted.
    ///
    /// # Errors
    /// [`Error::Held`] with what the holder wrote; [`Error::Io`].
    pub fn take(path: &Path) -> Result<Self> {
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(path)
            .doing("open the lock", path)?;
        let deadline = Deadline::after(LOOKERS);
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if deadline.left().is_zero() => {
                    return Err(Error::Held {
                        path: path.to_owned(),
                        by: Holder::read(&mut file),
                    });
                }
                Err(TryLockError::WouldBlock) => clock::pause(LOOKERS / 10),
                Err(TryLockError::Error(source)) => return Err(Error::io("lock", path, source)),
            }
        }
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        let started = clock::unix_seconds();
        let text = format!("pid={}\nhost={host}\nstarted={started}\n", std::process::id());
        file.set_len(0)
            .and_then(|()| file.seek(SeekFrom::Start(0)))
            .and_then(|_| file.write_all(text.as_bytes()))
            .doing("write the lock", path)?;
        // By the file system's own clock, whose times this one is compared with.
        let taken = file
            .metadata()
            .and_then(|meta| meta.modified())
            .doing("look at the lock", path)?;
        Ok(Self {
            file: Arc::new(file),
            path: path.to_owned(),
            taken,
            seen: Arc::default(),
        })
    }

    /// Who holds the lock at `path` now; `None` if nobody does.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn holder(path: &Path) -> Result<Option<Holder>> {
        let mut file = match OpenOptions::new().read(true).open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::io("open the lock", path, error)),
        };
        match file.try_lock_shared() {
            Ok(()) => Ok(None),
            Err(TryLockError::WouldBlock) => Ok(Some(Holder::read(&mut file))),
            Err(TryLockError::Error(source)) => Err(Error::io("look at the lock", path, source)),
        }
    }

    /// The lock's file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn file(&self) -> &Arc<File> {
        &self.file
    }

    pub(crate) fn taken(&self) -> SystemTime {
        self.taken
    }

    pub(crate) fn seen(&self) -> &Seen {
        &self.seen
    }
}

impl Holder {
    fn read(file: &mut File) -> Self {
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(0)).ok();
        file.take(4096).read_to_end(&mut bytes).ok();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let field = |name: &str| {
            text.lines()
                .find_map(|line| line.strip_prefix(name)?.strip_prefix('='))
                .unwrap_or_default()
        };
        let host: String = field("host").chars().filter(|c| !c.is_control()).collect();
        Self {
            pid: field("pid").parse().ok(),
            host: shortened(&host, 100),
            started: field("started").parse().ok(),
        }
    }
}
