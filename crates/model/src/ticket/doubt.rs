//! Doubt: a ticket whose file an agent may have written.
//!
//! An agent would gain by the tag `leader`, with which it could delegate, and by a ticket that is not
//! reviewed where its own is. crew cannot see who wrote a file, only that agents were at work.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{State, Ticket};
use crate::policy::delegation::LEADER_TAG;

/// What follows where an agent may have written a ticket's file. The tag `leader` does not count either.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Doubt {
    /// The tags for which its work is reviewed: those of the tickets on which agents were at work then.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub tags: BTreeSet<String>,
}

impl Ticket {
    /// The tags of its file that count for whoever gets it now.
    pub(super) fn tags_to_give(&self) -> impl Iterator<Item = &String> {
        let counts = |tag: &&String| self.doubt.is_none() || *tag != LEADER_TAG;
        self.spec.tags.iter().filter(counts)
    }

    /// True if its file has the tag `leader` and that does not count.
    #[must_use]
    pub fn has_doubtful_leader(&self) -> bool {
        let has = self.spec.tags.contains(LEADER_TAG) && !self.tags_given.contains(LEADER_TAG);
        has && self.doubt.is_some()
    }

    /// What crew makes of the doubt about who wrote its file, as sentences without full stops: a line each.
    #[must_use]
    pub fn doubt_words(&self) -> Vec<String> {
        let id = &self.id;
        let mut words = Vec::new();
        if self.is_done() {
            return words;
        }
        let mut follows = Vec::new();
        match &self.spec.made_by {
            Some(maker) if self.has_doubtful_leader() => words.push(format!(
                "the tag `{LEADER_TAG}` does not count: {maker} made this ticket, and only a person gives that tag"
            )),
            None if self.has_doubtful_leader() => {
                follows.push(format!("the tag `{LEADER_TAG}` does not count"));
            }
            Some(_) | None => {}
        }
        let tags = self.doubt.iter().flat_map(|doubt| &doubt.tags);
        let tags: Vec<&str> = tags.map(String::as_str).collect();
        if !tags.is_empty() {
            follows.push(format!(
                "it is reviewed as work with the tag {} is",
                tags.join(", ")
            ));
        }
        if !follows.is_empty() {
            words.push(format!(
                "agents were at work when its file was written, and it may be one of theirs: {}",
                follows.join(", and ")
            ));
        }
        if !words.is_empty() && self.may_be_vouched_for() {
            words.push(format!("`crew approve {id}` says that a person wrote it"));
        }
        words
    }

    /// True if a person may say that its file is theirs: later on, its work is approved of, not its file.
    #[must_use]
    pub fn may_be_vouched_for(&self) -> bool {
        let is_reviewed = self.doubt.as_ref().is_some_and(|doubt| !doubt.tags.is_empty());
        (is_reviewed || self.has_doubtful_leader())
            && matches!(self.state, State::Open | State::InProgress(_))
    }
}
