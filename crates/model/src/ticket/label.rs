//! The labels of a ticket, which are crew's own tags in its file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A fact that is true of a ticket now, for people and other tools: written as a tag into its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Label {
    /// The last attempt ended without submitting.
    AgentIncomplete,
    /// The last attempt ended in errors.
    AgentError,
    /// It came back to the queue by itself.
    AutoRecovered,
    /// Its work has failed: see [`Ticket::has_failed`](super::Ticket::has_failed), from which the label is
    /// derived.
    Failed,
    /// A person killed its agent.
    Killed,
    /// Its agent was given up.
    Reaped,
    /// A gatekeeper or a person sent it back.
    Rejected,
    /// The last review ended in errors.
    EvaluatorError,
    /// The last review ended without a verdict.
    EvaluatorIncomplete,
    /// It recovers another ticket, and is not in the queue any more: an agent has it, or it was not needed.
    /// Derived from the ticket's state.
    Recovery,
    /// It waits for a person, or for something outside crew. Derived from the ticket's state.
    Held,
}

impl Label {
    /// The label as a tag.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Label::AgentIncomplete => "agent-incomplete",
            Label::AgentError => "agent-error",
            Label::AutoRecovered => "auto-recovered",
            Label::Failed => "failed",
            Label::Killed => "killed",
            Label::Reaped => "reaped",
            Label::Rejected => "rejected",
            Label::EvaluatorError => "evaluator-error",
            Label::EvaluatorIncomplete => "evaluator-incomplete",
            Label::Recovery => "recovery",
            Label::Held => "held",
        }
    }
}
