//! What came of a demonstration.

use model::TicketId;
use schemars::JsonSchema;
use serde::Serialize;

use super::Landed;

/// The last line of a demonstration.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Demonstrated {
    /// What came of it.
    pub(crate) summary: DemoSummary,
}

/// What came of a demonstration.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct DemoSummary {
    /// What landed, the oldest first.
    pub(crate) landed: Vec<Landed>,
    /// All tickets, by id.
    pub(crate) tickets: Vec<DemoTicket>,
    /// Merged results that were tested.
    pub(crate) checked: u32,
    /// How long it took, in milliseconds.
    pub(crate) took_ms: u64,
    /// Whether a signal ended it.
    pub(crate) interrupted: bool,
    /// The repository, with `--keep` or after a failure; `null` when it is gone.
    pub(crate) kept: Option<String>,
}

/// A ticket of the demonstration.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct DemoTicket {
    /// Which.
    pub(crate) ticket: TicketId,
    /// Its title.
    pub(crate) title: String,
    /// From its first claim to its landing, in milliseconds; `null` when it did not land.
    pub(crate) took_ms: Option<u64>,
    /// Steps that were started.
    pub(crate) steps: u32,
    /// Steps that failed.
    pub(crate) failed_steps: u32,
    /// What crew did about what was particular with it, in words.
    pub(crate) did: Vec<&'static str>,
}
