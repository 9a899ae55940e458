//! The checks of a candidate: commands that run one after the other, and what they have come to so far.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Candidate, Check, CheckPlan, FewerTests, Hindrance};
use crate::{Oid, RunId, Time};

/// How many runs of a check may be lost in a row before the checks cannot be run.
pub(super) const TRIES: u32 = 3;

/// The checks of a candidate. One run of them is under way, unless the engine was stopped.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Checks {
    /// The merged result that is checked.
    pub candidate: Candidate,
    /// The commands to run.
    pub plan: CheckPlan,
    /// The number of commands that have passed on the candidate.
    pub passed: u32,
    /// The output of the first command that failed on the candidate, or could not be run. The commands up to
    /// that one then run on the target, which proves whether the branch is at fault.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
    /// What could not be run with the candidate, as long as that is not settled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hindered: Option<Hindrance>,
    /// The failures on the candidate that did not count, since the check may be repeated.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tries: Vec<FailedTry>,
    /// The number of commands that have passed on the target since.
    #[serde(default)]
    pub on_target: u32,
    /// Whether one of them did not run there: that it had passed before was remembered.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub remembered: bool,
    /// The number of set-up commands that have run in the checkout; none as long as no run needed any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub set_up: Option<u32>,
    /// The commitments to verify on the candidate: once the commands have passed, or before they run, as the
    /// plan says.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commitments: Vec<Owed>,
    /// The number of them that have passed.
    #[serde(default)]
    pub met: u32,
    /// The number of runs in a row that came to nothing, since somebody else ended them.
    pub lost: u32,
    /// The number of times that the checkout lost the files which earlier commands had left in it, so that
    /// those commands had to run anew.
    #[serde(default)]
    pub restarts: u32,
    /// The number of runs that were ordered: it numbers them.
    pub runs: u32,
    /// The checkout in which they run.
    #[serde(default, skip_serializing_if = "CheckSlot::is_first")]
    pub slot: CheckSlot,
    /// The run that is under way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<CheckRun>,
}

/// A failure of a check that is repeated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedTry {
    /// The name of the check.
    pub check: String,
    /// The end of its output.
    pub output: String,
}

/// A commitment that is to be verified on the candidate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owed {
    /// Its number in the ticket.
    pub id: u32,
    /// The promise in words.
    pub says: String,
    /// Its command, with its limit.
    pub check: Check,
}

/// A run of the checks: one process that was ordered and whose end is not recorded yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckRun {
    /// Its id.
    pub run: RunId,
    /// The task of the run.
    pub task: CheckTask,
    /// The checkout in which it runs.
    #[serde(default, skip_serializing_if = "CheckSlot::is_first")]
    pub slot: CheckSlot,
    /// When it was ordered.
    pub since: Time,
    /// The reason of the order to stop it, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopping: Option<CheckStop>,
}

/// The number of a checkout in which checks run, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CheckSlot(pub u32);

impl Default for CheckSlot {
    fn default() -> Self {
        Self::FIRST
    }
}

impl CheckSlot {
    /// The first checkout, in which the checks of the bare target run too.
    pub const FIRST: Self = Self(1);

    /// Whether it is the first.
    #[must_use]
    pub fn is_first(&self) -> bool {
        *self == Self::FIRST
    }
}

/// The task of a run of the checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckTask {
    /// It runs the next set-up command.
    SetUp,
    /// It runs the next command on the candidate.
    Candidate,
    /// It runs the command of the next commitment on the candidate, in a clean checkout.
    Commitment,
    /// It runs the commands up to the one that failed on the candidate, on the target.
    Target,
}

/// The reason for which a run of the checks is ordered to stop although its verdict is still wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckStop {
    /// The engine is being stopped: the next engine runs it again, and nothing is counted.
    Pause,
    /// Its shim is frozen: it is run again.
    Frozen,
}

/// The end of a run of the checks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckOutcome {
    /// The command passed.
    Passed,
    /// The command passed when it was repeated, on the same files, after it had failed.
    Flaky {
        /// The end of the output of the run that passed.
        output: String,
    },
    /// Nothing was run: the same command had passed on the same tree before.
    PassedBefore,
    /// Nothing was run: the checkout has to be set up first.
    NotSetUp,
    /// The command passed, and ran far fewer tests than on the target.
    FewerTests {
        /// The numbers of its tests.
        tests: FewerTests,
        /// The end of its output.
        output: String,
    },
    /// The command failed.
    Failed {
        /// The end of its output, and on the last line, in brackets, the way in which it ended.
        output: String,
    },
    /// The command could not be run.
    CouldNotRun {
        /// The reason, in words.
        why: String,
    },
    /// Somebody else ended it, so it proves nothing about the commit.
    Lost {
        /// The way in which it was lost.
        how: Loss,
    },
}

impl CheckOutcome {
    /// Whether the cause of checks that cannot be run may pass without a person. A set-up may lack a network,
    /// and a machine may lack memory; a command that cannot be run is a person's to mend.
    #[must_use]
    pub fn may_pass(&self) -> bool {
        match self {
            CheckOutcome::CouldNotRun { .. } => false,
            CheckOutcome::Passed
            | CheckOutcome::Flaky { .. }
            | CheckOutcome::PassedBefore
            | CheckOutcome::NotSetUp
            | CheckOutcome::FewerTests { .. }
            | CheckOutcome::Failed { .. }
            | CheckOutcome::Lost { .. } => true,
        }
    }
}

/// The way in which a run of the checks was lost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Loss {
    /// By a signal that a program does not bring on itself.
    Signal {
        /// Its number.
        signal: i32,
    },
    /// By an order to stop.
    Stopped,
    /// Its shim vanished without a record.
    Vanished,
    /// It was never started.
    NotStarted {
        /// The reason, in words.
        why: String,
    },
}

/// The line below the output of a check that failed in a checkout whose set-up was made for another commit.
pub const KEPT_SET_UP: &str = "(its set-up was kept from another commit and not run anew: if the set-up reads files that crew does not know, name them in [checks] setup_inputs; `crew clean --checks` has it run anew)";

/// The output of a check without the line about its set-up, which only a person can do something about.
#[must_use]
pub fn without_set_up(output: &str) -> &str {
    let shorter = output.strip_suffix(KEPT_SET_UP);
    shorter.map_or(output, |output| output.trim_end_matches('\n'))
}

/// The way in which a failed command ended, from the last lines of its output: `exit code 1`, `timed out
/// after 3 s`.
#[must_use]
pub fn how_it_ended(output: &str) -> Option<&str> {
    let is_end = |how: &&str| {
        let begins = [
            "exit code ",
            "timed out after ",
            "ended by signal ",
            "ran no tests",
        ];
        begins.iter().any(|begin| how.starts_with(begin))
    };
    // A hint may stand below it.
    let last = without_set_up(output.trim_end()).lines().rev().take(2);
    last.filter_map(|line| line.strip_prefix('(')?.strip_suffix(')'))
        .find(is_end)
}

impl fmt::Display for Loss {
    /// As the end of a sentence about the run.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Loss::Signal { signal } => write!(f, "was ended by signal {signal}"),
            Loss::Stopped => f.write_str("was stopped"),
            Loss::Vanished => f.write_str("vanished with its shim"),
            Loss::NotStarted { why } => write!(f, "could not be started: {why}"),
        }
    }
}

impl Checks {
    /// Checks of which nothing was run yet.
    #[must_use]
    pub fn new(candidate: Candidate, plan: CheckPlan) -> Self {
        Self {
            candidate,
            plan,
            passed: 0,
            failed: None,
            hindered: None,
            tries: Vec::new(),
            on_target: 0,
            remembered: false,
            set_up: None,
            commitments: Vec::new(),
            met: 0,
            lost: 0,
            restarts: 0,
            runs: 0,
            slot: CheckSlot::FIRST,
            run: None,
        }
    }

    /// The task of the next run: set-up where the checkout needs it, the proof of a failure, the next
    /// command; none when all have passed.
    #[must_use]
    pub fn next(&self) -> Option<CheckTask> {
        if self.set_up.is_some() && self.command(CheckTask::SetUp).is_some() {
            return Some(CheckTask::SetUp);
        }
        if self.failed.is_some() {
            return Some(CheckTask::Target);
        }
        let tasks = match self.plan.commitments_first {
            true => [CheckTask::Commitment, CheckTask::Candidate],
            false => [CheckTask::Candidate, CheckTask::Commitment],
        };
        tasks.into_iter().find(|task| self.command(*task).is_some())
    }

    /// Whether nothing is left before the first check, where the commitments go first. The work can still
    /// join the merge train, whose checks are then its only ones.
    #[must_use]
    pub fn are_about_to_begin(&self) -> bool {
        let is_untouched = self.passed == 0 && self.tries.is_empty() && self.run.is_none();
        self.plan.commitments_first && is_untouched && self.next() == Some(CheckTask::Candidate)
    }

    /// The command that a task would run now.
    #[must_use]
    pub fn command(&self, task: CheckTask) -> Option<&Check> {
        let (commands, at) = match task {
            CheckTask::SetUp => (&self.plan.setup, self.set_up.unwrap_or(0)),
            CheckTask::Candidate | CheckTask::Target => (&self.plan.commands, self.passed_before(task)),
            CheckTask::Commitment => return self.owed().map(|owed| &owed.check),
        };
        commands.get(at as usize)
    }

    /// The next commitment to verify.
    #[must_use]
    pub fn owed(&self) -> Option<&Owed> {
        self.commitments.get(self.met as usize)
    }

    /// The number of commands that have passed on the commit of a task before it.
    #[must_use]
    pub fn passed_before(&self, task: CheckTask) -> u32 {
        match task {
            CheckTask::SetUp | CheckTask::Commitment => 0,
            CheckTask::Candidate => self.passed,
            CheckTask::Target => self.on_target,
        }
    }

    /// The check that failed on the candidate.
    #[must_use]
    pub fn failed_command(&self) -> Option<&Check> {
        let failed = self.plan.commands.get(self.passed as usize);
        failed.filter(|_| self.failed.is_some())
    }

    /// Whether the target passes every command up to the one that failed on the candidate.
    #[must_use]
    pub fn is_target_green(&self) -> bool {
        self.failed.is_some() && self.on_target > self.passed
    }

    /// The commit on which a task runs its command.
    #[must_use]
    pub fn commit(&self, task: CheckTask) -> &Oid {
        match task {
            // Set-up is for the command that runs next.
            CheckTask::SetUp if self.failed.is_some() => &self.candidate.target,
            CheckTask::Target => &self.candidate.target,
            CheckTask::SetUp | CheckTask::Candidate | CheckTask::Commitment => &self.candidate.commit,
        }
    }

    /// The names of the checks once all have passed, each with how it did where that is not plain.
    #[must_use]
    pub fn verdicts(&self) -> Vec<String> {
        let passed = self.plan.commands.iter().map(|check| match self.tries_of(check) {
            0 => check.to_string(),
            _ => format!("{check} (flaky)"),
        });
        let skipped = self.plan.skipped.iter().map(|check| format!("{check} (skipped)"));
        passed.chain(skipped).collect()
    }

    /// True if every command has passed on the candidate, and every commitment that has one.
    #[must_use]
    pub fn are_passed(&self) -> bool {
        self.failed.is_none() && self.passed as usize == self.plan.commands.len() && self.owed().is_none()
    }

    /// Notes that a run is under way.
    pub fn order(&mut self, run: RunId, task: CheckTask, slot: CheckSlot, at: Time) {
        self.runs += 1;
        self.slot = slot;
        self.run = Some(CheckRun {
            run,
            task,
            slot,
            since: at,
            stopping: None,
        });
    }

    /// How often a check has failed on the candidate and was repeated.
    #[must_use]
    pub fn tries_of(&self, check: &Check) -> usize {
        let name = check.to_string();
        self.tries.iter().filter(|failed| failed.check == name).count()
    }

    /// Whether the check that runs on the candidate is repeated if it fails.
    #[must_use]
    pub fn may_repeat(&self) -> bool {
        let check = self.command(CheckTask::Candidate);
        check.is_some_and(|check| self.tries_of(check) < check.retry as usize)
    }

    /// The end of a run as it counts: a check that passes only once it is repeated is flaky. `printed`: the
    /// end of its output.
    #[must_use]
    pub fn counted(&self, task: CheckTask, outcome: CheckOutcome, printed: &str) -> CheckOutcome {
        let check = self.command(task).filter(|_| task == CheckTask::Candidate);
        match (outcome, check) {
            (CheckOutcome::Passed, Some(check)) if self.tries_of(check) > 0 => CheckOutcome::Flaky {
                output: printed.to_owned(),
            },
            (outcome, _) => outcome,
        }
    }

    /// Takes in how the run that was under way has ended.
    pub fn ended(&mut self, run: &CheckRun, outcome: &CheckOutcome) {
        self.run = None;
        let (is_on_target, command) = (self.failed.is_some(), self.name_of(run.task));
        match (run.task, outcome) {
            (_, CheckOutcome::Lost { .. }) => {
                self.lost += u32::from(run.stopping != Some(CheckStop::Pause));
                if run.task == CheckTask::SetUp {
                    self.set_up = Some(0);
                }
            }
            (_, CheckOutcome::NotSetUp) => {
                // Set-up that does not last is no better than a run that was lost.
                self.lost += u32::from(self.set_up.is_some());
                self.set_up = Some(0);
                // The commands run anew too: what they left for the next one is gone.
                self.restarts += u32::from(self.passed_before(run.task) > 0);
                match (self.failed.is_some(), run.task) {
                    // A commitment begins in a clean checkout: it needs nothing of the commands before it.
                    (_, CheckTask::Commitment) => {}
                    (true, _) => self.on_target = 0,
                    (false, _) => self.passed = 0,
                }
            }
            (
                CheckTask::SetUp,
                CheckOutcome::Passed | CheckOutcome::Flaky { .. } | CheckOutcome::PassedBefore,
            ) => {
                self.set_up = Some(self.set_up.unwrap_or(0) + 1);
            }
            (
                CheckTask::Candidate,
                CheckOutcome::Passed | CheckOutcome::Flaky { .. } | CheckOutcome::PassedBefore,
            ) => {
                (self.passed, self.lost) = (self.passed + 1, 0);
            }
            (CheckTask::Candidate, CheckOutcome::Failed { output }) if self.may_repeat() => {
                let check = self.command(run.task).map(Check::to_string).unwrap_or_default();
                let output = output.clone();
                self.tries.push(FailedTry { check, output });
                // It may need what the checks before it leave in the files, which are made anew.
                (self.passed, self.lost) = (0, 0);
            }
            (
                CheckTask::Candidate,
                CheckOutcome::Failed { output } | CheckOutcome::FewerTests { output, .. },
            ) => {
                (self.failed, self.lost) = (Some(output.clone()), 0);
                self.remembered = false;
            }
            (
                CheckTask::Commitment,
                CheckOutcome::Passed | CheckOutcome::Flaky { .. } | CheckOutcome::PassedBefore,
            ) => {
                (self.met, self.lost) = (self.met + 1, 0);
            }
            (
                CheckTask::Target,
                CheckOutcome::Passed | CheckOutcome::Flaky { .. } | CheckOutcome::PassedBefore,
            ) => {
                (self.on_target, self.lost) = (self.on_target + 1, 0);
                self.remembered |= *outcome == CheckOutcome::PassedBefore;
            }
            // These lead to a verdict, which ends the checks.
            (
                CheckTask::SetUp | CheckTask::Target | CheckTask::Commitment,
                CheckOutcome::Failed { .. } | CheckOutcome::FewerTests { .. },
            )
            | (_, CheckOutcome::CouldNotRun { .. }) => {}
        }
        self.note_hindrance(run, outcome, is_on_target, &command);
    }
}
