//! Loading the journal.

use engine::Loaded;
use model::Time;
use model::ticket::Effect;

use super::{Dispatcher, Recorded};
use crate::queue::Ask;
use crate::{Result, clock};

impl Dispatcher {
    /// Removes the remains of a checkout that a killed engine was about to keep, and those that could not be
    /// removed before: at the start only, while no thread keeps one.
    pub(super) fn clear_leftovers(&self) {
        if !self.is_draining() {
            return;
        }
        let executor = &self.executor;
        if let Err(error) = executor.repository.clear_half_pooled(&executor.workspaces) {
            tracing::warn!(
                "a checkout that was half put aside takes room for nothing: {}",
                text::with_causes(&error)
            );
        }
        executor.clear_undeletable();
    }

    /// Ends the runs that are alive although the journal is new: they are those of another journal, which was
    /// here and is gone, and nobody waits for them.
    pub(super) async fn end_orphans(&self) -> Result<()> {
        if !self.is_journal_new {
            return Ok(());
        }
        let place = self.executor.place.clone();
        let ended = self
            .executor
            .threads
            .end(move || crate::end_all_runs(&place))
            .await;
        ended.unwrap_or(Ok(()))
    }

    /// Loads a core from the journal, makes its first decisions durable, and begins what an earlier engine
    /// left to be done. At the start, and whenever a decision was refused: recovery is the normal path.
    pub(super) async fn load(&mut self) -> Result<()> {
        loop {
            self.load_once().await?;
            let batch = self.driver.open(clock::now());
            if let Recorded::All(actions) = self.record(batch).await? {
                failpoint::hit("recover.adopted");
                Box::pin(self.begin(actions)).await?;
                return Box::pin(self.look_at_target_first()).await;
            }
        }
    }

    async fn load_once(&mut self) -> Result<()> {
        let streams = self.ledger.streams().await?;
        let pending = self.ledger.pending(Time(i64::MAX)).await?;
        failpoint::hit("recover.loaded");
        let is_ordered = |is_one: fn(&Effect) -> bool| pending.iter().any(|ordered| is_one(&ordered.effect));
        let is_keeping = is_ordered(|effect| matches!(effect, Effect::KeepWork { .. }));
        let is_landing = is_ordered(|effect| matches!(effect, Effect::Land { .. }));
        self.driver.load(Loaded { streams, pending })?;
        self.has_archived = self.ledger.has_archived().await?;
        self.restore(self.driver.core().unknown_links()).await?;
        if !self.is_noted {
            self.note_place(is_keeping)?;
            if self.is_draining() {
                let tickets = self.driver.core().active_tickets();
                self.executor.unpin_left_over(tickets.map(|(_, ticket)| ticket));
            }
        }
        self.queue.ask(Ask::LookAnew {
            number: self.driver.look(),
            is_journal_new: self.is_journal_new,
        });
        if self.is_draining() {
            self.release_locks(is_landing)?;
        }
        Ok(())
    }

    /// Removes the locks that a killed git or engine left behind.
    fn release_locks(&self, is_landing: bool) -> Result<()> {
        if let Err(error) = self.executor.repository.release_locks() {
            tracing::warn!("a killed git's lock may stay: {}", text::with_causes(&error));
        }
        if is_landing {
            // Until a landing is carried on, the lock keeps a commit of the user's from reverting the landing
            // half-way.
            return Ok(());
        }
        // A checkout that cannot follow even now is in the inbox.
        if let Err(error) = self.executor.repository.catch_up(&self.executor.target) {
            tracing::warn!("a checkout stays behind: {}", text::with_causes(&error));
        }
        match self.executor.repository.release_left_behind() {
            // Room comes again, and this is begun again then.
            Err(error) if error.is_passing() => return Err(error.into()),
            // Where a checkout's own git directory forbids it, the rest of the work need not stand still.
            Err(error) => {
                tracing::warn!("a killed engine's lock may stay: {}", text::with_causes(&error));
            }
            Ok(()) => {}
        }
        failpoint::hit("recover.released");
        Ok(())
    }

    /// Notes where everything stands, before anything is done there. This happens once: the places do not
    /// change in an engine's life, and an engine that has begun waits for a place that goes meanwhile.
    /// `is_keeping`: work is still to be kept.
    fn note_place(&mut self, is_keeping: bool) -> Result<()> {
        let executor = &self.executor;
        let is_under_way = is_keeping || self.driver.is_work_under_way();
        executor
            .place
            .note(&executor.settings, &executor.workspaces, is_under_way)?;
        self.is_noted = true;
        Ok(())
    }
}
