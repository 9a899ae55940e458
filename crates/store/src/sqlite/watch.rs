//! Notices of writes between processes: a watch on the journal's folder, and a touch that the watch of
//! another process sees.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Arc;

use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, UTIME_NOW, utimensat};
use watch::{Kind, Notice, Watcher};

use crate::subscription::Notices;

/// Sends a notice of every change to the journal's files, until the watcher is dropped. None where the system
/// has no watch to give. The folder is watched, not the files: SQLite makes and removes them.
pub(super) fn watch(path: &Path, notices: Arc<Notices>) -> Option<Watcher> {
    let name = path.file_name()?.to_owned();
    let is_ours = move |path: &Path| {
        let found = path.file_name().unwrap_or(OsStr::new(""));
        found.as_bytes().starts_with(name.as_bytes())
    };
    let watcher = Watcher::new(move |notice| {
        let is_news = match &notice {
            Notice::Of { path, kind } => match kind {
                // Whoever only reads the journal closes its files too.
                Kind::Closed => false,
                Kind::Named | Kind::Changed => is_ours(path),
            },
            // A look finds the writes.
            Notice::Lost => true,
        };
        if is_news {
            notices.send();
        }
    });
    let watcher = watcher.ok()?;
    watcher.watch(path.parent()?).ok()?;
    Some(watcher)
}

/// Has every watch on the journal give a notice now. The system's own notice of a write comes while the write
/// is still being made durable and cannot be read yet; it gives none of the moment in which it can.
pub(super) fn touch(path: &Path) {
    let now = Timespec {
        tv_sec: 0,
        tv_nsec: UTIME_NOW,
    };
    let times = Timestamps {
        last_access: now,
        last_modification: now,
    };
    // By its path: to open and close the file would drop SQLite's locks on it. Where it fails, the other
    // process's poll is left.
    let _ = utimensat(CWD, path, &times, AtFlags::empty());
}
