//! Failed steps: their classes, and what is beyond another try.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Time;

/// The kind of failure that ended a step: each has its own rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// A problem that passes: the step is tried again.
    Transient,
    /// The service asks to wait; no error is counted, and the whole harness waits.
    RateLimited,
    /// The service is full; no error is counted, and the whole harness waits.
    Overloaded,
    /// The harness's program is not there, or may not be run; no error is counted, and the whole harness
    /// waits.
    NoProgram,
    /// The credentials are refused: stuck at once, and the harness is paused until a person retries.
    Auth,
    /// Another process has the session: a new session, once.
    SessionInUse,
    /// The client does not know the session: a new session.
    SessionMissing,
    /// The step took too long: once more, in a new session.
    Timeout,
    /// The step showed no sign of life for too long: a new session.
    Stalled,
    /// The step ended with an error, was killed after it had reported its work, or could not be started.
    Crash,
    /// The step was killed from outside while it worked, or its shim vanished without a record: the attempt
    /// goes on with its session.
    Lost,
    /// crew stopped it: never an error.
    KilledByUs,
    /// The client's output could not be read.
    MalformedOutput,
    /// Money or tokens are spent.
    Budget,
}

impl Class {
    /// True if it counts towards the five in a row.
    #[must_use]
    pub fn counts(self) -> bool {
        match self {
            Class::RateLimited | Class::Overloaded | Class::NoProgram | Class::KilledByUs => false,
            Class::Transient
            | Class::Auth
            | Class::SessionInUse
            | Class::SessionMissing
            | Class::Timeout
            | Class::Stalled
            | Class::Crash
            | Class::Lost
            | Class::MalformedOutput
            | Class::Budget => true,
        }
    }

    /// True if it is no ticket's own, so that it holds for every agent of the harness.
    #[must_use]
    pub fn pauses_harness(self) -> bool {
        match self {
            Class::RateLimited | Class::Overloaded | Class::NoProgram | Class::Auth => true,
            Class::Transient
            | Class::SessionInUse
            | Class::SessionMissing
            | Class::Timeout
            | Class::Stalled
            | Class::Crash
            | Class::Lost
            | Class::KilledByUs
            | Class::MalformedOutput
            | Class::Budget => false,
        }
    }

    /// True if the next step needs a new session.
    #[must_use]
    pub fn breaks_session(self) -> bool {
        match self {
            Class::SessionInUse
            | Class::SessionMissing
            | Class::Timeout
            | Class::Stalled
            | Class::MalformedOutput => true,
            Class::Transient
            | Class::RateLimited
            | Class::Overloaded
            | Class::NoProgram
            | Class::Auth
            | Class::Crash
            | Class::Lost
            | Class::KilledByUs
            | Class::Budget => false,
        }
    }

    /// The reason for which nothing is tried again after a failure of this class; none while trying again may
    /// help.
    #[must_use]
    pub fn stuck(self, errors_left: u32, repeats_left: u32) -> Option<Stuck> {
        if self == Class::Auth {
            return Some(Stuck::Auth);
        }
        match (self.counts(), repeats_left, errors_left) {
            (false, _, _) => None,
            (true, 0, _) => Some(Stuck::NoProgress),
            (true, _, 0) => Some(Stuck::Errors),
            (true, _, _) => None,
        }
    }

    /// Its name on every surface, the journal's own included.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Class::Transient => "transient",
            Class::RateLimited => "rate_limited",
            Class::Overloaded => "overloaded",
            Class::NoProgram => "no_program",
            Class::Auth => "auth",
            Class::SessionInUse => "session_in_use",
            Class::SessionMissing => "session_missing",
            Class::Timeout => "timeout",
            Class::Stalled => "stalled",
            Class::Crash => "crash",
            Class::Lost => "lost",
            Class::KilledByUs => "killed_by_us",
            Class::MalformedOutput => "malformed_output",
            Class::Budget => "budget",
        }
    }
}

/// A failed step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// The kind of failure.
    pub class: Class,
    /// The message of the client or of the service, in one line.
    pub message: String,
    /// The time until which the service asked to wait, if it gave one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Time>,
    /// A digest of the workspace that a lost step left, with its commit and its files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left: Option<String>,
}

/// A wait that the service asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Throttled {
    /// The failure with the request: of a class that is not counted.
    pub failure: Failure,
    /// The number of such failures in a row.
    pub times: u32,
}

impl Failure {
    /// A failure without a time to wait for.
    #[must_use]
    pub fn new(class: Class, message: impl Into<String>) -> Self {
        Self {
            class,
            message: message.into(),
            until: None,
            left: None,
        }
    }

    /// True if it is the same failure again: the time at which it is over does not matter, nor how a step was
    /// lost that has changed nothing.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        let is_same_loss = self.left.is_some() || self.message == other.message;
        self.class == other.class && self.left == other.left && is_same_loss
    }
}

/// The reason for which a conversation is stuck.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stuck {
    /// Too many failed steps in a row.
    Errors,
    /// The credentials are refused: only a person can help.
    Auth,
    /// The same failure on unchanged input, three times: not paid again.
    NoProgress,
}
