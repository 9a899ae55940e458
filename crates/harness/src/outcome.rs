//! The outcome of a step.

use process::{Exit, Reason};
use serde::{Deserialize, Serialize};

use crate::commitment::Commitment;
use crate::mode::Mode;
use crate::usage::Usage;
use crate::verdict::Given;
use text::sanitise;

/// The outcome of a step. It is known once the client's output *and* its process have ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// The signal of the agent, or the failure of the step.
    pub result: Result<Signal, Failure>,
    /// The result that the output states, as if the client had then exited well; only where crew stopped the
    /// client after that.
    #[serde(default)]
    pub stated: Option<Result<Signal, Failure>>,
    /// The last line, where it was meant as a verdict. It counts for a gatekeeper only.
    #[serde(default)]
    pub verdict: Option<Given>,
    /// The lines that were meant for crew and could not be used, but for those that a signal came after: each
    /// in a message for the agent.
    #[serde(default)]
    pub unusable: Vec<String>,
    /// The commitments that are refused, whatever came after them: each in a message for the agent.
    #[serde(default)]
    pub refused_commitments: Vec<String>,
    /// The usage of the whole step, also of a failed one.
    pub usage: Usage,
    /// The session's running total after this step as the client states it, in millionths of a US dollar,
    /// to be kept with the session ([`Session::total_micro_usd`](crate::Session::total_micro_usd)). `None`
    /// when this step stated none, and the earlier total stays valid. The cost of the step itself is in
    /// `usage`.
    #[serde(default)]
    pub total_micro_usd: Option<u64>,
    /// Whether the cost in `usage` is crew's estimate, since the client was stopped before it stated one.
    #[serde(default)]
    pub estimated: bool,
    /// The agent's summary of its work, sanitised; `None` when it gave none.
    pub summary: Option<String>,
    /// The task modes that the agent announced, in order: each as an [`Event::Mode`](crate::Event::Mode) when
    /// it was read.
    #[serde(default)]
    pub modes: Vec<Mode>,
    /// The commitments that the agent has made, in order, each once.
    #[serde(default)]
    pub commitments: Vec<Commitment>,
    /// The id of the session to resume in the next step, if the client named one.
    pub session: Option<String>,
}

/// The request of an agent at the end of a step that did not fail. Texts are sanitised.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "signal", rename_all = "snake_case")]
pub enum Signal {
    /// Nothing: the agent gets another step.
    None,
    /// That its work is verified.
    Done,
    /// Help: it cannot go on.
    Blocked {
        /// The reason.
        why: String,
    },
    /// The answer of a person.
    Asked {
        /// The question.
        question: String,
    },
    /// To be woken later.
    Wakeup {
        /// Milliseconds from the step's end.
        after_ms: u64,
        /// The reason.
        why: String,
    },
}

/// The failure of a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The class, which decides what crew does next.
    pub class: Class,
    /// A message for people, sanitised.
    pub message: String,
    /// The time until which the service refuses, in milliseconds since 1970, if it is known.
    pub until_ms: Option<u64>,
}

/// The classes of failure that can be recognised from a process and its output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// The service failed for a moment: a retry may succeed.
    Transient,
    /// The service asks to wait.
    RateLimited,
    /// The service is overloaded.
    Overloaded,
    /// The credentials are refused.
    Auth,
    /// Another process uses the session.
    SessionInUse,
    /// The client does not know the session.
    SessionMissing,
    /// The step exceeded its time limit.
    Timeout,
    /// The client ended with an error, was killed after it had reported its work, or could not be started.
    Crash,
    /// The client was killed from outside while it worked, or its shim vanished without a record.
    Lost,
    /// crew stopped it.
    KilledByUs,
    /// The client's output could not be read.
    MalformedOutput,
    /// The budget for money or tokens is spent.
    Budget,
}

impl Class {
    /// The name of the class, as programs write it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Transient => "transient",
            Self::RateLimited => "rate_limited",
            Self::Overloaded => "overloaded",
            Self::Auth => "auth",
            Self::SessionInUse => "session_in_use",
            Self::SessionMissing => "session_missing",
            Self::Timeout => "timeout",
            Self::Crash => "crash",
            Self::Lost => "lost",
            Self::KilledByUs => "killed_by_us",
            Self::MalformedOutput => "malformed_output",
            Self::Budget => "budget",
        }
    }
}

impl Failure {
    /// A failure without an `until_ms`. The message is sanitised.
    pub fn new(class: Class, message: &str) -> Self {
        Self {
            class,
            message: sanitise::excerpt(message),
            until_ms: None,
        }
    }

    /// The failure that the end of the process shows by itself; `None` when it exited with 0, and its
    /// output decides.
    pub(crate) fn of_exit(exit: &Exit) -> Option<Self> {
        let class = match &exit.reason {
            Reason::Exited => match (exit.code, exit.signal) {
                (Some(0), _) => return None,
                (Some(code), _) => {
                    return Some(Self::new(Class::Crash, &format!("it exited with code {code}")));
                }
                (None, Some(signal)) => {
                    let name = signal_name(signal).map_or_else(String::new, |name| format!(" ({name})"));
                    let class = if is_own_fault(signal) {
                        Class::Crash
                    } else {
                        Class::Lost
                    };
                    return Some(Self::new(class, &format!("signal {signal}{name} ended it")));
                }
                (None, None) => return Some(Self::new(Class::Crash, "how it ended is not known")),
            },
            Reason::Stopped => (Class::KilledByUs, "it was stopped"),
            Reason::TimedOut => (Class::Timeout, "it took longer than a step may"),
            Reason::SpawnFailed { error, .. } => return Some(Self::new(Class::Crash, error)),
            Reason::Lost => (Class::Lost, "its shim is gone without a record"),
        };
        Some(Self::new(class.0, class.1))
    }
}

/// Whether a signal is the consequence of a fault in the program itself. The others are sent from outside:
/// by a person, or by a system that has run out of memory.
fn is_own_fault(number: i32) -> bool {
    // ILL, TRAP, ABRT, BUS, FPE, SEGV, SYS have these numbers on every system that crew runs on.
    matches!(number, 4..=8 | 11 | 31)
}

/// The name of a signal that ends programs. The numbers are the same on every system that crew runs on.
fn signal_name(number: i32) -> Option<&'static str> {
    Some(match number {
        1 => "HUP",
        2 => "INT",
        3 => "QUIT",
        4 => "ILL",
        6 => "ABRT",
        8 => "FPE",
        9 => "KILL",
        11 => "SEGV",
        13 => "PIPE",
        14 => "ALRM",
        15 => "TERM",
        _ => return None,
    })
}
