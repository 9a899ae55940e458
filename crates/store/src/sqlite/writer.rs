//! The one writer of this process: it drains its queue, with one transaction for all writes that wait.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use sqlx::sqlite::SqliteConnection;
use sqlx::{ConnectOptions, Connection};
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use super::chain::{Chain, broken};
use super::fault::{breaks_transaction, sort};
use super::place::Place;
use super::queue::{Batch, Job, Work, Write};
use super::read::{given, number, stream};
use super::schema;
use crate::subscription::Notices;
use crate::{Append, Appended, Error, Fence, Result, Seq, Stream, StreamId, Version};

/// The number of writes that the queue holds; the next caller waits until there is room.
const QUEUE: usize = 1024;
/// The largest number of writes that share a transaction: other callers, and other processes, want to write
/// too.
const GROUP: usize = 256;
/// After this many writes the log is moved into the file, in the next pause.
const REST: usize = 512;
/// The length of that pause: a write that comes meanwhile waits. Without a pause, the commit that makes the
/// log too long moves it.
const PAUSE: Duration = Duration::from_millis(20);

/// A transaction that is open.
pub(super) struct Tx<'a> {
    pub(super) conn: &'a mut SqliteConnection,
    /// The place of the last event, with what this transaction wrote.
    pub(super) head: u64,
    /// The streams, with what this transaction wrote, that appends want to go to.
    pub(super) streams: BTreeMap<StreamId, Chain>,
}

enum Message {
    Work(Work),
    Close(oneshot::Sender<()>),
}

/// The way to the writer.
#[derive(Debug)]
pub(super) struct Writer(mpsc::Sender<Message>);

impl Writer {
    /// Starts the writer on a connection of its own, made when there is something to write if there is none
    /// yet.
    pub(super) fn start(place: Place, conn: Option<SqliteConnection>, notices: Arc<Notices>) -> Self {
        let (sender, queue) = mpsc::channel(QUEUE);
        tokio::spawn(Desk { place, conn, notices }.serve(queue));
        Self(sender)
    }

    pub(super) async fn append(&self, appends: Vec<Append>) -> Result<Vec<Appended>> {
        self.enqueue(Batch(appends), Work::Append).await
    }

    pub(super) async fn write<W: Write>(&self, write: W) -> Result<W::Output> {
        self.enqueue(write, |job| Work::Other(job)).await
    }

    async fn enqueue<W: Write>(&self, write: W, work: impl FnOnce(Box<Job<W>>) -> Work) -> Result<W::Output> {
        let (job, answer) = Job::new(write);
        self.0
            .send(Message::Work(work(job)))
            .await
            .map_err(|_gone| Error::Closed)?;
        answer.await.map_err(|_gone| Error::Closed)?
    }

    /// Writes the rest of the queue, then closes; returns when the connection is closed.
    pub(super) async fn close(&self) {
        let (reply, closed) = oneshot::channel();
        if self.0.send(Message::Close(reply)).await.is_ok() {
            // An error means that it is closed too.
            drop(closed.await);
        }
    }
}

/// The state of the thread that writes.
struct Desk {
    place: Place,
    /// None after a failure that left the connection in doubt.
    conn: Option<SqliteConnection>,
    notices: Arc<Notices>,
}

impl Desk {
    async fn serve(mut self, mut queue: mpsc::Receiver<Message>) {
        let mut closing = Vec::new();
        let mut group = Vec::new();
        let mut written = 0;
        loop {
            let next = queue.recv_many(&mut group, GROUP);
            let came = if written >= REST {
                let Ok(came) = timeout(PAUSE, next).await else {
                    written = 0;
                    self.take_over().await;
                    continue;
                };
                came
            } else {
                next.await
            };
            if came == 0 {
                break;
            }
            let mut works = Vec::with_capacity(group.len());
            for message in group.drain(..) {
                match message {
                    Message::Work(work) => works.push(work),
                    Message::Close(reply) => {
                        queue.close();
                        closing.push(reply);
                    }
                }
            }
            if !works.is_empty() {
                written += works.len();
                self.group(works).await;
            }
        }
        if let Some(conn) = self.conn {
            // Every answered write is in the file already.
            drop(conn.close().await);
        }
        for reply in closing {
            // The caller may have stopped waiting.
            let _gone = reply.send(());
        }
    }

    /// Moves the log into the file, while nobody waits.
    async fn take_over(&mut self) {
        if let Some(conn) = &mut self.conn {
            // A log that cannot be moved now is moved later; it is durable where it is.
            drop(sqlx::query("PRAGMA wal_checkpoint(PASSIVE)").execute(conn).await);
        }
    }

    /// Writes for a group in one transaction; when that comes to nothing, for each on its own.
    async fn group(&mut self, mut works: Vec<Work>) {
        let alone = works.len() == 1;
        match self.transaction(&mut works).await {
            Ok(results) => {
                let wrote = results.iter().any(Result::is_ok);
                for (work, result) in works.into_iter().zip(results) {
                    work.answer(result);
                }
                if wrote {
                    self.notices.send();
                }
            }
            Err(Failed {
                error,
                may_be_durable,
            }) if alone || may_be_durable => {
                self.conn = None;
                for work in works {
                    work.answer(Err(error.clone()));
                }
            }
            Err(Failed { .. }) => {
                self.conn = None;
                for work in works {
                    Box::pin(self.group(vec![work])).await;
                }
            }
        }
    }

    /// One transaction; gives each one's own result. An error is everyone's.
    async fn transaction(&mut self, works: &mut [Work]) -> Result<Vec<Result<()>>, Failed> {
        let conn = match self.conn.take() {
            Some(conn) => self.conn.insert(conn),
            None => {
                let conn = schema::options(&self.place.path).connect().await;
                self.place.stands()?;
                self.conn
                    .insert(conn.map_err(|e| sort("opening the journal", e))?)
            }
        };
        let wanted: Vec<String> = works
            .iter()
            .flat_map(Work::streams)
            .map(StreamId::to_string)
            .collect();
        let wanted = given(&wanted)?;
        let mut tx = begin(conn, &wanted).await?;
        // A replaced journal that is not noticed here would take writes that nobody ever reads.
        self.place.stands()?;
        failpoint::hit("journal.begun");
        let results = match together(&mut tx, works).await {
            Ok(()) => works.iter().map(|_written| Ok(())).collect(),
            Err(error) if breaks_transaction(&error) => return Err(error.into()),
            Err(refused) => {
                run(&mut tx, "ROLLBACK").await?;
                if let [work] = works
                    && work.is_one()
                {
                    return Ok(vec![Err(refused)]);
                }
                tx = begin(tx.conn, &wanted).await?;
                apart(&mut tx, works).await?
            }
        };
        commit(tx, results).await
    }
}

async fn run(tx: &mut Tx<'_>, statement: &'static str) -> Result<()> {
    let done = sqlx::query(statement).execute(&mut *tx.conn).await;
    done.map(drop).map_err(|e| sort("writing to the journal", e))
}

/// Runs all writes, or returns a refusal of one of them.
async fn together(tx: &mut Tx<'_>, works: &mut [Work]) -> Result<()> {
    for beside in works.chunk_by_mut(|one, next| one.is_append() && next.is_append()) {
        let mut jobs = Vec::with_capacity(beside.len());
        for work in beside {
            match work {
                Work::Append(job) => jobs.push(job),
                Work::Other(task) => task.run(tx).await?,
            }
        }
        let appends: Vec<&Append> = jobs.iter().flat_map(|job| &job.write.0).collect();
        let mut appended = super::append::append(tx, &appends).await?.into_iter();
        for job in jobs {
            job.output = Some(appended.by_ref().take(job.write.0.len()).collect());
        }
    }
    Ok(())
}

/// Writes for each that is not refused; gives each one's own result.
async fn apart(tx: &mut Tx<'_>, works: &mut [Work]) -> Result<Vec<Result<()>>> {
    let mut results = Vec::with_capacity(works.len());
    run(tx, "SAVEPOINT one").await?;
    for work in works {
        let (head, streams) = (tx.head, tx.streams.clone());
        let result = work.task().run(tx).await;
        let next = match &result {
            Ok(()) => "RELEASE one; SAVEPOINT one",
            Err(error) if breaks_transaction(error) => return Err(error.clone()),
            Err(_refused) => {
                (tx.head, tx.streams) = (head, streams);
                "ROLLBACK TO one"
            }
        };
        run(tx, next).await?;
        results.push(result);
    }
    Ok(results)
}

/// Commits, which ends an open savepoint too.
async fn commit(tx: Tx<'_>, results: Vec<Result<()>>) -> Result<Vec<Result<()>>, Failed> {
    failpoint::hit("journal.written");
    match sqlx::query("COMMIT").execute(tx.conn).await {
        Ok(_) => {
            failpoint::hit("journal.committed");
            Ok(results)
        }
        Err(e) => Err(Failed {
            error: sort("committing to the journal", e),
            may_be_durable: true,
        }),
    }
}

/// The failure of a transaction, with or without a doubt that it was made durable.
struct Failed {
    error: Error,
    may_be_durable: bool,
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Self {
            error,
            may_be_durable: false,
        }
    }
}

/// Begins, and reads these streams, if the schema is still the one that this process knows: a newer crew may
/// have changed it since.
async fn begin<'a>(conn: &'a mut SqliteConnection, streams: &str) -> Result<Tx<'a>> {
    #[derive(Deserialize)]
    struct Row {
        id: String,
        version: Version,
        fence: Fence,
        first: Seq,
        last: Seq,
        is_whole: bool,
    }
    let query = "BEGIN IMMEDIATE; \
                 SELECT (SELECT value FROM meta WHERE key = 'schema'), (SELECT max(seq) FROM events), \
                 (SELECT json_group_array(json_object('id', id, 'version', version, 'fence', fence, \
                 'first', first, 'last', last, 'is_whole', json(iif(EXISTS (SELECT 1 FROM events \
                 WHERE seq = last AND stream = id AND events.version = streams.version), 'true', 'false')))) FROM streams WHERE id IN (SELECT value FROM json_each(?1)))";
    let (schema, head, streams): (Option<String>, Option<i64>, String) = sqlx::query_as(query)
        .bind(streams.to_owned())
        .fetch_one(&mut *conn)
        .await
        .map_err(|e| sort("beginning to write to the journal", e))?;
    schema::up_to_date(schema::parse(schema.as_deref())?, schema::STEPS)?;
    let streams: Vec<Row> = serde_json::from_str(&streams).map_err(|e| Error::Damaged {
        what: format!("its streams cannot be read ({e})"),
    })?;
    if let Some(row) = streams.iter().find(|row| !row.is_whole) {
        return Err(broken(&stream(&row.id)?, row.last));
    }
    let chain = |row: Row| -> Result<(StreamId, Chain)> {
        let id = stream(&row.id)?;
        let stream = Stream {
            id: id.clone(),
            version: row.version,
            fence: row.fence,
            state: String::new(),
            archived: false,
        };
        let (first, last) = (row.first, row.last);
        Ok((id, Chain { stream, first, last }))
    };
    Ok(Tx {
        conn,
        head: number("the last event", head.unwrap_or(0))?,
        streams: streams.into_iter().map(chain).collect::<Result<_>>()?,
    })
}
