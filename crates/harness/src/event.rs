//! The events of a step, as they are found in a client's output.

use serde::{Deserialize, Serialize};

use crate::mode::Mode;
use crate::outcome::{Failure, Signal};
use crate::usage::Usage;

/// An event of a step. All text is sanitised and of bounded length, fit to be shown.
///
/// Events inform people and show that the client is alive; the result of a step is its
/// [`Outcome`](crate::Outcome). One call of [`Reader::feed`](crate::Reader::feed) returns a bounded number
/// of events, however much was fed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// The client named its session: the one that crew gave it, or one of its own, to be resumed in the
    /// next step.
    Started {
        /// The session's id.
        session: String,
    },
    /// The last line that the client printed.
    Text {
        /// The line.
        line: String,
    },
    /// The client began to use a tool.
    ToolStart {
        /// The client's id for this use.
        id: String,
        /// The tool and its target, for people.
        name: String,
    },
    /// The use of a tool ended.
    ToolEnd {
        /// The id of the use, as in [`Event::ToolStart`].
        id: String,
        /// Whether the tool reported success.
        ok: bool,
    },
    /// The usage since the previous event of this kind: a delta.
    Usage(Usage),
    /// The service refused, and the client retries by itself.
    Retrying {
        /// The reason of the refusal.
        why: String,
        /// Milliseconds until the retry, if the client states them.
        delay_ms: Option<u64>,
    },
    /// The client was not permitted to use a tool.
    Denied {
        /// The tool, and the message of the refusal.
        what: String,
    },
    /// The agent asks a person. The outcome of the step shows whether the question still stands at its end.
    Question {
        /// The question.
        text: String,
    },
    /// The agent changed its task mode.
    Mode {
        /// The new mode.
        mode: Mode,
    },
    /// The agent summed up its work.
    Summary {
        /// The summary.
        text: String,
    },
    /// The agent asks to be woken later.
    Wakeup {
        /// Milliseconds from now.
        after_ms: u64,
        /// The reason.
        why: String,
    },
    /// The step has failed although the client still runs, since it retries in vain: the client should be
    /// stopped now.
    GivenUp {
        /// The failure.
        failure: Failure,
    },
    /// A part of the output could not be understood, and was ignored.
    Note {
        /// A message about it, for people.
        text: String,
    },
}

impl Event {
    /// The event for a signal at the moment it is printed: a question or a wakeup. The other signals matter
    /// only at the end of the step.
    pub(crate) fn of_signal(signal: Signal) -> Option<Self> {
        match signal {
            Signal::None | Signal::Done | Signal::Blocked { .. } => None,
            Signal::Asked { question } => Some(Self::Question { text: question }),
            Signal::Wakeup { after_ms, why } => Some(Self::Wakeup { after_ms, why }),
        }
    }
}
