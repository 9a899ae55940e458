//! The bare target, with the verdict of its checks.

use model::target::{self, Verdict};
use model::{Moment, Oid};
use schemars::JsonSchema;
use serde::Serialize;

/// The bare target as an engine last saw it: agents are started on one that passes its own checks.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Target {
    /// Its commit.
    commit: Oid,
    /// `checking`, `passed`, `failed`, `blind` (it passes with broken sources too) or `could_not_run`.
    verdict: &'static str,
    /// The command that runs, or failed; `null` where there is none.
    command: Option<String>,
    /// The end of the output of the check that failed, or the reason why none could be run.
    output: Option<String>,
    /// The time at which the verdict was reached, or the checks began.
    since: Moment,
    /// When crew tries again by itself; `null` when only another target or other checks change the verdict.
    retry_at: Option<Moment>,
    /// Commands that are no tests and pass although the sources are broken.
    indifferent: Vec<String>,
    /// The reason for which no agent is started, in words; `null` where agents are started.
    in_the_way: Option<String>,
}

impl Target {
    /// The document of a target.
    #[must_use]
    pub fn of(target: &target::Target) -> Self {
        let (verdict, command, output, retry_at) = match &target.verdict {
            Verdict::Checking { command, .. } => ("checking", command.clone(), None, None),
            Verdict::Blind { which } => ("blind", Some(which.clone()), None, None),
            Verdict::Passed => ("passed", None, None, None),
            Verdict::Failed { which, output } => ("failed", Some(which.clone()), Some(output.clone()), None),
            Verdict::CouldNotRun { why, retry_at } => {
                ("could_not_run", None, Some(why.clone()), Some(Moment(*retry_at)))
            }
        };
        Self {
            commit: target.commit.clone(),
            verdict,
            command,
            output,
            since: Moment(target.since),
            retry_at,
            indifferent: target.indifferent.clone(),
            in_the_way: target.in_the_way(),
        }
    }
}
