//! Subscriptions: notices to a reader that something was written to a journal.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::timeout;

use crate::{Error, Result};

/// The interval at which a subscriber looks when no notice comes: a lost notice must not be waited for. A
/// notice of another process's write comes a little before the write can be read, so that some looks follow
/// each notice.
const POLL: Duration = Duration::from_millis(250);
/// The interval at which it looks when no notice has come for a while.
const QUIET: Duration = Duration::from_secs(2);
/// The number of looks that follow a notice at the shorter interval.
const LOOKS: u32 = 8;

/// A subscription to the writes to a journal, of this process and of others. It misses no notice: one that
/// came before [`changed`](Self::changed) was called counts.
#[derive(Debug)]
pub struct Subscription {
    notices: watch::Receiver<u64>,
    others: Others,
    /// Looks since the last notice.
    looks: u32,
}

/// The way in which the writes of other processes are noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Others {
    /// There are no other processes.
    None,
    /// The system gives notice of them, if it loses none.
    Watched,
    /// Only a look finds them.
    Unwatched,
}

impl Subscription {
    /// Waits until something was written since the last call or since the subscription began, or until it is
    /// time to look anyway: there may be nothing new.
    ///
    /// # Errors
    /// [`Error::Closed`] when the journal is gone.
    pub async fn changed(&mut self) -> Result<()> {
        let limit = match self.others {
            Others::None => return self.noticed().await,
            Others::Watched if self.looks >= LOOKS => QUIET,
            Others::Watched | Others::Unwatched => POLL,
        };
        self.changed_within(limit).await
    }

    /// As [`changed`](Self::changed), with this interval.
    ///
    /// # Errors
    /// As [`changed`](Self::changed).
    pub async fn changed_within(&mut self, limit: Duration) -> Result<()> {
        self.looks = self.looks.saturating_add(1);
        timeout(limit, self.noticed()).await.unwrap_or(Ok(()))
    }

    /// Whether the last wait ended with a notice, and not since it was time to look anyway.
    #[must_use]
    pub fn was_noticed(&self) -> bool {
        self.looks == 0
    }

    /// Waits for the next notice alone: the caller looks from time to time by itself.
    ///
    /// # Errors
    /// As [`changed`](Self::changed).
    pub async fn noticed(&mut self) -> Result<()> {
        self.notices.changed().await.map_err(|_gone| Error::Closed)?;
        self.looks = 0;
        Ok(())
    }
}

/// The other end of every [`Subscription`].
#[derive(Debug)]
pub(crate) struct Notices(watch::Sender<u64>);

impl Notices {
    pub(crate) fn new() -> Self {
        Self(watch::Sender::new(0))
    }

    /// Gives notice of a write.
    pub(crate) fn send(&self) {
        self.0.send_modify(|sent| *sent = sent.wrapping_add(1));
    }

    /// The number of notices that were sent.
    #[cfg(test)]
    pub(crate) fn sent(&self) -> u64 {
        *self.0.borrow()
    }

    pub(crate) fn subscribe(&self, others: Others) -> Subscription {
        Subscription {
            notices: self.0.subscribe(),
            others,
            looks: 0,
        }
    }
}
