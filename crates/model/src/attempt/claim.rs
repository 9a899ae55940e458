//! A claim: by it an agent has a ticket.

use serde::{Deserialize, Serialize};

use crate::{AgentName, Fence, Oid, TicketId};

/// The agent, the fence and the start of the work, as they were when the ticket was claimed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// The agent that works on the ticket.
    pub agent: AgentName,
    /// The claim's token.
    pub fence: Fence,
    /// The ticket's n-th attempt, from 1: it numbers the kept refs.
    pub number: u32,
    /// The start of the work.
    pub from: StartPoint,
    /// The commit its branch was built on; none while preparing.
    pub base: Option<Oid>,
    /// The slot, if the claim takes its agent's one.
    pub slot: Slot,
    /// The workspace of another ticket in which it works; none for one that has its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared: Option<Box<Shared>>,
    /// Whether its ticket is a part of another one, whose agent delegated it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_part: bool,
}

/// A workspace of another ticket, which a child shares.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shared {
    /// The ticket whose workspace it is: the nearest one above that does not share another's.
    pub of: TicketId,
    /// The agent that the workspace was made for.
    pub agent: AgentName,
    /// The number of the attempt that it was made for.
    pub number: u32,
}

/// An agent's slot, as a claim of the agent sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Slot {
    /// The agent works for this claim alone.
    Taken,
    /// The agent may take another ticket: a held ticket keeps its claim and frees its agent.
    Freed,
}

/// The start of an attempt's work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StartPoint {
    /// The target branch as it is when the workspace is made.
    Target,
    /// The last tip that an attempt left under `refs/crew/attempts/<ticket>/`; the target, where there is
    /// none that may be gone on with.
    Kept {
        /// The attempt before.
        number: u32,
    },
    /// The target, with a commit upon it that takes a landed merge back. crew makes that commit, so no agent
    /// is asked before the checks have failed on it.
    Revert {
        /// The merge.
        commit: Oid,
    },
    /// A commit of an earlier attempt, to which a person has taken the ticket back; the target, where that
    /// may not be gone on with.
    Rewound {
        /// The commit.
        commit: Oid,
    },
}

impl StartPoint {
    /// True if there may be work in it already: an agent is told so.
    #[must_use]
    pub fn has_work(&self) -> bool {
        match self {
            StartPoint::Kept { .. } | StartPoint::Rewound { .. } => true,
            StartPoint::Target | StartPoint::Revert { .. } => false,
        }
    }
}

impl Claim {
    /// A fresh claim, which takes its agent's slot.
    #[must_use]
    pub fn new(agent: AgentName, fence: Fence, number: u32, from: StartPoint) -> Self {
        Self {
            agent,
            fence,
            number,
            from,
            base: None,
            slot: Slot::Taken,
            shared: None,
            is_part: false,
        }
    }

    /// True if the claim takes its agent's slot.
    #[must_use]
    pub fn has_slot(&self) -> bool {
        self.slot == Slot::Taken
    }
}
