//! Concurrent writers, of crew and of other programs: no write is lost.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tickets::*;

use crate::{Queue, at, id, titled};

/// The variable with the folder that a worker process writes to.
const FOLDER: &str = "CREW_TEST_TICKETS";
const WORKER: &str = "CREW_TEST_WORKER";

/// The writes of each of many writers to one ticket.
fn work(folder: &Folder, worker: usize) {
    let shared = id("ab-0");
    for step in 0..2 {
        let note = format!("note {worker}.{step}");
        in_turn(|| folder.add_note(&shared, &note, at(0)));
    }
    in_turn(|| folder.dep(&shared, &id(&format!("dep-{worker}"))));
    let status = if worker.is_multiple_of(2) {
        Status::Open
    } else {
        Status::InProgress
    };
    in_turn(|| folder.set_status(&shared, status));
    in_turn(|| folder.set_status_and_tags(&shared, None, |tags| tags.extend([format!("tag-{worker}")])));
}

/// Repeats a write until it gets the lock: on a slow disk a writer may wait longer than the lock's timeout.
fn in_turn<T>(write: impl Fn() -> Result<T, Error>) {
    while let Err(error) = write() {
        assert!(matches!(error, Error::Locked { .. }), "{error}");
    }
}

fn prepared(workers: usize) -> Queue {
    let q = Queue::new();
    q.plain("ab-0", "open", "");
    for worker in 0..workers {
        q.plain(&format!("dep-{worker}"), "open", "");
    }
    q
}

fn nothing_is_lost(q: &Queue, workers: usize) {
    let ticket = q.folder.read(&id("ab-0")).unwrap();
    assert_eq!(ticket.problems, []);
    let notes: std::collections::BTreeSet<String> =
        ticket.notes.iter().map(|note| note.text.clone()).collect();
    let wanted = (0..workers)
        .flat_map(|worker| (0..2).map(move |step| format!("note {worker}.{step}")))
        .collect();
    assert_eq!(notes, wanted);
    assert_eq!(ticket.notes.len(), 2 * workers, "no note twice");
    let deps: std::collections::BTreeSet<String> = ticket.deps.iter().cloned().collect();
    assert_eq!(deps, (0..workers).map(|worker| format!("dep-{worker}")).collect());
    let tags: std::collections::BTreeSet<String> = ticket.tags.iter().cloned().collect();
    assert_eq!(tags, (0..workers).map(|worker| format!("tag-{worker}")).collect());
}

#[test]
fn a_hundred_threads_lose_nothing() {
    let q = prepared(100);
    std::thread::scope(|scope| {
        for worker in 0..100 {
            let folder = &q.folder;
            scope.spawn(move || work(folder, worker));
        }
    });
    nothing_is_lost(&q, 100);
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "the test starts itself as other processes"
)]
fn other_processes_lose_nothing() {
    let q = prepared(12);
    let me = std::env::current_exe().unwrap();
    let children: Vec<std::process::Child> = (0..12)
        .map(|worker| {
            std::process::Command::new(&me)
                .args(["--exact", "concurrent::worker", "--ignored", "--quiet"])
                .env(FOLDER, q.folder.path())
                .env(WORKER, worker.to_string())
                .stdout(std::process::Stdio::null())
                .spawn()
                .unwrap()
        })
        .collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    nothing_is_lost(&q, 12);
}

#[test]
#[ignore = "one process of other_processes_lose_nothing"]
#[expect(clippy::disallowed_methods, reason = "set by the process that started it")]
fn worker() {
    let folder = Folder::at(std::path::Path::new(&std::env::var_os(FOLDER).unwrap())).unwrap();
    work(&folder, std::env::var(WORKER).unwrap().parse().unwrap());
}

#[test]
fn simultaneous_creation_gives_every_ticket_its_own_file() {
    let q = Queue::new();
    // There are only six short ids, so that almost every creation meets one that is taken.
    let part = || {
        random().map(|text| {
            ["a", "b", "c", "d", "e", "f"][text.bytes().map(usize::from).sum::<usize>() % 6].into()
        })
    };
    let made: std::collections::BTreeSet<Id> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..20)
            .map(|n| {
                let (q, part) = (&q, &part);
                scope.spawn(move || {
                    q.folder
                        .create(&titled(&format!("T{n}")), "ab", at(0), part)
                        .unwrap()
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let titles: std::collections::BTreeSet<String> = q
        .folder
        .load()
        .unwrap()
        .tickets()
        .map(|ticket| ticket.title.clone())
        .collect();
    assert_eq!((made.len(), titles.len()), (20, 20));
}

/// Ends the other thread even if this one fails, since the scope waits for both.
struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// A program that replaces the whole file without a lock, as tk and editors do. A write of crew must never
/// undo its edits.
#[test]
#[expect(clippy::disallowed_methods, reason = "a deadline for what must come to pass")]
fn an_editor_that_knows_no_lock_loses_nothing_to_crew() {
    let q = Queue::new();
    let shared = q.plain("ab-0", "open", "");
    q.plain("ab-1", "open", "");
    let path = q.folder.file(&shared);
    let passing = q.folder.path().join("editor.swp");
    let done = AtomicUsize::new(0);
    let ended = AtomicBool::new(false);
    let count = |text: &str| -> usize {
        text.lines()
            .find_map(|line| line.strip_prefix("outside: "))
            .map_or(0, |n| n.parse().unwrap())
    };
    let (edits, busy) = std::thread::scope(|scope| {
        let _ends = Ends(&ended);
        let crew = scope.spawn(|| {
            let mut edits = 0;
            let mut busy = 0;
            while !ended.load(Ordering::SeqCst) {
                let status = if edits % 2 == 0 {
                    Status::InProgress
                } else {
                    Status::Open
                };
                match q.folder.set_status(&shared, status) {
                    Ok(()) => {
                        edits += 1;
                        done.store(edits, Ordering::SeqCst);
                    }
                    Err(Error::Busy { .. }) => busy += 1,
                    Err(error) => panic!("{error}"),
                }
            }
            (edits, busy)
        });
        for round in 1..=400 {
            // The last edit of this program is still in the file.
            let deadline = Instant::now() + Duration::from_secs(240);
            let text = loop {
                let text = std::fs::read_to_string(&path).unwrap();
                if count(&text) == round - 1 {
                    break text;
                }
                assert!(Instant::now() < deadline, "edit {} is gone: {text}", round - 1);
            };
            let bare: String = text
                .split_inclusive('\n')
                .filter(|line| !line.starts_with("outside: "))
                .collect();
            let next = bare.replacen("priority: 2\n", &format!("priority: 2\noutside: {round}\n"), 1);
            std::fs::write(&passing, next).unwrap();
            std::fs::rename(&passing, &path).unwrap();
            // Without a pause now and then crew would never succeed, and would rightly report that the file
            // is busy.
            let before = done.load(Ordering::SeqCst);
            while round % 8 == 0 && done.load(Ordering::SeqCst) == before {
                assert!(Instant::now() < deadline, "crew writes nothing");
                std::thread::yield_now();
            }
        }
        ended.store(true, Ordering::SeqCst);
        crew.join().unwrap()
    });
    assert!(edits >= 50, "crew wrote too (busy {busy})");
    q.folder.add_note(&shared, "the last", at(0)).unwrap();
    let ticket = q.folder.read(&shared).unwrap();
    assert_eq!(count(ticket.document.text()), 400);
    assert_eq!(ticket.notes.len(), 1);
    assert!(!q.folder.path().join(".crew.tmp").exists());
}

#[test]
fn a_change_between_reading_and_writing_is_the_new_base() {
    let q = Queue::new();
    let a = q.plain("ab-1", "open", "");
    let path = q.folder.file(&a);
    let lock = q.folder.lock().unwrap();
    let mut rounds = 0;
    lock.edit(&a, |doc, round| {
        rounds += 1;
        assert_eq!(round + 1, rounds);
        doc.set_text("status", "closed");
        if round == 0 {
            let text = std::fs::read_to_string(&path).unwrap();
            std::fs::write(&path, text.replace("priority: 2", "priority: 0") + "by hand\n").unwrap();
        }
        Ok(())
    })
    .unwrap();
    drop(lock);
    let ticket = q.folder.read(&a).unwrap();
    assert_eq!((rounds, ticket.status, ticket.priority), (2, Status::Closed, 0));
    assert!(ticket.body().ends_with("by hand\n"));
    // A file that is deleted in the meantime is not created again.
    let lock = q.folder.lock().unwrap();
    let gone = lock.edit(&a, |doc, _| {
        std::fs::remove_file(&path).unwrap();
        doc.set_text("status", "open");
        Ok(())
    });
    assert!(matches!(gone, Err(Error::NotFound { .. })));
    assert!(!path.exists() && !q.folder.path().join(".crew.tmp").exists());
    // If the content changes every time, crew gives up and keeps the other program's content.
    let a = q.plain("ab-1", "open", "");
    let busy = lock.edit(&a, |doc, round| {
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, format!("{text}{round}\n")).unwrap();
        doc.set_text("status", "closed");
        Ok(())
    });
    assert!(matches!(busy, Err(Error::Busy { .. })));
    assert_eq!(q.folder.read(&a).unwrap().status, Status::Open);
    assert!(q.text("ab-1").ends_with("14\n15\n"));
}

/// The lock file is deleted while a writer waits for it. The lock that the writer gets must still keep
/// others out.
#[test]
#[expect(clippy::disallowed_methods, reason = "a deadline for what must come to pass")]
fn a_lock_on_a_deleted_file_counts_for_nothing() {
    let q = Queue::new();
    let path = q.folder.path().join(".lock");
    let open = || {
        let fds = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
        fds.filter(|fd| std::fs::read_link(fd.path()).is_ok_and(|to| to == path))
            .count()
    };
    let held = q.folder.lock().unwrap();
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| {
            let _lock = q.folder.lock().unwrap();
            path.exists()
        });
        let deadline = Instant::now() + Duration::from_secs(20);
        while open() < 2 {
            assert!(Instant::now() < deadline, "nobody waits");
            std::thread::yield_now();
        }
        std::fs::remove_file(&path).unwrap();
        drop(held);
        assert!(
            waiter.join().unwrap(),
            "the lock is held on a file that nobody else can find"
        );
    });
}
