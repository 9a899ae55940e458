//! The specification of a ticket: its file, as crew read it.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::commitment::Promise;
use crate::{Oid, TicketId, Time};

/// The contents of a ticket's file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spec {
    /// The first heading.
    pub title: String,
    /// `bug`, `feature`, `task`, `epic`, `chore`, or what the author wrote.
    pub kind: String,
    /// 0 (first) to 4.
    pub priority: u8,
    /// Tickets that must be done before.
    pub deps: BTreeSet<TicketId>,
    /// The author's tags, which may be the same words as crew's own labels; crew's are not among them.
    pub tags: BTreeSet<String>,
    /// The agent that it is meant for; it counts only when it names an agent.
    pub assignee: Option<String>,
    /// The ticket this one recovers.
    pub recovers: Option<TicketId>,
    /// The landed merge that this one takes back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reverts: Option<Oid>,
    /// The agent that made it; none where a person did. Shell text among its commitments counts only after a
    /// person has said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made_by: Option<String>,
    /// True if the recovered ticket is closed when this one lands; else that ticket is opened again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replaces: bool,
    /// When it was written.
    pub created: Time,
    /// Its `## Acceptance Criteria`, when it has any.
    pub acceptance: Option<String>,
    /// The commitments that the file lists.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commitments: Vec<Promise>,
    /// A digest of title and body without crew's own notes: whether a person changed the text.
    pub digest: String,
    /// The number of its notes, without those of crew and of agents.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub notes: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_zero(n: &u32) -> bool {
    *n == 0
}
