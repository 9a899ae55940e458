//! Simulated checks: they take time in the one checkout, end, are lost, freeze, and outlive an engine.

use std::collections::{BTreeMap, BTreeSet};

use model::journal::EffectId;
use model::policy::stall::Sample;
use model::settings::Settings;
use model::ticket::{CheckOutcome, CheckSlot, CheckTask, Loss};
use model::{RunId, TicketId, Time};

use crate::git::Git;

/// The command that a broken tree fails.
pub(crate) const CHECK: &str = "make check";
/// The name of a check that is repeated: a broken tree fails it, and any other now and then.
pub(crate) const SHAKY: &str = "shaky";
/// A command that every tree passes.
pub(crate) const LINT: &str = "make lint";
/// The longest time that a run takes to end after it was asked to stop.
pub(crate) const GRACE: u64 = 12_000;

/// A run of checks, with the record that its shim would have written.
#[derive(Clone, Debug)]
pub(crate) struct Check {
    pub(crate) run: RunId,
    pub(crate) ticket: TicketId,
    pub(crate) task: CheckTask,
    /// The checkout that it runs in.
    pub(crate) slot: CheckSlot,
    /// The commit under check.
    pub(crate) commit: usize,
    /// What it is known by: its name, or its command.
    pub(crate) command: String,
    /// The number of set-up commands that had run before it.
    pub(crate) set_up: u32,
    /// The time at which it began.
    pub(crate) began: Time,
    /// The acts that are going to happen, the next first.
    pub(crate) acts: Vec<(Time, Act)>,
    /// Whether it passes although it does not, or the other way round.
    pub(crate) is_false: bool,
    /// Its end; none while it lives.
    pub(crate) end: Option<CheckOutcome>,
    /// The time since which its shim has been frozen.
    pub(crate) frozen: Option<Time>,
    /// The time until which it may live, once it was asked to stop.
    pub(crate) stop_by: Option<Time>,
}

/// One thing that happens to a check.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Act {
    /// Its shim is frozen.
    Freeze,
    /// Its shim goes on, if it was frozen.
    Thaw,
    /// It ends by itself.
    End(CheckOutcome),
    /// The engine that has asked it to stop ends it, be its shim frozen or not.
    Kill,
}

/// Every check that was ever run, and the checkouts that they share.
#[derive(Clone, Debug, Default)]
pub(crate) struct Checks {
    pub(crate) runs: BTreeMap<RunId, Check>,
    /// The order that was given to each checkout last.
    pub(crate) last: BTreeMap<CheckSlot, EffectId>,
    /// The run that had each checkout last.
    pub(crate) current: BTreeMap<CheckSlot, RunId>,
    /// The number of set-up commands that have ended well in each checkout, one after the other.
    pub(crate) set_up: BTreeMap<CheckSlot, u32>,
    /// Commands that have passed, each with the commit.
    passed: BTreeSet<(usize, String)>,
}

impl Checks {
    /// True if every one of these commands has passed on the commit.
    pub(crate) fn have_passed(&self, commit: usize, commands: &[String]) -> bool {
        let passed = |command: &String| self.passed.contains(&(commit, command.clone()));
        commands.iter().all(passed)
    }

    /// The number of runs in which the command has failed on the commit, in the same stay in the train, or
    /// beside it, as `run`.
    pub(crate) fn failures(&self, run: &RunId, commit: usize, command: &str) -> usize {
        let is_alike = |check: &&Check| {
            let is_of = (check.commit, check.command.as_str()) == (commit, command);
            is_of && stay(&check.run) == stay(run)
        };
        let failed = |check: &&Check| matches!(check.end, Some(CheckOutcome::Failed { .. }));
        self.runs.values().filter(is_alike).filter(failed).count()
    }

    /// True if a command is known to pass on the commit, since it has passed on the same tree.
    pub(crate) fn is_known(&mut self, git: &Git, commit: usize, command: &str) -> bool {
        let same = |(other, of): &&(usize, String)| of == command && git.tree(*other) == git.tree(commit);
        let is_known = self.passed.iter().find(same).is_some();
        if is_known {
            self.passed.insert((commit, command.to_owned()));
        }
        is_known
    }

    /// The checks that live.
    pub(crate) fn live(&self) -> impl Iterator<Item = &Check> {
        self.runs.values().filter(|check| check.end.is_none())
    }

    /// The end of a run, when it has ended and that can be seen.
    pub(crate) fn end_of(&self, run: &RunId) -> Option<&CheckOutcome> {
        let check = self.runs.get(run)?;
        check.end.as_ref().filter(|_| check.frozen.is_none())
    }

    /// The time of the next act of a check.
    pub(crate) fn next_act(&self) -> Option<Time> {
        let acts = self.runs.values().filter_map(|check| check.acts.first());
        acts.map(|(at, _)| *at).min()
    }

    /// Lets time pass; returns true if anything happened. `is_recorded`: a check that passes has passed.
    pub(crate) fn advance(&mut self, to: Time, is_recorded: bool) -> bool {
        let mut acted = false;
        for check in self.runs.values_mut() {
            while check.acts.first().is_some_and(|(at, _)| *at <= to) {
                acted = true;
                match check.acts.remove(0).1 {
                    Act::Freeze if check.end.is_none() => check.frozen = check.frozen.or(Some(to)),
                    Act::Freeze => {}
                    Act::Thaw => check.frozen = None,
                    Act::End(outcome) => {
                        if check.end.is_some() {
                            continue;
                        }
                        if outcome == CheckOutcome::Passed {
                            match check.task {
                                CheckTask::SetUp => {
                                    self.set_up.insert(check.slot, check.set_up + 1);
                                }
                                CheckTask::Candidate | CheckTask::Target
                                    if is_recorded && !check.is_false =>
                                {
                                    self.passed.insert((check.commit, check.command.clone()));
                                }
                                CheckTask::Candidate | CheckTask::Commitment | CheckTask::Target => {}
                            }
                        }
                        check.end = Some(outcome);
                    }
                    Act::Kill => check.kill(Loss::Stopped),
                }
            }
        }
        acted
    }

    /// The machine's clock is set.
    pub(crate) fn set_clock(&mut self, by: i64) {
        for check in self.runs.values_mut() {
            check.began.0 += by;
            check.acts.iter_mut().for_each(|(at, _)| at.0 += by);
            for at in check.frozen.iter_mut().chain(&mut check.stop_by) {
                at.0 += by;
            }
        }
    }

    /// Ends whatever run had a checkout last.
    pub(crate) fn clear(&mut self, slot: CheckSlot) {
        if let Some(run) = self.current.remove(&slot)
            && let Some(check) = self.runs.get_mut(&run)
        {
            check.kill(Loss::Stopped);
        }
    }
}

/// The part of a run's id that the runs of one stay in the train, or beside it, have in common: the last
/// number counts them.
pub(crate) fn stay(run: &RunId) -> Option<&str> {
    run.as_str().rsplit_once('-').map(|(stay, _)| stay)
}

/// All checks by what they are known by, in order: a name, or the command.
pub(crate) fn commands(settings: &Settings) -> Vec<String> {
    let named = settings.check.iter().map(|check| check.name.clone());
    settings.checks.commands.iter().cloned().chain(named).collect()
}

/// How often a failure of a check is repeated.
pub(crate) fn retry(settings: &Settings, name: &str) -> u32 {
    let mut named = settings.check.iter();
    named
        .find(|check| check.name == name)
        .map_or(0, |check| check.retry)
}

impl Check {
    /// The sample of a look at it. A check with a frozen shim shows only the state in which it froze.
    pub(crate) fn sample(&self, now: Time) -> Sample {
        let seen = self.frozen.unwrap_or(now);
        Sample {
            at: now,
            seen,
            output_bytes: 1,
            stated: None,
            cpu_ms: 1,
            children: 0,
            child: None,
            shim: 1,
            pulse: u64::try_from(seen.0 - self.began.0).unwrap_or(0),
        }
    }

    /// It is ended, be its shim frozen or not.
    pub(crate) fn kill(&mut self, how: Loss) {
        self.frozen = None;
        self.acts.clear();
        self.end.get_or_insert(CheckOutcome::Lost { how });
    }

    /// Asks it to stop: it ends by then.
    pub(crate) fn stop(&mut self, by: Time) {
        if self.stop_by.is_some() || (self.end.is_some() && self.frozen.is_none()) {
            return;
        }
        self.stop_by = Some(by);
        self.acts.retain(|(at, _)| *at < by);
        self.acts.push((by, Act::Kill));
    }
}
