//! Stillness: a file that nobody is writing any more.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::Duration;

/// The properties of a file that change when it is written or replaced; none where there is no file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp(Option<(i64, i64, u64, u64)>);

impl Stamp {
    pub(super) fn of(path: &Path) -> Self {
        let of = |meta: std::fs::Metadata| (meta.mtime(), meta.mtime_nsec(), meta.len(), meta.ino());
        Self(std::fs::metadata(path).ok().map(of))
    }
}

/// Waits until the file has been still for so long while no git worked on the main checkout. An editor may
/// write a file in pieces, and the half of a settings file may name no checks. A git that switches branches
/// replaces the file, then gives the index back, and only then moves HEAD. None: a git works for longer
/// than `patience`.
pub(super) async fn still(
    path: &Path,
    debounce: Duration,
    patience: Duration,
    is_git_at_work: impl Fn() -> bool,
) -> Option<Stamp> {
    let mut locked = Duration::ZERO;
    loop {
        let (before, was_at_work) = (Stamp::of(path), is_git_at_work());
        tokio::time::sleep(debounce).await;
        if was_at_work || is_git_at_work() {
            locked += debounce;
            if locked >= patience {
                return None;
            }
        } else if Stamp::of(path) == before {
            return Some(before);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);
    const SHORT: Duration = Duration::from_millis(1);

    #[tokio::test]
    async fn a_file_that_is_written_in_pieces_is_waited_for_and_so_is_a_git() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("crew.toml");
        std::fs::write(&path, "").unwrap();
        let (is_written, is_locked) = (AtomicBool::new(false), AtomicBool::new(true));
        let write = async {
            for piece in 1..20 {
                std::fs::write(&path, "x".repeat(piece)).unwrap();
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            is_written.store(true, Ordering::Relaxed);
        };
        let read = async {
            // The lock goes with the second question.
            let is_git_at_work = || is_locked.swap(false, Ordering::Relaxed);
            let stamp = still(&path, Duration::from_millis(100), MINUTE, is_git_at_work).await;
            assert_eq!(stamp, Some(Stamp::of(&path)));
            assert!(is_written.load(Ordering::Relaxed), "the file was not still");
            assert!(!is_locked.load(Ordering::Relaxed), "a git was at work");
        };
        tokio::join!(write, read);
    }

    #[tokio::test]
    async fn a_file_that_a_git_may_be_writing_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let stamp = still(&folder.path().join("crew.toml"), SHORT, SHORT, || true).await;
        assert_eq!(stamp, None);
    }
}
