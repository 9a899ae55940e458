//! The bare target, with the verdict of its checks.

use model::target::{self, Shown, Verdict};
use model::{Moment, Oid, RunId};
use schemars::JsonSchema;
use serde::Serialize;

/// The bare target as an engine last saw it: agents are started on one that passes its own checks.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Target {
    /// The commit that the verdict is about: the branch may have moved since.
    commit: Oid,
    /// `unchecked` (agents are started whatever the checks say, so none runs), `checking`, `passed`,
    /// `failed`, `blind` (it passes with broken sources too), `could_not_run` or `out_of_reach` (nothing can
    /// land on it, as its remote says).
    verdict: &'static str,
    /// The command that runs, or failed; `null` where there is none.
    command: Option<String>,
    /// Its last run: a folder in `.crew/checks/runs/`; `null` where none was needed.
    run: Option<RunId>,
    /// The end of the output of the check that failed, or the reason why none could be run or nothing can
    /// land.
    output: Option<String>,
    /// The time at which the verdict was reached, or the checks began.
    since: Moment,
    /// When crew tries again by itself, or asks the remote for another commit; `null` when only another
    /// target or other checks change the verdict.
    retry_at: Option<Moment>,
    /// Whether the last engine started agents whatever the checks say: `crew run --anyway`.
    anyway: bool,
    /// The commands that were tried with broken sources, with the last result of each.
    canaries: Vec<Canary>,
    /// The reason for which no agent is started, in words; `null` where agents are started.
    in_the_way: Option<String>,
}

/// A command that was run with broken sources, to see whether it looks at the tree that it gets.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Canary {
    /// The command.
    command: String,
    /// Whether it fails there, as it should.
    looks: bool,
}

impl Target {
    /// The document of a target.
    #[must_use]
    pub fn of(target: &target::Target) -> Self {
        let (verdict, command, output) = match &target.verdict {
            Verdict::Unchecked => ("unchecked", None, None),
            Verdict::Checking { command, .. } => ("checking", command.clone(), None),
            Verdict::Blind { which } => ("blind", Some(which.clone()), None),
            Verdict::Passed => ("passed", None, None),
            Verdict::Failed { which, output } => ("failed", Some(which.clone()), Some(output.clone())),
            Verdict::CouldNotRun { why, .. } => ("could_not_run", None, Some(why.clone())),
            Verdict::OutOfReach { why, .. } => ("out_of_reach", None, Some(why.clone())),
        };
        let canaries = target.canaries.iter().map(|canary| Canary {
            command: canary.command.clone(),
            looks: canary.shown == Shown::Looks,
        });
        Self {
            commit: target.commit.clone(),
            verdict,
            command,
            run: target.run.clone(),
            output,
            since: Moment(target.since),
            retry_at: target.retry_at.map(Moment),
            anyway: target.anyway,
            canaries: canaries.collect(),
            in_the_way: target.in_the_way(),
        }
    }
}
