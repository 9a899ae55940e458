//! What a failed step leads to: how long to wait, and what is left of the limits (machines.md §3).

use std::time::Duration;

use crate::attempt::{Attempt, Failure};
use crate::policy::backoff;

/// Failed steps in a row after which an attempt is stuck.
pub const ERRORS: u32 = 5;
/// The same failure in a row after which the breaker opens.
///
/// A failure that is gone when tried again must not open it before the five in a row have had their chance, so only what
/// the client itself calls the same input counts; a plain crash does not.
pub const REPEATS: u32 = 3;

/// What follows a failed step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Next {
    /// Before the next step.
    pub wait: Duration,
    /// Errors in a row left after this one.
    pub errors_left: u32,
    /// Same failures in a row left after this one.
    pub repeats_left: u32,
}

/// What follows `failure`, in an attempt as it is before it.
#[must_use]
pub fn after(attempt: Option<&Attempt>, failure: &Failure) -> Next {
    let (errors, repeats) = attempt.map_or((0, 0), |a| {
        let same = a.failure.as_ref() == Some(failure);
        (a.errors, if same { a.repeats } else { 0 })
    });
    if !failure.class.counts() {
        let waits = matches!(
            failure.class,
            crate::attempt::Class::RateLimited | crate::attempt::Class::Overloaded
        );
        let wait = if waits {
            backoff::step(errors + 5)
        } else {
            Duration::ZERO
        };
        return Next {
            wait,
            errors_left: ERRORS - errors.min(ERRORS),
            repeats_left: REPEATS,
        };
    }
    let repeats_left = match failure.class {
        crate::attempt::Class::MalformedOutput | crate::attempt::Class::Budget => {
            REPEATS.saturating_sub(repeats + 1)
        }
        crate::attempt::Class::Transient
        | crate::attempt::Class::RateLimited
        | crate::attempt::Class::Overloaded
        | crate::attempt::Class::Auth
        | crate::attempt::Class::SessionInUse
        | crate::attempt::Class::SessionMissing
        | crate::attempt::Class::Timeout
        | crate::attempt::Class::Stalled
        | crate::attempt::Class::Crash
        | crate::attempt::Class::Lost
        | crate::attempt::Class::KilledByUs => REPEATS,
    };
    Next {
        wait: backoff::step(errors + 1),
        errors_left: ERRORS.saturating_sub(errors + 1),
        repeats_left,
    }
}
