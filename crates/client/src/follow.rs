//! Following the journal: its rows as they are written, and the snapshot that they give.

use std::path::Path;
use std::time::Duration;

use model::view::Snapshot;
use process::Asks;
use store::{Ledger, Recorded, Subscription};
use tokio::sync::mpsc;
use watch::{Kind, Notice, Watcher};

use crate::clock;
use crate::error::{Error, Result};

/// Rows that are read at a time.
const PAGE: u32 = 250;
/// The distance between two looks at the journal when nothing reports a change: a notification that is lost
/// must not be waited for. The notification of a change comes a little before the change can be seen, so some
/// looks follow each.
const POLL: Duration = Duration::from_millis(250);
/// The longer distance between two looks, once nothing has reported a change for a while.
const QUIET: Duration = Duration::from_secs(2);
/// The number of looks at the shorter distance that follow a change.
const LOOKS: u32 = 8;

/// The snapshot of a journal that may not be there yet, without archived tickets.
pub async fn present(ledger: Option<&Ledger>) -> Result<Snapshot> {
    match ledger {
        Some(ledger) => Ok(ledger.snapshot(clock::now()).await?),
        None => Ok(Snapshot::default()),
    }
}

/// The journal's tail, as it grows.
pub struct Follow {
    ledger: Ledger,
    after: u64,
    writes: Subscription,
}

impl Follow {
    /// Follows the journal from behind a row on.
    pub fn new(ledger: Ledger, after: u64) -> Self {
        let writes = ledger.subscribe();
        Self {
            ledger,
            after,
            writes,
        }
    }

    /// The rows that are there now and were not given yet; maybe none.
    pub async fn more(&mut self) -> Result<Vec<Recorded>> {
        let page = self.ledger.tail(self.after, PAGE).await?;
        if let Some(last) = page.last() {
            self.after = last.seq;
        }
        Ok(page)
    }

    /// Gives all rows that are there and were not given yet, one after the other.
    pub async fn each<E: From<Error>>(
        &mut self,
        mut each: impl FnMut(&Recorded) -> Result<(), E>,
    ) -> Result<(), E> {
        loop {
            let more = self.more().await?;
            if more.is_empty() {
                return Ok(());
            }
            more.iter().try_for_each(&mut each)?;
        }
    }

    /// Waits until there may be more.
    pub async fn changed(&mut self) {
        if self.writes.changed().await.is_err() {
            // The journal is closed: there will be no more.
            std::future::pending::<()>().await;
        }
    }

    /// Waits until something was written: a look that finds no new row ends no wait. For a caller whose look
    /// at what has changed costs much. A wait that is dropped may have taken a notice, so that the caller
    /// then looks too.
    pub async fn written(&mut self) {
        loop {
            self.changed().await;
            if self.writes.was_noticed() {
                return;
            }
            // A notice may be lost. What cannot be read is told where it is read.
            let rows = self.ledger.tail(self.after, 1).await;
            if rows.is_ok_and(|rows| rows.is_empty()) {
                continue;
            }
            return;
        }
    }
}

/// A watch on a folder with a poll behind it.
pub struct Changes {
    told: mpsc::Receiver<()>,
    /// Looks since the last change.
    looks: u32,
    /// Ends the watching when it is dropped; none where the system has none to give.
    watch: Option<Watcher>,
}

impl Changes {
    /// The changes of a folder's files.
    pub fn of(folder: &Path) -> Self {
        let (tell, told) = mpsc::channel(1);
        let watch = Watcher::new(move |notice| match notice {
            // Whatever was written was told before.
            Notice::Of {
                kind: Kind::Closed, ..
            } => {}
            Notice::Of { .. } | Notice::Lost => {
                // Full: a notice is waiting already.
                let _ = tell.try_send(());
            }
        });
        let watch = watch.ok().filter(|watch| watch.watch(folder).is_ok());
        Self {
            told,
            looks: 0,
            watch,
        }
    }

    /// The changes of a run: of its output, and of the answers to its program's calls.
    pub fn of_run(folder: &Path) -> Self {
        let changes = Self::of(folder);
        if let Some(watch) = &changes.watch {
            // A program that cannot call has no such folder.
            let _ = watch.watch(&Asks::of(folder).answers_dir());
        }
        changes
    }

    /// Whether the system gives notice of changes.
    #[must_use]
    pub fn is_watched(&self) -> bool {
        self.watch.is_some()
    }

    /// Waits for a change, or a while.
    pub async fn wait(&mut self) {
        let is_quiet = self.watch.is_some() && self.looks >= LOOKS;
        self.wait_at_most(if is_quiet { QUIET } else { POLL }).await;
    }

    /// Waits for a change, for as long as it takes; for ever where the folder cannot be watched.
    pub async fn told(&mut self) {
        if self.told.recv().await.is_none() {
            std::future::pending::<()>().await;
        }
    }

    /// Waits for a change, or so long: a change is reported a little before it can be seen.
    pub async fn wait_at_most(&mut self, poll: Duration) {
        self.looks = self.looks.saturating_add(1);
        match tokio::time::timeout(poll, self.told.recv()).await {
            Ok(Some(())) => self.looks = 0,
            // No watch: the channel is closed at once, and the poll is all there is.
            Ok(None) => tokio::time::sleep(poll).await,
            Err(_) => {}
        }
    }
}
