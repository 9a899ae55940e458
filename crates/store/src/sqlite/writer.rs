//! The one writer of this process: it drains its queue, a transaction for everyone who waits.

use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

use sqlx::sqlite::SqliteConnection;
use sqlx::{ConnectOptions, Connection};
use tokio::sync::{mpsc, oneshot};

use super::fault::{breaks_transaction, sort};
use super::schema;
use crate::journal::Bell;
use crate::{Error, Result};

/// How many callers wait in line before the next one waits to get in.
const QUEUE: usize = 1024;
/// How many callers share a transaction at most: others, and other processes, want to write too.
const GROUP: usize = 128;

/// A transaction that is open.
pub(super) struct Tx<'a> {
    pub(super) conn: &'a mut SqliteConnection,
    /// The place of the last event, with what this transaction wrote.
    pub(super) head: u64,
}

/// Something to write. It may be run again when a transaction that it shared came to nothing.
pub(super) trait Write: Send + Sync + 'static {
    type Output: Send + 'static;

    fn run(&self, tx: &mut Tx<'_>) -> impl Future<Output = Result<Self::Output>> + Send;
}

/// What came of the queue's work so far, whatever its output is.
trait Task: Send {
    fn run<'a>(&'a mut self, tx: &'a mut Tx<'_>) -> Pin<Box<dyn Future<Output = Result<()>> + Send + 'a>>;

    fn answer(self: Box<Self>, committed: Result<()>);
}

struct Job<W: Write> {
    write: W,
    output: Option<W::Output>,
    reply: oneshot::Sender<Result<W::Output>>,
}

impl<W: Write> Task for Job<W> {
    fn run<'a>(&'a mut self, tx: &'a mut Tx<'_>) -> Pin<Box<dyn Future<Output = Result<()>> + Send + 'a>> {
        Box::pin(async move {
            self.output = Some(self.write.run(tx).await?);
            Ok(())
        })
    }

    fn answer(self: Box<Self>, committed: Result<()>) {
        let Self {
            output,
            reply,
            write: _,
        } = *self;
        let answer = committed.and_then(|()| output.ok_or(Error::Closed));
        // Whoever asked may have stopped waiting; it is written all the same.
        drop(reply.send(answer));
    }
}

enum Message {
    Task(Box<dyn Task>),
    Close(oneshot::Sender<()>),
}

/// The way to the writer.
#[derive(Debug)]
pub(super) struct Writer(mpsc::Sender<Message>);

impl Writer {
    /// Starts the writer on a connection of its own, made when there is something to write if there is none yet.
    pub(super) fn start(path: PathBuf, conn: Option<SqliteConnection>, bell: Arc<Bell>) -> Self {
        let (sender, queue) = mpsc::channel(QUEUE);
        tokio::spawn(Desk { path, conn, bell }.serve(queue));
        Self(sender)
    }

    pub(super) async fn write<W: Write>(&self, write: W) -> Result<W::Output> {
        let (reply, answer) = oneshot::channel();
        let task = Box::new(Job {
            write,
            output: None,
            reply,
        });
        self.0
            .send(Message::Task(task))
            .await
            .map_err(|_gone| Error::Closed)?;
        answer.await.map_err(|_gone| Error::Closed)?
    }

    /// Writes what is in line, then closes; gives back when the connection is closed.
    pub(super) async fn close(&self) {
        let (reply, closed) = oneshot::channel();
        if self.0.send(Message::Close(reply)).await.is_ok() {
            // An error means that it is closed too.
            drop(closed.await);
        }
    }
}

/// Where the writing is done.
struct Desk {
    path: PathBuf,
    /// None after a failure that left the connection in doubt.
    conn: Option<SqliteConnection>,
    bell: Arc<Bell>,
}

impl Desk {
    async fn serve(mut self, mut queue: mpsc::Receiver<Message>) {
        let mut closing = Vec::new();
        let mut group = Vec::new();
        while queue.recv_many(&mut group, GROUP).await > 0 {
            let mut tasks = Vec::with_capacity(group.len());
            for message in group.drain(..) {
                match message {
                    Message::Task(task) => tasks.push(task),
                    Message::Close(reply) => {
                        queue.close();
                        closing.push(reply);
                    }
                }
            }
            if !tasks.is_empty() {
                self.group(tasks).await;
            }
        }
        if let Some(conn) = self.conn {
            // What was answered is in the file already.
            drop(conn.close().await);
        }
        for reply in closing {
            // Whoever closed it may have stopped waiting.
            let _gone = reply.send(());
        }
    }

    /// Writes for a group in one transaction; when that comes to nothing, for each on its own.
    async fn group(&mut self, mut tasks: Vec<Box<dyn Task>>) {
        let alone = tasks.len() == 1;
        match self.transaction(&mut tasks).await {
            Ok(results) => {
                let wrote = results.iter().any(Result::is_ok);
                for (task, result) in tasks.into_iter().zip(results) {
                    task.answer(result);
                }
                if wrote {
                    self.bell.ring();
                }
            }
            Err(Failed {
                error,
                may_be_durable,
            }) if alone || may_be_durable => {
                self.conn = None;
                for task in tasks {
                    task.answer(Err(error.clone()));
                }
            }
            Err(Failed { .. }) => {
                self.conn = None;
                for task in tasks {
                    Box::pin(self.group(vec![task])).await;
                }
            }
        }
    }

    /// One transaction; gives each task's own result. An error is everyone's.
    async fn transaction(&mut self, tasks: &mut [Box<dyn Task>]) -> Result<Vec<Result<()>>, Failed> {
        let conn = match self.conn.take() {
            Some(conn) => self.conn.insert(conn),
            None => {
                let conn = schema::options(&self.path)
                    .connect()
                    .await
                    .map_err(|e| sort("opening the journal", e))?;
                self.conn.insert(conn)
            }
        };
        let told = |e| sort("writing to the journal", e);
        let head = begin(conn).await?;
        let mut tx = Tx { conn, head };
        crash::point("journal.begun");
        if tasks.len() == 1 {
            let result = tasks[0].run(&mut tx).await;
            return match result {
                Ok(()) => commit(tx, vec![Ok(())]).await,
                Err(error) if breaks_transaction(&error) => Err(error.into()),
                Err(refused) => {
                    sqlx::query("ROLLBACK").execute(tx.conn).await.map_err(told)?;
                    Ok(vec![Err(refused)])
                }
            };
        }
        let mut results = Vec::with_capacity(tasks.len());
        sqlx::query("SAVEPOINT one")
            .execute(&mut *tx.conn)
            .await
            .map_err(told)?;
        for task in tasks {
            let head = tx.head;
            let result = task.run(&mut tx).await;
            let next = match &result {
                Ok(()) => "RELEASE one; SAVEPOINT one",
                Err(error) if breaks_transaction(error) => return Err(error.clone().into()),
                Err(_refused) => {
                    tx.head = head;
                    "ROLLBACK TO one"
                }
            };
            sqlx::query(next).execute(&mut *tx.conn).await.map_err(told)?;
            results.push(result);
        }
        commit(tx, results).await
    }
}

/// Commits, which ends an open savepoint too.
async fn commit(tx: Tx<'_>, results: Vec<Result<()>>) -> Result<Vec<Result<()>>, Failed> {
    crash::point("journal.written");
    match sqlx::query("COMMIT").execute(tx.conn).await {
        Ok(_) => {
            crash::point("journal.committed");
            Ok(results)
        }
        Err(e) => Err(Failed {
            error: sort("committing to the journal", e),
            may_be_durable: true,
        }),
    }
}

/// Why a transaction came to nothing, or perhaps did not.
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

/// Begins, and gives the place of the last event, if the schema is still the one that this process knows: a newer crew
/// may have changed it since.
async fn begin(conn: &mut SqliteConnection) -> Result<u64> {
    let query = "BEGIN IMMEDIATE; \
                 SELECT (SELECT value FROM meta WHERE key = 'schema'), (SELECT max(seq) FROM events)";
    let (schema, head): (Option<String>, Option<i64>) = sqlx::query_as(query)
        .fetch_one(conn)
        .await
        .map_err(|e| sort("beginning to write to the journal", e))?;
    schema::up_to_date(schema::parse(schema.as_deref())?, schema::STEPS)?;
    super::read::number("the last event", head.unwrap_or(0))
}
