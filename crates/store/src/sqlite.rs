//! The journal in a SQLite file: no set-up, and several processes at once.

use std::future::Future;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use sqlx::pool::PoolConnection;
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteConnection, SqliteLockingMode, SqlitePool, SqlitePoolOptions,
};
use sqlx::{ConnectOptions, Connection};

use crate::journal::own;
use crate::subscription::{Notices, Others};
use crate::{
    Append, Appended, CachedView, Command, CommandId, Effect, EffectId, Error, Event, Journal, NewCommand,
    NewView, Number, Record, Result, Seq, Slot, Stream, StreamId, Submitted, Subscription, Time, Timer,
    Version, ViewArchive, Which,
};

mod append;
mod chain;
mod checksum;
mod draft;
mod fault;
mod insert;
mod place;
mod queue;
mod read;
mod schema;
mod verify;
mod watch;
mod write;
mod writer;

use fault::sort;
use place::Place;
pub use schema::RELEASED;
use writer::Writer;

/// Readers at the same time; more wait for one.
const READERS: u32 = 4;
/// The page cache of a reader, in KiB as SQLite counts them (negative). Frontends read the tail, once; the
/// system caches the file.
const READER_CACHE: &str = "-256";
/// A reader that nobody has used for so long is closed, with its thread.
const READER_REST: Duration = Duration::from_secs(30);

/// A journal in a SQLite file, in WAL mode with full durability. Clones are handles to one journal.
#[derive(Clone, Debug)]
pub struct Sqlite {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    place: Place,
    writer: Writer,
    readers: SqlitePool,
    notices: Arc<Notices>,
    /// Started with the first subscription; none inside where the system gives no watch.
    watch: OnceLock<Option<::watch::Watcher>>,
}

impl Sqlite {
    /// Opens the journal at this absolute path, and brings an older one's schema up to date.
    ///
    /// # Errors
    /// [`Error::Missing`], [`Error::Halved`], [`Error::NoFile`], [`Error::NewerSchema`], [`Error::Damaged`],
    /// [`Error::Busy`], [`Error::Io`].
    pub async fn open(path: &Path) -> Result<Self> {
        let place = Place::find(path)?;
        let options = schema::options(path);
        let conn = connect(&place, &options).await?;
        draft::clear(path);
        let readers = readers().max_connections(READERS).idle_timeout(READER_REST);
        Ok(Self::on(
            place,
            Some(conn),
            readers.connect_lazy_with(reading(options)),
        ))
    }

    /// Opens the journal at this absolute path, to read it: also on a disk that has no room for the index
    /// that processes share, while no process has one. A read then waits for other processes, and they for
    /// it. Where nothing can be written, the file is read as it stands, as long as there is no log next to
    /// it.
    ///
    /// # Errors
    /// As [`open`](Self::open); [`Error::Sealed`], [`Error::OlderSchema`].
    pub async fn look(path: &Path) -> Result<Self> {
        let error = match Self::open(path).await {
            Err(error @ (Error::Io { .. } | Error::Full)) => error,
            opened => return opened,
        };
        let place = Place::find(path)?;
        if place::is_sealed(path) {
            return Self::read_only(place).await;
        }
        let options = schema::options(path).locking_mode(SqliteLockingMode::Exclusive);
        let alone = async {
            let conn = connect(&place, &options).await?;
            conn.close().await.map_err(|e| sort("opening the journal", e))
        };
        alone.await.map_err(|_neither: Error| error)?;
        // Nobody else can read while a connection is open.
        let readers = readers()
            .max_connections(1)
            .after_release(|_, _| Box::pin(async { Ok(false) }));
        Ok(Self::on(place, None, readers.connect_lazy_with(reading(options))))
    }

    /// The journal in a folder in which nothing can be written. SQLite takes no lock there and reads no log,
    /// so there must be no log: one that appears later, as when another user's engine starts in the folder,
    /// ends the reading.
    async fn read_only(mut place: Place) -> Result<Self> {
        let options = schema::options(&place.path).read_only(true).immutable(true);
        place::taken_over(&place.path)?;
        place.is_sealed = true;
        connect(&place, &options)
            .await?
            .close()
            .await
            .map_err(|e| sort("opening the journal", e))?;
        let readers = readers()
            .max_connections(1)
            .after_release(|_, _| Box::pin(async { Ok(false) }));
        Ok(Self::on(place, None, readers.connect_lazy_with(reading(options))))
    }

    fn on(place: Place, conn: Option<SqliteConnection>, readers: SqlitePool) -> Self {
        let notices = Arc::new(Notices::new());
        let writer = Writer::start(place.clone(), conn, Arc::clone(&notices));
        Self {
            shared: Arc::new(Shared {
                place,
                writer,
                readers,
                notices,
                watch: OnceLock::new(),
            }),
        }
    }

    /// Opens the journal at this absolute path, after making one with this id if there is none: the file with
    /// mode 0600, folders that are missing with mode 0700.
    ///
    /// # Errors
    /// As [`open`](Self::open), but for [`Error::Missing`].
    pub async fn create(path: &Path, id: &str) -> Result<Self> {
        schema::create(path, id, schema::STEPS).await?;
        Self::open(path).await
    }

    async fn reader(&self) -> Result<PoolConnection<sqlx::Sqlite>> {
        let reader = self.shared.readers.acquire().await;
        // Afterwards: the file opened just now may be another one, and a missing file explains the failure.
        self.shared.place.stands()?;
        reader.map_err(|e| sort("opening the journal", e))
    }
}

/// Makes a journal of the schema before this crew's, without an event.
pub(crate) async fn create_older(path: &Path, id: &str) -> Result<()> {
    let (_, older) = schema::STEPS.split_last().unwrap_or((&"", &[]));
    schema::create(path, id, older).await
}

/// A connection to a journal of a schema that is known.
async fn connect(place: &Place, options: &SqliteConnectOptions) -> Result<SqliteConnection> {
    let path = &place.path;
    // SQLite does not report why it cannot open or make its files; the system does.
    let told = |e| match std::fs::OpenOptions::new().append(true).open(path) {
        Ok(_) => sort("opening the journal", e),
        Err(why) => fault::io("opening", path, why),
    };
    let mut conn = options.connect().await.map_err(told)?;
    match place.is_sealed {
        true => schema::read_only(&mut conn, path).await?,
        false => schema::migrate(&mut conn, schema::STEPS).await?,
    }
    Ok(conn)
}

fn reading(options: SqliteConnectOptions) -> SqliteConnectOptions {
    options
        .pragma("query_only", "ON")
        .pragma("temp_store", "DEFAULT")
        .pragma("cache_size", READER_CACHE)
}

fn readers() -> SqlitePoolOptions {
    SqlitePoolOptions::new()
        .min_connections(0)
        .test_before_acquire(false)
        .acquire_timeout(Duration::from_secs(30))
}

/// A read of the trait, each one statement, so that it sees one moment.
macro_rules! reads {
    ($(fn $method:ident(&self $(, $arg:ident: $type:ty)*) -> $output:ty { $read:path })*) => {
        $(
            async fn $method(&self $(, $arg: $type)*) -> Result<$output> {
                let mut conn = self.reader().await?;
                $read(&mut conn $(, $arg)*).await
            }
        )*
    };
}

impl Journal for Sqlite {
    async fn append(&self, batch: Vec<Append>) -> Result<Vec<Appended>> {
        batch.iter().try_for_each(Append::check)?;
        if batch.is_empty() {
            return Ok(Vec::new());
        }
        self.shared.writer.append(batch).await
    }

    reads! {
        fn load(&self, stream: &StreamId) -> Option<Stream> { chain::stream }
        fn streams(&self, which: Which, after: Option<&StreamId>, limit: u32) -> Vec<Stream> { chain::streams }
        fn archived(&self, streams: &[StreamId]) -> Vec<Stream> { chain::archived }
        fn events(&self, after: Seq, limit: u32) -> Vec<Event> { read::events }
        fn events_of(&self, stream: &StreamId, after: Seq, limit: u32) -> Vec<Event> { chain::events_of }
        fn event_of(&self, stream: &StreamId, version: Version) -> Option<Event> { chain::event_of }
        fn head(&self) -> Seq { read::head }
        fn pending(&self, now: Time, limit: u32) -> Vec<Effect> { read::pending }
        fn next_run(&self) -> Option<Time> { read::next_run }
        fn effect(&self, effect: EffectId) -> Option<Effect> { read::effect }
        fn due(&self, now: Time, limit: u32) -> Vec<Timer> { read::due }
        fn next_due(&self) -> Option<Time> { read::next_due }
        fn timers_of(&self, stream: &StreamId) -> Vec<Timer> { read::timers_of }
        fn slots(&self) -> Vec<Slot> { read::slots }
        fn pending_commands(&self, after: Number, limit: u32) -> Vec<Command> { read::pending_commands }
        fn command(&self, id: &CommandId) -> Option<Command> { read::command }
        fn meta(&self, key: &str) -> Option<String> { read::meta }
    }

    fn archive(&self, stream: &StreamId) -> impl Future<Output = Result<()>> + Send {
        self.shared.writer.write(write::Archive(stream.clone()))
    }

    fn subscribe(&self) -> Subscription {
        let Shared { place, notices, .. } = &*self.shared;
        let watch = || watch::watch(&place.path, Arc::clone(notices));
        let others = match self.shared.watch.get_or_init(watch) {
            Some(_) => Others::Watched,
            None => Others::Unwatched,
        };
        notices.subscribe(others)
    }

    async fn close(&self) {
        self.shared.writer.close().await;
        self.shared.readers.close().await;
    }

    fn tried(
        &self,
        effect: EffectId,
        run_at: Time,
        why: Option<String>,
    ) -> impl Future<Output = Result<()>> + Send {
        let tried = write::Tried { effect, run_at, why };
        self.shared.writer.write(tried)
    }

    fn done(&self, effect: EffectId, at: Time) -> impl Future<Output = Result<()>> + Send {
        self.shared.writer.write(write::Done { effect, at })
    }

    async fn submit(&self, command: NewCommand) -> Result<Submitted> {
        command.check()?;
        let submitted = self.shared.writer.write(write::Submit(command)).await?;
        watch::touch(&self.shared.place.path);
        Ok(submitted)
    }

    async fn answer(&self, id: &CommandId, outcome: String, at: Time) -> Result<()> {
        crate::append::json("answer to", id.as_str(), &outcome)?;
        self.shared
            .writer
            .write(write::Answer {
                id: id.clone(),
                outcome,
                at,
            })
            .await
    }

    async fn set_meta(&self, key: &str, value: &str) -> Result<()> {
        own(key)?;
        self.shared
            .writer
            .write(write::SetMeta {
                key: key.to_owned(),
                value: value.to_owned(),
            })
            .await
    }

    async fn verify(&self) -> Result<Vec<String>> {
        let mut conn = self.reader().await?;
        let told = |e| sort("checking the journal", e);
        let mut snapshot = conn.begin().await.map_err(told)?;
        let problems = verify::verify(&mut snapshot).await?;
        snapshot.rollback().await.map_err(told)?;
        Ok(problems)
    }
}

impl ViewArchive for Sqlite {
    async fn save_view(&self, view: NewView, records: Vec<Record>) -> Result<Option<Vec<StreamId>>> {
        crate::append::records(&records)?;
        self.shared.writer.write(write::SaveView { view, records }).await
    }

    reads! {
        fn cached_view(&self) -> Option<CachedView> { read::cached_view }
        fn piece(&self, number: u64) -> Option<String> { read::piece }
        fn record(&self, stream: &StreamId) -> Option<Record> { read::record }
        fn records(&self, after: Option<&StreamId>, limit: u32) -> Vec<Record> { read::records }
        fn briefs(&self, after: Option<&StreamId>, limit: u32) -> Vec<Record> { read::briefs }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn who_waits_shares_a_transaction() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Sqlite::create(&folder.path().join("journal.db"), "id")
            .await
            .unwrap();
        let crowd: Vec<_> = (0..64)
            .map(|n| {
                let journal = journal.clone();
                let append = crate::append::tests::minimal(&format!("stream-{n}"));
                tokio::spawn(async move { journal.append(vec![append]).await })
            })
            .collect();
        for one in crowd {
            one.await.unwrap().unwrap();
        }
        assert_eq!(journal.head().await.unwrap(), Seq(64));
        // A notice is sent for each transaction. On one thread, all appends are queued before the writer
        // looks.
        let transactions = journal.shared.notices.sent();
        assert!(transactions <= 2, "{transactions} transactions");
    }
}
