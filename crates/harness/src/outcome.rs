//! What a step came to.

use process::{Exit, Reason};
use serde::{Deserialize, Serialize};

use crate::event::{Mode, Usage};
use crate::sanitise;

/// What a step came to: known once the client has said its last word *and* its process has ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// What it asks for, or how it failed.
    pub result: Result<Signal, Failure>,
    /// All that was used, by a failed step too.
    pub usage: Usage,
    /// What the client itself calls the session's running total after this step, in millionths of a US dollar: to be
    /// kept with the session ([`Session::total_micro_usd`](crate::Session::total_micro_usd)). `None`: it told none, and
    /// what it told before stands. Never a price of the step: that is `usage`.
    #[serde(default)]
    pub total_micro_usd: Option<u64>,
    /// Whether the cost in `usage` is an estimate of crew's: the client told no price, or was stopped before it did.
    #[serde(default)]
    pub estimated: bool,
    /// Its summary, when it gave one: sanitised.
    pub summary: Option<String>,
    /// The task mode it ended in, when it named one.
    pub mode: Option<Mode>,
    /// The session to go on with, when the client named it.
    pub session: Option<String>,
}

/// What a step that ended well asks for. Texts are sanitised.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "signal", rename_all = "snake_case")]
pub enum Signal {
    /// Nothing: it is stepped again.
    None,
    /// To be verified.
    Done,
    /// It cannot go on.
    Blocked {
        /// Why.
        why: String,
    },
    /// It asks a person.
    Asked {
        /// The question.
        question: String,
    },
    /// To be woken.
    Wakeup {
        /// Milliseconds from the step's end.
        after_ms: u64,
        /// Why.
        why: String,
    },
}

/// Why a step failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// What kind, each with its own rule.
    pub class: Class,
    /// What happened, for people: sanitised.
    pub message: String,
    /// When the service lets it go on, in milliseconds since 1970, if it said so.
    pub until_ms: Option<u64>,
}

/// The kinds of failure (machines.md §3) that can be told from a process and its output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// Gone when tried again.
    Transient,
    /// The service asks to wait.
    RateLimited,
    /// The service is full.
    Overloaded,
    /// The credentials are refused.
    Auth,
    /// Another process has the session.
    SessionInUse,
    /// The client does not know the session.
    SessionMissing,
    /// The hard limit of a step.
    Timeout,
    /// Ended with an error, was killed after it had reported its work, or could not be started.
    Crash,
    /// Killed from outside while it worked, or its shim vanished without a record.
    Lost,
    /// crew stopped it.
    KilledByUs,
    /// The client's output could not be read.
    MalformedOutput,
    /// Money or tokens are spent.
    Budget,
}

impl Failure {
    /// A failure without a time to wait for; the message is sanitised.
    pub fn new(class: Class, message: &str) -> Self {
        Self {
            class,
            message: sanitise::excerpt(message),
            until_ms: None,
        }
    }

    /// The failure that the end of the process alone tells of; `None`: it exited 0, and what it said counts.
    pub fn of_exit(exit: &Exit) -> Option<Self> {
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

/// Whether a signal is a program's answer to what it did itself; others come from outside: from a person, or from a machine
/// that has run out of memory.
fn is_own_fault(number: i32) -> bool {
    // ILL, TRAP, ABRT, BUS, FPE, SEGV, SYS: the same on every system we run on.
    matches!(number, 4..=8 | 11 | 31)
}

/// The names of the signals that end programs, which are the same on every system we run on.
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
