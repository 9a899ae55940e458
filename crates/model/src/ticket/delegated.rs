//! Delegation as a child sees it: whose it is, and where its agent works.

use serde::{Deserialize, Serialize};

use super::{Stage, State, Ticket};
use crate::attempt::{Attempt, ChildResult, ChildWork, Shared};
use crate::{Fence, TicketId};

/// The attempt by which a ticket was delegated, and where its agent works.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delegated {
    /// Its parent.
    pub by: TicketId,
    /// The fence of the parent's claim: with that attempt the child ends.
    pub fence: Fence,
    /// The workspace of its parent: its agent works there, or its work is merged there.
    pub workspace: Shared,
    /// Whether its agent works in a workspace of its own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_apart: bool,
    /// The number of tickets above it.
    pub depth: u32,
    /// What it did to its parent's branch, once it is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work: Option<Box<ChildWork>>,
    /// The reason for which its work did not merge into that of its parent, in words; none where it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unmerged: Option<String>,
}

impl Ticket {
    /// The attempt that delegated it; none for a ticket that no agent has delegated.
    #[must_use]
    pub fn delegated(&self) -> Option<&Delegated> {
        self.delegated.as_deref()
    }

    /// True if it is done for its parent, and lands with it if its parent has its work then.
    #[must_use]
    pub fn is_unified(&self) -> bool {
        matches!(self.stage(), Some(Stage::Unified { is_saved: true }))
    }

    /// True if its work is in its parent's workspace.
    #[must_use]
    pub fn is_merged(&self) -> bool {
        self.is_unified() && self.delegated().is_some_and(|it| it.unmerged.is_none())
    }

    /// The number of tickets above it, each of which was delegated by the agent of the next one.
    #[must_use]
    pub fn depth(&self) -> u32 {
        self.delegated().map_or(0, |delegated| delegated.depth)
    }

    /// The child that is done and a part of its work, or may become one, over all of its attempts.
    #[must_use]
    pub fn unified(&self, child: &TicketId) -> Option<&ChildResult> {
        self.unified.iter().find(|result| result.id == *child)
    }

    /// True if nothing of a child is at work any more, and its parent need not wait for it: its work is its
    /// parent's, it is over, or only a person could move it on. One that was opened again is a ticket like
    /// any other, and no child.
    #[must_use]
    pub fn is_over_for_parent(&self) -> bool {
        if self.delegated().is_none() {
            return true;
        }
        if self.live_run().is_some() {
            return false;
        }
        let is_given_up = self.held.as_ref().is_some_and(|held| held.retry_at.is_none());
        is_given_up || self.is_done() || self.is_unified()
    }

    /// True if its agent waits for its children.
    #[must_use]
    pub fn waits_for_children(&self) -> bool {
        match &self.state {
            State::InProgress(attempt) => attempt.waits_for_children(),
            State::New | State::Open | State::Verify(_) | State::Done(_) => false,
        }
    }

    /// The workspace of another ticket in which its agent works.
    #[must_use]
    pub fn shared_workspace(&self) -> Option<&Shared> {
        self.attempt().and_then(Attempt::shared)
    }
}
