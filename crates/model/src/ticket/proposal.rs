//! A proposal: submitted work that waits in a pull request for people to look at it and merge it.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{AfterLanding, Candidate};
use crate::{Oid, Time};

/// The pull request of a ticket. It stays the same while its agents mend what people ask for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PullRequest {
    /// The number at the host.
    pub number: u64,
    /// The address of its page.
    pub url: String,
    /// The tip of the ticket's branch that was pushed last.
    pub head: Oid,
    /// The reviews that an agent has been given, by their number at the host.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub answered: BTreeSet<u64>,
}

/// Submitted work in a pull request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Proposal {
    /// The merged result whose checks have passed. What was pushed is its second parent, the branch's tip.
    pub candidate: Candidate,
    /// When the pull request is looked at next; none while that is under way.
    pub due: Option<Time>,
    /// The state in which the pull request was seen last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<Seen>,
    /// The number of looks in a row that saw no change.
    #[serde(default)]
    pub looks: u32,
    /// The reason for which the last look saw nothing, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
    /// A person's request that came while it was looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub then: Option<AfterLanding>,
}

/// The state of an open pull request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    /// Whether it is a draft.
    pub is_draft: bool,
    /// The verdict of its reviews.
    pub review: ReviewDecision,
    /// Whether the host says that it conflicts with the target.
    pub conflicts: bool,
    /// The commit of its branch, where that is not the one that crew pushed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_head: Option<Oid>,
    /// The reason for which the host did not let crew merge it, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_merged: Option<String>,
}

/// The verdict of the reviews of a pull request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReviewDecision {
    /// Nobody has decided yet.
    Open,
    /// Somebody who may has approved of the tip that crew pushed, and nobody wants it changed.
    Approved,
    /// Somebody wants it changed.
    ChangesRequested,
}

impl Proposal {
    /// A proposal that nobody has looked at yet.
    #[must_use]
    pub fn new(candidate: Candidate, due: Time) -> Self {
        Self {
            candidate,
            due: Some(due),
            seen: None,
            looks: 0,
            trouble: None,
            then: None,
        }
    }

    /// Whether the pull request is being looked at: it may be merged at this moment.
    #[must_use]
    pub fn is_looked_at(&self) -> bool {
        self.due.is_none()
    }

    /// Whether a look saw something new. The host's reason not to merge is none: it may have a number in it
    /// that is another one each time.
    #[must_use]
    pub fn is_news(&self, seen: &Seen) -> bool {
        let without_reason = |seen: &Seen| Seen {
            not_merged: None,
            ..seen.clone()
        };
        let before = self.seen.as_ref().filter(|_| self.trouble.is_none());
        before.map(without_reason) != Some(without_reason(seen))
    }

    /// The thing that the pull request waits for, as words after its number.
    #[must_use]
    pub fn words(&self) -> String {
        let wish = match self.then {
            Some(AfterLanding::Drop { .. }) => "; the ticket is dropped unless it was merged",
            Some(AfterLanding::Hold { .. } | AfterLanding::Retry { .. } | AfterLanding::Uncouple) | None => {
                ""
            }
        };
        self.words_of_state() + wish
    }

    fn words_of_state(&self) -> String {
        if let Some(trouble) = &self.trouble {
            return format!("could not be looked at: {trouble}");
        }
        let Some(seen) = &self.seen else {
            return "waits for a review and a merge".to_owned();
        };
        let mut words = match (seen.is_draft, seen.review) {
            (true, _) => "is a draft".to_owned(),
            (false, ReviewDecision::Open) => "waits for a review and a merge".to_owned(),
            (false, ReviewDecision::Approved) => "is approved and waits for a merge".to_owned(),
            (false, ReviewDecision::ChangesRequested) => "waits for another review".to_owned(),
        };
        if let Some(why) = &seen.not_merged {
            words.push_str(&format!(" (it could not be merged: {why})"));
        }
        if seen.conflicts {
            words.push_str("; it conflicts with the target");
        }
        if let Some(head) = &seen.other_head {
            words.push_str(&format!("; somebody else has pushed {} to it", head.short()));
        }
        words
    }
}
