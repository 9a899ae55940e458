//! The result of a command that changes something.

use schemars::JsonSchema;
use serde::Serialize;

use super::Event;

/// What became of a command that changes something.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Answer {
    /// The command's id in the inbox; `null` when there was nobody to ask.
    pub command: Option<String>,
    /// Whether it was taken; the command ends 1 when not.
    pub accepted: bool,
    /// What was done, or why not, in words.
    pub message: String,
    /// What came of it, where no engine was running and the command was carried out at once.
    pub events: Vec<Event>,
}
