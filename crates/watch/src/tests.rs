use std::fs;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use super::*;

/// Many times what a notice takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(600);

fn watched() -> (tempfile::TempDir, Watcher, Receiver<Notice>) {
    let folder = tempfile::tempdir().unwrap();
    let (tell, told) = channel();
    let watcher = Watcher::new(move |notice| drop(tell.send(notice))).unwrap();
    watcher.watch(folder.path()).unwrap();
    (folder, watcher, told)
}

/// Everything until a file of this name was made.
fn until(told: &Receiver<Notice>, last: &Path) -> Vec<Notice> {
    let mut notices = Vec::new();
    loop {
        let notice = told.recv_timeout(PATIENCE).unwrap();
        let is_last = matches!(&notice, Notice::Of { path, .. } if path == last);
        if is_last {
            return notices;
        }
        notices.push(notice);
    }
}

fn of(path: &Path, kind: Kind) -> Notice {
    Notice::Of {
        path: path.to_owned(),
        kind,
    }
}

#[test]
fn a_file_is_made_written_closed_renamed_and_removed() {
    let (folder, _watcher, told) = watched();
    let (one, two) = (folder.path().join("one"), folder.path().join("two"));
    fs::write(&one, "text").unwrap();
    fs::rename(&one, &two).unwrap();
    fs::remove_file(&two).unwrap();
    fs::create_dir(folder.path().join("last")).unwrap();
    assert_eq!(
        until(&told, &folder.path().join("last")),
        [
            of(&one, Kind::Named),
            of(&one, Kind::Changed),
            of(&one, Kind::Closed),
            of(&one, Kind::Named),
            of(&two, Kind::Named),
            of(&two, Kind::Named),
        ]
    );
}

#[test]
fn whoever_reads_wakes_nobody() {
    let (folder, _watcher, told) = watched();
    let file = folder.path().join("file");
    fs::write(&file, "text").unwrap();
    until(&told, &file);
    for _ in 0..10 {
        fs::read(&file).unwrap();
        fs::read_dir(folder.path()).unwrap().for_each(drop);
    }
    fs::create_dir(folder.path().join("last")).unwrap();
    let notices = until(&told, &folder.path().join("last"));
    assert_eq!(notices, [of(&file, Kind::Changed), of(&file, Kind::Closed)]);
}

#[test]
fn a_folder_that_is_unwatched_or_removed_is_watched_no_more() {
    let (folder, watcher, told) = watched();
    let (inner, other) = (folder.path().join("inner"), folder.path().join("other"));
    for folder in [&inner, &other] {
        fs::create_dir(folder).unwrap();
        watcher.watch(folder).unwrap();
    }
    watcher.unwatch(&other);
    fs::write(other.join("file"), "").unwrap();
    fs::remove_dir(&inner).unwrap();
    fs::create_dir(&inner).unwrap();
    fs::write(inner.join("file"), "").unwrap();
    fs::create_dir(folder.path().join("last")).unwrap();
    let notices = until(&told, &folder.path().join("last"));
    let below = |notice: &Notice| matches!(notice, Notice::Of { path, .. } if path.ends_with("file"));
    assert!(!notices.iter().any(below), "{notices:?}");
    watcher.watch(&inner).unwrap();
    fs::write(inner.join("file"), "").unwrap();
    until(&told, &inner.join("file"));
}

#[test]
fn what_is_no_folder_is_refused() {
    let (folder, watcher, _told) = watched();
    fs::write(folder.path().join("file"), "").unwrap();
    watcher.watch(&folder.path().join("file")).unwrap_err();
    watcher.watch(&folder.path().join("nothing")).unwrap_err();
}

#[test]
fn its_thread_ends_with_it() {
    let (_folder, watcher, told) = watched();
    drop(watcher);
    // The other end is the thread's.
    assert!(
        told.recv_timeout(PATIENCE)
            .is_err_and(|error| error == std::sync::mpsc::RecvTimeoutError::Disconnected)
    );
}

#[test]
fn a_file_is_watched_up_to_its_next_change() {
    let (folder, watcher, told) = watched();
    let below = folder.path().join("below");
    fs::create_dir(&below).unwrap();
    let file = below.join("out");
    fs::write(&file, "one").unwrap();
    watcher.watch_once(&file).unwrap();
    for text in ["two", "three", "four"] {
        fs::write(&file, text).unwrap();
    }
    fs::create_dir(folder.path().join("first")).unwrap();
    let notices = until(&told, &folder.path().join("first"));
    let changes = |notices: &[Notice]| {
        notices
            .iter()
            .filter(|one| **one == of(&file, Kind::Changed))
            .count()
    };
    assert_eq!(changes(&notices), 1, "{notices:?}");
    watcher.watch_once(&file).unwrap();
    fs::write(&file, "five").unwrap();
    fs::create_dir(folder.path().join("last")).unwrap();
    let notices = until(&told, &folder.path().join("last"));
    assert_eq!(changes(&notices), 1, "{notices:?}");
}
