//! Conditions that only a journal in a file can meet: modes, versions, damage, a crowd of writers.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use model::{AgentName, Fence, TicketId};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection};
use store::{Append, Error, Journal, Location, Memory, Seq, SlotChange, Sqlite, Version};

use crate::support::{Backend, InFile, append, assert_sound, ordering, shown};

/// Runs statements on the file behind the journal's back.
pub(crate) async fn meddle(path: &Path, statements: &str) {
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
        "the journal has schema 99; this crew knows up to 1"
    );
    assert!(newer.hint().is_some());
    // Nor does a process write that had it open before.
    let newer = journal.append(vec![append("x", 1)]).await.unwrap_err();
    assert!(
        matches!(newer, Error::NewerSchema { found: 99, known: 1 }),
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
                agent: AgentName::new("ada").unwrap(),
                ticket: TicketId::new("x").unwrap(),
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
        let mut subscription = any.subscribe();
        any.append(vec![ordering("x", 0, &["a"])]).await.unwrap();
        subscription.noticed().await.unwrap();
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

#[tokio::test]
async fn the_log_is_taken_over_once_nobody_has_written_for_a_while() {
    let (backend, journal) = InFile::fresh().await;
    let length = || backend.path().metadata().unwrap().len();
    let before = length();
    // More than the limit, in few transactions: the log stays shorter than the length that moves it into the
    // file at once.
    let crowd: Vec<_> = (0..600)
        .map(|n| {
            let journal = journal.clone();
            tokio::spawn(async move { journal.append(vec![append(&format!("stream-{n}"), 0)]).await })
        })
        .collect();
    for one in crowd {
        one.await.unwrap().unwrap();
    }
    let taken_over = async {
        while length() == before {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), taken_over)
        .await
        .unwrap();
}

#[tokio::test]
async fn a_journal_is_opened_by_its_location() {
    let folder = tempfile::tempdir().unwrap();
    let at = Location::file(folder.path().join("journal.db"));
    assert!(!at.exists());
    let missing = store::open(&at).await.unwrap_err();
    assert!(matches!(missing, Error::Missing { .. }), "{missing:?}");
    let made = store::create(&at, "journal-1").await.unwrap();
    assert!(at.exists());
    let writer = store::open(&at).await.unwrap();
    let reader = store::open_to_read(&at).await.unwrap();
    writer.0.append(vec![append("x", 0)]).await.unwrap();
    for ledger in [&made, &writer, &reader] {
        assert_eq!(ledger.0.head().await.unwrap(), Seq(1));
        assert_eq!(ledger.0.meta("id").await.unwrap().as_deref(), Some("journal-1"));
        ledger.close().await;
    }
}
