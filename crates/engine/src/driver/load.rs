//! Loading a core from the journal: at the start, and whenever a decision was refused. Recovery is the normal
//! path.

use std::collections::BTreeSet;

use model::attempt;
use model::journal::Ordered;
use model::settings::Settings;
use model::ticket::Effect;
use model::{RunId, Time};

use super::{Batch, Driver, own_stop};
use crate::{Core, Duty, Error, Loaded};

impl Driver {
    /// Loads a new core from the journal's content. [`Driver::open`] comes next, once the archived tickets
    /// were restored that [`Core::unknown_links`] names.
    ///
    /// # Errors
    /// When a stream holds a state of another kind.
    pub fn load(&mut self, loaded: Loaded) -> Result<(), Error> {
        // Loading can fail half-way, and is begun again then.
        self.asked_to_stop = self.core.stopping().or(self.asked_to_stop);
        let pending = loaded.pending.clone();
        self.core = Core::load(self.core.settings().clone(), self.journal, loaded)?;
        self.queues.renew();
        self.actions.clear();
        self.postponed.clear();
        self.ends.clear();
        self.looked = Time::default();
        self.passed.clear();
        self.inbox = 0;
        self.wake_at = None;
        self.ended = false;
        // An engine that lands a ticket waits for the check that runs, and for no step.
        let is_watched = |run: &RunId| match &self.duty {
            Duty::Drain => true,
            Duty::Command { lands } => lands.is_some() && run.is_check(),
        };
        // A run whose start or stop is still to be performed is watched once that is done.
        let later: BTreeSet<&RunId> = pending.iter().filter_map(|one| one.effect.run()).collect();
        let live = self.core.live_runs().map(|(_, run)| run);
        let live = live.filter(|run| is_watched(run) && !later.contains(run));
        for run in live.cloned().collect::<Vec<_>>() {
            self.watch(run);
        }
        let (pending, left): (Vec<Ordered>, Vec<Ordered>) = pending
            .into_iter()
            .partition(|ordered| is_duty(&self.duty, self.core.settings(), ordered));
        self.left = pending;
        // A check whose end is ordered before it began is not begun.
        let runs = left.iter().filter_map(|one| one.effect.run());
        self.left_to_start = runs.filter(|run| !run.is_check()).cloned().collect();
        self.left_to_end = left;
        self.left_to_end
            .retain(|one| matches!(one.effect, Effect::Land { .. }));
        Ok(())
    }

    /// Decides what the start of an engine asks for. The answer of [`Driver::recorded`] has everything that
    /// an earlier engine left to be done too.
    pub fn open(&mut self, now: Time) -> Batch {
        let mut batch = Batch::default();
        let output = self.core.open(now, self.duty.clone());
        self.absorb(output, now, &mut batch);
        // A request to stop the engine is meant for this core too.
        if let Some(running) = self.asked_to_stop {
            self.step(own_stop(running), now, &mut batch);
        }
        batch
    }
}

/// Whether an effect that an earlier engine left undone is for this one. An engine that is up for one command
/// steps nobody. It performs the merges, checks and landings that were left only where its command lands a
/// ticket, which would wait for ever behind them otherwise, and makes no workspace that has to be set up,
/// which may take long; all other effects it performs first, so that the command finds them done.
fn is_duty(duty: &Duty, settings: &Settings, ordered: &Ordered) -> bool {
    let Duty::Command { lands } = duty else {
        return true;
    };
    match &ordered.effect {
        Effect::Attempt(attempt::Effect::StartStep { .. }) | Effect::StartReview { .. } => false,
        Effect::BuildCandidate { .. } | Effect::StartCheck { .. } | Effect::Land { .. } => lands.is_some(),
        Effect::PrepareWorkspace { .. } => settings.workspace.setup.is_empty(),
        Effect::Attempt(
            attempt::Effect::StopRun { .. }
            | attempt::Effect::InspectWorkspace { .. }
            | attempt::Effect::CreateChild { .. },
        )
        | Effect::Unify { .. }
        | Effect::LookAtProposal { .. }
        | Effect::RemoveReview { .. }
        | Effect::KeepWork { .. }
        | Effect::RemoveWorkspace { .. }
        | Effect::WriteFile(_)
        | Effect::AddNote { .. }
        | Effect::CreateTicket(_) => true,
    }
}
