//! The end of a ticket.

use serde::{Deserialize, Serialize};

use crate::{Actor, AgentName, Oid};

/// The end of a ticket.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Done {
    /// Its work is in the target branch.
    Landed {
        /// The merge commit.
        commit: Oid,
        /// The proof: the reviewer's acceptance test, else the checks that passed.
        acceptance: String,
        /// The agent that did the work.
        agent: AgentName,
    },
    /// A reviewer found it cannot be done.
    Failed {
        /// The reason, in words.
        reason: String,
    },
    /// A recovery ticket whose ticket did not fail.
    NotNeeded,
    /// A person dropped it.
    Dropped {
        /// The actor who did it.
        by: Actor,
        /// The reason, in words.
        reason: String,
    },
    /// A person closed its file while crew did not hold it.
    ClosedByPerson,
}

impl Done {
    /// The outcome's name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Done::Landed { .. } => "landed",
            Done::Failed { .. } => "failed",
            Done::NotNeeded => "not_needed",
            Done::Dropped { .. } => "dropped",
            Done::ClosedByPerson => "closed_by_person",
        }
    }
}
