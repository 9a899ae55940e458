//! Noticing what others change: the watch wakes, the scan says what.

use std::sync::mpsc::Receiver;
use std::time::Duration;

use tickets::*;

use crate::{Queue, at, id};

fn kinds(changes: &[Change]) -> Vec<(&str, Kind)> {
    changes
        .iter()
        .map(|change| (change.name.as_str(), change.kind))
        .collect()
}

/// A time after everything that the test writes.
fn later(second: i64) -> jiff::Timestamp {
    jiff::Timestamp::from_second(4_000_000_000 + second).unwrap()
}

#[test]
fn a_rescan_says_what_changed() {
    let q = Queue::new();
    q.plain("ab-1", "open", "");
    q.plain("ab-2", "open", "");
    q.write("ab-3.md", "---\nhalf");
    let mut scan = Scan::new(q.folder.clone());
    let changes = scan.rescan(later(0)).unwrap();
    assert_eq!(
        kinds(&changes),
        [
            ("ab-1", Kind::Added),
            ("ab-2", Kind::Added),
            ("ab-3", Kind::Unreadable)
        ]
    );
    let first = scan.files()["ab-1"].changed_at;
    assert!(first < later(0), "at the first look a file's own time counts");
    assert_eq!(scan.rescan(later(1)).unwrap(), []);
    assert_eq!(scan.files()["ab-1"].changed_at, first);

    q.folder.set_status(&id("ab-1"), Status::Closed).unwrap();
    q.write("ab-3.md", "---\nhalf of it");
    q.write("ab-4.md", "");
    std::fs::remove_file(q.folder.file(&id("ab-2"))).unwrap();
    let changes = scan.rescan(later(2)).unwrap();
    assert_eq!(
        kinds(&changes),
        [
            ("ab-1", Kind::Changed),
            ("ab-2", Kind::Removed),
            ("ab-3", Kind::StillUnreadable),
            ("ab-4", Kind::Unreadable)
        ]
    );
    assert_eq!(scan.files()["ab-1"].changed_at, later(2));

    // A file that is spoiled keeps its last good reading, and shows both.
    q.write("ab-1.md", "---\nstatus: op");
    assert_eq!(
        kinds(&scan.rescan(later(3)).unwrap()),
        [("ab-1", Kind::Unreadable)]
    );
    let seen = &scan.files()["ab-1"];
    assert_eq!(seen.last_good.as_ref().unwrap().status, Status::Closed);
    assert!(seen.outcome.is_err());
    q.plain("ab-1", "open", "");
    q.plain("ab-3", "open", "");
    assert_eq!(
        kinds(&scan.rescan(later(4)).unwrap()),
        [("ab-1", Kind::Changed), ("ab-3", Kind::Added)]
    );

    // Saved again without a difference: no change, but not still.
    let text = q.text("ab-1");
    q.write("ab-1.md", text);
    assert_eq!(scan.rescan(later(5)).unwrap(), []);
    assert_eq!(scan.files()["ab-1"].changed_at, later(5));
    assert_eq!(scan.readings(), q.folder.load().unwrap());
}

#[test]
fn a_folder_that_goes_and_comes_back_is_an_empty_one_meanwhile() {
    let q = Queue::new();
    q.plain("ab-1", "open", "");
    let mut scan = Scan::new(q.folder.clone());
    scan.rescan(later(0)).unwrap();
    std::fs::remove_dir_all(q.folder.path()).unwrap();
    assert_eq!(kinds(&scan.rescan(later(1)).unwrap()), [("ab-1", Kind::Removed)]);
    std::fs::create_dir(q.folder.path()).unwrap();
    q.plain("ab-1", "open", "");
    assert_eq!(kinds(&scan.rescan(later(2)).unwrap()), [("ab-1", Kind::Added)]);
}

/// Looks after every notice until `done` holds.
fn until(watch: &mut Watch, notices: &Receiver<()>, scan: &mut Scan, done: impl Fn(&Scan) -> bool) {
    loop {
        watch.renew().unwrap();
        scan.rescan(later(0)).unwrap();
        if done(scan) {
            return;
        }
        notices
            .recv_timeout(Duration::from_secs(20))
            .expect("a notice of a change");
    }
}

#[test]
fn the_watch_wakes_for_every_kind_of_change() {
    let q = Queue::new();
    let a = q.plain("ab-1", "open", "");
    let (mut watch, notices) = Watch::channel(&q.folder).unwrap();
    let mut scan = Scan::new(q.folder.clone());
    let is = |status: Status| {
        move |scan: &Scan| {
            scan.files()
                .get("ab-1")
                .is_some_and(|seen| seen.outcome.as_ref().is_ok_and(|t| t.status == status))
        }
    };
    until(&mut watch, &notices, &mut scan, is(Status::Open));
    q.folder.set_status(&a, Status::Closed).unwrap();
    until(&mut watch, &notices, &mut scan, is(Status::Closed));
    q.plain("ab-1", "in_progress", "");
    until(&mut watch, &notices, &mut scan, is(Status::InProgress));
    q.plain("ab-2", "open", "");
    until(&mut watch, &notices, &mut scan, |scan| scan.files().len() == 2);
    std::fs::remove_file(q.folder.file(&id("ab-2"))).unwrap();
    until(&mut watch, &notices, &mut scan, |scan| scan.files().len() == 1);
    // Twice, since the second time the watch itself is a renewed one.
    for _ in 0..2 {
        std::fs::remove_dir_all(q.folder.path()).unwrap();
        until(&mut watch, &notices, &mut scan, |scan| scan.files().is_empty());
        std::fs::create_dir(q.folder.path()).unwrap();
        q.plain("ab-1", "open", "");
        until(&mut watch, &notices, &mut scan, is(Status::Open));
        // A late notice of the deletion may have ended the new watch: like every notice it is followed by a renewal.
        while notices.recv_timeout(Duration::from_millis(50)).is_ok() {
            watch.renew().unwrap();
        }
        q.plain("ab-1", "closed", "");
        notices
            .recv_timeout(Duration::from_secs(20))
            .expect("a notice from the new folder");
        until(&mut watch, &notices, &mut scan, is(Status::Closed));
    }
    // Looking is no change: after the notices of what was written there are none.
    q.folder.add_note(&a, "n", at(0)).unwrap();
    until(&mut watch, &notices, &mut scan, |scan| {
        scan.files()
            .get("ab-1")
            .is_some_and(|seen| seen.outcome.as_ref().is_ok_and(|t| t.notes.len() == 1))
    });
    while notices.recv_timeout(Duration::from_millis(50)).is_ok() {}
    q.folder.load().unwrap();
    assert!(
        notices.recv_timeout(Duration::from_millis(50)).is_err(),
        "a reading woke the watch"
    );
}
