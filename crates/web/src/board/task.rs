//! The task of a board: follows the repository, derives the documents and tells them to the pages.

use std::sync::{Arc, PoisonError, Weak};
use std::time::Duration;

use client::following::{Change, Following};
use client::{clock, documents};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use super::Shared;
use super::derive::{Derivation, Repository, Sources};
use super::document::json;

/// The seconds after which words that count time are written anew, while a page has subscribed.
const WORDS: u32 = 5;
/// The shortest time between two cuts: 20 a second.
const CUT: Duration = Duration::from_millis(50);
/// A cut is followed by a rest of so many times its own length: a quarter of a core is the most.
const REST: u32 = 3;
/// The longest rest: on a machine that is busy with other work, a cut that took long was waiting for most of
/// its time.
const LONGEST: Duration = Duration::from_secs(5);

/// The task's side of a board.
pub(super) struct Task {
    /// The task ends with the last handle of the board.
    shared: Weak<Shared>,
    following: Following,
    refresh: mpsc::UnboundedReceiver<oneshot::Sender<()>>,
    repository: Repository,
    derivation: Derivation,
    /// Rows that were folded since the last cut.
    rows: Vec<(u64, Arc<str>)>,
    /// Something has changed since the last cut.
    is_due: bool,
    next_cut: Instant,
    /// Seconds since the last cut.
    seconds: u32,
    /// Those that wait for a cut with the ticket folder as it is now.
    waiting: Vec<oneshot::Sender<()>>,
}

impl Task {
    pub(super) fn new(
        shared: &Arc<Shared>,
        following: Following,
        refresh: mpsc::UnboundedReceiver<oneshot::Sender<()>>,
    ) -> Self {
        Self {
            repository: Repository::at(&shared.place),
            shared: Arc::downgrade(shared),
            following,
            refresh,
            derivation: Derivation::default(),
            rows: Vec::new(),
            is_due: true,
            next_cut: Instant::now(),
            seconds: 0,
            waiting: Vec::new(),
        }
    }

    /// Runs until the last handle of the board is dropped.
    pub(super) async fn until_dropped(mut self) {
        let mut changes = self.following.look().await;
        loop {
            let Some(shared) = self.shared.upgrade() else {
                return;
            };
            for change in changes.drain(..) {
                self.take(&shared, change);
            }
            self.cut(&shared).await;
            self.following.rest(shared.pages().subscribers() == 0);
            // Pages see a long burst of rows as it comes: the next ones wait for the cut.
            let is_free = self.rows.is_empty() || !self.following.is_behind();
            tokio::select! {
                due = self.following.due(), if is_free => changes = self.following.take(due).await,
                asked = self.refresh.recv() => match asked {
                    Some(done) => {
                        changes = self.following.look().await;
                        self.waiting.push(done);
                    }
                    None => return,
                },
                () = shared.changed.notified() => self.is_due = true,
                () = tokio::time::sleep_until(self.next_cut), if self.is_due => {}
            }
        }
    }

    fn take(&mut self, shared: &Shared, change: Change) {
        match change {
            Change::Journal => {
                self.rows.clear();
                self.derivation = Derivation::default();
                shared.restart();
            }
            Change::Rows(rows) => {
                self.derivation.note(&rows);
                let told = rows.iter().map(|row| (row.seq, json(&documents::Event::of(row))));
                self.rows.extend(told);
            }
            Change::Tick => {
                self.seconds += 1;
                self.is_due |= self.seconds >= WORDS && shared.pages().subscribers() > 0;
                return;
            }
            Change::Files | Change::Engine | Change::AtWork | Change::Trouble => {}
        }
        self.is_due = true;
    }

    /// Derives the documents and tells what changed, if it is time for it.
    async fn cut(&mut self, shared: &Arc<Shared>) {
        if self.is_due && Instant::now() >= self.next_cut {
            self.is_due = false;
            self.seconds = 0;
            let begun = Instant::now();
            let mut derivation = std::mem::take(&mut self.derivation);
            let (rows, repository) = (std::mem::take(&mut self.rows), self.repository.clone());
            let (told, now) = (Arc::clone(shared), clock::now());
            let derived = tokio::task::spawn_blocking(move || {
                let seen = told.seen.borrow().clone();
                let (patch, items) = derivation.patch(&Sources {
                    repository: &repository,
                    seen: &seen,
                    asked: &told.asked(now),
                    now,
                });
                *told.items.write().unwrap_or_else(PoisonError::into_inner) = items.into();
                told.update(patch, rows, seen.crew.seq, now);
                derivation
            });
            match derived.await {
                Ok(derivation) => self.derivation = derivation,
                // It has failed in the middle: nothing that it derived before is built upon.
                Err(_) => shared.restart(),
            }
            self.next_cut = Instant::now() + (begun.elapsed() * REST).clamp(CUT, LONGEST);
        }
        if !self.is_due {
            self.answer_waiting();
        }
    }

    /// Answers those that wait for a cut with the ticket folder as it is, once that was read.
    fn answer_waiting(&mut self) {
        if self.following.is_reading() {
            return;
        }
        for done in self.waiting.drain(..) {
            // One that does not wait any more is none the worse.
            let _ = done.send(());
        }
    }
}
