//! Notices of new calls: one watcher for the folders of all runs, since the system has few of them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::Notify;

type Waiting = Arc<Mutex<BTreeMap<PathBuf, Arc<Notify>>>>;

/// The watcher of the folders; none where the system has none left, and then they are looked into.
#[derive(Debug)]
pub(crate) struct Notices {
    watcher: Mutex<Option<RecommendedWatcher>>,
    waiting: Waiting,
}

/// A folder that is watched until this is dropped.
pub(crate) struct Watched {
    notices: Arc<Notices>,
    folder: PathBuf,
    changed: Arc<Notify>,
}

impl Notices {
    /// A watcher of no folder yet.
    pub(crate) fn new() -> Arc<Self> {
        let waiting = Waiting::default();
        let told = Arc::clone(&waiting);
        let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            let waiting = told.lock().unwrap_or_else(PoisonError::into_inner);
            match event {
                Ok(event) if event.kind.is_access() => {}
                Ok(event) => {
                    let folders = event.paths.iter().filter_map(|path| path.parent());
                    let changed = folders.filter_map(|folder| waiting.get(folder));
                    changed.for_each(|changed| changed.notify_one());
                }
                // Notices were lost.
                Err(_) => waiting.values().for_each(|changed| changed.notify_one()),
            }
        });
        Arc::new(Self {
            watcher: Mutex::new(watcher.ok()),
            waiting,
        })
    }

    /// Watches a folder.
    pub(crate) fn watch(self: &Arc<Self>, folder: PathBuf) -> Watched {
        let changed = Arc::new(Notify::new());
        let waiting = self.waiting.lock();
        waiting
            .unwrap_or_else(PoisonError::into_inner)
            .insert(folder.clone(), Arc::clone(&changed));
        let mut watcher = self.watcher.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(watcher) = watcher.as_mut() {
            drop(watcher.watch(&folder, RecursiveMode::NonRecursive));
        }
        Watched {
            notices: Arc::clone(self),
            folder,
            changed,
        }
    }
}

impl Watched {
    /// Waits until something in the folder has changed since the last call.
    pub(crate) async fn changed(&self) {
        self.changed.notified().await;
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let notices = &self.notices;
        let mut watcher = notices.watcher.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(watcher) = watcher.as_mut() {
            drop(watcher.unwatch(&self.folder));
        }
        let waiting = notices.waiting.lock();
        waiting
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&self.folder);
    }
}
