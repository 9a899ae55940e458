//! The end of a ticket.

use serde::{Deserialize, Serialize};

use crate::{Actor, AgentName, Oid, TicketId};

/// The end of a ticket.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Done {
    /// Its work is in the target branch.
    Landed {
        /// The merge commit.
        commit: Oid,
        /// The proof: the gatekeeper's acceptance test, else the checks that passed.
        acceptance: String,
        /// The agent that did the work.
        agent: AgentName,
        /// True if the merge changed no file: the target had all of the work before, by other commits.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        brought_nothing: bool,
    },
    /// A gatekeeper found that it cannot be done.
    Failed {
        /// The reason, in words.
        reason: String,
    },
    /// A recovery ticket whose ticket did not fail.
    NotNeeded,
    /// It had failed, and the ticket that recovers it has landed in its place.
    Replaced {
        /// The ticket that landed in its place.
        by: TicketId,
        /// The merge commit of that ticket.
        commit: Oid,
    },
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
    /// True if the tickets that depend on this one may begin.
    #[must_use]
    pub fn satisfies_dependents(&self) -> bool {
        match self {
            Done::Landed { .. } | Done::NotNeeded | Done::Replaced { .. } | Done::ClosedByPerson => true,
            Done::Failed { .. } | Done::Dropped { .. } => false,
        }
    }

    /// The outcome's name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Done::Landed { .. } => "landed",
            Done::Failed { .. } => "failed",
            Done::NotNeeded => "not_needed",
            Done::Replaced { .. } => "replaced",
            Done::Dropped { .. } => "dropped",
            Done::ClosedByPerson => "closed_by_person",
        }
    }
}
