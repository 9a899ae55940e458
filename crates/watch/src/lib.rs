//! Notices of changes in folders, from Linux's inotify.
//!
//! Only changes are asked for. A look into a folder opens it, and git opens a dozen files for each command: a
//! watch that hears of that wakes its program for nothing, all day.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;

/// Bytes of notices that are read at a time.
const PIECE: usize = 4096;

/// What has happened to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It was made, removed or renamed, from or to this name.
    Named,
    /// Its content or its times, owner or rights have changed.
    Changed,
    /// A program that had it open for writing has closed it, whether it wrote or not.
    Closed,
}

/// A notice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// Of a file in a watched folder, or of a watched folder itself.
    Of {
        /// The folder as it was given to [`Watcher::watch`], with the file's name behind it.
        path: PathBuf,
        /// What has happened.
        kind: Kind,
    },
    /// Notices were lost: anything can have happened in any of the folders.
    Lost,
}

/// A watcher of folders, with a thread of its own that ends when this is dropped.
#[derive(Debug)]
pub struct Watcher {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    inotify: OwnedFd,
    /// Readable once the thread is to end.
    end: OwnedFd,
    /// The folders by the number that the kernel gave each. It gives no number twice.
    folders: Mutex<BTreeMap<i32, PathBuf>>,
}

impl Watcher {
    /// A watcher of no folder yet. `tell` is called for each notice in a thread of its own, and must return
    /// quickly.
    ///
    /// # Errors
    /// The system has no watch or no thread left to give.
    pub fn new(mut tell: impl FnMut(Notice) + Send + 'static) -> io::Result<Self> {
        let shared = Arc::new(Shared {
            inotify: inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?,
            end: eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?,
            folders: Mutex::default(),
        });
        let watching = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("watch".to_owned());
        thread.spawn(move || watching.tell_each(&mut tell))?;
        Ok(Self { shared })
    }

    /// Watches a folder, without what is below its subfolders; again, it stays watched once. A folder that is
    /// removed is watched no more, also if another one of this name is made.
    ///
    /// # Errors
    /// It is no folder that can be looked into, or the system has no watch left to give.
    pub fn watch(&self, folder: &Path) -> io::Result<()> {
        let changes = WatchFlags::ATTRIB
            | WatchFlags::CREATE
            | WatchFlags::DELETE
            | WatchFlags::CLOSE_WRITE
            | WatchFlags::MODIFY
            | WatchFlags::MOVE
            | WatchFlags::DELETE_SELF
            | WatchFlags::MOVE_SELF
            | WatchFlags::ONLYDIR;
        // Held meanwhile: a notice can come before its number is known.
        let mut folders = self.shared.folders();
        let number = inotify::add_watch(&self.shared.inotify, folder, changes)?;
        folders.insert(number, folder.to_owned());
        Ok(())
    }

    /// Watches a file up to its next change, and no further: a file that is written all the time wakes nobody
    /// before it is watched again. The notice has the file's own path.
    ///
    /// # Errors
    /// There is no such file, or the system has no watch left to give.
    pub fn watch_once(&self, file: &Path) -> io::Result<()> {
        let changes = WatchFlags::MODIFY | WatchFlags::ONESHOT;
        let mut folders = self.shared.folders();
        let number = inotify::add_watch(&self.shared.inotify, file, changes)?;
        folders.insert(number, file.to_owned());
        Ok(())
    }

    /// Watches a folder or a file no more; one that is not watched is no error.
    pub fn unwatch(&self, folder: &Path) {
        self.shared.folders().retain(|number, watched| {
            let is_it = watched == folder;
            if is_it {
                // The number of a folder that was removed is gone by itself.
                let _ = inotify::remove_watch(&self.shared.inotify, *number);
            }
            !is_it
        });
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        let _ = rustix::io::write(&self.shared.end, &1_u64.to_ne_bytes());
    }
}

impl Shared {
    fn folders(&self) -> MutexGuard<'_, BTreeMap<i32, PathBuf>> {
        self.folders.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells notices until the watcher is dropped.
    fn tell_each(&self, tell: &mut impl FnMut(Notice)) {
        let mut buffer = [MaybeUninit::uninit(); PIECE];
        let mut notices = Reader::new(&self.inotify, &mut buffer);
        loop {
            let mut fds = [
                PollFd::new(&self.inotify, PollFlags::IN),
                PollFd::new(&self.end, PollFlags::IN),
            ];
            match poll(&mut fds, None) {
                Err(Errno::INTR) => continue,
                Err(_) => return tell(Notice::Lost),
                Ok(_) => {}
            }
            if !fds[1].revents().is_empty() {
                return;
            }
            loop {
                match notices.next() {
                    Ok(event) => {
                        let name = event.file_name().map(|name| OsStr::from_bytes(name.to_bytes()));
                        if let Some(notice) = self.notice(event.wd(), event.events(), name) {
                            tell(notice);
                        }
                    }
                    Err(Errno::INTR) => {}
                    Err(_) => break,
                }
            }
        }
    }

    fn notice(&self, number: i32, events: ReadFlags, name: Option<&OsStr>) -> Option<Notice> {
        if events.contains(ReadFlags::QUEUE_OVERFLOW) {
            return Some(Notice::Lost);
        }
        let mut folders = self.folders();
        if events.contains(ReadFlags::IGNORED) {
            folders.remove(&number);
            return None;
        }
        let folder = folders.get(&number)?;
        let path = name.map_or_else(|| folder.clone(), |name| folder.join(name));
        let changed = ReadFlags::ATTRIB | ReadFlags::MODIFY;
        let kind = if events.intersects(changed) {
            Kind::Changed
        } else if events.contains(ReadFlags::CLOSE_WRITE) {
            Kind::Closed
        } else {
            Kind::Named
        };
        Some(Notice::Of { path, kind })
    }
}

#[cfg(test)]
mod tests;
