//! Last runs: how each check did when it ran last, on whatever commit. A pass that is remembered proves
//! something only as long as that was none of several failures: the cause may be one that no tree shows, such
//! as a service that is gone.

use std::collections::BTreeMap;

use model::target::{Target, Verdict};
use model::ticket::{CheckOutcome, CheckTask, Checks};

/// So many failures in a row, without a pass between them, are proven by what is remembered.
const PROVEN_BY_MEMORY: u32 = 1;

/// The checks that ran under this engine, by name, each with the number of its failures since it passed last.
/// An engine that starts knows of no run.
#[derive(Clone, Debug, Default)]
pub(super) struct LastRuns(BTreeMap<String, u32>);

/// A check that ran.
pub(super) struct Ran {
    name: String,
    has_passed: bool,
}

impl Ran {
    /// The check that ran for a task of a ticket's checks; none where none did. `checks`: before its end.
    pub(super) fn of(checks: &Checks, task: CheckTask, outcome: &CheckOutcome) -> Option<Self> {
        // A commitment is no check of the settings.
        if matches!(task, CheckTask::SetUp | CheckTask::Commitment) {
            return None;
        }
        let has_passed = match outcome {
            CheckOutcome::Passed | CheckOutcome::Flaky { .. } | CheckOutcome::FewerTests { .. } => true,
            // What is repeated has not failed yet.
            CheckOutcome::Failed { .. } if task == CheckTask::Candidate && checks.may_repeat() => {
                return None;
            }
            CheckOutcome::Failed { .. } => false,
            CheckOutcome::PassedBefore
            | CheckOutcome::NotSetUp
            | CheckOutcome::CouldNotRun { .. }
            | CheckOutcome::Lost { .. } => return None,
        };
        let name = checks.command(task)?.to_string();
        Some(Self { name, has_passed })
    }
}

impl LastRuns {
    /// Takes in a run of a ticket's checks.
    pub(super) fn note(&mut self, ran: Ran) {
        match ran.has_passed {
            true => self.passed(ran.name),
            false => self.failed(ran.name),
        }
    }

    /// Takes in the verdict on the bare target. One without a run is remembered itself.
    pub(super) fn target_checked(&mut self, target: &Target) {
        if target.run.is_none() {
            return;
        }
        match &target.verdict {
            Verdict::Passed => {
                for name in target.basis.plan.names() {
                    self.passed(name);
                }
            }
            Verdict::Failed { which, .. } => self.failed(which.clone()),
            Verdict::Unchecked
            | Verdict::Checking { .. }
            | Verdict::Blind { .. }
            | Verdict::CouldNotRun { .. }
            | Verdict::OutOfReach { .. } => {}
        }
    }

    /// Whether a pass of the target that is remembered proves the failure of a check which is known already.
    pub(super) fn is_proven_by_memory(&self, name: &str) -> bool {
        self.0
            .get(name)
            .is_some_and(|failures| *failures <= PROVEN_BY_MEMORY)
    }

    fn passed(&mut self, name: String) {
        self.0.insert(name, 0);
    }

    fn failed(&mut self, name: String) {
        // Of a check that has not run yet, nobody knows whether it still can pass.
        let failures = self.0.entry(name).or_insert(PROVEN_BY_MEMORY);
        *failures = failures.saturating_add(1);
    }
}
