//! A claim: by it an agent has a ticket.

use serde::{Deserialize, Serialize};

use crate::{AgentName, Fence, Oid};

/// What an agent got when it took a ticket.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// Who works.
    pub agent: AgentName,
    /// The claim's token.
    pub fence: Fence,
    /// The ticket's n-th attempt, from 1: it numbers the kept refs.
    pub number: u32,
    /// Where the work starts from.
    pub from: StartPoint,
    /// The commit its branch was built on; none while preparing.
    pub base: Option<Oid>,
    /// Whether the claim takes the agent's slot.
    pub slot: Slot,
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

/// Where an attempt's work starts from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StartPoint {
    /// The target branch as it is when the workspace is made.
    Target,
    /// What attempt `number` left under `refs/crew/attempts/<ticket>/<number>`; the target when it left
    /// nothing.
    Kept {
        /// The earlier attempt.
        number: u32,
    },
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
        }
    }

    /// Whether the claim takes its agent's slot.
    #[must_use]
    pub fn has_slot(&self) -> bool {
        self.slot == Slot::Taken
    }
}
