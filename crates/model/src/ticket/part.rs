//! The parts of a ticket that its agent broke up: tickets of their own.

use serde::{Deserialize, Serialize};

use crate::TicketId;

/// A ticket that an agent made for a part of its own ticket.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// The part's ticket.
    pub ticket: TicketId,
    /// Its title.
    pub title: String,
    /// What came of it, in words; none before it is over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
}
