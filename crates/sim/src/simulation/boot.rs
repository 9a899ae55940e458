//! The engine of a simulation: its start, and the execution of its orders.

use std::collections::BTreeSet;

use engine::driver::{Batch, Driver, Performance, Purpose};
use engine::{Loaded, Report};
use model::journal::{Fact, Ordered, Write};
use model::ticket::{self, Effect};
use model::{RunId, Time};
use store::{Fault, Journal as _};

use super::Simulation;
use crate::chance::Site;
use crate::executor::Executor;
use crate::invariant::{Broken, Checked, ensure};
use crate::rng::Rng;
use crate::shell::Shell;
use crate::words::{came_in, facts, name, notes};
use crate::{Who, block_on, people};

impl Simulation {
    /// Performs an effect, or the first half of it.
    pub(super) fn perform(&mut self, one: &Performance, half: bool) -> Report {
        let ordered = &one.ordered;
        let rng = self
            .chance
            .of(&format!("{} {}", ordered.ticket, name(&ordered.effect)));
        if let Effect::StartCheck { slot, .. } = &ordered.effect
            && one.purpose == Purpose::Perform
        {
            // Nobody waits for a check any more after which another was ordered in the same checkout.
            let last = &mut self.world.checks.last;
            if last.get(slot).is_some_and(|last| *last > ordered.id) {
                return Report::Done;
            }
            last.insert(*slot, ordered.id);
        }
        let mut executor = self.executor(rng, half);
        executor.shared = one.ticket.shared_workspace().cloned();
        executor.delegated = one.ticket.delegated().cloned();
        match one.purpose {
            Purpose::Perform => executor.perform(&ordered.ticket, &ordered.effect),
            Purpose::End => executor.end(&ordered.effect),
            Purpose::Nothing => Report::Done,
        }
    }

    fn executor(&mut self, rng: Rng, half: bool) -> Executor<'_> {
        Executor {
            world: &mut self.world,
            options: &self.options,
            chance: &mut self.chance,
            plant: self.case.plant,
            rng,
            shared: None,
            delegated: None,
            half,
        }
    }

    /// The duty for which the engine is started: the queue, or at times one command that a person gives while
    /// no engine is up.
    fn duty(&mut self) -> engine::Duty {
        self.errand = None;
        let Some(mut rng) = self.chance.strikes(Site::Errand) else {
            return engine::Duty::Drain;
        };
        let did = people::command(&self.witness, &mut rng);
        let Some(command) = did.command else {
            return engine::Duty::Drain;
        };
        if let model::command::Command::Stop { .. } = command.bare() {
            return engine::Duty::Drain;
        }
        let mut lands = None;
        if let model::command::Command::Merge { ticket } = command.bare() {
            lands = Some(ticket.clone());
        }
        self.late.clear();
        self.submit(&command);
        self.note(Who::Person, || format!("without an engine: {}", did.what));
        let patience = Time(self.world.now.0 + 60_000);
        if let Some(id) = self.commands.last() {
            self.errand = Some((id.clone(), patience));
        }
        engine::Duty::Command { lands }
    }

    /// True if the one command that the engine is up for has been carried out, or its person's patience is
    /// over.
    pub(super) fn errand_is_over(&self) -> bool {
        let (Some((id, patience)), Some(shell)) = (&self.errand, &self.shell) else {
            return false;
        };
        let carried_out = shell.is_quiet()
            && shell.driver.is_carried_out()
            && block_on(self.ledger.outcome(id)).is_ok_and(|outcome| outcome.is_some());
        carried_out || self.world.now > *patience
    }

    pub(super) fn boot(&mut self) -> Checked {
        if let Some(rng) = self.chance.strikes(Site::ClockAtStart) {
            self.set_clock(rng);
        }
        let now = self.world.now;
        let journal = uuid::Uuid::from_u128(u128::from(self.case.seed));
        let duty = self.duty();
        let driver = Driver::new(self.settings(), journal, duty).map_err(|error| Broken {
            invariant: "the journal can be read",
            what: error.to_string(),
        })?;
        let first_look = Time(now.0 + self.chance.order.ms(0, 300));
        let mut shell = Shell::new(driver, now, first_look);
        shell.late.append(&mut self.late);
        self.muddied = !shell.late.is_empty();
        self.shell = Some(shell);
        self.note(Who::Engine, || "it starts".to_owned());
        self.load()?;
        if self.shell.is_some()
            && let Some(rng) = self.chance.strikes(Site::KillAtStart)
        {
            self.crash_in_the_middle(rng);
            return self.check();
        }
        Ok(())
    }

    /// The driver loads a core from the journal, at the start and whenever the journal and the core disagree.
    fn load(&mut self) -> Checked {
        let unreadable = |error: store::Error| Broken {
            invariant: "the journal can be read",
            what: error.to_string(),
        };
        let streams = block_on(self.ledger.streams()).map_err(unreadable)?;
        let pending = block_on(self.ledger.pending(Time(i64::MAX))).map_err(unreadable)?;
        let now = self.world.now;
        let Some(shell) = &mut self.shell else {
            return Ok(());
        };
        shell
            .driver
            .load(Loaded { streams, pending })
            .map_err(|error| Broken {
                invariant: "the journal can be read",
                what: error.to_string(),
            })?;
        let batch = shell.driver.open(now);
        self.carry_out(batch, &[])?;
        self.look_at_target()
    }

    /// The driver handles the events that have come, and its decisions are carried out.
    pub(super) fn handle(&mut self) -> Checked {
        let now = self.world.now;
        let Some(shell) = &mut self.shell else {
            return Ok(());
        };
        let events = std::mem::take(&mut shell.events);
        if events.is_empty() {
            return Ok(());
        }
        let came: Option<Vec<String>> = self.traced.then(|| events.iter().map(came_in).collect());
        let reported = std::mem::take(&mut shell.reported);
        let batch = shell.driver.handle(events, now);
        self.note(Who::Engine, || {
            let came = came.unwrap_or_default().join("; ");
            format!("input: {came}{}{}", facts(&batch.writes), notes(&batch))
        });
        self.carry_out(batch, &reported)
    }

    /// Makes the decisions durable, as a shell does: all of them in one transaction.
    fn carry_out(&mut self, mut batch: Batch, reported: &[Ordered]) -> Checked {
        self.spoil(&mut batch.writes);
        let now = self.world.now;
        let wrote = !batch.writes.is_empty();
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
        let checks_ended = checks_ended(&batch.writes);
        let ordered = match block_on(self.ledger.record(batch.writes)) {
            Ok(ordered) => ordered,
            Err(error) => {
                if !struck {
                    self.summary.refusals += 1;
                    let expected = self.muddied || self.case.plant.is_some();
                    ensure(expected, "an engine alone is never refused", || error.to_string())?;
                }
                return self.start_over(&error);
            }
        };
        if wrote && self.chance.strikes(Site::KillAfterWrite).is_some() {
            self.crash("the engine is killed after a write");
            return self.check();
        }
        let later = batch.postponed;
        let mut finished = batch.finished;
        let halted = (!finished.is_empty() || !later.is_empty() || !batch.answers.is_empty())
            .then(|| self.chance.strikes(Site::KillWhileNoting))
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
                batch
                    .answers
                    .iter()
                    .try_for_each(|(id, answer)| block_on(self.ledger.answer(id, answer, now))),
            );
        if let Err(error) = settled {
            let expected = self.muddied || self.case.plant.is_some();
            ensure(expected, "an engine alone is never refused", || error.to_string())?;
            return self.start_over(&error);
        }
        let Some(shell) = &mut self.shell else {
            return Ok(());
        };
        let actions = shell.driver.recorded(ordered, now);
        let stops = shell.begin(actions, now);
        let is_finished = shell.driver.is_finished();
        for run in &stops {
            let rng = self.chance.of(&format!("stop {run}"));
            self.executor(rng, false).stop_step(run);
        }
        for one in reported {
            self.witness.suspect(&one.ticket);
            let again = later.iter().any(|again| again.effect == one.id);
            let row = block_on(self.memory.effect(one.id)).ok().flatten();
            let done = row.is_some_and(|row| row.done_at.is_some());
            ensure(done || again, "a report settles its effect", || {
                format!("{} {}", one.ticket, name(&one.effect))
            })?;
        }
        self.commands_come_before_ends(&checks_ended)?;
        if is_finished {
            self.shell = None;
            self.hook.forget();
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

    /// A command that was in the inbox before a run ended is not judged by the state after that end. A ticket
    /// may also leave its check for another reason, as when its file is gone: that is not its end.
    fn commands_come_before_ends(&mut self, checks_ended: &BTreeSet<RunId>) -> Checked {
        let Some(shell) = &mut self.shell else {
            return Ok(());
        };
        let core = shell.driver.core();
        if self.muddied || self.case.plant.is_some() || !core.has_read() {
            shell.ended.clear();
            return Ok(());
        }
        let waits = |run: &RunId| core.live_runs().any(|(_, live)| live == run);
        let handled = shell.ended.extract_if(.., |(run, _)| !waits(run));
        let checks = &self.world.checks.runs;
        let by_its_end = |run: &RunId| !checks.contains_key(run) || checks_ended.contains(run);
        for (run, last) in handled.filter(|(run, _)| by_its_end(run)).collect::<Vec<_>>() {
            let asked = block_on(self.ledger.asked(0, self.world.now)).unwrap_or_default();
            let left = asked.iter().find(|asked| asked.number <= last);
            ensure(left.is_none(), "commands come before later ends of runs", || {
                format!("{left:?} was there before {run} ended, and is not carried out")
            })?;
        }
        Ok(())
    }

    /// The decision is not in the journal. An engine that goes on loads a core anew, while the orders of an
    /// earlier core are still being performed.
    fn start_over(&mut self, error: &store::Error) -> Checked {
        self.note(Who::Engine, || format!("the journal refused: {error}"));
        let shell = self.shell.as_mut();
        let goes_on = shell.is_some_and(|shell| shell.driver.refused(error.to_string()).is_ok());
        if goes_on && !self.world.keeps_from_writing() && self.chance.order.percent(50) {
            self.check()?;
            if let Some(shell) = &mut self.shell {
                shell.ended.clear();
            }
            return self.load();
        }
        self.crash("it starts over");
        self.zombie = None;
        self.check()
    }
}

/// The checks whose ends were decided on.
fn checks_ended(writes: &[Write]) -> BTreeSet<RunId> {
    let entries = writes.iter().flat_map(|write| &write.entries);
    let ended = entries.filter_map(|entry| match &entry.fact {
        Fact::Ticket(ticket::Event::CheckEnded { run, .. }) => Some(run.clone()),
        Fact::Ticket(_) | Fact::Project(_) => None,
    });
    ended.collect()
}
