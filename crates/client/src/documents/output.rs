//! The output of an agent or a check.

use model::{AgentName, RunId, TicketId};
use schemars::JsonSchema;
use serde::Serialize;

use super::{Activity, Progress};

/// The end of the latest output of an agent, or of the agent that was last at a ticket. The keys that name a
/// step are `null` before its first step.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Peek {
    /// The agent's name; `null` where a ticket was asked for at which no agent has been.
    pub agent: Option<AgentName>,
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

/// The text that an agent was given in a step.
#[derive(Debug, Serialize, JsonSchema)]
pub struct StepPrompt {
    /// The ticket.
    pub ticket: TicketId,
    /// The step, from 1.
    pub step: u32,
    /// The agent.
    pub agent: AgentName,
    /// The run: a folder in `.crew/runs/`.
    pub run: RunId,
    /// The text; `null` where it is not kept any more.
    pub prompt: Option<String>,
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
