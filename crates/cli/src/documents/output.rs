//! What an agent printed.

use model::{AgentName, RunId, TicketId};
use schemars::JsonSchema;
use serde::Serialize;

/// The end of an agent's latest output. What names a step is `null` when it has not been stepped yet.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Peek {
    /// Who.
    pub(crate) agent: AgentName,
    /// The run: a folder in `.crew/runs/`.
    pub(crate) run: Option<RunId>,
    /// What it worked on.
    pub(crate) ticket: Option<TicketId>,
    /// The step, from 1.
    pub(crate) step: Option<u32>,
    /// The last lines of its standard output.
    pub(crate) lines: Vec<String>,
    /// The last lines of its standard error.
    pub(crate) errors: Vec<String>,
}

/// A line that an agent printed.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct OutputLine {
    /// What it worked on.
    pub(crate) ticket: TicketId,
    /// The step, from 1.
    pub(crate) step: u32,
    /// The run: a folder in `.crew/runs/`.
    pub(crate) run: RunId,
    /// `out`, its standard output, or `err`, its standard error.
    #[schemars(extend("enum" = ["out", "err"]))]
    pub(crate) stream: &'static str,
    /// The line.
    pub(crate) line: String,
}
