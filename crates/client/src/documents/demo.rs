//! The result of a demonstration.

use model::TicketId;
use schemars::JsonSchema;
use serde::Serialize;

use super::Landed;

/// The last line of a demonstration.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Demonstrated {
    /// The result.
    pub summary: DemoSummary,
}

/// The result of a demonstration.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DemoSummary {
    /// The tickets that landed, the oldest first.
    pub landed: Vec<Landed>,
    /// All tickets, by id.
    pub tickets: Vec<DemoTicket>,
    /// Merged results that were tested.
    pub checked: u32,
    /// Its duration in milliseconds.
    pub took_ms: u64,
    /// `true` when a signal ended it.
    pub interrupted: bool,
    /// The repository, with `--keep` or after a failure; `null` when it is gone.
    pub kept: Option<String>,
}

/// A ticket of the demonstration.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DemoTicket {
    /// The ticket's id.
    pub ticket: TicketId,
    /// Its title.
    pub title: String,
    /// From its first claim to its landing, in milliseconds; `null` when it did not land.
    pub took_ms: Option<u64>,
    /// Steps that were started.
    pub steps: u32,
    /// Steps that failed.
    pub failed_steps: u32,
    /// The reactions of crew to the particular facts of this ticket, in words.
    pub did: Vec<&'static str>,
}
