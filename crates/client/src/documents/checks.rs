//! The checks of the settings, with their last verdicts.

use model::settings::Settings;
use model::ticket::{self, CheckPlan};
use model::view::{CheckTallies, CheckVerdict};
use model::{Moment, Oid, RunId, TicketId};
use schemars::JsonSchema;
use serde::Serialize;

/// The checks of the settings, in the order in which they run.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Checks {
    /// The checks.
    pub checks: Vec<Check>,
    /// The programs of `[checks] toolchain`, with their answers.
    pub toolchain: Vec<Tool>,
}

/// A program that names a toolchain, as it answered when an engine asked last.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Tool {
    /// The program and its arguments.
    command: Vec<String>,
    /// All that it printed; `null` before an engine has asked it.
    answer: Option<String>,
}

/// The verdicts that crew has forgotten: each check runs the next time.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ForgotVerdicts {
    /// The number of verdicts.
    pub forgotten: usize,
}

/// A check.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Check {
    /// Its name; `null` for one of `[checks] commands`, which is known by its command.
    name: Option<String>,
    /// Its command.
    command: String,
    /// Its paths: it is skipped for work that changes none of them. Empty where it runs for all work.
    paths: Vec<String>,
    /// Those of its paths that hold no file of the target.
    idle_paths: Vec<String>,
    /// The longest time, in milliseconds, that it may take.
    timeout_ms: u64,
    /// How often a failure is repeated.
    retry: u32,
    /// How often it ran and passed.
    passed: u64,
    /// How often it failed.
    failed: u64,
    /// How often it need not run, since it had passed on the same tree.
    cached: u64,
    /// How often it passed only when it was repeated.
    flaky: u64,
    /// How often it was skipped, since the work changed none of its paths.
    skipped: u64,
    /// Its last verdicts, the oldest first.
    verdicts: Vec<Verdict>,
}

/// A verdict of a check.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "CheckVerdict")]
struct Verdict {
    /// `passed`, `cached` (it had passed on the same tree), `flaky` (it passed when it was repeated),
    /// `fewer_tests` (it passed with less than half of the target's tests), `failed` or `could_not_run`.
    verdict: &'static str,
    /// The commit that it ran on.
    commit: Oid,
    /// The tree of that commit; `null` where it is not known.
    tree: Option<Oid>,
    /// The ticket whose work it judged; `null` for the bare target.
    ticket: Option<TicketId>,
    /// Its run: a folder in `.crew/checks/runs/`.
    run: Option<RunId>,
    /// The time at which it was reached.
    at: Moment,
    /// How long it took, in milliseconds; `null` where that is not known.
    ms: Option<u64>,
    /// The number of tests that it ran; `null` where its output does not say it.
    tests: Option<u64>,
}

impl Checks {
    /// The document of the checks of these settings. `idle`: the paths of checks that hold no file.
    /// `answers`: those of the toolchain's programs.
    #[must_use]
    pub fn of(
        settings: &Settings,
        tallies: &CheckTallies,
        idle: &[(String, Vec<String>)],
        answers: &[runtime::Tool],
    ) -> Self {
        let one = |check: &ticket::Check| {
            let tally = tallies.of(&check.to_string()).cloned().unwrap_or_default();
            let named = settings
                .check
                .iter()
                .find(|it| Some(&it.name) == check.name.as_ref());
            let idle = idle.iter().find(|(name, _)| Some(name) == check.name.as_ref());
            Check {
                name: check.name.clone(),
                command: check.command.to_string(),
                paths: named.map(|it| it.paths.clone()).unwrap_or_default(),
                idle_paths: idle.map(|(_, paths)| paths.clone()).unwrap_or_default(),
                timeout_ms: check.timeout_ms,
                retry: check.retry,
                passed: tally.passed,
                failed: tally.failed,
                cached: tally.cached,
                flaky: tally.flaky,
                skipped: tally.skipped,
                verdicts: tally.verdicts.into_iter().map(Verdict::of).collect(),
            }
        };
        let plan = CheckPlan::of(settings);
        Self {
            checks: plan.commands.iter().map(one).collect(),
            toolchain: Tool::of(settings, answers),
        }
    }
}

impl Tool {
    /// Each program of the settings, with its answer if an engine has asked it.
    #[must_use]
    pub fn of(settings: &Settings, answers: &[runtime::Tool]) -> Vec<Self> {
        let one = |command: &Vec<String>| {
            let answered = answers.iter().find(|tool| tool.command == *command);
            Self {
                command: command.clone(),
                answer: answered.map(|tool| tool.answer.clone()),
            }
        };
        settings.checks.toolchain.iter().map(one).collect()
    }

    /// The program and its answer, in one line.
    #[must_use]
    pub fn line(&self) -> String {
        let command = self.command.join(" ");
        match &self.answer {
            Some(answer) => format!("{command}: {}", text::sanitise::line(answer)),
            None => format!("{command}: not asked yet"),
        }
    }
}

impl Verdict {
    fn of(verdict: CheckVerdict) -> Self {
        Self {
            verdict: verdict.end.name(),
            commit: verdict.commit,
            tree: verdict.tree,
            ticket: verdict.ticket,
            run: verdict.run,
            at: Moment(verdict.at),
            ms: verdict.ms,
            tests: verdict.tests,
        }
    }
}
