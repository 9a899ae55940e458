//! Delegation as a child sees it: whose it is, and where its agent works.

use serde::{Deserialize, Serialize};

use super::{Stage, State, Ticket};
use crate::attempt::{Attempt, Shared};
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
}

impl Ticket {
    /// The attempt that delegated it; none for a ticket that no agent has delegated.
    #[must_use]
    pub fn delegated(&self) -> Option<&Delegated> {
        self.delegated.as_deref()
    }

    /// True if its work is in its parent's workspace, and waits for its parent to land.
    #[must_use]
    pub fn is_unified(&self) -> bool {
        matches!(self.stage(), Some(Stage::Unified { is_saved: true }))
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
