//! The result of a demonstration.

use model::TicketId;
use schemars::JsonSchema;
use serde::Serialize;

use super::Landed;

/// The last line of a demonstration.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Demonstrated {
    /// What came of it.
    pub summary: DemoSummary,
}

/// What came of a demonstration.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DemoSummary {
    /// What landed, the oldest first.
    pub landed: Vec<Landed>,
    /// All tickets, by id.
    pub tickets: Vec<DemoTicket>,
    /// Merged results that were tested.
    pub checked: u32,
    /// How long it took, in milliseconds.
    pub took_ms: u64,
    /// Whether a signal ended it.
    pub interrupted: bool,
    /// The repository, with `--keep` or after a failure; `null` when it is gone.
    pub kept: Option<String>,
}

/// A ticket of the demonstration.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DemoTicket {
    /// Which.
    pub ticket: TicketId,
    /// Its title.
    pub title: String,
    /// From its first claim to its landing, in milliseconds; `null` when it did not land.
    pub took_ms: Option<u64>,
    /// Steps that were started.
    pub steps: u32,
    /// Steps that failed.
    pub failed_steps: u32,
    /// What crew did about what was particular with it, in words.
    pub did: Vec<&'static str>,
}
