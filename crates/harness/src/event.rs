//! What a client says while it works.

use serde::{Deserialize, Serialize};

use crate::outcome::{Failure, Signal};

/// Something a client said. All text is sanitised and of bounded length: fit to be shown.
///
/// Events are for showing and for keeping time; what a step comes to is its [`Outcome`](crate::Outcome). One call of
/// [`Reader::feed`](crate::Reader::feed) gives a bounded number of them, however much was fed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// The client named its session: the one it was given, or its own choice, to be kept for the next step.
    Started {
        /// The session's id.
        session: String,
    },
    /// The last line it printed.
    Text {
        /// The line.
        line: String,
    },
    /// It began to use a tool.
    ToolStart {
        /// The client's id for this use.
        id: String,
        /// The tool, and on what: for people.
        name: String,
    },
    /// A tool came back.
    ToolEnd {
        /// As in [`Event::ToolStart`].
        id: String,
        /// The tool said that it worked.
        ok: bool,
    },
    /// What it used since the last of these: a delta.
    Usage(Usage),
    /// Its service refused and it tries again by itself.
    Retrying {
        /// Why.
        why: String,
        /// Milliseconds until it does, when it says so.
        delay_ms: Option<u64>,
    },
    /// It was not permitted to do something.
    Denied {
        /// What.
        what: String,
    },
    /// It asks a person; the step's outcome says whether that still holds at its end.
    Question {
        /// The question.
        text: String,
    },
    /// It changed its task mode.
    Mode {
        /// To this.
        mode: Mode,
    },
    /// It summed its work up.
    Summary {
        /// The summary.
        text: String,
    },
    /// It asks to be woken later.
    Wakeup {
        /// Milliseconds from now.
        after_ms: u64,
        /// Why.
        why: String,
    },
    /// The client tries again by itself what cannot succeed: stop it now, the step has failed like this.
    GivenUp {
        /// How.
        failure: Failure,
    },
    /// Something it said could not be understood, and was left out.
    Note {
        /// What and why, for people.
        text: String,
    },
}

impl Event {
    /// The event that tells of a signal as it is said: a question or a wakeup. The others tell at the step's end.
    pub(crate) fn of_signal(signal: Signal) -> Option<Self> {
        match signal {
            Signal::None | Signal::Done | Signal::Blocked { .. } => None,
            Signal::Asked { question } => Some(Self::Question { text: question }),
            Signal::Wakeup { after_ms, why } => Some(Self::Wakeup { after_ms, why }),
        }
    }
}

/// Tokens and money.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens read, those from the service's cache and those put into it included.
    pub input_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
    /// US dollars, in millionths: sums stay exact.
    pub cost_micro_usd: u64,
}

impl Usage {
    /// Adds `other`, saturating.
    pub fn add(&mut self, other: Self) {
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        self.cost_micro_usd = self.cost_micro_usd.saturating_add(other.cost_micro_usd);
    }

    /// Nothing was used.
    pub fn is_zero(self) -> bool {
        self == Self::default()
    }
}

/// What a working agent is at (machines.md §3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Does the work.
    Execute,
    /// Gives it to others.
    Delegate,
    /// Plans it.
    Plan,
    /// Breaks it up.
    BreakUp,
    /// Brings parts together.
    Unify,
}

impl Mode {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Execute,
        Self::Delegate,
        Self::Plan,
        Self::BreakUp,
        Self::Unify,
    ];

    /// Its name, as clients say it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Execute => "execute",
            Self::Delegate => "delegate",
            Self::Plan => "plan",
            Self::BreakUp => "break_up",
            Self::Unify => "unify",
        }
    }

    /// The mode of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.name() == name)
    }
}
