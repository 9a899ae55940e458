//! A ticket that another ticket's agent makes.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::{AgentName, TicketId};

/// A ticket to be written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewTicket {
    /// Its id, which is that of its maker's ticket with a number.
    pub id: TicketId,
    /// The title, one line.
    pub title: String,
    /// The task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// How it is to be done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub design: Option<String>,
    /// How one sees that it is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acceptance: Option<String>,
    /// `bug`, `feature`, `task` …; `task` where its maker has not said.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The ticket that it is a part of, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<TicketId>,
    /// Its tags.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub tags: BTreeSet<String>,
    /// The tickets that must be done before.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub deps: BTreeSet<TicketId>,
    /// 0 (first) to 4.
    pub priority: u8,
    /// The agent that makes it.
    pub made_by: AgentName,
}
