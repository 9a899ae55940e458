//! What came of an engine's run.

use model::TicketId;
use model::view::Counts;
use schemars::JsonSchema;
use serde::Serialize;

use super::{Landed, Usage};

/// The last line of a run.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Ran {
    /// What came of it.
    pub(crate) summary: RunSummary,
}

/// What came of a run.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RunSummary {
    /// What landed in it, the oldest first.
    pub(crate) landed: Vec<Landed>,
    /// What waits for a person.
    pub(crate) waits: Vec<Waits>,
    /// Whether a signal ended it.
    pub(crate) interrupted: bool,
    /// How many tickets stand where.
    pub(crate) queue: Counts,
    /// What the steps used that ended in it.
    pub(crate) usage: Usage,
}

/// A ticket that waits for a person.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Waits {
    /// Which.
    pub(crate) ticket: TicketId,
    /// Its title.
    pub(crate) title: String,
    /// Why, in words.
    pub(crate) why: String,
}
