//! The repository's lock: one engine at a time.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use crate::clock::{self, Deadline};
use crate::error::{Error, IoContext, Result};
use crate::repository::seen::Seen;
use crate::types::holder::Holder;
use crate::types::shortened::shortened;

/// How long [`Lock::take`] waits: [`Lock::holder`] takes the lock for an instant to look, which must not turn
/// an engine away.
const LOOKERS: Duration = Duration::from_millis(50);

/// The exclusive lock of a repository. It is held as long as this value, a clone of it, *or a git child that
/// got it as its stdin or its standard output* lives; a git orphaned by a killed engine therefore keeps a new
/// engine out until it has ended.
#[derive(Clone, Debug)]
pub struct Lock {
    file: Arc<File>,
    path: PathBuf,
    /// The text in the file, for people.
    says: String,
    taken: SystemTime,
    seen: Arc<Seen>,
    /// An earlier holder's git died as it deleted refs, and the lock of the packed refs may be its.
    left: Arc<AtomicBool>,
    /// The number of gits that delete refs now.
    deleting: Arc<Mutex<u32>>,
    /// Whether the file has the line [`DELETING`].
    said: Arc<AtomicBool>,
}

/// A git of the holder's deletes refs as long as this value lives; this is not the end of the lock itself.
pub(crate) struct Deleting<'l>(&'l Lock);

/// git's lock of the packed refs.
pub(crate) const PACKED: &str = "packed-refs.lock";

/// The line in the file that says that a git deletes refs, for the next holder of the lock.
const DELETING: &str = "deleting=1\n";

/// The line that says that the holder is no engine.
const COMMAND: &str = "for=command\n";

impl Lock {
    /// Takes the lock for an engine, making the file (0600) if need be. The file is never deleted.
    ///
    /// # Errors
    /// [`Error::Held`] with what the holder wrote; [`Error::Io`].
    pub fn take(path: &Path) -> Result<Self> {
        Self::take_as(path, "")
    }

    /// Takes the lock for a command that is carried out without an engine: a caller that finds it held may
    /// wait for that.
    ///
    /// # Errors
    /// As [`Lock::take`].
    pub fn take_for_command(path: &Path) -> Result<Self> {
        Self::take_as(path, COMMAND)
    }

    fn take_as(path: &Path, what: &str) -> Result<Self> {
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
        // The earlier holder's gits have held the lock too, and are dead.
        let left = read(&mut file).ends_with(DELETING) && path.with_file_name(PACKED).exists();
        let says = format!(
            "pid={}\nhost={host}\nstarted={started}\n{what}",
            std::process::id()
        );
        write(&file, &says, left).doing("write the lock", path)?;
        // The time is by the file system's own clock, because it is compared with other files' times.
        let taken = file
            .metadata()
            .and_then(|meta| meta.modified())
            .doing("look at the lock", path)?;
        Ok(Self {
            file: Arc::new(file),
            path: path.to_owned(),
            says,
            taken,
            seen: Arc::default(),
            left: Arc::new(AtomicBool::new(left)),
            deleting: Arc::default(),
            said: Arc::new(AtomicBool::new(left)),
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

    /// Whether git's lock of the packed refs, if it is older than this lock, may be that of an earlier
    /// holder's git that died.
    pub(crate) fn left_deleting(&self) -> bool {
        self.left.load(Ordering::Relaxed)
    }

    /// Notes that git's lock of the packed refs is gone, or was never there.
    pub(crate) fn is_cleared(&self) {
        if self.left.swap(false, Ordering::Relaxed) {
            self.count(|deleting| deleting);
        }
    }

    /// Notes, for the next holder, that a git deletes refs now.
    pub(crate) fn deleting(&self) -> Deleting<'_> {
        self.count(|deleting| deleting + 1);
        Deleting(self)
    }

    fn count(&self, change: impl FnOnce(u32) -> u32) {
        let mut deleting = self.deleting.lock().unwrap_or_else(PoisonError::into_inner);
        *deleting = change(*deleting);
        let says = *deleting > 0 || self.left_deleting();
        // If this cannot be written, the next holder only waits longer for a lock that is left behind.
        if self.said.swap(says, Ordering::Relaxed) != says {
            write(&self.file, &self.says, says).ok();
        }
    }
}

impl Deleting<'_> {
    /// Notes that the git was killed and may have left its lock, which the next holder removes.
    pub(crate) fn was_killed(self) {
        self.0.left.store(true, Ordering::Relaxed);
    }
}

impl Drop for Deleting<'_> {
    fn drop(&mut self) {
        self.0.count(|deleting| deleting - 1);
    }
}

/// Writes the text and leaves the file's position at its end: gits have the file as their standard input, and
/// shall read nothing.
fn write(mut file: &File, says: &str, deleting: bool) -> std::io::Result<()> {
    let text = format!("{says}{}", if deleting { DELETING } else { "" });
    file.write_all_at(text.as_bytes(), 0)?;
    file.set_len(text.len() as u64)?;
    file.seek(SeekFrom::End(0)).map(drop)
}

/// Reads the text of a lock; empty if it cannot be read.
fn read(file: &mut File) -> String {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0)).ok();
    file.take(4096).read_to_end(&mut bytes).ok();
    String::from_utf8_lossy(&bytes).into_owned()
}

impl Holder {
    fn read(file: &mut File) -> Self {
        let text = read(file);
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
            is_command: field("for") == "command",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_holder_knows_whether_a_git_may_have_died_as_it_deleted() {
        let folder = tempfile::tempdir().unwrap();
        let (path, packed) = (folder.path().join("crew.lock"), folder.path().join(PACKED));
        let dies = || {
            let lock = Lock::take(&path).unwrap();
            let left = lock.left_deleting();
            let (first, second) = (lock.deleting(), lock.deleting());
            drop(first);
            // Killed: nothing of it is dropped.
            std::mem::forget(second);
            left
        };
        assert!(!dies());
        assert!(!dies(), "it has left no lock of git's");
        std::fs::write(&packed, "").unwrap();
        assert!(dies());
        assert!(
            Lock::take(&path).unwrap().left_deleting(),
            "as long as that is there"
        );
        assert_eq!(
            Holder::read(&mut File::open(&path).unwrap()).pid,
            Some(std::process::id())
        );
        std::fs::remove_file(&packed).unwrap();
        let lock = Lock::take(&path).unwrap();
        drop((lock.deleting(), lock.deleting()));
        drop(lock);
        std::fs::write(&packed, "").unwrap();
        assert!(
            !Lock::take(&path).unwrap().left_deleting(),
            "its gits have all ended"
        );
    }

    #[test]
    fn what_a_killed_git_may_have_left_is_said_until_it_is_known_to_be_gone() {
        let folder = tempfile::tempdir().unwrap();
        let (path, packed) = (folder.path().join("crew.lock"), folder.path().join(PACKED));
        std::fs::write(&packed, "").unwrap();
        let says = || std::fs::read_to_string(&path).unwrap().ends_with(DELETING);
        let lock = Lock::take(&path).unwrap();
        lock.deleting().was_killed();
        assert!(says());
        drop(lock);
        let mut lock = Lock::take(&path).unwrap();
        assert!(lock.left_deleting() && says());
        lock.is_cleared();
        assert!(!lock.left_deleting() && !says());
        drop(lock.deleting());
        assert!(!says());
        // What it says is not what a git reads that has it as its input.
        let mut rest = String::new();
        Arc::get_mut(&mut lock.file)
            .unwrap()
            .read_to_string(&mut rest)
            .unwrap();
        assert_eq!(rest, "");
        drop(lock);
        assert!(!Lock::take(&path).unwrap().left_deleting());
    }
}
