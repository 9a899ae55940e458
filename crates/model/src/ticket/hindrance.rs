//! A check or a set-up that cannot be run, and the proof of whether the work is at fault.
//!
//! What cannot be run with the work is run with the target: what cannot be run there either is the machine's
//! fault, or that of the settings. What the target can run is run with the work once more, since a network or
//! memory may have been short for a while. Only then the work is at fault.

use serde::{Deserialize, Serialize};

use super::checks::TRIES;
use super::{Check, CheckOutcome, CheckRun, CheckTask, Checks, Loss};

/// The command that could not be run with the work, and how far the proof is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hindrance {
    /// Whether it is a command of the set-up; else it is a check.
    pub in_set_up: bool,
    /// The command.
    pub command: String,
    /// The end of its output, or the reason in words.
    pub output: String,
    /// How far the proof is.
    pub proof: Proof,
}

/// How far the proof is that the work is at fault for what cannot be run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Proof {
    /// It is run with the target.
    Target,
    /// It could be run with the target: it is run with the work once more.
    Again,
    /// It could be run with the target, and twice not with the work.
    Work,
    /// It could not be run with the target either.
    Neither,
}

impl Hindrance {
    /// The name under which it counts as a failure of the work.
    #[must_use]
    pub fn name(&self) -> String {
        match self.in_set_up {
            true => format!("set-up: {}", self.command),
            false => self.command.clone(),
        }
    }
}

impl Checks {
    /// The reason for which the checks cannot be run, where the end of a run of this task shows one and the
    /// work is not at fault. The checks are as they are after that end.
    #[must_use]
    pub fn cannot_run(&self, task: CheckTask, outcome: &CheckOutcome) -> Option<String> {
        let proof = self.hindered.as_ref().map(|hindered| hindered.proof);
        match proof {
            Some(Proof::Target | Proof::Again | Proof::Work) => None,
            // A command that has not passed is still the next one.
            Some(Proof::Neither) | None => self.hinders(task, outcome, &self.name_of(task)),
        }
    }

    /// The name of the check, or of the set-up command, that failed on the candidate or could not be run.
    #[must_use]
    pub fn failed_name(&self) -> Option<String> {
        match &self.hindered {
            Some(hindered) if self.failed.is_some() => Some(hindered.name()),
            Some(_) | None => self.failed_command().map(Check::to_string),
        }
    }

    /// Whether the target is tried, since a command could not be run with the candidate.
    #[must_use]
    pub fn is_proving(&self) -> bool {
        let proof = self.hindered.as_ref().map(|hindered| hindered.proof);
        proof == Some(Proof::Target)
    }

    /// Whether a command that ran before on the same tree has to run all the same: that it passed then does
    /// not prove that it can be run now.
    #[must_use]
    pub fn runs_anew(&self, task: CheckTask) -> bool {
        task == CheckTask::Target && self.is_proving()
    }

    pub(super) fn name_of(&self, task: CheckTask) -> String {
        self.command(task).map(Check::to_string).unwrap_or_default()
    }

    /// Takes in the end of a run: it may show that a command cannot be run, or that it can. `is_on_target`:
    /// whether the run was for the proof of an earlier failure. `command`: its command.
    pub(super) fn note_hindrance(
        &mut self,
        run: &CheckRun,
        outcome: &CheckOutcome,
        is_on_target: bool,
        command: &str,
    ) {
        if is_on_target {
            if self.hinders(run.task, outcome, command).is_some()
                && let Some(hindered) = &mut self.hindered
            {
                hindered.proof = Proof::Neither;
            }
            self.end_proof_on_target();
        } else if let Some(output) = self.may_be_the_works(run, outcome, command) {
            let hindered = Hindrance {
                in_set_up: run.task == CheckTask::SetUp,
                command: command.to_owned(),
                output,
                proof: Proof::Target,
            };
            self.prove(hindered);
        } else {
            self.forget_hindrance(run.task, outcome, command);
        }
    }

    /// The reason for which a command cannot be run, where this end of it is one.
    fn hinders(&self, task: CheckTask, outcome: &CheckOutcome, command: &str) -> Option<String> {
        match (task, outcome) {
            (_, CheckOutcome::CouldNotRun { why }) => Some(why.clone()),
            (_, CheckOutcome::Lost { how }) if self.lost >= TRIES => Some(match how {
                Loss::Signal { .. } => {
                    format!("`{command}` {how}, {TRIES} times: did it run out of memory?")
                }
                Loss::Stopped | Loss::Vanished => format!("`{command}` {how}, {TRIES} times"),
                Loss::NotStarted { .. } => format!("`{command}`, {TRIES} times, {how}"),
            }),
            (_, CheckOutcome::NotSetUp) if self.lost.max(self.restarts) >= TRIES => Some(format!(
                "the checkout was set up {TRIES} times, and does not stay so"
            )),
            (CheckTask::SetUp, CheckOutcome::Failed { output }) => {
                Some(format!("the set-up command `{command}` failed:\n{output}"))
            }
            (
                CheckTask::Candidate | CheckTask::Target | CheckTask::Commitment,
                CheckOutcome::Failed { .. },
            )
            | (_, CheckOutcome::Passed | CheckOutcome::Flaky { .. } | CheckOutcome::PassedBefore)
            | (_, CheckOutcome::FewerTests { .. })
            | (_, CheckOutcome::Lost { .. } | CheckOutcome::NotSetUp) => None,
        }
    }

    /// The output of a run on the work that may be hindered by the work itself. A commitment is not run on
    /// the target, and the bare target is its own proof.
    fn may_be_the_works(&self, run: &CheckRun, outcome: &CheckOutcome, command: &str) -> Option<String> {
        if run.task == CheckTask::Commitment || self.candidate.commit == self.candidate.target {
            return None;
        }
        let is_again = self.is_hindered_by(command, run.task == CheckTask::SetUp);
        // Two commands that hinder in turn would be proven for ever.
        if !is_again && self.restarts >= TRIES {
            return None;
        }
        match outcome {
            CheckOutcome::CouldNotRun { why } => Some(why.clone()),
            CheckOutcome::Failed { output } if run.task == CheckTask::SetUp => Some(output.clone()),
            CheckOutcome::Lost {
                how: Loss::Signal { signal },
            } if self.lost >= TRIES || is_again && run.stopping.is_none() => {
                Some(format!("(ended by signal {signal}, each time that it was run)"))
            }
            CheckOutcome::Failed { .. }
            | CheckOutcome::Lost { .. }
            | CheckOutcome::Passed
            | CheckOutcome::Flaky { .. }
            | CheckOutcome::PassedBefore
            | CheckOutcome::NotSetUp
            | CheckOutcome::FewerTests { .. } => None,
        }
    }

    fn is_hindered_by(&self, command: &str, in_set_up: bool) -> bool {
        let hindered = self.hindered.as_ref();
        hindered.is_some_and(|it| it.command == command && it.in_set_up == in_set_up)
    }

    /// Begins the proof of a hindrance on the target, or ends it where this is the second time.
    fn prove(&mut self, hindered: Hindrance) {
        let proof = match self.is_hindered_by(&hindered.command, hindered.in_set_up) {
            true => Proof::Work,
            false => Proof::Target,
        };
        self.failed = Some(hindered.output.clone());
        (self.on_target, self.lost) = (0, 0);
        if hindered.in_set_up {
            (self.set_up, self.passed) = (Some(0), 0);
        }
        self.hindered = Some(Hindrance { proof, ..hindered });
    }

    /// The target can be run: the work is tried once more, from its first command on.
    fn end_proof_on_target(&mut self) {
        let is_set_up = self.set_up.is_some() && self.command(CheckTask::SetUp).is_none();
        let (is_passed, setup) = (self.on_target > self.passed, Some(0));
        let Some(hindered) = &mut self.hindered else {
            return;
        };
        let is_proven = match hindered.in_set_up {
            true => is_set_up,
            false => is_passed,
        };
        if hindered.proof != Proof::Target || !is_proven {
            return;
        }
        hindered.proof = Proof::Again;
        self.set_up = setup.filter(|_| hindered.in_set_up);
        self.failed = None;
        (self.passed, self.on_target, self.lost) = (0, 0, 0);
        self.restarts += 1;
    }

    /// Forgets what could not be run, once it was run, or another failure is to be proven.
    fn forget_hindrance(&mut self, task: CheckTask, outcome: &CheckOutcome, command: &str) {
        let has_passed = matches!(
            outcome,
            CheckOutcome::Passed | CheckOutcome::Flaky { .. } | CheckOutcome::PassedBefore
        );
        let was_run = has_passed && self.is_hindered_by(command, task == CheckTask::SetUp);
        let is_held = self.hinders(task, outcome, command).is_some();
        if was_run || is_held || self.failed.is_some() {
            self.hindered = None;
        }
    }
}
