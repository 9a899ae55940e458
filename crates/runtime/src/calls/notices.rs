//! Notices of new calls and of new output: one watcher for all runs, since the system has few of them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;
use watch::{Notice, Watcher};

type Waiting = Arc<Mutex<BTreeMap<PathBuf, Arc<Notify>>>>;

/// The watcher of the folders; none where the system has none left, and then they are looked into.
#[derive(Debug)]
pub(crate) struct Notices {
    watcher: Option<Watcher>,
    waiting: Waiting,
}

/// A folder that is watched until this is dropped.
pub(crate) struct Watched {
    notices: Arc<Notices>,
    folder: PathBuf,
    changed: Arc<Notify>,
    is_told: bool,
}

impl Notices {
    /// A watcher of no folder yet.
    pub(crate) fn new() -> Arc<Self> {
        let waiting = Waiting::default();
        let told = Arc::clone(&waiting);
        let watcher = Watcher::new(move |notice| {
            let waiting = told.lock().unwrap_or_else(PoisonError::into_inner);
            match notice {
                Notice::Of { path, .. } => {
                    let of_folder = || path.parent().and_then(|folder| waiting.get(folder));
                    let changed = waiting.get(&path).or_else(of_folder);
                    changed.into_iter().for_each(|changed| changed.notify_one());
                }
                Notice::Lost => waiting.values().for_each(|changed| changed.notify_one()),
            }
        });
        Arc::new(Self {
            watcher: watcher.ok(),
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
        let watcher = self.watcher.as_ref();
        let is_told = watcher.is_some_and(|watcher| watcher.watch(&folder).is_ok());
        Watched {
            notices: Arc::clone(self),
            folder,
            changed,
            is_told,
        }
    }
}

impl Notices {
    fn forget(&self, path: &Path) {
        if let Some(watcher) = &self.watcher {
            watcher.unwatch(path);
        }
        let waiting = self.waiting.lock();
        waiting.unwrap_or_else(PoisonError::into_inner).remove(path);
    }
}

/// A file that is written to, watched until this is dropped.
pub(crate) struct Written {
    notices: Arc<Notices>,
    file: PathBuf,
    changed: Arc<Notify>,
}

impl Notices {
    /// Watches a file that is written to. [`Written::look_out`] begins.
    pub(crate) fn output(self: &Arc<Self>, file: PathBuf) -> Written {
        let changed = Arc::new(Notify::new());
        let waiting = self.waiting.lock();
        waiting
            .unwrap_or_else(PoisonError::into_inner)
            .insert(file.clone(), Arc::clone(&changed));
        Written {
            notices: Arc::clone(self),
            file,
            changed,
        }
    }
}

impl Written {
    /// Has the next change of the file told. To be called before each reading: what is written after it has
    /// begun is told. Where the system gives no notice, whoever reads looks again in a while anyway.
    pub(crate) fn look_out(&self) {
        if let Some(watcher) = &self.notices.watcher {
            let _ = watcher.watch_once(&self.file);
        }
    }

    /// Waits until the file has changed since the last [`Written::look_out`].
    pub(crate) async fn changed(&self) {
        self.changed.notified().await;
    }
}

impl Drop for Written {
    fn drop(&mut self) {
        self.notices.forget(&self.file);
    }
}

impl Watched {
    /// Whether the system gives notices of this folder.
    pub(crate) fn is_told(&self) -> bool {
        self.is_told
    }

    /// Waits until something in the folder has changed since the last call.
    pub(crate) async fn changed(&self) {
        self.changed.notified().await;
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.notices.forget(&self.folder);
    }
}
