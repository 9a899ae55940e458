//! What only a journal in a file can meet: modes, versions, damage, a crowd of writers.

use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection};
use store::{Append, Error, Fence, Journal, Memory, Seq, SlotChange, Sqlite, Version};

use crate::support::{Backend, InFile, append, assert_sound, command, ordering, shown};

/// Runs statements on the file behind the journal's back.
async fn meddle(path: &Path, statements: &str) {
    let mut conn = SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(true)
        .connect()
        .await
        .unwrap();
    sqlx::raw_sql(AssertSqlSafe(statements.to_owned()))
        .execute(&mut conn)
        .await
        .unwrap();
    conn.close().await.unwrap();
}

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o777
}

#[tokio::test]
async fn a_new_journal_is_its_owners_alone() {
    let (backend, journal) = InFile::fresh().await;
    journal.append(vec![append("x", 0)]).await.unwrap();
    let path = backend.path();
    assert_eq!(mode(path.parent().unwrap()), 0o700);
    for file in std::fs::read_dir(path.parent().unwrap()).unwrap() {
        assert_eq!(mode(&file.unwrap().path()), 0o600);
    }
    journal.close().await;
    // Closed, it is one file: nothing is left of its making or of its use.
    let files: Vec<_> = std::fs::read_dir(path.parent().unwrap())
        .unwrap()
        .map(|file| file.unwrap().path())
        .collect();
    assert_eq!(files, [path]);
}

#[tokio::test]
async fn of_many_creators_one_is_first() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let creators: Vec<_> = (0..8)
        .map(|n| {
            let path = path.clone();
            tokio::spawn(async move {
                let journal = Sqlite::create(&path, &format!("id-{n}")).await.unwrap();
                journal
                    .append(vec![append(&format!("stream-{n}"), 0)])
                    .await
                    .unwrap();
                journal.meta("id").await.unwrap().unwrap()
            })
        })
        .collect();
    let mut ids = Vec::new();
    for creator in creators {
        ids.push(creator.await.unwrap());
    }
    ids.dedup();
    assert_eq!(ids.len(), 1, "{ids:?}");
    let journal = Sqlite::open(&path).await.unwrap();
    assert_eq!(journal.head().await.unwrap(), Seq(8));
    assert_sound(&journal).await;
}

#[tokio::test]
async fn what_is_no_journal_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let missing = Sqlite::open(&path).await.unwrap_err();
    assert!(matches!(missing, Error::Missing { .. }), "{missing:?}");
    assert!(!path.exists());
    assert!(matches!(
        Sqlite::open(folder.path()).await,
        Err(Error::NoFile { .. })
    ));
    assert!(matches!(
        Sqlite::open(Path::new("journal.db")).await,
        Err(Error::Invalid { .. })
    ));
    assert!(matches!(
        Sqlite::create(&path, "").await,
        Err(Error::Invalid { .. })
    ));

    meddle(&path, "CREATE TABLE recipes (name TEXT)").await;
    let foreign = Sqlite::create(&path, "id").await.unwrap_err();
    assert_eq!(
        foreign.to_string(),
        "the journal is damaged: it is a database without a journal in it"
    );
}

#[tokio::test]
async fn a_path_is_only_a_path() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a b?mode=memory#x", "%41", "'; --", "-x", "é\n"] {
        let path = folder.path().join(name).join("journal.db");
        let journal = Sqlite::create(&path, "id").await.unwrap();
        journal.append(vec![append("x", 0)]).await.unwrap();
        assert!(path.is_file());
    }
}

#[tokio::test]
async fn a_newer_schema_is_refused() {
    let (backend, journal) = InFile::fresh().await;
    journal.append(vec![append("x", 0)]).await.unwrap();
    meddle(
        &backend.path(),
        "UPDATE meta SET value = '99' WHERE key = 'schema'",
    )
    .await;
    let newer = Sqlite::open(&backend.path()).await.unwrap_err();
    assert_eq!(
        newer.to_string(),
        "the journal has schema 99; this crew knows up to 4"
    );
    assert!(newer.hint().is_some());
    // Nor does a process write that had it open before.
    let newer = journal.append(vec![append("x", 1)]).await.unwrap_err();
    assert!(
        matches!(newer, Error::NewerSchema { found: 99, known: 4 }),
        "{newer:?}"
    );
    assert_eq!(journal.head().await.unwrap(), Seq(1));
    meddle(
        &backend.path(),
        "UPDATE meta SET value = 'new' WHERE key = 'schema'",
    )
    .await;
    let odd = Sqlite::open(&backend.path()).await.unwrap_err();
    assert!(matches!(odd, Error::Damaged { .. }), "{odd:?}");
}

#[tokio::test]
async fn an_event_can_be_neither_changed_nor_removed() {
    let (backend, journal) = InFile::fresh().await;
    journal.append(vec![append("x", 0)]).await.unwrap();
    let mut conn = SqliteConnectOptions::new()
        .filename(backend.path())
        .connect()
        .await
        .unwrap();
    for statement in ["UPDATE events SET event = '1'", "DELETE FROM events"] {
        let refused = sqlx::query(statement).execute(&mut conn).await.unwrap_err();
        assert!(refused.to_string().contains("an event never"), "{refused}");
    }
}

/// A journal with some of everything, closed.
async fn filled() -> (InFile, Vec<u8>) {
    let (backend, journal) = InFile::fresh().await;
    for n in 0..40 {
        let mut append = ordering("x", n, &["a", "b"]);
        append.events[0].body = format!("\"{}\"", "text ".repeat(100));
        append.timers = vec![store::TimerChange::Set {
            key: format!("t{n}"),
            due: store::Millis(9),
        }];
        append.key = Some(format!("k{n}"));
        journal.append(vec![append]).await.unwrap();
        journal.submit(command(&format!("c{n}"))).await.unwrap();
    }
    journal.close().await;
    let whole = std::fs::read(backend.path()).unwrap();
    (backend, whole)
}

/// Opens, reads all, writes, and audits; the first thing that fails.
async fn exercise(path: &Path) -> Result<Vec<String>, Error> {
    let journal = Sqlite::open(path).await?;
    let used = async {
        let problems = journal.verify().await?;
        journal.events(Seq(0), 1_000).await?;
        journal.pending(store::Millis(99), 1_000).await?;
        journal.pending_commands(store::Number(0), 1_000).await?;
        journal.due(store::Millis(99), 1_000).await?;
        let version = journal
            .load(&"x".into())
            .await?
            .map_or(Version(0), |stream| stream.version);
        journal.append(vec![append("x", version.0)]).await?;
        Ok(problems)
    }
    .await;
    journal.close().await;
    used
}

#[tokio::test]
async fn a_truncated_file_is_damaged() {
    let (backend, whole) = filled().await;
    assert_eq!(exercise(&backend.path()).await.unwrap(), Vec::<String>::new());
    for length in [
        0,
        1,
        50,
        100,
        512,
        4096,
        4097,
        whole.len() / 2,
        whole.len() - 4096,
        whole.len() - 1,
    ] {
        std::fs::write(backend.path(), &whole[..length]).unwrap();
        match exercise(&backend.path()).await {
            Err(damaged @ Error::Damaged { .. }) => assert!(damaged.hint().is_some()),
            // SQLite takes a last page that is not whole for one that ends in zeros; the audit does not.
            Ok(problems) => assert!(!problems.is_empty(), "cut to {length}"),
            Err(other) => panic!("cut to {length}: {other:?}"),
        }
    }
    std::fs::write(
        backend.path(),
        "this is not a database, but it is long enough to be one ".repeat(100),
    )
    .unwrap();
    let damaged = exercise(&backend.path()).await.unwrap_err();
    assert_eq!(
        damaged.to_string(),
        "the journal is damaged: file is not a database"
    );
}

/// What a power failure leaves of the log is all of it up to some place: each frame's end is tried, and its middle.
#[tokio::test]
async fn f18_su_re_a_log_cut_anywhere_is_the_journal_as_it_was_after_some_write() {
    const HEADER: usize = 32;
    const FRAME: usize = 24 + 4096;
    let (backend, journal) = InFile::fresh().await;
    for n in 0..12 {
        let two = vec![ordering("x", n, &["work", "rest"]), append("y", n)];
        journal.append(two).await.unwrap();
    }
    let all = journal.events(Seq(0), u32::MAX).await.unwrap();
    let name = |end: &str| PathBuf::from(format!("{}{end}", backend.path().display()));
    let [file, log] = ["", "-wal"].map(|end| std::fs::read(name(end)).unwrap());
    journal.close().await;
    assert_eq!((log.len() - HEADER) % FRAME, 0);

    let (mut longest, mut seen) = (0, std::collections::BTreeSet::new());
    for cut in (HEADER..=log.len()).step_by(FRAME / 2) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.db");
        std::fs::write(&path, &file).unwrap();
        std::fs::write(folder.path().join("journal.db-wal"), &log[..cut]).unwrap();
        let left = Sqlite::open(&path).await.unwrap();
        assert_eq!(left.verify().await.unwrap(), Vec::<String>::new(), "cut to {cut}");
        let events = left.events(Seq(0), u32::MAX).await.unwrap();
        left.close().await;
        assert!(
            events[..] == all[..events.len()],
            "cut to {cut}: {} events",
            events.len()
        );
        assert_eq!(events.len() % 2, 0, "cut to {cut}: half of a write");
        assert!(events.len() >= longest, "cut to {cut}");
        longest = events.len();
        seen.insert(longest);
    }
    assert_eq!(longest, all.len());
    assert!(seen.len() > 10, "each write was the last once: {seen:?}");
}

#[tokio::test]
async fn a_flipped_byte_is_never_a_panic() {
    let (backend, whole) = filled().await;
    let mut noticed = 0;
    // A step without a common factor with the page size visits headers, pointers and cells alike.
    let flips: Vec<usize> = (0..whole.len()).step_by(whole.len() / 97).collect();
    for at in &flips {
        std::fs::write(backend.path(), &whole).unwrap();
        let mut file = std::fs::OpenOptions::new()
            .read(true)
            .write(true)
            .open(backend.path())
            .unwrap();
        let mut byte = [0];
        file.seek(SeekFrom::Start(*at as u64)).unwrap();
        file.read_exact(&mut byte).unwrap();
        file.seek(SeekFrom::Start(*at as u64)).unwrap();
        file.write_all(&[byte[0] ^ 0xff]).unwrap();
        drop(file);
        match exercise(&backend.path()).await {
            Ok(problems) if problems.is_empty() => {}
            Ok(_) => noticed += 1,
            Err(Error::Damaged { .. } | Error::Io { .. } | Error::NewerSchema { .. }) => noticed += 1,
            Err(other) => panic!("byte {at}: {other:?}"),
        }
    }
    assert!(noticed > 0, "none of {} flips was noticed", flips.len());
}

/// What was written to stay, as SQLite reads it, whatever the checksums say; nothing where it cannot be read.
async fn written(path: &Path) -> Option<String> {
    const ALL: [&str; 4] = [
        "SELECT quote(id) || quote(kind) || quote(version) || quote(fence) || quote(state) FROM streams NOT INDEXED",
        "SELECT quote(seq) || quote(stream) || quote(version) || quote(at) || quote(cause) || quote(kind) || quote(schema) \
         || quote(event) || quote(state_after) FROM events NOT INDEXED",
        "SELECT quote(seq) || quote(\"index\") || quote(stream) || quote(effect) FROM outbox NOT INDEXED",
        "SELECT quote(id) || quote(\"by\") || quote(at) || quote(body) FROM commands NOT INDEXED",
    ];
    let options = SqliteConnectOptions::new().filename(path).read_only(true);
    let mut conn = options.connect().await.ok()?;
    let mut found = String::new();
    for select in ALL {
        let rows: Vec<String> = sqlx::query_scalar(select).fetch_all(&mut conn).await.ok()?;
        found += &rows.join("\n");
    }
    Some(found)
}

#[tokio::test]
async fn a_flipped_byte_of_what_was_written_is_found() {
    let (backend, whole) = filled().await;
    let path = backend.path();
    let before = written(&path).await.unwrap();
    let mut changed = 0;
    // A step without a common factor with the page size; a bit of the byte, or all of them.
    for (at, flip) in (0..whole.len())
        .step_by(41)
        .zip([0x01, 0x10, 0xff].into_iter().cycle())
    {
        if whole[at] == 0 {
            // Mostly room that nothing stands in.
            continue;
        }
        let mut flipped = whole.clone();
        flipped[at] ^= flip;
        std::fs::write(&path, flipped).unwrap();
        if written(&path).await.as_ref() == Some(&before) {
            continue;
        }
        changed += 1;
        match exercise(&path).await {
            Ok(problems) => assert!(!problems.is_empty(), "byte {at} ^ {flip:#x}"),
            Err(Error::Damaged { .. } | Error::Io { .. } | Error::NewerSchema { .. }) => {}
            Err(other) => panic!("byte {at} ^ {flip:#x}: {other:?}"),
        }
    }
    assert!(changed > 100, "{changed} flips changed anything");
}

#[tokio::test]
async fn an_audit_names_what_does_not_agree() {
    let plant: &[(&str, &str)] = &[
        (
            "UPDATE streams SET state = '0', checksum = NULL WHERE id = 'x'",
            "the state of stream `x` is not the one after its last event",
        ),
        (
            "UPDATE streams SET version = 9, checksum = NULL WHERE id = 'x'",
            "stream `x` says version 9; its last event has 2",
        ),
        (
            "DROP TRIGGER events_do_not_go; DELETE FROM events WHERE seq = 2",
            "event 3 follows event 1",
        ),
        (
            "DROP TRIGGER events_do_not_go; DELETE FROM events WHERE seq = 3",
            "effect 3.0 refers to no event",
        ),
        (
            "DELETE FROM streams WHERE id = 'y'",
            "stream `y` is not there; it has events up to version 1",
        ),
        (
            "DELETE FROM streams WHERE id = 'x'",
            "timer `t` refers to stream `x`, which is not there",
        ),
        (
            "UPDATE slots SET fence = 8",
            "agent `ada` holds ticket `x` with fence 8; its stream has 1",
        ),
        (
            "UPDATE keys SET last_seq = 77",
            "idempotency key `k` refers to no event",
        ),
        (
            "UPDATE outbox SET effect = '{', checksum = NULL WHERE seq = 3",
            "effect 3.0 is not JSON",
        ),
        (
            "UPDATE streams SET fence = 2 WHERE id = 'x'",
            "stream `x` is not as it was written",
        ),
        (
            "DROP TRIGGER events_do_not_change; UPDATE events SET cause = 'a person' WHERE seq = 2",
            "event 2 (of stream `x`) is not as it was written",
        ),
        (
            "UPDATE outbox SET effect = '\"f\"' WHERE seq = 3",
            "effect 3.0 (of stream `y`) is not as it was written",
        ),
        (
            "UPDATE commands SET body = '{}' WHERE id = 'c'",
            "command `c` is not as it was written",
        ),
    ];
    for (statements, problem) in plant {
        let (backend, journal) = InFile::fresh().await;
        let take = SlotChange::Take {
            agent: "ada".to_owned(),
            ticket: "x".to_owned(),
            fence: Fence(1),
        };
        let timer = store::TimerChange::Set {
            key: "t".to_owned(),
            due: store::Millis(9),
        };
        let claim = Append {
            new_fence: Some(Fence(1)),
            slots: vec![take],
            timers: vec![timer],
            key: Some("k".to_owned()),
            ..append("x", 0)
        };
        journal
            .append(vec![claim, append("x", 1), ordering("y", 0, &["e"])])
            .await
            .unwrap();
        journal.submit(command("c")).await.unwrap();
        assert_sound(&journal).await;
        meddle(
            &backend.path(),
            &format!("PRAGMA foreign_keys = OFF; {statements}"),
        )
        .await;
        let problems = journal.verify().await.unwrap();
        assert!(
            problems.iter().any(|found| found == problem),
            "{statements}: {problems:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crowd_writes_and_one_conflict_fails_nobody_else() {
    let (_backend, journal) = InFile::fresh().await;
    journal.append(vec![append("shared", 0)]).await.unwrap();
    let crowd: Vec<_> = (0..64)
        .map(|n| {
            let journal = journal.clone();
            tokio::spawn(async move {
                let own = format!("stream-{n}");
                for version in 0..4 {
                    // Its second half fails, always; so the first may not stay either.
                    let conflict = journal
                        .append(vec![append(&own, version), append("shared", 0)])
                        .await
                        .unwrap_err();
                    assert!(
                        matches!(
                            conflict,
                            Error::VersionConflict {
                                found: Version(1),
                                ..
                            }
                        ),
                        "{conflict:?}"
                    );
                    journal.append(vec![append(&own, version)]).await.unwrap();
                }
            })
        })
        .collect();
    for one in crowd {
        one.await.unwrap();
    }
    assert_eq!(journal.head().await.unwrap(), Seq(1 + 64 * 4));
    assert_sound(&journal).await;
}

#[tokio::test]
async fn a_broken_write_in_a_group_breaks_nobody_else() {
    let (backend, journal) = InFile::fresh().await;
    meddle(&backend.path(), "DROP TABLE slots").await;
    let crowd: Vec<_> = (0..8)
        .map(|n| {
            let journal = journal.clone();
            let take = SlotChange::Take {
                agent: "ada".to_owned(),
                ticket: "x".to_owned(),
                fence: Fence(0),
            };
            let slots = if n == 3 { vec![take] } else { Vec::new() };
            tokio::spawn(async move {
                let stream = format!("stream-{n}");
                (
                    n,
                    journal
                        .append(vec![Append {
                            slots,
                            ..append(&stream, 0)
                        }])
                        .await,
                )
            })
        })
        .collect();
    for one in crowd {
        match one.await.unwrap() {
            (3, Err(Error::Damaged { what })) => assert!(what.contains("slots"), "{what}"),
            (3, other) => panic!("{other:?}"),
            (_, result) => assert_eq!(result.unwrap().len(), 1),
        }
    }
    assert_eq!(journal.head().await.unwrap(), Seq(7));
}

#[tokio::test]
async fn closing_writes_what_is_in_line() {
    let (backend, journal) = InFile::fresh().await;
    let line: Vec<_> = (0..20)
        .map(|n| {
            let journal = journal.clone();
            tokio::spawn(async move { journal.append(vec![append(&format!("stream-{n}"), 0)]).await })
        })
        .collect();
    // Lets all of them get in line; on one thread they do so before this goes on.
    tokio::task::yield_now().await;
    journal.close().await;
    for one in line {
        one.await.unwrap().unwrap();
    }
    assert!(matches!(
        journal.append(vec![append("x", 0)]).await,
        Err(Error::Closed)
    ));
    assert!(matches!(journal.head().await, Err(Error::Closed)));
    journal.close().await;
    let journal = Sqlite::open(&backend.path()).await.unwrap();
    assert_eq!(journal.head().await.unwrap(), Seq(20));
}

#[tokio::test]
async fn any_is_the_backend_it_holds() {
    let (_backend, journal) = InFile::fresh().await;
    for any in [
        store::Any::from(journal),
        store::Any::from(Memory::new("journal-1")),
    ] {
        let mut changes = any.changes();
        any.append(vec![ordering("x", 0, &["a"])]).await.unwrap();
        changes.changed().await.unwrap();
        assert_eq!(any.wait(Seq(0)).await.unwrap(), Seq(1));
        assert_eq!(any.meta("id").await.unwrap().as_deref(), Some("journal-1"));
        let other = Memory::new("other");
        other.append(vec![ordering("x", 0, &["a"])]).await.unwrap();
        assert_eq!(shown(&any).await, shown(&other).await);
        assert_sound(&any).await;
    }
}

#[tokio::test]
async fn a_folder_without_permission_is_an_error_of_the_system() {
    let folder = tempfile::tempdir().unwrap();
    let file: PathBuf = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let refused = Sqlite::create(&file.join("crew").join("journal.db"), "id")
        .await
        .unwrap_err();
    assert!(
        matches!(refused, Error::Io { .. }) && refused.hint().is_some(),
        "{refused:?}"
    );
}

#[tokio::test]
async fn the_log_is_cut_down_once_nobody_looks_at_what_was() {
    let (backend, journal) = InFile::fresh().await;
    let mut log = backend.path().into_os_string();
    log.push("-wal");
    let length = || Path::new(&log).metadata().unwrap().len();
    let mut reader = SqliteConnectOptions::new()
        .filename(backend.path())
        .connect()
        .await
        .unwrap();
    let mut moment = reader.begin().await.unwrap();
    sqlx::query("SELECT count(*) FROM events")
        .execute(&mut *moment)
        .await
        .unwrap();
    let large = |expected| {
        let mut large = append("x", expected);
        large.events[0].body = format!("\"{}\"", "x".repeat(1 << 20));
        large
    };
    for expected in 0..12 {
        journal.append(vec![large(expected)]).await.unwrap();
    }
    assert!(length() > 10 << 20, "{}", length());
    moment.rollback().await.unwrap();
    // The first write after the reader takes the log over, and the next one begins it anew.
    for expected in 12..15 {
        journal.append(vec![large(expected)]).await.unwrap();
    }
    assert!(length() <= 8 << 20, "{}", length());
}
