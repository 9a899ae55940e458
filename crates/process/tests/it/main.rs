//! Runs under a real shim, with real processes.

#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test")]
#![expect(
    clippy::disallowed_methods,
    reason = "tests start programs beside crew and wait for facts with a deadline"
)]

mod adopt;
mod end;
mod frozen;
mod look;
mod output;
mod stop;
mod support;
