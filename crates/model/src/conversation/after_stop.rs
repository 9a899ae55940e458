//! The reason why a worker is being stopped: it decides what follows when the worker has ended.

use serde::{Deserialize, Serialize};

use super::{Class, Failure};
use crate::Actor;

/// The action that follows when the worker that is being stopped has ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AfterStop {
    /// The step failed: no sign of life, or over its limit.
    Retry {
        /// `Stalled` or `Timeout`.
        class: Class,
    },
    /// The step has failed, and its client does not end by itself: it tries again what cannot succeed.
    Fail {
        /// The failure.
        failure: Failure,
    },
    /// The agent has stated its result, and its process does not exit: the step ends with that result.
    Conclude,
    /// The engine is being stopped: the step is repeated, nothing is counted.
    Pause,
    /// A person killed the agent: the ticket goes back, held.
    Release {
        /// The actor who did it.
        by: Actor,
    },
    /// The agent is given up for good.
    Reap {
        /// The reason, in words.
        why: String,
    },
    /// A person dropped the ticket.
    Drop {
        /// The actor who did it.
        by: Actor,
        /// The reason, in words.
        reason: String,
    },
}

impl AfterStop {
    /// True if the agent leaves the ticket for it: then the signal of its last step does not count.
    #[must_use]
    pub fn is_final(&self) -> bool {
        match self {
            AfterStop::Retry { .. } | AfterStop::Fail { .. } | AfterStop::Conclude | AfterStop::Pause => {
                false
            }
            AfterStop::Release { .. } | AfterStop::Reap { .. } | AfterStop::Drop { .. } => true,
        }
    }

    /// True if this wish replaces `other`, for which the worker is being stopped already: a person's request
    /// is not undone by crew's own, nor the greater act by the lesser.
    #[must_use]
    pub fn outranks(&self, other: &Self) -> bool {
        self.rank() > other.rank()
    }

    /// What follows for its agent, in words.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            AfterStop::Retry { class } => format!("the step is repeated ({})", class.name()),
            AfterStop::Fail { failure } => format!("the step has failed: {}", failure.message),
            AfterStop::Conclude => "the step has its result".to_owned(),
            AfterStop::Pause => "the engine stops".to_owned(),
            AfterStop::Release { by } => format!("the agent was killed by {by}"),
            AfterStop::Reap { why } => format!("the agent is given up: {why}"),
            AfterStop::Drop { by, .. } => format!("the ticket was dropped by {by}"),
        }
    }

    fn rank(&self) -> u8 {
        match self {
            AfterStop::Retry { .. } | AfterStop::Fail { .. } => 0,
            // Neither replaces the other: a step with a result is not repeated because the engine stops.
            AfterStop::Conclude | AfterStop::Pause => 1,
            AfterStop::Release { .. } => 2,
            AfterStop::Reap { .. } => 3,
            AfterStop::Drop { .. } => 4,
        }
    }
}
