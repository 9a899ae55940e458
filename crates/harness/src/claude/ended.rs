//! How a step ended: by the client's own word for it and by its process, never by one of them alone.

use process::{Exit, Reason};

use super::line::{Ended, Retry};
use crate::complaints::Complaints;
use crate::outcome::{Class, Failure};
use crate::sanitise;

/// What is known at the end.
#[derive(Debug, Default)]
pub(super) struct Clues {
    /// The last turn's result, if it came.
    pub(super) ended: Option<Ended>,
    /// A turn had begun and its result has not come.
    pub(super) open: bool,
    /// The kind of failure that the client's last word for one had.
    pub(super) kind: Option<String>,
    /// The last time it tried again by itself.
    pub(super) retry: Option<Retry>,
    /// When a limit of the user's plan ends, in milliseconds since 1970.
    pub(super) limited_until_ms: Option<u64>,
    /// What cannot succeed was tried again.
    pub(super) given_up: Option<Failure>,
    /// Lines of its output that could not be read.
    pub(super) unread: u64,
    pub(super) complaints: Complaints,
    /// What standard error said that has a meaning.
    pub(super) said: Option<Class>,
}

/// A failure that the client tries again by itself, for people; and whether it cannot succeed.
pub(super) fn retried(retry: &Retry) -> (String, Option<Failure>) {
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
    // One refusal may be a login that is being renewed, which the client does by itself.
    let hopeless = matches!(retry.status, Some(401 | 403)) && retry.attempt >= 2;
    let failure = hopeless.then(|| Failure::new(Class::Auth, &why));
    (why, failure)
}

/// A line of standard error that has a meaning: it comes alone, without a result.
pub(super) fn said(line: &str) -> Option<Class> {
    if line.contains("is already in use") && line.contains("Session ID") {
        Some(Class::SessionInUse)
    } else if line.contains("No conversation found") {
        Some(Class::SessionMissing)
    } else {
        None
    }
}

impl Clues {
    /// Why the step failed; `None`: it ended well.
    pub(super) fn failure(&self, exit: &Exit) -> Option<Failure> {
        // It was stopped since it could not succeed, or had not come to its end yet.
        if let Some(failure) = &self.given_up
            && exit.reason != Reason::Exited
        {
            return Some(failure.clone());
        }
        let crash = Failure::of_exit(exit);
        let ended = self.ended.as_ref().filter(|_| !self.open);
        // A signal counts for more than what came before it, unless that was the end of the turn.
        let went_well = ended.is_some_and(|ended| !ended.is_error);
        if exit.reason != Reason::Exited || (exit.code.is_none() && !went_well) {
            return crash;
        }
        match (ended, crash) {
            (Some(ended), _) if ended.is_error && out_of_turns(ended) => None,
            (Some(ended), _) if ended.is_error => Some(self.of_result(ended, exit)),
            (Some(_), None) => None,
            (Some(_), Some(crash)) => Some(Failure::new(
                Class::Crash,
                &format!("it said that all went well, but {}", crash.message),
            )),
            (None, None) => Some(self.mute()),
            (None, Some(crash)) => Some(self.of_complaint(&crash)),
        }
    }

    fn of_result(&self, ended: &Ended, exit: &Exit) -> Failure {
        let kind = self.kind.as_deref().unwrap_or_default();
        let said = |words: &str| ended.text.contains(words);
        let class = if said("No conversation found") || ended.reason == "prompt_too_long" {
            // A conversation that has outgrown the model is of no use any more than one that is not there.
            Class::SessionMissing
        } else if ended.subtype == "error_max_budget_usd" || ended.reason == "budget_exhausted" {
            Class::Budget
        } else {
            match (ended.status, kind) {
                (_, "billing_error") | (Some(402), _) => Class::Budget,
                (Some(401 | 403), _) | (_, "authentication_failed") => Class::Auth,
                (Some(429), _) | (_, "rate_limit") => Class::RateLimited,
                (Some(529), _) | (_, "overloaded") => Class::Overloaded,
                (Some(500..) | None, "server_error") | (Some(408 | 500..), _) => Class::Transient,
                _ => Class::Crash,
            }
        };
        let lead = match class {
            Class::SessionMissing if ended.reason == "prompt_too_long" => {
                "the conversation has become too long for the model"
            }
            Class::SessionMissing => "the client does not know the session",
            Class::Budget if ended.reason == "budget_exhausted" => "the client's own budget is spent",
            Class::Budget => "the service wants to be paid first",
            Class::Auth => "the service refuses the credentials",
            Class::RateLimited => "the service asks to wait",
            Class::Overloaded => "the service is overloaded",
            Class::Transient => "the service failed or could not be reached",
            _ => "the client failed",
        };
        let mut failure = Failure::new(class, &with(lead, &ended.text));
        failure.until_ms = self.until(class, exit);
        failure
    }

    /// When the service lets it go on: as it said, or the last wait that the client kept, once more.
    fn until(&self, class: Class, exit: &Exit) -> Option<u64> {
        if !matches!(class, Class::RateLimited | Class::Overloaded) {
            return None;
        }
        let hinted = || {
            let retry = self
                .retry
                .as_ref()
                .filter(|retry| matches!(retry.status, Some(429 | 529)))?;
            Some(exit.ended_at.saturating_add(retry.delay_ms?))
        };
        let limited = self.limited_until_ms.filter(|_| class == Class::RateLimited);
        limited.or_else(hinted)
    }

    /// It exited well and never said how it went.
    fn mute(&self) -> Failure {
        let unread = match self.unread {
            0 => String::new(),
            1 => "; a line of its output could not be read".to_owned(),
            many => format!("; {many} lines of its output could not be read"),
        };
        let lead = format!("it ended without saying how its turn ended{unread}");
        Failure::new(
            Class::MalformedOutput,
            &with(&lead, &self.complaints.last().unwrap_or_default()),
        )
    }

    fn of_complaint(&self, crash: &Failure) -> Failure {
        let complaint = self.complaints.last().unwrap_or_default();
        match self.said {
            Some(class) => {
                let lead = match class {
                    Class::SessionInUse => "another process has, or had, the session",
                    _ => "the client does not know the session",
                };
                Failure::new(class, &with(lead, &complaint))
            }
            None => Failure::new(crash.class, &with(&crash.message, &complaint)),
        }
    }
}

/// The user's own `--max-turns`: the step is over, and nothing has failed.
fn out_of_turns(ended: &Ended) -> bool {
    ended.subtype == "error_max_turns" || ended.reason == "max_turns"
}

fn with(lead: &str, said: &str) -> String {
    let said = sanitise::fit(&sanitise::line(said), 300);
    if said.is_empty() {
        lead.to_owned()
    } else {
        format!("{lead}: {said}")
    }
}
