//! Engines that die, that are thought dead, and that are made to be wrong.

use std::sync::Arc;

use engine::{Input, Report};
use model::journal::{State, Write};
use model::{RunId, Time};
use store::Journal as _;

use super::Simulation;
use super::turn::twin;
use crate::chance::Site;
use crate::invariant::Checked;
use crate::rng::Rng;
use crate::shell::{Begun, Delivery};
use crate::words::{facts, name};
use crate::{Who, block_on};

impl Simulation {
    /// The engine dies, at times with an effect half performed.
    pub(super) fn crash_in_the_middle(&mut self, mut rng: Rng) {
        let begun = self
            .shell
            .as_ref()
            .map(|shell| shell.begun.clone())
            .unwrap_or_default();
        match rng.pick(&begun) {
            Some(one) if rng.percent(60) => self.crash_performing(one, rng.percent(50)),
            Some(_) | None => self.crash("the engine is killed"),
        }
    }

    /// The engine dies when an effect is performed, or half of it.
    pub(super) fn crash_performing(&mut self, one: &Begun, half: bool) {
        self.perform(&one.performance, half);
        let ordered = &one.performance.ordered;
        self.note(Who::Executor, || {
            let part = if half { "half of " } else { "" };
            format!(
                "performed, never reported: {part}{} {}",
                ordered.ticket,
                name(&ordered.effect)
            )
        });
        self.crash("the engine is killed");
    }

    pub(super) fn crash(&mut self, why: &str) {
        let Some(shell) = self.shell.take() else { return };
        self.summary.crashes += 1;
        self.hook.forget();
        let now = self.world.now;
        let order = &mut self.chance.order;
        self.boot_at = if self.world.keeps_from_writing() {
            Time(now.0 + order.ms(1_000, 10_000))
        } else if self.world.calm || order.percent(50) {
            now
        } else {
            Time(now.0 + order.ms(0, 40_000))
        };
        self.note(Who::World, || why.to_owned());
        if self.world.calm {
            return;
        }
        // These report a thing that is not there, or not possible, and a later engine may have made it since,
        // or a merged result whose ref a later engine has moved to another one: only the repository's lock,
        // which an engine holds for as long as its executor works, keeps them from coming late.
        let harmless = |delivery: &&Delivery| {
            !matches!(
                delivery.report,
                Report::Built { .. }
                    | Report::StepNotSpawned { .. }
                    | Report::WorkspaceMissing
                    | Report::WorkspaceFailed { .. }
                    | Report::SetUpFailed { .. }
                    | Report::CheckNotSpawned { .. }
                    | Report::NotSetUp
                    | Report::CheckoutEdited { .. }
                    | Report::NotLanded
                    | Report::TargetMoved
                    | Report::CouldNotRun { .. }
            )
        };
        if let Some(mut rng) = self.chance.strikes(Site::Zombie) {
            let first = shell.reports.iter().find(harmless).map(Delivery::input);
            let has_ended =
                |run: &&RunId| self.world.end_of(run).is_some() || self.world.checks.end_of(run).is_some();
            let run = shell.watched.keys().find(has_ended).cloned();
            let ended = run.and_then(|run| twin(&self.end_of(&run)?));
            let input = first.or(ended).unwrap_or(Input::Ticked);
            let at = Time(self.boot_at.0 + rng.ms(0, 8_000));
            self.zombie = Some((shell.driver.core().clone(), input, at));
        } else if self.chance.strikes(Site::Late).is_some() {
            self.late = shell.reports.iter().filter(harmless).cloned().collect();
        }
    }

    /// An engine that was thought dead decides once more, on the state that it knew.
    pub(super) fn zombie_acts(&mut self) -> Checked {
        if self.zombie.as_ref().is_none_or(|(_, _, at)| *at > self.world.now) || self.shell.is_none() {
            return Ok(());
        }
        let Some((mut core, input, _)) = self.zombie.take() else {
            return Ok(());
        };
        let mut writes = core.step(input, self.world.now).writes;
        self.spoil(&mut writes);
        let facts = facts(&writes);
        if writes.is_empty() {
            return Ok(());
        }
        let recorded = block_on(self.ledger.record(writes));
        self.summary.zombies += 1;
        self.muddied = true;
        self.note(Who::Engine, || match recorded {
            Ok(_) => format!("the old engine wrote: {facts}"),
            Err(error) => format!("the old engine was refused: {error}"),
        });
        // It cannot know the cost of other tickets meanwhile: only the repository's lock keeps it from
        // starting a step.
        self.witness.old_engine = true;
        let checked = self.check();
        self.witness.old_engine = false;
        checked
    }

    pub(super) fn spoil(&self, writes: &mut Vec<Write>) {
        if let Some(plant) = self.case.plant {
            let at = |stream: &model::journal::Stream| {
                let row = block_on(self.memory.load(stream));
                row.ok().flatten().map_or(0, |row| row.version.0)
            };
            let ticket = |stream: &model::journal::Stream| {
                let streams = block_on(self.ledger.streams()).ok()?;
                let state = streams.into_iter().find(|(of, _, _)| of == stream)?.2;
                match state {
                    State::Ticket(ticket) => Some(Arc::unwrap_or_clone(ticket)),
                    State::Project(_) => None,
                }
            };
            plant.spoil(writes, at, ticket);
        }
    }
}
