//! The failure of a step, from the client's own messages and the end of its process.
//!
//! Neither is trusted alone. A client can report success and then crash, or exit with 0 and report nothing.

use process::{Exit, Reason};

use super::line::{Retry, TurnResult};
use crate::outcome::{Class, Failure};
use crate::stderr::StderrTail;
use text::sanitise;

/// Everything in a run's output that bears on whether the step failed.
#[derive(Debug, Default)]
pub(super) struct Evidence {
    /// The result of the last turn that has ended.
    pub(super) result: Option<TurnResult>,
    /// Whether a turn has begun that has not ended.
    pub(super) turn_is_open: bool,
    /// The kind of the last service failure that the client put in place of a reply.
    pub(super) error_kind: Option<String>,
    /// The last retry that the client announced.
    pub(super) retry: Option<Retry>,
    /// The end of a limit of the user's plan, in milliseconds since 1970.
    pub(super) limited_until_ms: Option<u64>,
    /// The failure that the client keeps retrying although no retry can succeed.
    pub(super) hopeless: Option<Failure>,
    /// The number of output lines that were not JSON.
    pub(super) unreadable_lines: u64,
    pub(super) stderr: StderrTail,
    /// The class of failure that a line of standard error stands for.
    pub(super) stderr_class: Option<Class>,
}

/// Describes a retry for people, and gives the failure if no retry can succeed.
pub(super) fn of_retry(retry: &Retry) -> (String, Option<Failure>) {
    let why = match (retry.status, retry.kind.as_str()) {
        (Some(401 | 403), _) => "the service refuses the credentials",
        (Some(402), _) => "the service wants to be paid first",
        (Some(429), _) => "the service asks to wait",
        (Some(529), _) | (_, "overloaded") => "the service is overloaded",
        (Some(500..), _) => "the service had an error",
        (Some(_), _) => "the service refused",
        (None, _) => "the connection to the service failed",
    };
    let why = retry
        .status
        .map_or_else(|| why.to_owned(), |status| format!("{why} ({status})"));
    // The first refusal may be an expired login, which the client renews by itself.
    let is_hopeless = matches!(retry.status, Some(401 | 403)) && retry.attempt >= 2;
    let failure = is_hopeless.then(|| Failure::new(Class::Auth, &why));
    (why, failure)
}

/// The class of failure that a line of standard error stands for. The client prints such a line in place of
/// a result.
pub(super) fn class_of_stderr(line: &str) -> Option<Class> {
    if line.contains("is already in use") && line.contains("Session ID") {
        Some(Class::SessionInUse)
    } else if line.contains("No conversation found") {
        Some(Class::SessionMissing)
    } else {
        None
    }
}

impl Evidence {
    /// Whether the last turn has ended, and no other has begun.
    pub(super) fn has_result(&self) -> bool {
        self.result.is_some() && !self.turn_is_open
    }

    /// The failure, or none, that the client's own result states, where crew stopped the client after it.
    pub(super) fn of_stopped(&self, exit: &Exit) -> Option<Option<Failure>> {
        let is_stopped = exit.reason == Reason::Stopped && self.has_result();
        let as_exited = Exit {
            reason: Reason::Exited,
            code: Some(0),
            signal: None,
            ..exit.clone()
        };
        is_stopped.then(|| self.failure(&as_exited))
    }

    /// The failure of the step; `None` when it ended well.
    pub(super) fn failure(&self, exit: &Exit) -> Option<Failure> {
        // crew stops a client that retries in vain: the cause is the refusal, not the stop.
        if let Some(failure) = &self.hopeless
            && exit.reason != Reason::Exited
        {
            return Some(failure.clone());
        }
        let crash = Failure::of_exit(exit);
        let result = self.result.as_ref().filter(|_| !self.turn_is_open);
        // A process that a signal ended has failed, unless its turn had already ended well.
        let went_well = result.is_some_and(|result| !result.is_error);
        if exit.reason != Reason::Exited || (exit.code.is_none() && !went_well) {
            return crash;
        }
        match (result, crash) {
            (Some(result), _) if result.is_error && is_out_of_turns(result) => None,
            (Some(result), _) if result.is_error => Some(self.of_result(result, exit)),
            (Some(_), None) => None,
            (Some(_), Some(crash)) => Some(Failure::new(
                Class::Crash,
                &format!("it said that all went well, but {}", crash.message),
            )),
            (None, None) => Some(self.of_missing_result()),
            (None, Some(crash)) => Some(self.of_stderr(&crash)),
        }
    }

    fn of_result(&self, result: &TurnResult, exit: &Exit) -> Failure {
        let kind = self.error_kind.as_deref().unwrap_or_default();
        let contains = |words: &str| result.text.contains(words);
        let class = if contains("No conversation found") || result.reason == "prompt_too_long" {
            // A conversation that has outgrown the model is as useless as a missing one: both need a new
            // session.
            Class::SessionMissing
        } else if result.subtype == "error_max_budget_usd" || result.reason == "budget_exhausted" {
            Class::Budget
        } else {
            match (result.status, kind) {
                (_, "billing_error") | (Some(402), _) => Class::Budget,
                (Some(401 | 403), _) | (_, "authentication_failed") => Class::Auth,
                (Some(429), _) | (_, "rate_limit") => Class::RateLimited,
                (Some(529), _) | (_, "overloaded") => Class::Overloaded,
                (Some(500..) | None, "server_error") | (Some(408 | 500..), _) => Class::Transient,
                _ => Class::Crash,
            }
        };
        let summary = match class {
            Class::SessionMissing if result.reason == "prompt_too_long" => {
                "the conversation has become too long for the model"
            }
            Class::SessionMissing => "the client does not know the session",
            Class::Budget if result.reason == "budget_exhausted" => "the client's own budget is spent",
            Class::Budget => "the service wants to be paid first",
            Class::Auth => "the service refuses the credentials",
            Class::RateLimited => "the service asks to wait",
            Class::Overloaded => "the service is overloaded",
            Class::Transient => "the service failed or could not be reached",
            _ => "the client failed",
        };
        let mut failure = Failure::new(class, &with_detail(summary, &result.text));
        failure.until_ms = self.until_ms(class, exit);
        failure
    }

    /// The time until which the service refuses: the one it named, else the last delay that the client
    /// kept, once more.
    fn until_ms(&self, class: Class, exit: &Exit) -> Option<u64> {
        if !matches!(class, Class::RateLimited | Class::Overloaded) {
            return None;
        }
        let after_last_delay = || {
            let retry = self
                .retry
                .as_ref()
                .filter(|retry| matches!(retry.status, Some(429 | 529)))?;
            Some(exit.ended_at.saturating_add(retry.delay_ms?))
        };
        let limited = self.limited_until_ms.filter(|_| class == Class::RateLimited);
        limited.or_else(after_last_delay)
    }

    /// The failure of a client that exited with 0 and reported no result.
    fn of_missing_result(&self) -> Failure {
        let unreadable = match self.unreadable_lines {
            0 => String::new(),
            1 => "; a line of its output could not be read".to_owned(),
            many => format!("; {many} lines of its output could not be read"),
        };
        let summary = format!("it ended without saying how its turn ended{unreadable}");
        Failure::new(
            Class::MalformedOutput,
            &with_detail(&summary, &self.stderr.last().unwrap_or_default()),
        )
    }

    /// The failure of a client that crashed without a result; standard error often has the reason.
    fn of_stderr(&self, crash: &Failure) -> Failure {
        let last_line = self.stderr.last().unwrap_or_default();
        match self.stderr_class {
            Some(class) => {
                let summary = match class {
                    Class::SessionInUse => "another process has, or had, the session",
                    _ => "the client does not know the session",
                };
                Failure::new(class, &with_detail(summary, &last_line))
            }
            None => Failure::new(crash.class, &with_detail(&crash.message, &last_line)),
        }
    }
}

/// Whether the turn ended at the user's own `--max-turns`: the step is over, and it did not fail.
fn is_out_of_turns(result: &TurnResult) -> bool {
    result.subtype == "error_max_turns" || result.reason == "max_turns"
}

fn with_detail(summary: &str, detail: &str) -> String {
    let detail = sanitise::fit(&sanitise::line(detail), 300);
    if detail.is_empty() {
        summary.to_owned()
    } else {
        format!("{summary}: {detail}")
    }
}
