//! Being told that files of the folder may have changed. Only a reason to look: what changed, [`crate::Scan`] says.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};

use notify::event::{AccessKind, AccessMode};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};

use crate::{Error, Folder};

/// A watch on a folder and, for the day it is deleted and made again, on the folder it stands in. Ends when dropped.
#[derive(Debug)]
pub struct Watch {
    watcher: RecommendedWatcher,
    folder: PathBuf,
    /// Set when the folder itself came or went: the watch on it is then one on nothing.
    stale: Arc<AtomicBool>,
}

/// What may have changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hint {
    /// The files of these names, without `.md`.
    Files(BTreeSet<String>),
    /// Anything.
    Anything,
}

impl Watch {
    /// Calls `changed` after every change, from a thread of its own and more often than needed; it must be quick.
    pub fn new(folder: &Folder, changed: impl Fn(Hint) + Send + 'static) -> Result<Watch, Error> {
        // The paths of events are built from the path that is watched.
        let path = folder.path().to_owned();
        let failed = |source| Error::Watch {
            path: path.clone(),
            source,
        };
        let stale = Arc::new(AtomicBool::new(true));
        let (told, watched) = (Arc::clone(&stale), path.clone());
        let watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
            let hint = match &event {
                // Whatever was lost, a look finds it.
                Err(_) => Some(Hint::Anything),
                Ok(event) if event.need_rescan() => Some(Hint::Anything),
                Ok(event) => {
                    if event.paths.contains(&watched) && comes_or_goes(event.kind) {
                        told.store(true, Ordering::SeqCst);
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

    /// A watch that keeps one notice waiting, however many changes there were since it was taken.
    pub fn channel(folder: &Folder) -> Result<(Watch, Receiver<()>), Error> {
        let (sender, receiver) = sync_channel(1);
        // Full: one is waiting already. Closed: nobody listens any more.
        let watch = Watch::new(folder, move |_| {
            let _ = sender.try_send(());
        })?;
        Ok((watch, receiver))
    }

    /// To be called before every look: watches the folder again when it was deleted and made again. Cheap otherwise.
    pub fn renew(&mut self) -> Result<(), Error> {
        if !self.stale.load(Ordering::SeqCst) || !self.folder.is_dir() {
            return Ok(());
        }
        self.stale.store(false, Ordering::SeqCst);
        // Not there any more: then there is nothing to take away.
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

fn comes_or_goes(kind: EventKind) -> bool {
    use notify::event::ModifyKind;
    matches!(
        kind,
        EventKind::Create(_) | EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(_))
    )
}

/// What an event is a reason to look at. Reading is no change: else a look would cause the next. Hidden files are the lock
/// and half-written content.
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
