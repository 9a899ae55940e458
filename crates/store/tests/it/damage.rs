//! Errors of a journal in a file that is damaged: cut, flipped, or with rows that do not agree.

use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use model::{AgentName, Fence, TicketId};
use sqlx::ConnectOptions;
use sqlx::sqlite::SqliteConnectOptions;
use store::{Append, Error, Journal, Seq, SlotChange, Sqlite, Version};

use crate::file::meddle;
use crate::support::{Backend as _, InFile, append, assert_sound, command, ordering, stream};

/// A journal with some of everything, closed.
async fn filled() -> (InFile, Vec<u8>) {
    let (backend, journal) = InFile::fresh().await;
    for n in 0..40 {
        let mut append = ordering("x", n, &["a", "b"]);
        append.events[0].body = format!("\"{}\"", "text ".repeat(100));
        append.timers = vec![store::TimerChange::Set {
            key: format!("t{n}"),
            due: model::Time(9),
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
        journal.pending(model::Time(99), 1_000).await?;
        journal.pending_commands(store::Number(0), 1_000).await?;
        journal.due(model::Time(99), 1_000).await?;
        let version = journal
            .load(&stream("x"))
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

/// A power failure leaves all of the log up to some place: each frame's end is tried, and its middle.
#[tokio::test]
async fn a_log_cut_anywhere_is_the_journal_as_it_was_after_some_write() {
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

/// The rows that were written to stay, as SQLite reads them, whatever the checksums are; none where they
/// cannot be read.
async fn written(path: &Path) -> Option<String> {
    const ALL: [&str; 4] = [
        "SELECT quote(id) || quote(version) || quote(fence) || quote(first) || quote(last) FROM streams NOT INDEXED",
        "SELECT quote(seq) || quote(stream) || quote(version) || quote(prev) || quote(at) || quote(cause) || quote(kind) || quote(schema) \
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

/// SQLite takes any bytes for a name; its driver panics over one that is not text, and may then never answer.
#[tokio::test]
async fn a_column_whose_name_is_no_text_is_damage() {
    let (backend, whole) = filled().await;
    let columns = [
        "fence ",
        "last ",
        "prev ",
        "state_after ",
        "attempts ",
        "generation ",
        "answered_at ",
        "effect ",
    ];
    for column in columns {
        let says = format!("no such column: {}", column.trim());
        let line = format!("\n    {column}");
        let matches = |at: &usize| whole[*at..].starts_with(line.as_bytes());
        let mut damages = Vec::new();
        // In the schema, and where an older one stood, which nothing reads.
        for at in (0..whole.len()).filter(matches) {
            let mut flipped = whole.clone();
            flipped[at + "\n    ".len()] = 0xff;
            std::fs::write(backend.path(), flipped).unwrap();
            damages.extend(
                exercise(&backend.path())
                    .await
                    .err()
                    .map(|error| error.to_string()),
            );
        }
        assert!(!damages.is_empty(), "{column}");
        assert!(
            damages.iter().all(|damage| damage.contains(&says)),
            "{column}: {damages:?}"
        );
    }
}

#[tokio::test]
async fn an_audit_names_what_does_not_agree() {
    let plant: &[(&str, &str)] = &[
        (
            "UPDATE streams SET last = 1 WHERE id = 'ticket/x'",
            "stream `ticket/x` records its events as 1 to 1; they are 1 to 2",
        ),
        (
            "UPDATE streams SET first = 3 WHERE id = 'ticket/x'",
            "stream `ticket/x` records its events as 3 to 2; they are 1 to 2",
        ),
        (
            "UPDATE streams SET last = 1 WHERE id = 'ticket/x'",
            "stream `ticket/x` is not as it was written",
        ),
        (
            "DROP TRIGGER events_do_not_change; UPDATE events SET prev = NULL WHERE seq = 2",
            "event 2 of stream `ticket/x` names none as the one before it, not event 1",
        ),
        (
            "UPDATE streams SET version = 9 WHERE id = 'ticket/x'",
            "stream `ticket/x` has version 9; its last event has 2",
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
            "DELETE FROM streams WHERE id = 'ticket/y'",
            "stream `ticket/y` is not there; it has events up to version 1",
        ),
        (
            "DELETE FROM streams WHERE id = 'ticket/x'",
            "timer `t` refers to stream `ticket/x`, which is not there",
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
            "UPDATE outbox SET effect = '{' WHERE seq = 3",
            "effect 3.0 is not JSON",
        ),
        (
            "UPDATE streams SET fence = 2 WHERE id = 'ticket/x'",
            "stream `ticket/x` is not as it was written",
        ),
        (
            "DROP TRIGGER events_do_not_change; UPDATE events SET cause = 'a person' WHERE seq = 2",
            "event 2 (of stream `ticket/x`) is not as it was written",
        ),
        (
            "UPDATE outbox SET effect = '\"f\"' WHERE seq = 3",
            "effect 3.0 (of stream `ticket/y`) is not as it was written",
        ),
        (
            "UPDATE commands SET body = '{}' WHERE id = 'c'",
            "command `c` is not as it was written",
        ),
    ];
    for (statements, problem) in plant {
        let (backend, journal) = InFile::fresh().await;
        let take = SlotChange::Take {
            agent: AgentName::new("ada").unwrap(),
            ticket: TicketId::new("x").unwrap(),
            fence: Fence(1),
        };
        let timer = store::TimerChange::Set {
            key: "t".to_owned(),
            due: model::Time(9),
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

/// The pointer to a stream's next event leads to none, to one that is not there, onwards, or past some.
#[tokio::test]
async fn a_chain_that_leads_astray_is_damage_and_ends() {
    let x = || stream("x");
    for (meddling, onward, back) in [
        ("UPDATE events SET prev = NULL WHERE seq = 5", 3, Some(7)),
        ("UPDATE events SET prev = 6 WHERE seq = 5", 3, Some(7)),
        ("UPDATE events SET prev = 4 WHERE seq = 5", 3, Some(2)),
        (
            "UPDATE events SET prev = NULL WHERE seq = 5; UPDATE events SET prev = 3 WHERE seq = 7",
            7,
            None,
        ),
        ("UPDATE streams SET first = 3 WHERE id = 'ticket/x'", 3, None),
        ("UPDATE streams SET first = 77 WHERE id = 'ticket/x'", 0, None),
        ("DELETE FROM events WHERE seq = 5", 3, Some(7)),
    ] {
        let (backend, journal) = InFile::fresh().await;
        for n in 0..4 {
            journal
                .append(vec![append("x", n), append("y", n)])
                .await
                .unwrap();
        }
        let free = "PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON; \
                    DROP INDEX events_next; CREATE INDEX events_next ON events (prev) WHERE prev IS NOT NULL; \
                    DROP TRIGGER events_do_not_go; DROP TRIGGER events_do_not_change;";
        meddle(&backend.path(), &format!("{free} {meddling}")).await;
        let says =
            |at: u64| format!("the events of stream `ticket/x` do not follow each other at event {at}");
        let damage = |found: Error| match found {
            Error::Damaged { what } => what,
            other => panic!("{meddling}: {other:?}"),
        };
        // In one page, and in pages of one.
        let found = journal.events_of(&x(), Seq(0), 100).await.unwrap_err();
        assert_eq!(damage(found), says(onward), "{meddling}");
        let mut after = Seq(0);
        let found = loop {
            match journal.events_of(&x(), after, 1).await {
                Ok(page) => after = page.last().unwrap_or_else(|| panic!("{meddling}")).seq,
                Err(error) => break error,
            }
        };
        assert_eq!(damage(found), says(onward), "{meddling}");
        let first = journal.event_of(&x(), Version(1)).await;
        match back {
            None => assert_eq!(first.unwrap().unwrap().seq, Seq(1), "{meddling}"),
            Some(at) => assert_eq!(damage(first.unwrap_err()), says(at), "{meddling}"),
        }
        assert!(!journal.verify().await.unwrap().is_empty(), "{meddling}");
    }
}

#[tokio::test]
async fn what_a_stream_says_of_its_last_event_is_not_built_on_where_it_is_not_so() {
    for meddling in [
        "UPDATE streams SET last = 4 WHERE id = 'ticket/x'",
        "UPDATE streams SET last = 1 WHERE id = 'ticket/x'",
        "UPDATE streams SET last = 0 WHERE id = 'ticket/x'",
    ] {
        let (backend, journal) = InFile::fresh().await;
        for n in 0..2 {
            journal
                .append(vec![append("x", n), append("y", n)])
                .await
                .unwrap();
        }
        meddle(&backend.path(), meddling).await;
        let both = [append("x", 2), append("y", 2)].map(|append| journal.append(vec![append]));
        let [x, y] = both;
        let (x, y) = tokio::join!(x, y);
        assert!(matches!(x, Err(Error::Damaged { .. })), "{meddling}: {x:?}");
        y.unwrap();
        assert_eq!(journal.head().await.unwrap(), Seq(5), "{meddling}");
    }
}
