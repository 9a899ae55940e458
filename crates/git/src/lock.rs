//! One engine a repository.

use std::fmt;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use crate::clock::{self, Deadline, Since};
use crate::error::{Error, IoContext, Result, shortened};
use crate::refs::{Seen, Version};

/// [`Lock::holder`] takes the lock for an instant to look; that must not turn an engine away.
const LOOKERS: Duration = Duration::from_millis(50);

/// The exclusive lock of a repository. It is held as long as this value, a clone of it, *or a git child that got it as
/// its stdin or its standard output* lives; a git orphaned by a killed engine therefore keeps a new engine out until it has ended.
#[derive(Clone, Debug)]
pub struct Lock {
    file: Arc<File>,
    path: PathBuf,
    /// What is written in it for people.
    says: String,
    taken: SystemTime,
    seen: Arc<Seen>,
}

/// What tells one start of this machine from another.
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

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
        let before = read(&mut file);
        let says = format!("pid={}\nhost={host}\nstarted={started}\n", std::process::id());
        let packed = field(&before, "packed");
        let text = match packed {
            "" => says.clone(),
            packed => format!("{says}packed={packed}\n"),
        };
        file.set_len(0)
            .and_then(|()| file.write_all_at(text.as_bytes(), 0))
            .doing("write the lock", path)?;
        let common = path.parent().unwrap_or(path);
        let seen = seen(packed).map(|(version, since)| Seen::of_packed(common, version, since));
        // By the file system's own clock, whose times this one is compared with.
        let taken = file
            .metadata()
            .and_then(|meta| meta.modified())
            .doing("look at the lock", path)?;
        Ok(Self {
            file: Arc::new(file),
            path: path.to_owned(),
            says,
            taken,
            seen: Arc::new(seen.unwrap_or_default()),
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

    /// Writes into it that git's lock on packed refs was seen now for the first time: for whoever holds it next.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(crate) fn note_packed(&self, (inode, seconds, nanos): Version) -> Result<()> {
        let Ok(boot) = std::fs::read_to_string(BOOT_ID) else {
            return Ok(());
        };
        let now = clock::uptime();
        let packed = format!("packed={} {now} {inode} {seconds} {nanos}\n", boot.trim());
        let text = format!("{}{packed}", self.says);
        let written = self.file.write_all_at(text.as_bytes(), 0);
        let cut = written.and_then(|()| self.file.set_len(text.len() as u64));
        cut.doing("write the lock", &self.path)
    }
}

impl Holder {
    fn read(file: &mut File) -> Self {
        let text = read(file);
        let host: String = field(&text, "host").chars().filter(|c| !c.is_control()).collect();
        Self {
            pid: field(&text, "pid").parse().ok(),
            host: shortened(&host, 100),
            started: field(&text, "started").parse().ok(),
        }
    }
}

/// The text of a lock; what is no text, or cannot be read, says nothing.
fn read(file: &mut File) -> String {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0)).ok();
    file.take(4096).read_to_end(&mut bytes).ok();
    String::from_utf8_lossy(&bytes).into_owned()
}

fn field<'t>(text: &'t str, name: &str) -> &'t str {
    text.lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix('='))
        .unwrap_or_default()
}

/// What [`Lock::note_packed`] wrote, if that was since this machine was started.
fn seen(packed: &str) -> Option<(Version, Since)> {
    let (boot, numbers) = packed.split_once(' ')?;
    if std::fs::read_to_string(BOOT_ID).ok()?.trim() != boot {
        return None;
    }
    let numbers: Vec<i64> = numbers
        .split(' ')
        .map(|number| number.parse().ok())
        .collect::<Option<_>>()?;
    let [at, inode, seconds, nanos] = numbers[..] else {
        return None;
    };
    let age = u64::try_from(clock::uptime().checked_sub(at)?).ok()?;
    let version = (u64::try_from(inode).ok()?, seconds, nanos);
    Some((version, Since::ago(Duration::from_millis(age))))
}
