//! A watch on the folder, which notices that files may have changed. [`crate::Scan`] then finds the changes.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ::watch::{Kind, Notice, Watcher};

use crate::error::Error;
use crate::folder::Folder;

/// A watch on a folder and on its parent, in case the folder is deleted and made again. Ends when dropped.
#[derive(Debug)]
pub struct Watch {
    watcher: Watcher,
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
        let path = folder.path().to_owned();
        let failed = |source| Error::Watch {
            path: path.clone(),
            source,
        };
        let stale = Arc::new(AtomicBool::new(true));
        let (is_stale, watched) = (Arc::clone(&stale), path.clone());
        let mut before = None;
        let watcher = Watcher::new(move |notice| {
            let hint = match &notice {
                Notice::Lost => Some(Hint::Anything),
                Notice::Of { path, kind } => {
                    if *path == watched && *kind == Kind::Named {
                        is_stale.store(true, Ordering::SeqCst);
                    }
                    let hint = hint(path, &watched);
                    match kind {
                        Kind::Named => with_first_half(hint, &mut before),
                        Kind::Changed | Kind::Closed => hint,
                    }
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
            watch.watcher.watch(above).map_err(failed)?;
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
        self.watcher.unwatch(&self.folder);
        self.watcher.watch(&self.folder).map_err(|source| {
            self.stale.store(true, Ordering::SeqCst);
            Error::Watch {
                path: self.folder.clone(),
                source,
            }
        })
    }
}

/// The hint, with the file that was made, removed or renamed `before`: a rename gives two notices, and who
/// looks between them at one of its names alone takes the other for what it is no more.
fn with_first_half(hint: Option<Hint>, before: &mut Option<BTreeSet<String>>) -> Option<Hint> {
    let Some(Hint::Files(named)) = hint else {
        return hint;
    };
    let first = before.replace(named.clone()).unwrap_or_default();
    Some(Hint::Files(first.into_iter().chain(named).collect()))
}

/// The files that a change of this path concerns. Hidden files are the lock and temporary files.
fn hint(path: &Path, folder: &Path) -> Option<Hint> {
    if path == folder {
        return Some(Hint::Anything);
    }
    if path.parent() != Some(folder) || path.extension().is_none_or(|ending| ending != "md") {
        return None;
    }
    Some(match path.file_stem().and_then(|name| name.to_str()) {
        Some(name) => Hint::Files(BTreeSet::from([name.to_owned()])),
        None => Hint::Anything,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_notice_of_a_rename_names_both_files() {
        let folder = Path::new("/queue");
        let mut before = None;
        let mut named = |name: &str| with_first_half(hint(&folder.join(name), folder), &mut before);
        let files = |names: &[&str]| Hint::Files(names.iter().map(|name| (*name).to_owned()).collect());
        assert_eq!(named("t-9.md"), Some(files(&["t-9"])));
        assert_eq!(named(".t-1.lock"), None);
        assert_eq!(named("t-1.md"), Some(files(&["t-1", "t-9"])));
        assert_eq!(named("t-2.md"), Some(files(&["t-1", "t-2"])));
        assert_eq!(named(""), Some(Hint::Anything));
    }
}
