//! The bare target: whether its checks pass, before any agent is paid for work on top of it.

use serde::{Deserialize, Serialize};

use crate::ticket::{CheckPlan, how_it_ended};
use crate::{Look, Oid, RunId, Time};

/// The target as an engine last saw it, and the verdict of its checks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// Its commit.
    pub commit: Oid,
    /// The facts on which the verdict depends.
    pub basis: Basis,
    /// Whether its checks pass.
    pub verdict: Verdict,
    /// The time at which the verdict was reached, or the checks began.
    pub since: Time,
    /// How many times its checks were begun: it numbers their runs.
    pub round: u32,
    /// Whether agents are started whatever the verdict is, as a person asked of this engine.
    #[serde(default)]
    pub anyway: bool,
    /// The commands that were tried with broken sources, with the last result of each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub canaries: Vec<Canary>,
    /// The names of the checks that failed first, and passed when they were repeated.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flaky: Vec<String>,
    /// The last run of its checks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    /// How many times in a row its checks could not be run.
    #[serde(default)]
    pub hindered: u32,
    /// The remote whose branch it is; none where work lands in this repository alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote: Option<String>,
    /// How many times the remote was asked for another commit since the verdict was reached.
    #[serde(default)]
    pub looks: u32,
    /// When crew tries again by itself: to run checks that could not be run, or to get another commit from
    /// the remote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_at: Option<Time>,
}

/// A command that was run on a tree with broken sources.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Canary {
    /// The command.
    pub command: String,
    /// The result.
    pub shown: Shown,
}

/// The result of a command on a tree with broken sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shown {
    /// It fails there: it looks at the tree.
    Looks,
    /// It passes there all the same.
    Passes,
}

/// The facts on which the verdict on a target depends: other facts need another verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Basis {
    /// The target's tree.
    pub tree: Oid,
    /// The commands.
    pub plan: CheckPlan,
    /// A digest of the environment that the commands get.
    pub environment: String,
}

/// Whether the checks pass on the bare target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Nobody runs them, since a person starts agents whatever they say.
    Unchecked,
    /// They go on.
    Checking {
        /// The command that runs; none before the first one.
        command: Option<String>,
        /// Whether it runs on a tree with broken sources, to see whether it looks at the tree.
        #[serde(default)]
        is_canary: bool,
    },
    /// They pass.
    Passed,
    /// One of them fails.
    Failed {
        /// The command.
        which: String,
        /// The end of its output: sanitised.
        output: String,
    },
    /// A command that is known to run tests passes although the sources are broken: it looks at another tree.
    Blind {
        /// The command.
        which: String,
    },
    /// One of them cannot be run.
    CouldNotRun {
        /// Why: sanitised, maybe of several lines.
        why: String,
        /// The program that it needs and that checks do not find; none where the cause is another.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        missing: Option<String>,
        /// Whether the cause may pass without a person, such as a network that is away.
        #[serde(default)]
        may_pass: bool,
    },
    /// Nothing can land on it, as the remote says, or its checkout here: its checks are not run.
    OutOfReach {
        /// Why: sanitised, one line.
        why: String,
        /// The remedy; none where `why` names it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        help: Option<String>,
        /// Whether the cause may pass without a person, such as a host that is away.
        #[serde(default)]
        may_pass: bool,
    },
}

impl Target {
    /// Whether tickets may be given to agents.
    #[must_use]
    pub fn lets_agents_start(&self) -> bool {
        self.anyway || self.verdict == Verdict::Passed
    }

    /// Whether its checks go on.
    #[must_use]
    pub fn is_checking(&self) -> bool {
        matches!(self.verdict, Verdict::Checking { .. })
    }

    /// The reason for which no agent is started, in words: one line, not sanitised. None where agents are
    /// started.
    #[must_use]
    pub fn in_the_way(&self) -> Option<String> {
        if self.anyway {
            return None;
        }
        match &self.verdict {
            Verdict::Unchecked | Verdict::Checking { command: None, .. } => {
                Some("its checks run on the bare target first".to_owned())
            }
            Verdict::Checking {
                command: Some(command),
                is_canary,
            } => Some(running(command, *is_canary)),
            Verdict::Passed => None,
            Verdict::Failed { .. }
            | Verdict::Blind { .. }
            | Verdict::CouldNotRun { .. }
            | Verdict::OutOfReach { .. } => self.verdict.fault(),
        }
    }

    /// The remedy of the fault, as a request to a person.
    #[must_use]
    pub fn remedy(&self, look: Look) -> Option<String> {
        self.verdict.remedy(look, self.remote.as_deref())
    }

    /// The time of the next try, as the end of a sentence; none where only a person or another commit changes
    /// the verdict, or an engine is about to try.
    #[must_use]
    pub fn again(&self, look: Look) -> Option<String> {
        let at = self.retry_at?;
        match &self.verdict {
            Verdict::Failed { .. } | Verdict::Blind { .. } | Verdict::OutOfReach { .. } => {
                let remote = self.remote.as_deref().unwrap_or("the remote");
                look.asked_again(remote, at)
            }
            Verdict::Unchecked | Verdict::Checking { .. } | Verdict::Passed | Verdict::CouldNotRun { .. } => {
                look.tried_again(at)
            }
        }
    }

    /// The commands that are no tests and pass although the sources are broken.
    #[must_use]
    pub fn indifferent(&self) -> Vec<&str> {
        let passes = self
            .canaries
            .iter()
            .filter(|canary| canary.shown == Shown::Passes);
        passes.map(|canary| canary.command.as_str()).collect()
    }
}

/// What a person can do about a program that the checks need and do not find.
#[must_use]
pub fn install(program: &str) -> String {
    format!("install {program}, or set another command in crew.toml under [checks]")
}

/// A command that runs, in words.
fn running(command: &str, is_canary: bool) -> String {
    match is_canary {
        false => format!("its checks run on the bare target first: {command}"),
        true => format!("crew tries whether a check looks at the tree, with broken sources: {command}"),
    }
}

impl Verdict {
    /// The fault in words, where the checks do not pass: one line, not sanitised.
    #[must_use]
    pub fn fault(&self) -> Option<String> {
        match self {
            Verdict::Unchecked | Verdict::Checking { .. } | Verdict::Passed => None,
            Verdict::Failed { which, output } => {
                let how = how_it_ended(output).map(|how| format!(" ({how})"));
                let how = how.unwrap_or_default();
                Some(format!("the target itself does not pass `{which}`{how}"))
            }
            Verdict::Blind { which } => Some(format!(
                "`{which}` passes although crew has broken the sources for it: it looks at another tree, such as a \
                 checkout that is installed in an environment, or at what the set-up has built"
            )),
            Verdict::CouldNotRun { why, .. } => {
                let first = why.lines().next().unwrap_or_default().trim_end_matches(':');
                Some(format!("the checks could not be run on the bare target: {first}"))
            }
            Verdict::OutOfReach { why, .. } => Some(format!("no work can land: {why}")),
        }
    }

    /// The remedy of the fault, as a request to a person. `remote`: the one whose branch the target is.
    #[must_use]
    pub fn remedy(&self, look: Look, remote: Option<&str>) -> Option<String> {
        let mended = match self {
            Verdict::Unchecked | Verdict::Checking { .. } | Verdict::Passed => return None,
            Verdict::Blind { .. } => {
                return Some(
                    "let [checks] setup make an environment of the checks' own and let [checks] commands build what \
                     is tested, or say `blind = \"allow\"` there if that is as it should be"
                        .to_owned(),
                );
            }
            Verdict::CouldNotRun {
                missing: Some(program),
                ..
            } => install(program),
            Verdict::OutOfReach { help, .. } => {
                let by_hand = "mend that, here or at the remote".to_owned();
                help.clone().unwrap_or(by_hand)
            }
            Verdict::Failed { .. } | Verdict::CouldNotRun { missing: None, .. } => match remote {
                None => "mend it by a commit on the target, or mend [checks] in crew.toml".to_owned(),
                Some(remote) => format!(
                    "mend it by a commit on the target, made here and pushed or made at {remote}, or mend [checks] in \
                     crew.toml"
                ),
            },
        };
        let at_once = match remote.is_some() && look.engine {
            true => ", at once after `crew retry` of a ticket that waits",
            false => "",
        };
        Some(format!(
            "{mended}: agents start {}{at_once}",
            look.by_themselves()
        ))
    }

    /// The end of the output of the check that failed; none where none did.
    #[must_use]
    pub fn printed(&self) -> Option<&str> {
        match self {
            Verdict::Failed { output, .. } => Some(output.trim_end()),
            Verdict::CouldNotRun { why, .. } => why.split_once('\n').map(|(_, output)| output.trim_end()),
            Verdict::Unchecked
            | Verdict::Checking { .. }
            | Verdict::Passed
            | Verdict::Blind { .. }
            | Verdict::OutOfReach { .. } => None,
        }
    }

    /// Whether its checks cannot be run, or nothing can land on it, for a cause that may pass without a
    /// person.
    #[must_use]
    pub fn may_pass(&self) -> bool {
        matches!(
            self,
            Verdict::CouldNotRun { may_pass: true, .. } | Verdict::OutOfReach { may_pass: true, .. }
        )
    }

    /// Whether its checks have shown the fault.
    #[must_use]
    pub fn is_of_checks(&self) -> bool {
        match self {
            Verdict::Failed { .. } | Verdict::Blind { .. } | Verdict::CouldNotRun { .. } => true,
            Verdict::Unchecked | Verdict::Checking { .. } | Verdict::Passed | Verdict::OutOfReach { .. } => {
                false
            }
        }
    }

    /// The name of the event that brings it.
    #[must_use]
    pub fn event_name(&self) -> &'static str {
        match self {
            Verdict::Unchecked => "target_left_unchecked",
            Verdict::Checking { command: None, .. } => "target_seen",
            Verdict::Checking { command: Some(_), .. } => "target_check_started",
            Verdict::Blind { .. } => "target_check_blind",
            Verdict::Passed => "target_passed",
            Verdict::Failed { .. } => "target_failed",
            Verdict::CouldNotRun { .. } => "target_could_not_be_checked",
            Verdict::OutOfReach { .. } => "target_out_of_reach",
        }
    }
}
