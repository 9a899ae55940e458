//! Taking up the journal.

use std::collections::BTreeSet;

use engine::{Core, Duty, Loaded};
use model::attempt::{self, Attempt};
use model::ticket::Effect;
use model::{RunId, Time};
use store::Ordered;

use super::end::own_stop;
use super::{Dispatcher, Recorded};
use crate::queue::Ask;
use crate::{Result, clock};

impl Dispatcher {
    /// Removes the remains of a checkout that a killed engine was about to keep, and those that could not be
    /// removed before: at the start only, while no thread keeps one.
    pub(super) fn clear_leftovers(&self) {
        if self.duty != Duty::Drain {
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
        if !self.ledger.tail(0, 1).await?.is_empty() {
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

    /// Loads a core from the journal. At the start, and whenever a decision was refused: recovery is the
    /// normal path.
    pub(super) async fn load(&mut self) -> Result<()> {
        let pending = loop {
            if let Some(pending) = self.load_once().await? {
                break pending;
            }
        };
        if let Duty::Drain = self.duty {
            let live: Vec<RunId> = self.core.live_runs().map(|(_, run)| run.clone()).collect();
            // One whose start or stop is still to be performed is watched once that is done.
            let later: BTreeSet<RunId> = pending.iter().filter_map(|o| o.effect.run().cloned()).collect();
            for run in live.into_iter().filter(|run| !later.contains(run)) {
                self.watch(run);
            }
        }
        failpoint::hit("recover.adopted");
        let (pending, left): (Vec<Ordered>, Vec<Ordered>) =
            pending.into_iter().partition(|ordered| self.is_duty(ordered));
        let is_check = |ordered: &Ordered| matches!(ordered.effect, Effect::RunChecks { .. });
        self.left_checks = left.into_iter().filter(is_check).collect();
        self.enqueue(pending).await?;
        self.end_unwanted_checks().await
    }

    /// Loads a core and makes its first decisions durable; returns the effects that are still to be
    /// performed, nothing when the decisions were refused.
    async fn load_once(&mut self) -> Result<Option<Vec<Ordered>>> {
        let streams = self.ledger.streams().await?;
        let pending = self.ledger.pending(Time(i64::MAX)).await?;
        failpoint::hit("recover.loaded");
        let loaded = Loaded {
            streams,
            pending: pending
                .iter()
                .map(|o| (o.id, o.ticket.clone(), o.effect.clone()))
                .collect(),
        };
        // Taking it up can fail half-way, and is begun again then.
        self.asked_to_stop = self.core.stopping().or(self.asked_to_stop);
        self.core = Core::load(self.executor.settings.clone(), self.journal, loaded)?;
        self.has_archived = self.ledger.has_archived().await?;
        self.restore(self.core.unknown_links()).await?;
        let is_keeping = pending
            .iter()
            .any(|o| matches!(o.effect, Effect::KeepWork { .. }));
        let is_start = !self.is_noted;
        self.note_place(is_keeping)?;
        if is_start && self.duty == Duty::Drain {
            self.executor
                .unpin_left_over(self.core.active_tickets().map(|(_, ticket)| ticket));
        }
        self.queues.renew();
        self.look += 1;
        self.queue.ask(Ask::LookAnew(self.look));
        self.notes.clear();
        self.told.clear();
        self.looked = Time::default();
        self.inbox = 0;
        if let Duty::Drain = self.duty
            && let Err(error) = self.executor.repository.release_locks()
        {
            tracing::warn!("a killed git's lock may stay: {}", text::with_causes(&error));
        }
        let is_landing = pending.iter().any(|o| matches!(o.effect, Effect::Land { .. }));
        if self.duty == Duty::Drain && !is_landing {
            // Until a landing is carried on, the lock keeps a commit of the user's from reverting the landing
            // half-way.
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
        }
        let mut outputs = vec![self.core.open(clock::now(), self.duty.clone())];
        // A request to stop the engine is meant for this core too.
        let stopping = self.asked_to_stop;
        outputs.extend(stopping.map(|running| self.core.step(own_stop(running), clock::now())));
        Ok(match self.record(outputs).await? {
            Recorded::All => Some(pending),
            Recorded::Refused => None,
        })
    }

    /// Notes where everything stands, before anything is done there. This happens once: the places do not
    /// change in an engine's life, and an engine that has begun waits for a place that goes meanwhile.
    /// `is_keeping`: work is still to be kept.
    fn note_place(&mut self, is_keeping: bool) -> Result<()> {
        if !self.is_noted {
            let executor = &self.executor;
            let is_under_way = is_keeping || self.is_under_way();
            executor
                .place
                .note(&executor.settings, &executor.workspaces, is_under_way)?;
            self.is_noted = true;
        }
        Ok(())
    }

    /// Whether work of any ticket may be in a workspace.
    pub(super) fn is_under_way(&self) -> bool {
        let mut attempts = self
            .core
            .active_tickets()
            .filter_map(|(_, ticket)| ticket.attempt());
        self.queues.is_keeping() || attempts.any(Attempt::may_have_work)
    }

    /// Whether an effect that an earlier engine left undone is for this one. An engine that is up for one
    /// command steps nobody, and begins to land only the work that its command names; it first ends the other
    /// effects that were begun, so that the command finds them whole. It ends a landing that is under way
    /// only where another landing waits behind it, which would wait for ever otherwise.
    fn is_duty(&self, ordered: &Ordered) -> bool {
        let Duty::Command { lands } = &self.duty else {
            return true;
        };
        match &ordered.effect {
            Effect::Attempt(attempt::Effect::StartStep { .. }) => false,
            Effect::BuildCandidate { .. } | Effect::RunChecks { .. } | Effect::Land { .. } => lands.is_some(),
            Effect::PrepareWorkspace { .. }
            | Effect::Attempt(attempt::Effect::StopRun { .. } | attempt::Effect::InspectWorkspace { .. })
            | Effect::KeepWork { .. }
            | Effect::RemoveWorkspace { .. }
            | Effect::WriteFile(_)
            | Effect::AddNote { .. } => true,
        }
    }
}
