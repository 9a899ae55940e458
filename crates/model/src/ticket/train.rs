//! A ticket in the merge train: merged on the target, or on the entry ahead of it, and checked as the tip of
//! a prefix.
//!
//! The first parent of an entry's candidate is the target or the entry ahead, so a verdict on an entry is a
//! verdict on all entries up to it. A trial that runs is [`Stage::Checking`](super::Stage::Checking), as the
//! checks of a single candidate are.

use serde::{Deserialize, Serialize};

use super::{Candidate, CheckPlan, FewerTests, InTheWay};
use crate::{Oid, TicketId, Time};

/// An entry of the train whose checks do not run at this moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The merged result.
    pub candidate: Candidate,
    /// The checks of it.
    pub plan: CheckPlan,
    /// The result of its trial so far.
    pub trial: Trial,
}

/// The verdict on the prefix of the train up to an entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trial {
    /// None: it was not checked.
    Untried,
    /// All checks passed on it.
    Passed {
        /// The commands that passed.
        by: Vec<String>,
    },
    /// A check failed on it. The fault may be that of any entry up to it.
    Failed {
        /// The command that failed.
        which: String,
        /// The end of its output.
        output: String,
        /// The numbers of its tests, where it passed and far fewer of them ran than on the target.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fewer: Option<FewerTests>,
        /// Whether it could not be run. The machine may be at fault for that, so nobody is told before it was
        /// proven.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        hindered: bool,
    },
}

impl Trial {
    /// The name of the check or set-up that could not be run; none where no trial was hindered.
    #[must_use]
    pub fn hindered_by(&self) -> Option<&str> {
        match self {
            Trial::Failed { which, hindered, .. } => hindered.then_some(which),
            Trial::Untried | Trial::Passed { .. } => None,
        }
    }
}

/// The place of submitted work in the train.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The entry that it was merged on; none where it was merged on the target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ahead: Option<TicketId>,
    /// The time at which it joined the train.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub joined_at: Option<Time>,
    /// The number of runs of its checks that were ordered for its present candidate: it numbers them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub runs: u32,
    /// The tip of the batch with which it lands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lands_with: Option<TicketId>,
    /// The last time that it was taken out of the train.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uncoupled: Option<Uncoupled>,
    /// The number of times that it conflicted with an entry ahead.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub conflicts: u32,
}

/// The coupling of a ticket to an entry of the train: its work is merged on that entry's candidate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Coupling {
    /// The entry ahead.
    pub ahead: TicketId,
    /// The candidate of the entry ahead.
    pub on: Oid,
    /// The place that the ticket gets, counted from the target.
    pub place: u32,
    /// The most entries that one run of the checks decides on.
    pub batch: u32,
}

/// The entries that land by one move of the target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Batch {
    /// The commit that the target must be at: the first parent of the first entry.
    pub base: Oid,
    /// The entries, the first one on the target first; the last is the tip.
    pub entries: Vec<BatchEntry>,
}

/// An entry of a batch that lands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BatchEntry {
    /// The ticket.
    pub ticket: TicketId,
    /// Its candidate's commit.
    pub commit: Oid,
}

/// A ticket was taken out of the train, and stands in the queue again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Uncoupled {
    /// The reason.
    pub why: WhyUncoupled,
    /// The time at which it was taken out.
    pub at: Time,
}

/// The reason for which a ticket was taken out of the train.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WhyUncoupled {
    /// It conflicts with the entries ahead, and perhaps not with the target.
    Conflict {
        /// The entry that it was to be merged on.
        ahead: TicketId,
        /// The paths in conflict.
        paths: Vec<String>,
    },
    /// It conflicts with the target, and waits for another ticket that resolves a conflict in one of the
    /// same paths, or does so before it.
    Behind {
        /// That ticket.
        ahead: TicketId,
        /// The paths in conflict.
        paths: Vec<String>,
    },
    /// An entry ahead has left the train without landing.
    AheadLeft {
        /// The entry that it was merged on.
        ahead: TicketId,
    },
    /// The landing of its batch was ended for another entry of it.
    BatchEnded {
        /// That entry.
        of: TicketId,
    },
    /// The target was moved by somebody else.
    TargetMoved,
    /// A person's edits are in the way of its files.
    Edited {
        /// The files in the way.
        paths: Vec<InTheWay>,
    },
    /// The remote refused the batch that it was in, perhaps for another entry's sake.
    Refused {
        /// The remote's words.
        why: String,
    },
    /// A check or a set-up could not be run with it in the train: it is checked by itself, which proves whose
    /// fault that is.
    Hindered {
        /// The name of the check, or of the set-up command.
        which: String,
    },
    /// Its work at this tip is to be reviewed, or has commitments to meet: it is checked by itself first.
    NotCleared {
        /// The tip.
        tip: Oid,
        /// The reason for the review that the candidate showed; none where its tags ask for one, or it has
        /// commitments to meet.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        review: Option<String>,
    },
    /// It was never in the train: its own checks have passed, or its commitments are met, and it is merged on
    /// the train.
    Cleared,
    /// The settings have the train off, or a person wants it landed alone.
    Alone,
}

impl WhyUncoupled {
    /// The reason, as a clause about the ticket.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            WhyUncoupled::Conflict { ahead, paths } if paths.is_empty() => {
                format!("it adds nothing to the train up to {ahead}")
            }
            WhyUncoupled::Conflict { ahead, paths } => {
                format!(
                    "it conflicts with the train up to {ahead} in {}",
                    paths.join(", ")
                )
            }
            WhyUncoupled::Behind { ahead, paths } => format!(
                "it conflicts with the target in {}, and waits for {ahead}, which resolves a conflict there first",
                paths.join(", ")
            ),
            WhyUncoupled::AheadLeft { ahead } => format!("{ahead}, which was ahead of it, left the train"),
            WhyUncoupled::BatchEnded { of } => {
                format!("its batch did not land, because of {of}")
            }
            WhyUncoupled::TargetMoved => "the target was moved by somebody else".to_owned(),
            WhyUncoupled::Edited { paths } => {
                format!("edits are in the way: {}", crate::policy::attention::edits(paths))
            }
            WhyUncoupled::Refused { why } => {
                format!("it lands by itself, since the remote refused its batch: {why}")
            }
            WhyUncoupled::Hindered { which } => {
                format!("it is checked by itself, since `{which}` could not be run with it")
            }
            WhyUncoupled::NotCleared { review, .. } => match review {
                Some(why) => format!("it is checked and reviewed by itself first, since {why}"),
                None => "it is checked by itself first".to_owned(),
            },
            WhyUncoupled::Cleared => "its commitments are met, and its checks run in the train".to_owned(),
            WhyUncoupled::Alone => "it lands alone".to_owned(),
        }
    }

    /// What became of the ticket, with the reason.
    #[must_use]
    pub fn story(&self) -> String {
        match self {
            WhyUncoupled::Cleared | WhyUncoupled::Behind { .. } => self.words(),
            WhyUncoupled::Conflict { .. }
            | WhyUncoupled::AheadLeft { .. }
            | WhyUncoupled::TargetMoved
            | WhyUncoupled::Edited { .. }
            | WhyUncoupled::Refused { .. }
            | WhyUncoupled::BatchEnded { .. }
            | WhyUncoupled::Hindered { .. }
            | WhyUncoupled::NotCleared { .. }
            | WhyUncoupled::Alone => format!("taken out of the train: {}", self.words()),
        }
    }
}

impl Place {
    /// Whether the ticket is built only while no other is in the train, and nothing is merged on it: it
    /// conflicted with the entries ahead more than once, a person's edits are in the way of its files, the
    /// remote refused its batch, or its checks could not be run.
    #[must_use]
    pub fn is_alone(&self) -> bool {
        let why = self.uncoupled.as_ref().map(|uncoupled| &uncoupled.why);
        let is_for_itself = matches!(
            why,
            Some(
                WhyUncoupled::Edited { .. }
                    | WhyUncoupled::Refused { .. }
                    | WhyUncoupled::Hindered { .. }
                    | WhyUncoupled::Alone
            )
        );
        self.conflicts > 1 || is_for_itself
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_zero(n: &u32) -> bool {
    *n == 0
}
