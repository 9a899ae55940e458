//! The state of an agent, in the words and symbols of every surface.

use schemars::JsonSchema;
use serde::Serialize;

use crate::attempt::{self, Attempt, Mode};

/// The state of an agent, in the words and symbols of every surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It has no ticket.
    Idle,
    /// Its workspace is being made.
    Preparing,
    /// It waits for its first step.
    Ready,
    /// It is being stepped.
    Working,
    /// It waits for a person or for a time.
    Waiting,
    /// Its submitted work is being checked.
    Verifying,
    /// It reviews the work of others.
    Reviewing,
    /// Its submitted work passed, and waits for landing.
    Done,
    /// It failed too often.
    Stuck,
}

impl Status {
    /// Its symbol.
    #[must_use]
    pub fn symbol(self) -> &'static str {
        match self {
            Status::Idle => "○",
            Status::Preparing | Status::Ready => "◐",
            Status::Working => "●",
            Status::Waiting => "◌",
            Status::Verifying => "◍",
            Status::Reviewing => "◎",
            Status::Done => "✓",
            Status::Stuck => "!",
        }
    }

    /// Its word.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Status::Idle => "idle",
            Status::Preparing => "preparing",
            Status::Ready => "ready",
            Status::Working => "working",
            Status::Waiting => "waiting",
            Status::Verifying => "verifying",
            Status::Reviewing => "reviewing",
            Status::Done => "done",
            Status::Stuck => "stuck",
        }
    }

    /// The one of the Crew seed's five words that it is nearest to, for programs that know only those.
    #[must_use]
    pub fn seed_name(self) -> &'static str {
        match self {
            Status::Idle => "idle",
            Status::Preparing | Status::Ready => "ready",
            Status::Working | Status::Waiting | Status::Reviewing => "working",
            Status::Verifying | Status::Done => "done",
            Status::Stuck => "stuck",
        }
    }
}

/// The state of an agent at work, with its mode until its work is submitted.
pub(super) fn of(attempt: &Attempt) -> (Status, Option<Mode>) {
    match &attempt.state {
        attempt::State::Preparing => (Status::Preparing, Some(attempt.mode)),
        attempt::State::Ready => (Status::Ready, Some(attempt.mode)),
        attempt::State::Working(_) => (Status::Working, Some(attempt.mode)),
        attempt::State::WaitingForInput { .. }
        | attempt::State::WaitingForWakeup { .. }
        | attempt::State::WaitingForChildren { .. } => (Status::Waiting, Some(attempt.mode)),
        attempt::State::Verifying => (Status::Verifying, None),
        attempt::State::Done => (Status::Done, None),
        attempt::State::Stuck { .. } => (Status::Stuck, Some(attempt.mode)),
    }
}
