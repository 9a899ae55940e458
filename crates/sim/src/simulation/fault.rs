//! Engines that die, that are thought dead, and that are made to be wrong.

use engine::{Input, Output, Report};
use model::{RunId, Time};
use store::{Journal as _, Ordered};

use super::Simulation;
use super::turn::reported;
use crate::chance::Site;
use crate::driver::Told;
use crate::invariant::Checked;
use crate::rng::Rng;
use crate::words::{facts, name};
use crate::{Who, block_on};

impl Simulation {
    /// The engine dies, at times with an effect half performed.
    pub(super) fn crash_in_the_middle(&mut self, mut rng: Rng) {
        let ready = self
            .driver
            .as_ref()
            .map(|d| d.ready(self.world.now))
            .unwrap_or_default();
        match rng.pick(&ready).cloned() {
            Some(one) if rng.percent(60) => self.crash_performing(&one, rng.percent(50)),
            Some(_) | None => self.crash("the engine is killed"),
        }
    }

    /// The engine dies when an effect is performed, or half of it.
    pub(super) fn crash_performing(&mut self, one: &Ordered, half: bool) {
        self.perform(one, half);
        self.note(Who::Hand, || {
            let part = if half { "half of " } else { "" };
            format!(
                "performed, never told: {part}{} {}",
                one.ticket,
                name(&one.effect)
            )
        });
        self.crash("the engine is killed");
    }

    pub(super) fn crash(&mut self, why: &str) {
        let Some(driver) = self.driver.take() else { return };
        let undecided = std::mem::take(&mut self.batch).is_empty();
        self.summary.crashes += 1;
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
        // These tell of what is not there, or not possible, and a later engine may have made it since: only
        // the repository's lock, which an engine holds for as long as its executor work, keeps them from
        // being told late.
        let harmless = |told: &&Told| {
            !matches!(
                told.report,
                Report::StepNotSpawned { .. }
                    | Report::WorkspaceMissing
                    | Report::WorkspaceFailed { .. }
                    | Report::CheckNotSpawned { .. }
                    | Report::NotSetUp
                    | Report::CheckoutEdited { .. }
                    | Report::TargetMoved
                    | Report::CouldNotRun { .. }
            )
        };
        // A core whose last decisions never became durable lives on nowhere: its driver was waiting for the
        // journal.
        if let Some(mut rng) = self.chance.strikes(Site::Zombie).filter(|_| undecided) {
            let first = driver.reports.iter().find(harmless).map(reported);
            let has_ended =
                |run: &&RunId| self.world.end_of(run).is_some() || self.world.checks.end_of(run).is_some();
            let run = driver.watched.keys().find(has_ended).cloned();
            let ended = run.and_then(|run| self.end_of(&run));
            let input = first.or(ended).unwrap_or(Input::Ticked);
            let at = Time(self.boot_at.0 + rng.ms(0, 8_000));
            self.zombie = Some((driver.core, input, at));
        } else if self.chance.strikes(Site::Late).is_some() {
            self.late = driver.reports.iter().filter(harmless).cloned().collect();
        }
    }

    /// An engine that was thought dead decides once more, on what it knew.
    pub(super) fn zombie_acts(&mut self) -> Checked {
        if self.zombie.as_ref().is_none_or(|(_, _, at)| *at > self.world.now) || self.driver.is_none() {
            return Ok(());
        }
        let Some((mut core, input, _)) = self.zombie.take() else {
            return Ok(());
        };
        let mut output = core.step(input, self.world.now);
        self.spoil(&mut output);
        let facts = facts(&output);
        if output.writes.is_empty() {
            return Ok(());
        }
        let recorded = block_on(self.ledger.record(output.writes));
        self.summary.zombies += 1;
        self.muddied = true;
        self.note(Who::Engine, || match recorded {
            Ok(_) => format!("the old engine wrote: {facts}"),
            Err(error) => format!("the old engine was refused: {error}"),
        });
        // What other tickets have cost meanwhile it cannot know: only the repository's lock keeps it from
        // starting a step.
        self.witness.old_engine = true;
        let checked = self.check();
        self.witness.old_engine = false;
        checked
    }

    pub(super) fn spoil(&self, output: &mut Output) {
        if let Some(plant) = self.case.plant {
            let at = |stream: &model::journal::Stream| {
                let row = block_on(self.memory.load(stream));
                row.ok().flatten().map_or(0, |row| row.version.0)
            };
            plant.spoil(&mut output.writes, at);
        }
    }
}
