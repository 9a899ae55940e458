//! The write queue: writes that wait for the writer, and the callers that wait for their results.

use std::future::Future;
use std::pin::Pin;

use tokio::sync::oneshot;

use super::writer::Tx;
use crate::{Append, Appended, Error, Result, StreamId};

/// Something to write. It may be run again when a transaction that it shared came to nothing.
pub(super) trait Write: Send + Sync + 'static {
    type Output: Send + 'static;

    fn run(&self, tx: &mut Tx<'_>) -> impl Future<Output = Result<Self::Output>> + Send;
}

/// Appends that are written all or none.
pub(super) struct Batch(pub(super) Vec<Append>);

impl Write for Batch {
    type Output = Vec<Appended>;

    /// One after the other, so that the one that is refused is known.
    async fn run(&self, tx: &mut Tx<'_>) -> Result<Vec<Appended>> {
        let mut appended = Vec::with_capacity(self.0.len());
        for append in &self.0 {
            appended.extend(super::append::append(tx, &[append]).await?);
        }
        Ok(appended)
    }
}

/// A job of the queue, whatever its output is.
pub(super) trait Task: Send {
    fn run<'a>(&'a mut self, tx: &'a mut Tx<'_>) -> Pin<Box<dyn Future<Output = Result<()>> + Send + 'a>>;

    fn answer(self: Box<Self>, committed: Result<()>);
}

/// A write, and the caller that waits for it.
pub(super) struct Job<W: Write> {
    pub(super) write: W,
    pub(super) output: Option<W::Output>,
    reply: oneshot::Sender<Result<W::Output>>,
}

impl<W: Write> Job<W> {
    /// A job, and the receiver of its result.
    pub(super) fn new(write: W) -> (Box<Self>, oneshot::Receiver<Result<W::Output>>) {
        let (reply, answer) = oneshot::channel();
        let output = None;
        let job = Self { write, output, reply };
        (Box::new(job), answer)
    }
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
        // The caller may have stopped waiting; the write is done all the same.
        drop(reply.send(answer));
    }
}

/// An entry of the queue.
pub(super) enum Work {
    /// Appends, which are written together with their neighbours in the queue.
    Append(Box<Job<Batch>>),
    Other(Box<dyn Task>),
}

impl Work {
    pub(super) fn is_append(&self) -> bool {
        matches!(self, Self::Append(_))
    }

    /// True if it is a single write, so that a refusal is of this one.
    pub(super) fn is_one(&self) -> bool {
        match self {
            Self::Append(job) => job.write.0.len() == 1,
            Self::Other(_) => true,
        }
    }

    pub(super) fn streams(&self) -> impl Iterator<Item = &StreamId> {
        let appends = match self {
            Self::Append(job) => job.write.0.as_slice(),
            Self::Other(_) => &[],
        };
        appends.iter().map(|append| &append.stream)
    }

    pub(super) fn task(&mut self) -> &mut dyn Task {
        match self {
            Self::Append(job) => job.as_mut(),
            Self::Other(task) => task.as_mut(),
        }
    }

    pub(super) fn answer(self, committed: Result<()>) {
        match self {
            Self::Append(job) => job.answer(committed),
            Self::Other(task) => task.answer(committed),
        }
    }
}
