//! A repeat: the same failure of submitted work, once more.

use serde::{Deserialize, Serialize};

use crate::Oid;

/// A failure of submitted work with all it depends on: where it is the same, trying again costs a step and
/// changes nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fingerprint {
    /// It was submitted, and nothing was committed.
    NothingCommitted,
    /// This check failed on this tip. Not its output: times and addresses in it differ where nothing else
    /// does.
    Check {
        /// The command.
        which: String,
        /// The branch's tip.
        tip: Oid,
    },
    /// The branch was refused for this.
    Refused {
        /// Every path and object that was refused, with its reason.
        why: String,
    },
    /// This tip does not merge on this target.
    Conflict {
        /// The branch's tip.
        tip: Oid,
        /// The tip of the target.
        target: Oid,
    },
}

impl Fingerprint {
    /// The failure that came again, as the beginning of a sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        match self {
            Fingerprint::NothingCommitted => "it was submitted with nothing committed".to_owned(),
            Fingerprint::Check { which, tip } => {
                format!("`{which}` failed on the same commit {}", tip.short())
            }
            Fingerprint::Refused { why } => format!(
                "its branch was refused for the same reason ({})",
                why.lines().next().unwrap_or_default()
            ),
            Fingerprint::Conflict { tip, target } => format!(
                "the same commit {} conflicts with the same target {}",
                tip.short(),
                target.short()
            ),
        }
    }
}

/// The number of times that the same failure of submitted work came, with no other in between.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repeat {
    /// The failure.
    pub of: Fingerprint,
    /// The n-th time, from 1.
    pub times: u32,
    /// The number of times that it may still come before the ticket is held: `no_progress`.
    pub left: u32,
}
