//! What happens next, and what the engine makes of it.

use engine::{CheckEnd, Input, Report, RunEnd};
use model::attempt::Usage;
use model::policy::stall::Sample;
use model::ticket::{CheckOutcome, Effect, Loss};
use model::{Actor, RunId, Time};
use store::Ordered;

use super::Simulation;
use crate::chance::Site;
use crate::driver::{Driver, Told};
use crate::files::ticket_of;
use crate::invariant::Checked;
use crate::words::{came, facts, heard, name};
use crate::{Who, block_on};

/// How often a step that runs is looked at.
const SAMPLE: i64 = 5_000;
/// How often the core is told that time has passed.
const TICK: i64 = 30_000;

/// What can happen next.
enum Choice {
    Report(usize),
    Perform(Ordered),
    End(RunId),
    Sample(RunId),
    Timer(model::journal::TimerRef),
    Command(store::Asked),
    Look(usize),
    FirstLook,
    Tick,
}

impl Simulation {
    /// One thing happens; when nothing can, time passes, to `until` at most.
    pub(super) fn turn(&mut self, until: Time) -> Checked {
        if self.driver.is_none() && self.boot_at <= self.world.now {
            return self.boot();
        }
        if self.errand_is_over() {
            self.crash("the command is over");
            (self.errand, self.zombie) = (None, None);
            return Ok(());
        }
        if self.driver.is_some() && self.chance.strikes(Site::EarlyTick).is_some() {
            return self.choose(Choice::Tick);
        }
        let mut choices = self.choices();
        if let Some(mut rng) = self.chance.strikes(Site::EarlyTimer) {
            let soon = Time(self.world.now.0 + rng.ms(1, 20_000));
            let due = block_on(self.ledger.due(soon)).unwrap_or_default();
            if let Some(timer) = rng.pick(&due).filter(|_| self.driver.is_some()) {
                return self.tell(Input::TimerDue(timer.clone()), None);
            }
        }
        if choices.is_empty() && !self.batch.is_empty() {
            return self.carry_out();
        }
        if choices.is_empty() {
            let driver = self.driver.as_ref();
            let now = self.world.now;
            let next = driver
                .and_then(|d| d.next(now))
                .into_iter()
                .chain(self.world.next_act())
                .chain(self.world.files.looks.iter().map(|(at, _)| *at))
                .chain(driver.is_none().then_some(self.boot_at))
                .chain(self.late.iter().map(|told| told.at))
                .chain(self.errand.iter().map(|(_, _, patience)| Time(patience.0 + 1)))
                .filter(|at| *at > now)
                .chain([until])
                .min();
            let to = next.unwrap_or(now).min(Time(now.0 + 3_600_000));
            self.world.advance(to.max(Time(now.0 + 1)));
            return Ok(());
        }
        let at = usize::try_from(self.chance.order.below(choices.len() as u64)).unwrap_or(0);
        self.choose(choices.swap_remove(at))
    }

    fn choices(&self) -> Vec<Choice> {
        let (now, Some(driver)) = (self.world.now, &self.driver) else {
            return Vec::new();
        };
        let mut choices: Vec<Choice> = driver.ready(now).into_iter().map(Choice::Perform).collect();
        let told = driver
            .reports
            .iter()
            .enumerate()
            .filter(|(_, told)| told.at <= now);
        choices.extend(told.map(|(at, _)| Choice::Report(at)));
        let asked = block_on(self.ledger.asked(driver.asked, now)).unwrap_or_default();
        // An end waits until the inbox was read: once after the start, and whenever something is in it.
        let is_inbox_read = driver.core.has_read() || driver.core.stopping().is_some();
        let may_end = asked.is_empty() && is_inbox_read;
        for (run, look_at) in &driver.watched {
            if self.has_ended(run) {
                choices.extend(may_end.then(|| Choice::End(run.clone())));
            } else if *look_at <= now && self.world.has_begun(run) {
                choices.push(Choice::Sample(run.clone()));
            }
        }
        let due = block_on(self.ledger.due(now)).unwrap_or_default();
        choices.extend(
            due.into_iter()
                .filter(|timer| !driver.fired.contains(timer))
                .map(Choice::Timer),
        );
        choices.extend(asked.into_iter().next().map(Choice::Command));
        match driver.first_look {
            Some(at) if at <= now => choices.push(Choice::FirstLook),
            Some(_) => {}
            None => {
                // Looks at one file are told in the order in which they were taken.
                let mut seen = std::collections::BTreeSet::new();
                for (at, (tell_at, look)) in self.world.files.looks.iter().enumerate() {
                    if seen.insert(ticket_of(look)) && *tell_at <= now {
                        choices.push(Choice::Look(at));
                    }
                }
            }
        }
        if driver.tick_at <= now || driver.wake_at.is_some_and(|at| at <= now) {
            choices.push(Choice::Tick);
        }
        choices
    }

    fn choose(&mut self, choice: Choice) -> Checked {
        let now = self.world.now;
        let Some(driver) = &mut self.driver else {
            return Ok(());
        };
        match choice {
            Choice::Perform(one) => {
                for (site, half) in [(Site::KillHalfWay, true), (Site::KillUntold, false)] {
                    if self.chance.strikes(site).is_some() {
                        self.crash_performing(&one, half);
                        return self.check();
                    }
                }
                let mut report = self.perform(&one, false);
                if self.chance.strikes(Site::Dropped).is_some() {
                    let why = "it failed unexpectedly".to_owned();
                    report = Report::CouldNotRun { why };
                }
                self.note(Who::Hand, || {
                    format!("{} {} → {}", one.ticket, name(&one.effect), came(&report))
                });
                let longest = if self.world.calm { 300 } else { 5_000 };
                let mut at = Time(now.0 + self.chance.order.ms(0, longest));
                if let Some(mut rng) = self.chance.strikes(Site::SlowHand) {
                    at.0 += rng.ms(60_000, 600_000);
                }
                if let Some(driver) = &mut self.driver {
                    driver.performed(
                        Told {
                            at,
                            ordered: one,
                            report,
                        },
                        now,
                    );
                }
                self.check()
            }
            Choice::Report(at) => {
                let told = driver.reports.remove(at);
                if let (Effect::WriteFile(_), Report::Done) = (&told.ordered.effect, &told.report) {
                    let ticket = &told.ordered.ticket;
                    if self.world.files.forget_looks(ticket) {
                        self.world.files.see(ticket, now, now);
                    }
                }
                self.tell(reported(&told), Some(told.ordered))
            }
            Choice::End(run) => match self.end_of(&run) {
                Some(end) => self.tell(end, None),
                None => Ok(()),
            },
            Choice::Sample(run) => {
                driver.watched.insert(run.clone(), Time(now.0 + SAMPLE));
                if let Some(check) = self.world.checks.runs.get(&run) {
                    let seen = check.frozen.unwrap_or(now);
                    let pulse = u64::try_from(seen.0 - check.began.0).unwrap_or(0);
                    let sample = Sample {
                        at: now,
                        seen,
                        heard: 1,
                        cpu_ms: 1,
                        children: 0,
                        shim: 1,
                        pulse,
                    };
                    return self.tell(Input::Sampled { run, sample }, None);
                }
                let Some(process) = self.world.processes.get(&run) else {
                    return Ok(());
                };
                // Of a frozen shim's step, what was to be seen when it froze is all there is.
                let seen = process.frozen.unwrap_or(now);
                let ran = u64::try_from(seen.0 - process.began.0).unwrap_or(0);
                let (heard, cpu_ms) = if process.talks { (ran, ran) } else { (1, 1) };
                let sample = Sample {
                    at: now,
                    seen,
                    heard,
                    cpu_ms,
                    children: 0,
                    shim: 1,
                    pulse: ran,
                };
                let given_up = process.given_up.clone().filter(|_| process.frozen.is_none());
                let sampled = Input::Sampled {
                    run: run.clone(),
                    sample,
                };
                self.tell(sampled, None)?;
                match given_up {
                    Some(failure) => self.tell(Input::GivenUp { run, failure }, None),
                    None => Ok(()),
                }
            }
            Choice::Timer(timer) => {
                driver.fired.insert(timer.clone());
                self.tell(Input::TimerDue(timer), None)
            }
            Choice::Command(asked) => {
                driver.asked = asked.number;
                self.tell(
                    Input::Commanded {
                        id: asked.id,
                        by: Actor::person(asked.by),
                        command: asked.command,
                    },
                    None,
                )
            }
            Choice::Look(at) => {
                let (_, look) = self.world.files.looks.remove(at);
                self.tell(
                    Input::Observed {
                        seen: vec![look],
                        whole: false,
                    },
                    None,
                )
            }
            Choice::FirstLook => {
                driver.first_look = None;
                self.world.files.looks.clear();
                let looks = self.world.files.see_all(now);
                self.tell(
                    Input::Observed {
                        seen: looks,
                        whole: true,
                    },
                    None,
                )
            }
            Choice::Tick => {
                (driver.tick_at, driver.wake_at) = (Time(now.0 + TICK), None);
                self.tell(Input::Ticked, None)
            }
        }
    }

    /// Whether a watcher of a run has seen its end. One that was stopped before it began, and for which
    /// nobody waits, never begins.
    fn has_ended(&self, run: &RunId) -> bool {
        if !run.is_check() {
            return self.world.end_of(run).is_some();
        }
        let waits = |driver: &Driver| driver.core.tickets().any(|ticket| ticket.waits_for(run));
        let is_waited_for = self.driver.as_ref().is_some_and(waits);
        let never_begins = !self.world.has_begun(run) && !is_waited_for;
        never_begins || self.world.checks.end_of(run).is_some()
    }

    /// What a watcher tells of the end of a run.
    pub(super) fn end_of(&mut self, run: &RunId) -> Option<Input> {
        if !run.is_check() {
            return self.run_end(run).map(Input::RunEnded);
        }
        let outcome = match self.world.checks.end_of(run) {
            Some(outcome) => outcome.clone(),
            None if self.world.has_begun(run) => return None,
            None => CheckOutcome::Lost {
                how: Loss::NotStarted {
                    why: "there is no such run".to_owned(),
                },
            },
        };
        let run = run.clone();
        Some(Input::CheckEnded(CheckEnd { run, outcome }))
    }

    fn run_end(&mut self, run: &RunId) -> Option<RunEnd> {
        let end = self.world.end_of(run)?.clone();
        self.world.sweep(run);
        let floods = self
            .world
            .processes
            .get(run)
            .is_some_and(|process| process.floods);
        let usage = Usage {
            input_tokens: 10,
            output_tokens: 1,
            cost_micro_usd: self.world.processes.get(run).map_or(0, |process| process.cost),
            estimated_micro_usd: 0,
        };
        Some(RunEnd {
            run: run.clone(),
            usage,
            total_micro_usd: None,
            summary: floods.then(|| "\u{1b}[2J\"\\ \u{0}…\n".repeat(400)),
            mode: None,
            end,
        })
    }

    fn tell(&mut self, input: Input, effect: Option<Ordered>) -> Checked {
        let Some(driver) = &mut self.driver else {
            return Ok(());
        };
        let heard = self.traced.then(|| heard(&input));
        if let Input::RunEnded(RunEnd { run, .. }) | Input::CheckEnded(CheckEnd { run, .. }) = &input {
            driver.watched.remove(run);
        }
        self.summary.inputs += u32::from(!matches!(input, Input::Sampled { .. }));
        let twice = self.chance.strikes(Site::Twice).map(|_| input.clone());
        let output = driver.core.step(input, self.world.now);
        self.note(Who::Engine, || {
            format!("heard: {}{}", heard.unwrap_or_default(), facts(&output))
        });
        self.batch.push((output, effect));
        if let Some(input) = twice
            && let Some(driver) = &mut self.driver
        {
            let output = driver.core.step(input, self.world.now);
            self.muddied = true;
            self.note(Who::Engine, || format!("heard the same again{}", facts(&output)));
            self.batch.push((output, None));
        }
        if self.batch.len() < 6 && self.chance.strikes(Site::Batch).is_some() {
            return Ok(());
        }
        self.carry_out()
    }
}

pub(super) fn reported(told: &Told) -> Input {
    let Ordered { id, ticket, effect } = told.ordered.clone();
    Input::Reported {
        id,
        ticket,
        effect,
        report: told.report.clone(),
    }
}
