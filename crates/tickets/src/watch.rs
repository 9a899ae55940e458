//! A watch on the folder, which notices that files may have changed. [`crate::Scan`] then finds the changes.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use notify::event::{AccessKind, AccessMode};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};

use crate::error::Error;
use crate::folder::Folder;

/// A watch on a folder and on its parent, in case the folder is deleted and made again. Ends when dropped.
#[derive(Debug)]
pub struct Watch {
    watcher: RecommendedWatcher,
    folder: PathBuf,
    /// Whether the folder itself was made or removed, so that the watch on it is no longer valid.
    stale: Arc<AtomicBool>,
}

/// The files that may have changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hint {
    /// The files of these names, without `.md`.
    Files(BTreeSet<String>),
    /// Any file.
    Anything,
}

impl Watch {
    /// Calls `changed` after every change, from a thread of its own, and sometimes without a change. It
    /// must return quickly.
    ///
    /// Errors: [`Error::Watch`].
    pub fn new(folder: &Folder, changed: impl Fn(Hint) + Send + 'static) -> Result<Watch, Error> {
        // The library builds the paths of its events from the watched path.
        let path = folder.path().to_owned();
        let failed = |source| Error::Watch {
            path: path.clone(),
            source,
        };
        let stale = Arc::new(AtomicBool::new(true));
        let (is_stale, watched) = (Arc::clone(&stale), path.clone());
        let watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
            let hint = match &event {
                // Events may have been lost.
                Err(_) => Some(Hint::Anything),
                Ok(event) if event.need_rescan() => Some(Hint::Anything),
                Ok(event) => {
                    if event.paths.contains(&watched) && is_made_or_removed(event.kind) {
                        is_stale.store(true, Ordering::SeqCst);
                    }
                    hint(event, &watched)
                }
            };
            if let Some(hint) = hint {
                changed(hint);
            }
        })
        .map_err(failed)?;
        let mut watch = Watch {
            watcher,
            folder: path.clone(),
            stale,
        };
        if let Some(above) = path.parent().filter(|above| above.is_dir()) {
            watch
                .watcher
                .watch(above, RecursiveMode::NonRecursive)
                .map_err(failed)?;
        }
        watch.renew()?;
        Ok(watch)
    }

    /// Watches the folder again if it was deleted and made again. To be called before every scan.
    ///
    /// Errors: [`Error::Watch`].
    pub fn renew(&mut self) -> Result<(), Error> {
        if !self.stale.load(Ordering::SeqCst) || !self.folder.is_dir() {
            return Ok(());
        }
        self.stale.store(false, Ordering::SeqCst);
        // The old watch is gone if its folder is.
        let _ = self.watcher.unwatch(&self.folder);
        self.watcher
            .watch(&self.folder, RecursiveMode::NonRecursive)
            .map_err(|source| {
                self.stale.store(true, Ordering::SeqCst);
                Error::Watch {
                    path: self.folder.clone(),
                    source,
                }
            })
    }
}

/// True if an event means that a file or folder was made, removed or renamed.
fn is_made_or_removed(kind: EventKind) -> bool {
    use notify::event::ModifyKind;
    matches!(
        kind,
        EventKind::Create(_) | EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(_))
    )
}

/// The files that an event concerns. Reading is not a change: otherwise a scan would cause the next one.
/// Hidden files are the lock and temporary files.
fn hint(event: &Event, folder: &Path) -> Option<Hint> {
    let change = match event.kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write)) => true,
        EventKind::Access(_) => false,
        EventKind::Any
        | EventKind::Create(_)
        | EventKind::Modify(_)
        | EventKind::Remove(_)
        | EventKind::Other => true,
    };
    if !change {
        return None;
    }
    if event.paths.is_empty() || event.paths.iter().any(|path| path == folder) {
        return Some(Hint::Anything);
    }
    let ours = |path: &&PathBuf| {
        path.parent() == Some(folder) && path.extension().is_some_and(|ending| ending == "md")
    };
    let mut files = BTreeSet::new();
    for path in event.paths.iter().filter(ours) {
        match path.file_stem().and_then(|name| name.to_str()) {
            Some(name) => files.insert(name.to_owned()),
            None => return Some(Hint::Anything),
        };
    }
    (!files.is_empty()).then_some(Hint::Files(files))
}
