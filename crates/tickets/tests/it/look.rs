//! Noticing changes of other programs: by the watch and by the scan.

use std::collections::BTreeMap;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use tickets::*;

use crate::{Queue, at, id};

fn kinds(changes: &[Change]) -> Vec<(&str, &'static str)> {
    let word = |kind: &Kind| match kind {
        Kind::Added(_) => "added",
        Kind::Changed(_) => "changed",
        Kind::Removed => "removed",
        Kind::Unreadable => "unreadable",
        Kind::StillUnreadable => "still unreadable",
    };
    changes
        .iter()
        .map(|change| (change.name.as_str(), word(&change.kind)))
        .collect()
}

fn read<'a>(changes: &'a [Change], name: &str) -> &'a Read {
    let change = changes.iter().find(|change| change.name == name);
    match &change.expect("a change of the file").kind {
        Kind::Added(read) | Kind::Changed(read) => read,
        other => panic!("{name}: {other:?}"),
    }
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
        [("ab-1", "added"), ("ab-2", "added"), ("ab-3", "unreadable")]
    );
    let first = read(&changes, "ab-1").stable_since;
    assert!(first < later(0), "at the first look a file's own time counts");
    assert_eq!(scan.rescan(later(1)).unwrap(), []);

    q.folder.set_status(&id("ab-1"), Status::Closed).unwrap();
    q.write("ab-3.md", "---\nhalf of it");
    q.write("ab-4.md", "");
    std::fs::remove_file(q.folder.file(&id("ab-2"))).unwrap();
    let changes = scan.rescan(later(2)).unwrap();
    assert_eq!(
        kinds(&changes),
        [
            ("ab-1", "changed"),
            ("ab-2", "removed"),
            ("ab-3", "still unreadable"),
            ("ab-4", "unreadable")
        ]
    );
    assert_eq!(read(&changes, "ab-1").stable_since, later(2));

    q.write("ab-1.md", "---\nstatus: op");
    assert_eq!(kinds(&scan.rescan(later(3)).unwrap()), [("ab-1", "unreadable")]);
    q.plain("ab-1", "open", "");
    q.plain("ab-3", "open", "");
    assert_eq!(
        kinds(&scan.rescan(later(4)).unwrap()),
        [("ab-1", "changed"), ("ab-3", "added")]
    );

    // A file that is saved again with the same content has not changed.
    let text = q.text("ab-1");
    q.write("ab-1.md", text);
    assert_eq!(scan.rescan(later(5)).unwrap(), []);
}

#[test]
fn a_look_at_some_files_says_of_them_what_a_look_at_all_would() {
    let q = Queue::new();
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    q.plain("ab-1", "open", "");
    q.plain("ab-2", "open", "");
    let mut scan = Scan::new(q.folder.clone());
    let first = scan.rescan_files(&names(&["ab-1"]), later(0)).unwrap();
    assert_eq!(first.len(), 2, "the first look is at everything");

    q.plain("ab-1", "closed", "");
    q.plain("ab-2", "closed", "");
    q.plain("ab-3", "open", "");
    q.write("ab-4.md", "---\nhalf");
    let some = names(&["ab-1", "ab-3", "ab-4", "ab-5"]);
    let changes = scan.rescan_files(&some, later(1)).unwrap();
    assert_eq!(
        kinds(&changes),
        [("ab-1", "changed"), ("ab-3", "added"), ("ab-4", "unreadable")]
    );
    assert_eq!(scan.rescan_files(&some, later(2)).unwrap(), []);
    std::fs::remove_file(q.folder.file(&id("ab-1"))).unwrap();
    let changes = scan.rescan_files(&names(&["ab-1"]), later(3)).unwrap();
    assert_eq!(kinds(&changes), [("ab-1", "removed")]);
    assert_eq!(
        kinds(&scan.rescan(later(4)).unwrap()),
        [("ab-2", "changed")],
        "what was not looked at is seen by the next look at all"
    );
    // A name that is not a valid id leads to a scan of the whole folder.
    q.write("a b.md", "");
    let changes = scan.rescan_files(&names(&["a\u{fffd}b"]), later(5)).unwrap();
    assert_eq!(kinds(&changes), [("a b", "unreadable")]);
    std::fs::remove_dir_all(q.folder.path()).unwrap();
    assert_eq!(scan.rescan_files(&some, later(6)).unwrap().len(), 4);
    assert!(scan.is_empty());
}

#[test]
fn a_folder_that_goes_and_comes_back_is_an_empty_one_meanwhile() {
    let q = Queue::new();
    q.plain("ab-1", "open", "");
    let mut scan = Scan::new(q.folder.clone());
    scan.rescan(later(0)).unwrap();
    std::fs::remove_dir_all(q.folder.path()).unwrap();
    assert_eq!(kinds(&scan.rescan(later(1)).unwrap()), [("ab-1", "removed")]);
    std::fs::create_dir(q.folder.path()).unwrap();
    q.plain("ab-1", "open", "");
    assert_eq!(kinds(&scan.rescan(later(2)).unwrap()), [("ab-1", "added")]);
}

/// The state of the folder as it follows from the changes that scans returned.
struct Known {
    scan: Scan,
    tickets: BTreeMap<String, Ticket>,
}

impl Known {
    fn look(&mut self) {
        for change in self.scan.rescan(later(0)).expect("a folder to look at") {
            match change.kind {
                Kind::Added(read) | Kind::Changed(read) => {
                    self.tickets.insert(change.name, *read.ticket);
                }
                Kind::Removed | Kind::Unreadable | Kind::StillUnreadable => {
                    self.tickets.remove(&change.name);
                }
            }
        }
    }
}

/// Scans after every notice until `done` holds.
fn until(watch: &mut Watch, notices: &Receiver<()>, known: &mut Known, done: impl Fn(&Known) -> bool) {
    loop {
        watch.renew().unwrap();
        known.look();
        if done(known) {
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
    // The channel holds one notice at most, however many changes there were since it was received.
    let (notify, notices) = std::sync::mpsc::sync_channel(1);
    let mut watch = Watch::new(&q.folder, move |_| {
        let _ = notify.try_send(());
    })
    .unwrap();
    let mut known = Known {
        scan: Scan::new(q.folder.clone()),
        tickets: BTreeMap::new(),
    };
    let is =
        |status: Status| move |known: &Known| known.tickets.get("ab-1").is_some_and(|t| t.status == status);
    until(&mut watch, &notices, &mut known, is(Status::Open));
    q.folder.set_status(&a, Status::Closed).unwrap();
    until(&mut watch, &notices, &mut known, is(Status::Closed));
    q.plain("ab-1", "in_progress", "");
    until(&mut watch, &notices, &mut known, is(Status::InProgress));
    q.plain("ab-2", "open", "");
    until(&mut watch, &notices, &mut known, |known| known.tickets.len() == 2);
    std::fs::remove_file(q.folder.file(&id("ab-2"))).unwrap();
    until(&mut watch, &notices, &mut known, |known| known.tickets.len() == 1);
    // Done twice, since the second time the watch itself is a renewed one.
    for _ in 0..2 {
        std::fs::remove_dir_all(q.folder.path()).unwrap();
        until(&mut watch, &notices, &mut known, |known| known.tickets.is_empty());
        std::fs::create_dir(q.folder.path()).unwrap();
        q.plain("ab-1", "open", "");
        until(&mut watch, &notices, &mut known, is(Status::Open));
        // A late notice of the deletion may have ended the new watch, so a renewal follows every notice.
        while notices.recv_timeout(Duration::from_millis(50)).is_ok() {
            watch.renew().unwrap();
        }
        q.plain("ab-1", "closed", "");
        notices
            .recv_timeout(Duration::from_secs(20))
            .expect("a notice from the new folder");
        until(&mut watch, &notices, &mut known, is(Status::Closed));
    }
    q.folder.add_note(&a, "n", at(0)).unwrap();
    until(&mut watch, &notices, &mut known, |known| {
        known.tickets.get("ab-1").is_some_and(|t| t.notes.len() == 1)
    });
}

/// Reading is not a change: no notice comes before the next write.
#[test]
fn a_reading_does_not_wake_the_watch() {
    let q = Queue::new();
    q.plain("ab-1", "open", "");
    let (hints, received) = std::sync::mpsc::channel();
    let _watch = Watch::new(&q.folder, move |hint| drop(hints.send(hint))).unwrap();
    let until_named = |name: &str| -> Vec<Hint> {
        let mut before = Vec::new();
        loop {
            match received.recv_timeout(Duration::from_secs(20)).expect("a hint") {
                Hint::Files(names) if names.contains(name) => return before,
                hint => before.push(hint),
            }
        }
    };
    q.plain("first", "open", "");
    until_named("first");
    q.folder.load().unwrap();
    q.plain("second", "open", "");
    for hint in until_named("second") {
        assert!(
            matches!(&hint, Hint::Files(names) if names.iter().all(|name| name == "first")),
            "{hint:?}"
        );
    }
}

#[test]
fn the_watch_names_the_files_that_changed() {
    let q = Queue::new();
    let a = q.plain("ab-1", "open", "");
    let (hints, received) = std::sync::mpsc::channel();
    let _watch = Watch::new(&q.folder, move |hint| drop(hints.send(hint))).unwrap();
    let named = |name: &str| {
        let wanted = |hint: &Hint| matches!(hint, Hint::Files(names) if names.contains(name));
        while !wanted(&received.recv_timeout(Duration::from_secs(20)).expect("a hint")) {}
    };
    q.folder.set_status(&a, Status::Closed).unwrap();
    named("ab-1");
    q.plain("ab-2", "open", "");
    named("ab-2");
    std::fs::rename(q.folder.file(&id("ab-2")), q.folder.file(&id("ab-3"))).unwrap();
    named("ab-3");
    std::fs::remove_file(q.folder.file(&a)).unwrap();
    named("ab-1");
}
