//! The result of a command that changes something.

use schemars::JsonSchema;
use serde::Serialize;

use super::Event;

/// The answer to a command that changes something.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Answer {
    /// The command's id in the inbox; `null` when there was nobody to ask.
    pub command: Option<String>,
    /// `true` when it was taken; the command ends 1 when not.
    pub accepted: bool,
    /// The result, or the reason of a refusal, in words.
    pub message: String,
    /// The events that followed, where no engine was running and the command was carried out at once.
    pub events: Vec<Event>,
}
