//! The verification of submitted work, with its stages on the way to the target branch.

use serde::{Deserialize, Serialize};

use super::{Checks, Entry, InTheWay, Obstacle, Place, Proposal, Reviewing, State, Ticket};
use crate::attempt::Attempt;
use crate::{Actor, AgentName, Oid, Time};

/// Submitted work on its way to the target branch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verify {
    /// The attempt that submitted it.
    pub attempt: Attempt,
    /// The actor who submitted: the agent, or a person by closing the file.
    pub by: Actor,
    /// The time at which it was submitted; it orders the queue.
    pub submitted_at: Time,
    /// Times it was built: it numbers the candidates.
    pub round: u32,
    /// The tip a person approved although it touches sensitive paths.
    pub approved: Option<Oid>,
    /// The verdict on this tip, so that the branch needs no further one however often it is merged anew.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cleared: Option<Cleared>,
    /// The tip that a person let pass although far fewer tests run with it than on the target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fewer_tests: Option<Oid>,
    /// The digest of the text for which somebody else than its agent has taken the work as it is: its agent
    /// need not be told that text before the work goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub taken_with: Option<String>,
    /// Its place in the merge train.
    #[serde(default, skip_serializing_if = "is_default")]
    pub train: Place,
    /// The stage.
    pub stage: Stage,
}

/// A verdict on a branch. It counts for this tip alone, and for every merge of it: on a busy target the
/// merged result changes all the time, and a verdict on that would be asked for without end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cleared {
    /// The branch's tip.
    pub tip: Oid,
    /// The authority behind the clearance.
    pub by: Clearance,
}

/// The authority that let a branch pass, and so the verdicts that it does not need any more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Clearance {
    /// A person waived what held it: it is neither checked nor reviewed.
    Waived {
        /// The person and the reason.
        words: String,
    },
    /// It was approved of in review: each merge is checked, and none is reviewed again.
    Approved {
        /// The way in which the work was tested.
        acceptance_test: String,
        /// The gatekeepers that approved; none where a person did.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        by: Vec<AgentName>,
    },
}

/// A stage of verification.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(clippy::large_enum_variant, reason = "few tickets are submitted at once")]
pub enum Stage {
    /// Checking: in the queue for the one candidate that is built at a time.
    Queued,
    /// Checking: its work is being saved, imported and merged.
    Building,
    /// Checking: the checks run on the merged result.
    Checking(Box<Checks>),
    /// It is an entry of the merge train, and its own checks do not run at this moment.
    InTrain(Box<Entry>),
    /// A gatekeeper looks at it, or it waits for one.
    Reviewing(Box<Reviewing>),
    /// It passed; the target is moved to it, or it is proposed in a pull request.
    Landing {
        /// The candidate that lands.
        candidate: Candidate,
        /// The person's edits that are in the way, and when it is tried again.
        waiting: Option<Waiting>,
        /// A person's request that came meanwhile.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        then: Option<AfterLanding>,
    },
    /// It waits in a pull request for people.
    Proposed(Box<Proposal>),
    /// It is a child: its work is its parent's, and lands with it.
    Unified {
        /// Whether what its agent had not committed is committed to its parent's branch.
        is_saved: bool,
    },
}

/// The action that follows a landing that is being ended. It is not known whether the target has moved while
/// a ticket lands: the landing is ended first, and this follows if the target does not hold the merged
/// result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AfterLanding {
    /// The ticket is dropped.
    Drop {
        /// The actor who asked for it.
        by: Actor,
        /// The reason, in words.
        reason: String,
    },
    /// The ticket is held: landing it failed each time.
    Hold {
        /// The error.
        why: String,
        /// Whether the cause may pass without a person, such as a remote that cannot be reached.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        may_pass: bool,
        /// When it is merged, checked and landed again.
        retry_at: Time,
    },
    /// The branch is merged and checked anew.
    Retry {
        /// The actor who asked for it.
        by: Actor,
    },
    /// It goes back to the queue: a person wants something else for another entry of its batch.
    Uncouple,
}

/// A person's checkout is in the way of landing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Waiting {
    /// The files in the way.
    pub paths: Vec<InTheWay>,
    /// When landing is tried again.
    pub retry_at: Time,
}

impl Waiting {
    /// Whether nothing is in the way but gits that are at work, which end by themselves.
    #[must_use]
    pub fn is_for_git(&self) -> bool {
        let is_git = |one: &InTheWay| matches!(one.what, Obstacle::Git { .. });
        !self.paths.is_empty() && self.paths.iter().all(is_git)
    }
}

/// The merged result: exactly the commit that is checked lands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// The merge commit, not yet on any branch.
    pub commit: Oid,
    /// Its tree.
    pub tree: Oid,
    /// Its first parent: the target when it was built.
    pub target: Oid,
    /// Its second parent: the branch's tip.
    pub tip: Oid,
    /// The check commands that passed on this tree; empty before they did.
    pub passed: Vec<String>,
    /// The reason for which this change is reviewed whatever its ticket says: a path that it changes, or its
    /// size. None where the settings name no such condition, or it meets none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub review: Option<String>,
    /// True if it changes no file of its first parent: all that the branch brings is there already, by other
    /// commits.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub brings_nothing: bool,
}

impl Cleared {
    /// True if it was approved of in review.
    #[must_use]
    pub fn is_approval(&self) -> bool {
        match self.by {
            Clearance::Approved { .. } => true,
            Clearance::Waived { .. } => false,
        }
    }

    /// The tip and the authority behind it, in words.
    #[must_use]
    pub fn words(&self) -> String {
        let tip = self.tip.short();
        match &self.by {
            Clearance::Waived { words } => format!("{tip} is {words}"),
            Clearance::Approved { acceptance_test, by } if by.is_empty() => {
                format!("{tip} is {acceptance_test}")
            }
            Clearance::Approved { acceptance_test, by } => {
                let by: Vec<&str> = by.iter().map(AgentName::as_str).collect();
                format!(
                    "{tip} is approved by {}, who tested: {acceptance_test}",
                    by.join(" and ")
                )
            }
        }
    }
}

impl Ticket {
    /// True if its text has changed since its agent saw it last, and its submitted work is where it can be
    /// taken back: it is neither being merged nor landing, and no person has it.
    #[must_use]
    pub fn owes_edit(&self) -> bool {
        let State::Verify(verify) = &self.state else {
            return false;
        };
        let is_where_it_can = match &verify.stage {
            Stage::Queued | Stage::Checking(_) | Stage::InTrain(_) | Stage::Reviewing(_) => true,
            Stage::Landing { waiting, then, .. } => waiting.is_some() && then.is_none(),
            Stage::Building | Stage::Proposed(_) | Stage::Unified { .. } => false,
        };
        let is_taken = verify.taken_with.as_ref() == Some(&self.spec.digest);
        verify.attempt.text_edited && !is_taken && self.held.is_none() && is_where_it_can
    }

    /// The verdict on its branch in words, and the reason for which its candidate is reviewed whatever its
    /// tags say, where there is one.
    #[must_use]
    pub fn cleared_words(&self) -> Vec<String> {
        let cleared = match &self.state {
            State::Verify(verify) => verify.cleared.as_ref().map(Cleared::words),
            State::InProgress(_) | State::Open => self.approved_before.as_ref().map(|before| {
                format!(
                    "{}; that holds if nothing but the conflict with the target is resolved on top of it",
                    before.words()
                )
            }),
            State::New | State::Done(_) => None,
        };
        let review = self.candidate().and_then(|candidate| candidate.review.as_ref());
        let review = review.filter(|_| cleared.is_none());
        let review = review.map(|why| format!("it is reviewed, since {why}"));
        cleared.into_iter().chain(review).collect()
    }
}

impl Verify {
    /// The clearance of this tip of the branch, if it has one.
    #[must_use]
    pub fn clearance(&self, tip: &Oid) -> Option<&Clearance> {
        let cleared = self.cleared.as_ref().filter(|cleared| cleared.tip == *tip);
        cleared.map(|cleared| &cleared.by)
    }

    /// True if it is being merged because a person closed its file: where nothing was committed, it is closed
    /// as the file says.
    #[must_use]
    pub fn is_closed_while_built(&self) -> bool {
        self.by == Actor::File && matches!(self.stage, Stage::Building)
    }
}

impl Stage {
    /// The stage's name; the wait in the queue, the merge and the checks are all checking.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Stage::Queued | Stage::Building | Stage::Checking(_) => "checking",
            Stage::InTrain(_) => "in_train",
            Stage::Reviewing(_) => "reviewing",
            Stage::Landing { .. } => "landing",
            Stage::Proposed(_) => "proposed",
            Stage::Unified { .. } => "unified",
        }
    }
}

fn is_default(place: &Place) -> bool {
    *place == Place::default()
}
