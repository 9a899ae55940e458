//! The engine of a simulation: started, and what it orders carried out.

use engine::{Core, Loaded, Output, Report};
use model::Time;
use model::ticket::Effect;
use store::{Fault, Journal as _, Ordered};

use super::Simulation;
use crate::chance::Site;
use crate::driver::Driver;
use crate::executor::Executor;
use crate::invariant::{Broken, Checked, ensure};
use crate::words::name;
use crate::{Who, block_on, people};

impl Simulation {
    /// Performs an effect, or the first half of it.
    pub(super) fn perform(&mut self, one: &Ordered, half: bool) -> Report {
        if self.driver.as_ref().is_some_and(|driver| driver.is_outdated(one)) {
            return Report::Done;
        }
        if let Effect::StartCheck { run, .. } = &one.effect
            && let Some(driver) = &self.driver
            && driver
                .core
                .ticket(&one.ticket)
                .is_none_or(|ticket| !ticket.waits_for(run))
        {
            return Report::Done;
        }
        let rng = self.chance.of(&format!("{} {}", one.ticket, name(&one.effect)));
        let mut executor = Executor {
            world: &mut self.world,
            options: &self.options,
            chance: &mut self.chance,
            plant: self.case.plant,
            rng,
            half,
        };
        executor.perform(&one.ticket, &one.effect)
    }

    /// What the engine is started for: the queue, or at times one command that a person gives while no engine
    /// is up.
    fn duty(&mut self) -> engine::Duty {
        self.errand = None;
        let Some(mut rng) = self.chance.strikes(Site::Errand) else {
            return engine::Duty::Drain;
        };
        let did = people::command(&self.witness, &mut rng);
        let Some(command) = did.command else {
            return engine::Duty::Drain;
        };
        if let model::command::Command::Stop { .. } = command {
            return engine::Duty::Drain;
        }
        let mut lands = None;
        if let model::command::Command::Merge { ticket } = &command {
            lands = Some(ticket.clone());
        }
        self.late.clear();
        self.submit(&command);
        self.note(Who::Person, || format!("without an engine: {}", did.what));
        let patience = Time(self.world.now.0 + 60_000);
        if let Some(id) = self.commands.last() {
            self.errand = Some((id.clone(), lands.clone(), patience));
        }
        engine::Duty::Command { lands }
    }

    /// Whether the one command that the engine is up for has been carried out, or its person's patience is
    /// over.
    pub(super) fn errand_is_over(&self) -> bool {
        let (Some((id, lands, patience)), Some(driver)) = (&self.errand, &self.driver) else {
            return false;
        };
        let landing = lands
            .as_ref()
            .and_then(|id| driver.core.ticket(id))
            .is_some_and(|t| {
                let on_its_way = matches!(t.state, model::ticket::State::Verify(_));
                t.held.is_none() && t.deadline().is_none() && on_its_way
            });
        let carried_out = driver.is_quiet()
            && self.batch.is_empty()
            && driver.watched.is_empty()
            && !landing
            && block_on(self.ledger.outcome(id)).is_ok_and(|outcome| outcome.is_some());
        carried_out || self.world.now > *patience
    }

    pub(super) fn boot(&mut self) -> Checked {
        if let Some(rng) = self.chance.strikes(Site::ClockAtStart) {
            self.set_clock(rng);
        }
        let now = self.world.now;
        let unreadable = |error: store::Error| Broken {
            invariant: "the journal can be read",
            what: error.to_string(),
        };
        let streams = block_on(self.ledger.streams()).map_err(unreadable)?;
        let pending = block_on(self.ledger.pending(Time(i64::MAX))).map_err(unreadable)?;
        let ordered = pending
            .iter()
            .map(|one| (one.id, one.ticket.clone(), one.effect.clone()))
            .collect();
        let journal = uuid::Uuid::from_u128(u128::from(self.case.seed));
        let loaded = Loaded {
            streams,
            pending: ordered,
        };
        let mut core = Core::load(self.settings(), journal, loaded).map_err(|error| Broken {
            invariant: "the journal can be read",
            what: error.to_string(),
        })?;
        let first_look = Time(now.0 + self.chance.order.ms(0, 300));
        let duty = self.duty();
        let output = core.open(now, duty.clone());
        let mut driver = match duty {
            engine::Duty::Drain => Driver::new(core, pending, now, first_look),
            // What was ordered before, and what runs, is for the next engine.
            engine::Duty::Command { lands } => {
                Driver::new(core, Vec::new(), now, first_look).alone(pending, lands.is_some())
            }
        };
        driver.reports.append(&mut self.late);
        self.muddied = !driver.reports.is_empty();
        self.driver = Some(driver);
        self.note(Who::Engine, || "it starts".to_owned());
        self.batch = vec![(output, None)];
        self.carry_out()?;
        if self.driver.is_some()
            && let Some(rng) = self.chance.strikes(Site::KillAtStart)
        {
            self.crash_in_the_middle(rng);
            return self.check();
        }
        Ok(())
    }

    /// Makes durable what the core decided, as a driver does: all of it in one transaction.
    pub(super) fn carry_out(&mut self) -> Checked {
        let mut output = Output::default();
        let mut reported = Vec::new();
        for (one, effect) in std::mem::take(&mut self.batch) {
            output.writes.extend(one.writes);
            output.finished.extend(one.finished);
            output.postponed.extend(one.postponed);
            output.answers.extend(one.answers);
            output.wake_at = [output.wake_at, one.wake_at].into_iter().flatten().min();
            output.ended |= one.ended;
            reported.extend(effect);
        }
        self.spoil(&mut output);
        let now = self.world.now;
        let wrote = !output.writes.is_empty();
        let mut struck = false;
        if wrote {
            let lost = self.chance.strikes(Site::AppendLost).is_some() || self.world.keeps_from_writing();
            let untold = self.chance.strikes(Site::AppendUntold).is_some();
            struck = lost || untold;
            if struck {
                let fault = if lost { Fault::Before } else { Fault::After };
                self.memory.fail_append(1, fault);
            }
        }
        let ordered = match block_on(self.ledger.record(output.writes)) {
            Ok(ordered) => ordered,
            Err(error) => {
                if !struck {
                    self.summary.refusals += 1;
                    let expected = self.muddied || self.case.plant.is_some();
                    ensure(expected, "an engine alone is never refused", || error.to_string())?;
                }
                // What it decided is not what is stored: it is never asked again.
                self.crash(&format!("the journal refused: {error}"));
                self.zombie = None;
                return self.check();
            }
        };
        if wrote && self.chance.strikes(Site::KillAfterWrite).is_some() {
            self.crash("the engine is killed after a write");
            return self.check();
        }
        let later = output.postponed.clone();
        let mut finished = output.finished;
        let halted = (!finished.is_empty() || !later.is_empty() || !output.answers.is_empty())
            .then(|| self.chance.strikes(Site::KillWhileSettling))
            .flatten();
        if let Some(mut rng) = halted {
            finished.truncate(usize::try_from(rng.below(2)).unwrap_or(0));
            drop(block_on(self.ledger.finish(&finished, now)));
            self.crash("the engine is killed while it notes what is finished");
            return self.check();
        }
        let settled = block_on(self.ledger.finish(&finished, now))
            .and(later.iter().try_for_each(|again| {
                block_on(self.ledger.postpone(again.effect, again.at, again.why.clone()))
            }))
            .and(
                output
                    .answers
                    .iter()
                    .try_for_each(|(id, answer)| block_on(self.ledger.answer(id, answer, now))),
            );
        if let Err(error) = settled {
            let expected = self.muddied || self.case.plant.is_some();
            ensure(expected, "an engine alone is never refused", || error.to_string())?;
            self.crash(&format!("the journal refused: {error}"));
            return self.check();
        }
        let Some(driver) = &mut self.driver else {
            return Ok(());
        };
        driver.take(ordered);
        if let Some(at) = output.wake_at {
            driver.wake_at = Some(driver.wake_at.map_or(at, |old| old.min(at)));
        }
        for one in reported {
            self.witness.suspect(&one.ticket);
            let again = later
                .iter()
                .find(|again| again.effect == one.id)
                .map(|again| again.at);
            driver.settled(one.id, again);
            let row = block_on(self.memory.effect(one.id)).ok().flatten();
            let done = row.is_some_and(|row| row.done_at.is_some());
            ensure(done || again.is_some(), "a report settles its effect", || {
                format!("{} {}", one.ticket, name(&one.effect))
            })?;
        }
        if output.ended {
            self.driver = None;
            let down = if self.world.calm {
                1_000
            } else {
                self.chance.order.ms(0, 60_000)
            };
            self.boot_at = Time(now.0 + down);
            self.note(Who::Engine, || "it has ended".to_owned());
        }
        self.check()
    }
}
