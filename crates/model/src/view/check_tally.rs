//! The tally of a check: its last verdicts, and how often it ran, failed, was flaky or was skipped.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::project;
use crate::target::Verdict;
use crate::ticket::{CheckOutcome, CheckTask, Event, Ticket};
use crate::{Oid, RunId, TicketId, Time};

/// So many of the last verdicts of a check are kept.
const VERDICTS: usize = 5;
/// Checks beyond so many are forgotten, the one with the oldest verdict first: settings change.
const CHECKS: usize = 64;

/// The tally of each check, by its name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CheckTallies(BTreeMap<String, CheckTally>);

/// All that is kept of the runs of a check.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CheckTally {
    /// Its last verdicts, the oldest first.
    pub verdicts: Vec<CheckVerdict>,
    /// How often it ran and passed.
    pub passed: u64,
    /// How often it failed.
    pub failed: u64,
    /// How often it need not run, since it had passed on the same tree.
    pub cached: u64,
    /// How often it passed only when it was repeated.
    pub flaky: u64,
    /// How often it was skipped, since the work changed none of its paths.
    pub skipped: u64,
}

/// A verdict of a check.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckVerdict {
    /// The verdict.
    pub end: CheckEnding,
    /// The commit that it ran on.
    pub commit: Oid,
    /// The tree of that commit, where it is known.
    pub tree: Option<Oid>,
    /// The ticket whose work it judged; none for the bare target.
    pub ticket: Option<TicketId>,
    /// Its run.
    pub run: Option<RunId>,
    /// The time at which it was reached.
    pub at: Time,
    /// How long it took, in milliseconds, where that is known.
    pub ms: Option<u64>,
    /// The number of tests that it ran, where its output says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests: Option<u64>,
}

/// The way in which a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckEnding {
    /// It ran and passed.
    Passed,
    /// It had passed on the same tree before.
    Cached,
    /// It passed when it was repeated.
    Flaky,
    /// It passed, and ran far fewer tests than on the target.
    FewerTests,
    /// It failed.
    Failed,
    /// It could not be run.
    CouldNotRun,
}

impl CheckEnding {
    /// The name, as every surface shows it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Cached => "cached",
            Self::Flaky => "flaky",
            Self::FewerTests => "fewer_tests",
            Self::Failed => "failed",
            Self::CouldNotRun => "could_not_run",
        }
    }

    fn of(outcome: &CheckOutcome) -> Option<Self> {
        Some(match outcome {
            CheckOutcome::Passed => Self::Passed,
            CheckOutcome::PassedBefore => Self::Cached,
            CheckOutcome::Flaky { .. } => Self::Flaky,
            CheckOutcome::FewerTests { .. } => Self::FewerTests,
            CheckOutcome::Failed { .. } => Self::Failed,
            CheckOutcome::CouldNotRun { .. } => Self::CouldNotRun,
            CheckOutcome::NotSetUp | CheckOutcome::Lost { .. } => return None,
        })
    }
}

fn millis(until: Time, since: Time) -> u64 {
    u64::try_from(until.since(since).as_millis()).unwrap_or(u64::MAX)
}

impl CheckTallies {
    /// The tally of a check; none of one that had no verdict yet.
    #[must_use]
    pub fn of(&self, name: &str) -> Option<&CheckTally> {
        self.0.get(name)
    }

    /// Takes in an event of a ticket. `before`: the ticket before it.
    pub(super) fn ticket_row(&mut self, event: &Event, before: Option<&Ticket>, at: Time) {
        if let Event::CandidateBuilt { plan, .. } = event {
            for check in &plan.skipped {
                self.tally(&check.to_string()).skipped += 1;
            }
            return;
        }
        let Event::CheckEnded { run, outcome, tests } = event else {
            return;
        };
        let checks = before.and_then(Ticket::checks);
        let Some((checks, running)) = checks.and_then(|checks| Some((checks, checks.run.as_ref()?))) else {
            return;
        };
        let (Some(check), Some(end)) = (checks.command(running.task), CheckEnding::of(outcome)) else {
            return;
        };
        let tree = match running.task {
            // A commitment is no check of the settings.
            CheckTask::SetUp | CheckTask::Commitment => return,
            CheckTask::Candidate => Some(checks.candidate.tree.clone()),
            CheckTask::Target => None,
        };
        self.note(
            &check.to_string(),
            CheckVerdict {
                end,
                commit: checks.commit(running.task).clone(),
                tree,
                ticket: before.map(|ticket| ticket.id.clone()),
                run: Some(run.clone()),
                at,
                ms: (end != CheckEnding::Cached).then(|| millis(at, running.since)),
                tests: *tests,
            },
        );
    }

    /// Takes in an event of the project: the checks of the bare target have ended.
    pub(super) fn project_row(&mut self, event: &project::Event, at: Time) {
        let project::Event::Target(target) = event else {
            return;
        };
        // A target that passed as a candidate needed no run.
        let Some(run) = &target.run else { return };
        let verdict = |end| CheckVerdict {
            end,
            commit: target.commit.clone(),
            tree: Some(target.basis.tree.clone()),
            ticket: None,
            run: Some(run.clone()),
            at,
            ms: None,
            tests: None,
        };
        match &target.verdict {
            Verdict::Passed => {
                for name in target.basis.plan.names() {
                    let end = match target.flaky.contains(&name) {
                        true => CheckEnding::Flaky,
                        false => CheckEnding::Passed,
                    };
                    self.note(&name, verdict(end));
                }
            }
            Verdict::Failed { which, .. } => self.note(which, verdict(CheckEnding::Failed)),
            Verdict::Unchecked
            | Verdict::Checking { .. }
            | Verdict::Blind { .. }
            | Verdict::CouldNotRun { .. }
            | Verdict::OutOfReach { .. } => {}
        }
    }

    fn note(&mut self, name: &str, verdict: CheckVerdict) {
        let tally = self.tally(name);
        match verdict.end {
            CheckEnding::Passed | CheckEnding::FewerTests => tally.passed += 1,
            CheckEnding::Cached => tally.cached += 1,
            CheckEnding::Flaky => tally.flaky += 1,
            CheckEnding::Failed => tally.failed += 1,
            CheckEnding::CouldNotRun => {}
        }
        // What was only remembered pushes no run out.
        let is_cached = |verdict: &CheckVerdict| verdict.end == CheckEnding::Cached;
        if is_cached(&verdict) {
            tally.verdicts.pop_if(|last| is_cached(last));
        }
        if tally.verdicts.len() == VERDICTS {
            tally.verdicts.remove(0);
        }
        tally.verdicts.push(verdict);
    }

    fn tally(&mut self, name: &str) -> &mut CheckTally {
        if !self.0.contains_key(name) && self.0.len() >= CHECKS {
            let last = |tally: &CheckTally| tally.verdicts.last().map(|verdict| verdict.at);
            let oldest = self.0.iter().min_by_key(|(_, tally)| last(tally));
            let oldest = oldest.map(|(name, _)| name.clone());
            oldest.and_then(|name| self.0.remove(&name));
        }
        self.0.entry(name.to_owned()).or_default()
    }
}
