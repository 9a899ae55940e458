//! The result of an engine's run.

use model::TicketId;
use model::view::Counts;
use schemars::JsonSchema;
use serde::Serialize;

use super::{Landed, Usage};

/// The last line of a run.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Ran {
    /// The result.
    pub summary: RunSummary,
}

/// An engine that was started in the background.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Detached {
    /// Its process id.
    pub pid: u32,
    /// The file with what it prints.
    pub log: String,
}

/// The result of a run.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RunSummary {
    /// The tickets that landed in it, the oldest first.
    pub landed: Vec<Landed>,
    /// The tickets that wait for a person.
    pub waits: Vec<Waits>,
    /// `true` when a signal ended it.
    pub interrupted: bool,
    /// The number of tickets in each state.
    pub queue: Counts,
    /// The usage of the steps that ended in it.
    pub usage: Usage,
}

/// A ticket that waits for a person.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Waits {
    /// The ticket's id.
    pub ticket: TicketId,
    /// Its title.
    pub title: String,
    /// The reason in words.
    pub why: String,
}
