//! The result of an engine's run.

use model::TicketId;
use model::view::Counts;
use schemars::JsonSchema;
use serde::Serialize;

use super::{Landed, Usage};

/// The last line of a run.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Ran {
    /// What came of it.
    pub summary: RunSummary,
}

/// What came of a run.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RunSummary {
    /// What landed in it, the oldest first.
    pub landed: Vec<Landed>,
    /// What waits for a person.
    pub waits: Vec<Waits>,
    /// Whether a signal ended it.
    pub interrupted: bool,
    /// How many tickets stand where.
    pub queue: Counts,
    /// What the steps used that ended in it.
    pub usage: Usage,
}

/// A ticket that waits for a person.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Waits {
    /// Which.
    pub ticket: TicketId,
    /// Its title.
    pub title: String,
    /// Why, in words.
    pub why: String,
}
