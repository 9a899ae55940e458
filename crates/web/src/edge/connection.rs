//! A connection on which the header of a request must come whole in time, from its first byte on.

use std::future::Future as _;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// The longest time from the first byte of a header to its end.
const HEADER: Duration = Duration::from_secs(10);

/// Whether a request is being answered on a connection: what comes meanwhile is no header. It counts both the
/// beginnings and the ends of answers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Turns(Arc<AtomicU64>);

/// A connection whose reads fail once a header takes too long.
pub(crate) struct Timed<T> {
    io: T,
    answering: Turns,
    /// The count of beginnings and ends when the deadline was set.
    turn: u64,
    deadline: Option<Pin<Box<Sleep>>>,
}

impl Turns {
    /// The header is there, and the request is answered from now on.
    pub(crate) fn begins(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// The answer is made: the next bytes are another header.
    pub(crate) fn ends(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether no request has come yet.
    pub(crate) fn is_unasked(&self) -> bool {
        self.turn() == 0
    }

    fn turn(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl<T> Timed<T> {
    pub(crate) fn new(io: T, answering: Turns) -> Self {
        Self {
            io,
            answering,
            turn: 0,
            deadline: None,
        }
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Timed<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.io).poll_read(context, buffer);
        let turn = self.answering.turn();
        if turn != self.turn {
            // The header that the deadline was for has come whole.
            (self.turn, self.deadline) = (turn, None);
        }
        let is_answering = turn % 2 == 1;
        if is_answering {
            return read;
        }
        if buffer.filled().len() > before && self.deadline.is_none() {
            self.deadline = Some(Box::pin(sleep(HEADER)));
        }
        let deadline = self.deadline.as_mut();
        if deadline.is_some_and(|deadline| deadline.as_mut().poll(context).is_ready()) {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        read
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Timed<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(context)
    }
}
