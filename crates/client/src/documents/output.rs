//! The output of an agent or a check.

use model::{AgentName, RunId, TicketId};
use schemars::JsonSchema;
use serde::Serialize;

use super::{Activity, Progress};

/// The end of an agent's latest output. The keys that name a step are `null` before its first step.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Peek {
    /// The agent's name.
    pub agent: AgentName,
    /// The run: a folder in `.crew/runs/`.
    pub run: Option<RunId>,
    /// The ticket that it worked on.
    pub ticket: Option<TicketId>,
    /// The step, from 1; 0 for a command that set up the workspace.
    pub step: Option<u32>,
    /// What runs in the step at this moment; `null` where nothing is seen of it.
    pub activity: Option<Activity>,
    /// The progress that the agent has reported last in the step, while it runs; `null` where there is none.
    pub progress: Option<Progress>,
    /// The last lines of its standard output.
    pub lines: Vec<String>,
    /// The last lines of its standard error.
    pub errors: Vec<String>,
}

/// A line that an agent or a check printed.
#[derive(Debug, Serialize, JsonSchema)]
pub struct OutputLine {
    /// The ticket that it is about; `null` for a check of the bare target.
    pub ticket: Option<TicketId>,
    /// The step, from 1; 0 for a command that set up the workspace; `null` for a check.
    pub step: Option<u32>,
    /// The run: a folder in `.crew/runs/`, of a check in `.crew/checks/runs/`.
    pub run: RunId,
    /// `out`, its standard output, or `err`, its standard error.
    #[schemars(extend("enum" = ["out", "err"]))]
    pub stream: &'static str,
    /// The line.
    pub line: String,
}
