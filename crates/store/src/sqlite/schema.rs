//! The schema: how the journal's file is made, opened and brought up to date.

use std::fs::{DirBuilder, File};
use std::io::ErrorKind;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection, Executor};

use super::draft::Draft;
use super::fault::{io, sort};
use super::place;
use crate::{Error, Result};

/// The schema's versions: each step is the SQL that makes a version from the one before it, the first step
/// version 1.
pub(super) const STEPS: &[&str] = &[include_str!("schema.sql")];

/// The number of the steps that are in a release. A journal of each is kept as a fixture, and every later
/// crew must open it; such a step never changes again. The steps after it may still change.
pub const RELEASED: usize = 0;
#[expect(
    clippy::absurd_extreme_comparisons,
    reason = "it can fail as soon as a step is released"
)]
const _: () = assert!(RELEASED <= STEPS.len());

/// The statements with which steps begin and end. A step may make a table anew under its name, to which
/// others refer, and sort more rows than memory should hold. SQLite sets neither within a transaction.
const BEGIN_STEPS: &str = "PRAGMA foreign_keys = OFF; PRAGMA temp_store = FILE; BEGIN IMMEDIATE";
const COMMIT_STEPS: &str = "COMMIT; PRAGMA temp_store = MEMORY; PRAGMA foreign_keys = ON";

/// The length of the log beside the file, in bytes, at which a commit moves it into the file; and the length
/// to which it is cut afterwards, should it have grown longer: it grows while a reader holds one moment.
pub(super) const LOG: u64 = 8 << 20;
/// A page of the file, in bytes: SQLite's own default, which the journal is made with.
const PAGE: u64 = 4096;

/// The time for which a write waits for another process's transaction.
const PATIENCE: Duration = Duration::from_secs(20);

/// Connections of this journal; the file must exist.
pub(super) fn options(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(false)
        .busy_timeout(PATIENCE)
        .synchronous(SqliteSynchronous::Full)
        .foreign_keys(true)
        .pragma("journal_size_limit", LOG.to_string())
        .pragma("wal_autocheckpoint", (LOG / PAGE).to_string())
        // For the undo of a statement of many rows: a file for each group would cost more.
        .pragma("temp_store", "MEMORY")
        .disable_statement_logging()
}

/// Makes the journal if there is none. It appears whole, under its name, or not at all: of several processes
/// that make one at the same time, one is first and the others use its journal.
pub(super) async fn create(path: &Path, id: &str, steps: &[&'static str]) -> Result<()> {
    crate::append::named("journal id", id)?;
    if path.symlink_metadata().is_ok() {
        return Ok(());
    }
    place::whole(path)?;
    let folder = folder(path)?;
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .map_err(|e| io("creating", folder, e))?;
    let draft = Draft::new(path)?;
    let mut conn = options(draft.path())
        .journal_mode(SqliteJournalMode::Wal)
        .connect()
        .await
        .map_err(|e| sort("creating the journal", e))?;
    let made = make(&mut conn, id, steps).await;
    // Closing the last connection moves everything into the one file that is then named.
    let closed = conn.close().await.map_err(|e| sort("creating the journal", e));
    made.and(closed)?;
    failpoint::hit("journal.made");
    match std::fs::hard_link(draft.path(), path) {
        Ok(()) => {
            failpoint::hit("journal.named");
            File::open(folder)
                .and_then(|folder| folder.sync_all())
                .map_err(|e| io("saving", folder, e))
        }
        Err(e) if e.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(e) => Err(io("creating", path, e)),
    }
}

async fn make(conn: &mut SqliteConnection, id: &str, steps: &[&'static str]) -> Result<()> {
    let told = |e| sort("creating the journal", e);
    conn.execute(BEGIN_STEPS).await.map_err(told)?;
    conn.execute("CREATE TABLE meta (key TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL) STRICT")
        .await
        .map_err(told)?;
    let insert = "INSERT INTO meta (key, value) VALUES ('id', ?), ('schema', '0')";
    sqlx::query(insert)
        .bind(id)
        .execute(&mut *conn)
        .await
        .map_err(told)?;
    step_up(conn, 0, steps).await?;
    conn.execute(COMMIT_STEPS).await.map_err(told)?;
    Ok(())
}

/// Brings the schema up to date, or refuses it.
pub(super) async fn migrate(conn: &mut SqliteConnection, steps: &[&'static str]) -> Result<()> {
    let told = |e| sort("opening the journal", e);
    if up_to_date(version(conn).await?, steps)? {
        return Ok(());
    }
    conn.execute(BEGIN_STEPS).await.map_err(told)?;
    // Another process may have been first.
    let found = version(conn).await?;
    if up_to_date(found, steps)? {
        conn.execute(COMMIT_STEPS).await.map_err(told)?;
        return Ok(());
    }
    failpoint::hit("migrate.begun");
    step_up(conn, found, steps).await?;
    failpoint::hit("migrate.written");
    conn.execute(COMMIT_STEPS).await.map_err(told)?;
    failpoint::hit("migrate.committed");
    // A reader that cannot write does not read the log. A log that cannot be moved into the file now is still
    // read everywhere else.
    drop(conn.execute("PRAGMA wal_checkpoint(TRUNCATE)").await);
    Ok(())
}

/// Refuses a journal of another schema, without bringing it up to date.
pub(super) async fn read_only(conn: &mut SqliteConnection, path: &Path) -> Result<()> {
    let found = version(conn).await?;
    match up_to_date(found, STEPS)? {
        true => Ok(()),
        false => Err(Error::OlderSchema {
            path: path.to_owned(),
            found,
        }),
    }
}

async fn step_up(conn: &mut SqliteConnection, from: usize, steps: &[&'static str]) -> Result<()> {
    let told = |e| sort("bringing the journal's schema up to date", e);
    for step in steps.iter().skip(from) {
        conn.execute(*step).await.map_err(told)?;
    }
    let update = "UPDATE meta SET value = ? WHERE key = 'schema'";
    sqlx::query(update)
        .bind(steps.len().to_string())
        .execute(conn)
        .await
        .map_err(told)?;
    Ok(())
}

async fn version(conn: &mut SqliteConnection) -> Result<usize> {
    let told = |e| sort("reading the journal's schema", e);
    let tables = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'meta'";
    let known: i64 = sqlx::query_scalar(tables)
        .fetch_one(&mut *conn)
        .await
        .map_err(told)?;
    if known == 0 {
        return Err(Error::Damaged {
            what: "it is a database without a journal in it".to_owned(),
        });
    }
    let value: Option<String> = sqlx::query_scalar("SELECT value FROM meta WHERE key = 'schema'")
        .fetch_optional(conn)
        .await
        .map_err(told)?;
    parse(value.as_deref())
}

/// Reads the schema's version as `meta` has it.
pub(super) fn parse(value: Option<&str>) -> Result<usize> {
    let value = value.unwrap_or("nothing");
    value.parse().map_err(|_unreadable| Error::Damaged {
        what: format!("its schema is recorded as `{value}`"),
    })
}

/// True if the schema that was found is ours; false for an older one.
pub(super) fn up_to_date(found: usize, steps: &[&'static str]) -> Result<bool> {
    if found > steps.len() {
        let count = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
        return Err(Error::NewerSchema {
            found: count(found),
            known: count(steps.len()),
        });
    }
    Ok(found == steps.len())
}

fn folder(path: &Path) -> Result<&Path> {
    let none = || Error::Invalid {
        what: format!("a journal at `{}`", path.display()),
    };
    path.parent().ok_or_else(none)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Journal, Seq, Sqlite};

    const NEXT: &str = "ALTER TABLE commands ADD COLUMN urgency INTEGER NOT NULL DEFAULT 0";

    async fn connected(path: &Path) -> SqliteConnection {
        options(path).connect().await.unwrap()
    }

    #[tokio::test]
    async fn an_older_schema_is_brought_up_to_date_with_what_it_holds() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.db");
        let journal = Sqlite::create(&path, "id").await.unwrap();
        journal
            .append(vec![crate::append::tests::minimal("x")])
            .await
            .unwrap();

        let newer = [STEPS, &[NEXT]].concat();
        let mut conn = connected(&path).await;
        migrate(&mut conn, &newer).await.unwrap();
        migrate(&mut conn, &newer).await.unwrap();
        assert_eq!(version(&mut conn).await.unwrap(), STEPS.len() + 1);
        let columns = "SELECT count(*) FROM pragma_table_info('commands') WHERE name = 'urgency'";
        let columns: i64 = sqlx::query_scalar(columns).fetch_one(&mut conn).await.unwrap();
        assert_eq!(columns, 1);
        let keys: i64 = sqlx::query_scalar("PRAGMA foreign_keys")
            .fetch_one(&mut conn)
            .await
            .unwrap();
        assert_eq!(keys, 1, "rows are held to what they refer to again");
        assert_eq!(journal.head().await.unwrap(), Seq(1));
        // A crew that knows only the older schema is refused.
        assert!(matches!(
            migrate(&mut conn, STEPS).await,
            Err(Error::NewerSchema { found: 2, known: 1 })
        ));
        assert!(matches!(
            Sqlite::open(&path).await,
            Err(Error::NewerSchema { .. })
        ));
    }

    #[tokio::test]
    async fn a_step_that_fails_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.db");
        create(&path, "id", STEPS).await.unwrap();
        let mut conn = connected(&path).await;
        let broken = [STEPS, &[NEXT, "ALTER TABLE no_such_table ADD COLUMN a"]].concat();
        migrate(&mut conn, &broken).await.unwrap_err();
        drop(conn);
        assert_eq!(version(&mut connected(&path).await).await.unwrap(), STEPS.len());
        Sqlite::open(&path).await.unwrap();
    }

    #[tokio::test]
    async fn an_older_journal_with_a_flipped_byte_is_brought_up_to_date_or_is_damaged() {
        // The table is made anew, as a step may do that changes more than a column.
        const ANEW: &str = "CREATE TABLE new_meta (value TEXT NOT NULL, key TEXT NOT NULL PRIMARY KEY) STRICT; \
                            INSERT INTO new_meta (key, value) SELECT key, value FROM meta ORDER BY value; \
                            DROP TABLE meta; ALTER TABLE new_meta RENAME TO meta";
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.db");
        let journal = Sqlite::create(&path, "id").await.unwrap();
        let events = (0..8).map(|n| crate::append::tests::minimal(&format!("stream-{n}")));
        journal.append(events.collect()).await.unwrap();
        journal.close().await;
        let newer = [STEPS, &[NEXT, ANEW]].concat();
        let whole = std::fs::read(&path).unwrap();
        let mut refused = 0;
        for at in (0..whole.len()).step_by(43).filter(|at| whole[*at] != 0) {
            let mut flipped = whole.clone();
            flipped[at] ^= 0xff;
            std::fs::write(&path, flipped).unwrap();
            let migrated = async {
                let mut conn = options(&path)
                    .connect()
                    .await
                    .map_err(|e| sort("opening the journal", e))?;
                let migrated = migrate(&mut conn, &newer).await;
                drop(conn.close().await);
                migrated
            };
            match migrated.await {
                Ok(()) => {}
                Err(Error::Damaged { .. } | Error::Io { .. } | Error::NewerSchema { .. }) => refused += 1,
                Err(other) => panic!("byte {at}: {other:?}"),
            }
            for end in ["-wal", "-shm"] {
                drop(std::fs::remove_file(place::beside(&path, end)));
            }
        }
        assert!(refused > 0);
    }
}
