//! Streamed answers.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::body::{Body, Bytes, Frame};
use tokio::sync::mpsc;

use crate::log::{End, Log};
use crate::script::Step;

/// A body that is sent while it is made. It is dropped when its client closes the connection, which closes
/// the channel.
pub(crate) struct Stream(mpsc::Receiver<Result<Bytes, Cut>>);

/// The error that makes the server break the connection off, since the script says so.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("cut by the script")]
pub(crate) struct Cut;

impl Stream {
    /// Starts to send the opening and then the rest, with the waits and the cut of the step.
    pub(crate) fn start(
        step: &Step,
        opening: Vec<String>,
        rest: Vec<String>,
        log: Arc<Log>,
        n: usize,
    ) -> Self {
        let (sender, receiver) = mpsc::channel(1);
        let (chunk, stall, cut) = (step.chunk, step.stall, step.cut);
        tokio::spawn(async move {
            let sent = async {
                send(&sender, opening, chunk).await?;
                pause(&sender, stall).await?;
                if cut {
                    return Ok::<End, ClientGone>(End::Cut);
                }
                send(&sender, rest, chunk).await?;
                Ok(End::Complete)
            };
            let end = sent.await.unwrap_or(End::ClientGone);
            // The log is updated before the client can see the end: a test that has the whole answer finds
            // it there.
            log.update(n, |request| request.end = Some(end));
            if end == End::Cut {
                let _ = sender.send(Err(Cut)).await;
            }
        });
        Self(receiver)
    }
}

/// The client closed the connection.
struct ClientGone;

async fn send(
    sender: &mpsc::Sender<Result<Bytes, Cut>>,
    texts: Vec<String>,
    chunk: Duration,
) -> Result<(), ClientGone> {
    for text in texts {
        sender.send(Ok(Bytes::from(text))).await.map_err(|_| ClientGone)?;
        pause(sender, chunk).await?;
    }
    Ok(())
}

async fn pause(sender: &mpsc::Sender<Result<Bytes, Cut>>, pause: Duration) -> Result<(), ClientGone> {
    tokio::select! {
        () = sender.closed() => Err(ClientGone),
        () = tokio::time::sleep(pause) => Ok(()),
    }
}

impl Body for Stream {
    type Data = Bytes;
    type Error = Cut;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Cut>>> {
        self.0
            .poll_recv(context)
            .map(|next| next.map(|next| next.map(Frame::data)))
    }
}

impl From<Infallible> for Cut {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}
