//! The tail of a journal that is followed, and the fold of its rows.

use std::sync::Arc;

use model::journal::Stream;
use model::view::Snapshot;
use store::{Journal as _, Ledger, Recorded};
use tokio::sync::watch;

use super::{Begin, ROWS, Seen};
use crate::clock;
use crate::error::Result;
use crate::follow::Follow;
use crate::repository::journal;
use runtime::Place;

/// The rows after which the fold is read anew, without the tickets that were archived meanwhile.
const RENEWED: u64 = 50_000;

/// The journal that is followed.
pub(super) struct Tail {
    pub(super) ledger: Ledger,
    pub(super) rows: Follow,
    /// The place of its file on the disk.
    pub(super) file: Option<(u64, u64)>,
    /// The journal may have more rows than were folded.
    pub(super) is_behind: bool,
    /// The row at which the fold is read anew; none where it never is.
    renewal: Option<u64>,
}

impl Tail {
    /// The journal, with the snapshot behind which it is followed; none where there is no journal yet.
    pub(super) async fn open(
        place: &Place,
        file: Option<(u64, u64)>,
        begin: Begin,
    ) -> Result<Option<(Self, Snapshot)>> {
        let Some(ledger) = journal(place).await? else {
            return Ok(None);
        };
        // The rows of a young journal are told to those that were there before it.
        let is_whole = begin == Begin::First || ledger.0.head().await?.0 <= u64::from(ROWS);
        let crew = match is_whole {
            true => {
                // What cannot be read is said now, and not when it is followed.
                ledger.tail(0, ROWS).await?;
                Snapshot::default()
            }
            false => ledger.snapshot(clock::now()).await?,
        };
        let tail = Self {
            rows: Follow::new(ledger.clone(), crew.seq),
            renewal: (begin == Begin::Snapshot).then(|| crew.seq + RENEWED),
            ledger,
            file,
            is_behind: false,
        };
        Ok(Some((tail, crew)))
    }

    /// Folds the rows that are there by now, at most so many as are taken at once, and adds them to `folded`.
    pub(super) async fn more(
        &mut self,
        seen: &watch::Sender<Seen>,
        folded: &mut Vec<Recorded>,
    ) -> Result<()> {
        self.is_behind = false;
        loop {
            let rows = self.rows.more().await?;
            if rows.is_empty() {
                return self.renew(seen).await;
            }
            for row in rows {
                self.fold(seen, &row).await?;
                folded.push(row);
            }
            if folded.len() >= ROWS as usize {
                // A long burst is seen as it comes.
                self.is_behind = true;
                return Ok(());
            }
        }
    }

    /// Folds a row. An archived ticket is restored before.
    async fn fold(&self, seen: &watch::Sender<Seen>, row: &Recorded) -> Result<()> {
        let is_archived = match &row.stream {
            Stream::Ticket(id) => seen.borrow().crew.archived.tickets.contains(id),
            Stream::Project => false,
        };
        if is_archived {
            let mut crew = Snapshot::clone(&seen.borrow().crew);
            self.ledger.fold_row(&mut crew, row).await?;
            seen.send_modify(|seen| seen.renew(crew));
        } else {
            seen.send_modify(|seen| Arc::make_mut(&mut seen.crew).apply(row.row()));
        }
        Ok(())
    }

    /// Reads the fold anew after very many rows: the engine has archived tickets meanwhile.
    async fn renew(&mut self, seen: &watch::Sender<Seen>) -> Result<()> {
        let seq = seen.borrow().crew.seq;
        if self.renewal.is_none_or(|renewal| seq < renewal) {
            return Ok(());
        }
        self.renewal = Some(seq + RENEWED);
        // Where it cannot be read now, the fold that is there is as good.
        if let Ok(crew) = self.ledger.snapshot(clock::now()).await
            && crew.seq == seq
        {
            seen.send_modify(|seen| seen.renew(crew));
        }
        Ok(())
    }
}
