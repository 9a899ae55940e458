//! What became of a command that changes something.

use schemars::JsonSchema;
use serde::Serialize;

use super::Event;

/// What became of a command that changes something.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Answer {
    /// The command's id in the inbox; `null` when there was nobody to ask.
    pub(crate) command: Option<String>,
    /// Whether it was taken; the command ends 1 when not.
    pub(crate) accepted: bool,
    /// What was done, or why not, in words.
    pub(crate) message: String,
    /// What came of it, where no engine was running and the command was carried out at once.
    pub(crate) events: Vec<Event>,
}
