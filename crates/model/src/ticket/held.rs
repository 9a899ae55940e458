//! A hold: the reason why a ticket waits for a person, or for something outside crew.

use serde::{Deserialize, Serialize};

use super::{FewerTests, Secret};
use crate::policy::budget::Budget;
use crate::{Oid, Time};

/// The reason for which a ticket is held, and the end of that.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Held {
    /// The reason's kind.
    pub why: Why,
    /// The reason in words, for people.
    pub note: String,
    /// The time at which that began.
    pub since: Time,
    /// When crew tries again by itself; none when only a person moves it on.
    pub retry_at: Option<Time>,
    /// Whether the cause may pass without a person, such as a network that is away.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub may_pass: bool,
    /// Whether every ticket would be held for the same: the others wait for this one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub for_all: bool,
    /// The end of what the check printed for which it is held, and on the last line how that ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
}

/// The kinds of reasons for which a ticket is held.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// Its attempts are spent.
    Failed,
    /// Its agent reported that it cannot go on.
    Blocked,
    /// A person killed its agent.
    Killed,
    /// Its agent was given up.
    Reaped,
    /// The checks could not be run, or the workspace not be set up.
    CouldNotRun,
    /// The target itself fails the checks.
    TargetRed,
    /// It touches paths that a person must approve.
    Paths {
        /// The paths that need a person's approval.
        paths: Vec<String>,
        /// The tip that touches them: an approval counts for it alone.
        tip: Oid,
    },
    /// What it would land looks like secrets.
    Secrets {
        /// The values, masked, and the files.
        secrets: Vec<Secret>,
        /// The paths that need a person's approval besides.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        paths: Vec<String>,
        /// The tip that has them: an approval counts for it alone.
        tip: Oid,
    },
    /// Its commitments need a person's word.
    Commitments {
        /// The tip that has passed its checks: a word on work counts for it alone.
        tip: Oid,
    },
    /// A check passes and runs far fewer tests than on the target.
    Tests {
        /// The check.
        check: String,
        /// The numbers of its tests.
        tests: FewerTests,
        /// The tip with which they ran: an approval counts for it alone.
        tip: Oid,
    },
    /// Landing it fails each time.
    Landing,
    /// Its conflicts could not be resolved.
    Conflict,
    /// Its agent's credentials are refused.
    Auth,
    /// The same failure came three times on unchanged input.
    NoProgress,
    /// Its review ended without a verdict too often.
    Review,
    /// A person looks at all work before it lands.
    Hold,
    /// The local target has commits that the remote's does not have.
    Diverged,
    /// Its pull request was closed without a merge.
    Closed,
    /// The ticket's budget is spent.
    Budget {
        /// The amount spent, and its limit.
        budget: Budget,
    },
}

impl Why {
    /// True if the ticket's own work has failed. False where crew waits for a person's word or for something
    /// outside the ticket.
    #[must_use]
    pub fn is_failure(&self) -> bool {
        match self {
            Why::Failed | Why::NoProgress | Why::Conflict | Why::Review | Why::Reaped => true,
            Why::Blocked
            | Why::Killed
            | Why::CouldNotRun
            | Why::TargetRed
            | Why::Paths { .. }
            | Why::Secrets { .. }
            | Why::Commitments { .. }
            | Why::Tests { .. }
            | Why::Landing
            | Why::Diverged
            | Why::Closed
            | Why::Hold
            | Why::Auth
            | Why::Budget { .. } => false,
        }
    }

    /// Every kind's name, as the journal stores it and every surface shows it.
    pub const NAMES: [&str; 19] = [
        "failed",
        "blocked",
        "killed",
        "reaped",
        "could_not_run",
        "target_red",
        "paths",
        "secrets",
        "commitments",
        "tests",
        "landing",
        "conflict",
        "auth",
        "no_progress",
        "review",
        "hold",
        "diverged",
        "closed",
        "budget",
    ];

    /// The kind's name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Why::Failed => "failed",
            Why::Blocked => "blocked",
            Why::Killed => "killed",
            Why::Reaped => "reaped",
            Why::CouldNotRun => "could_not_run",
            Why::TargetRed => "target_red",
            Why::Paths { .. } => "paths",
            Why::Secrets { .. } => "secrets",
            Why::Commitments { .. } => "commitments",
            Why::Tests { .. } => "tests",
            Why::Landing => "landing",
            Why::Conflict => "conflict",
            Why::Auth => "auth",
            Why::NoProgress => "no_progress",
            Why::Review => "review",
            Why::Hold => "hold",
            Why::Diverged => "diverged",
            Why::Closed => "closed",
            Why::Budget { .. } => "budget",
        }
    }

    /// Whether it is held before any review, for something in its work that a person decides on.
    #[must_use]
    pub fn is_asked_before_review(&self) -> bool {
        matches!(self, Why::Tests { .. } | Why::Paths { .. } | Why::Secrets { .. })
    }
}
