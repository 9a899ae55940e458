//! Clients: what is started, what their output means, what of it is shown.

#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test")]
#![expect(
    clippy::disallowed_methods,
    reason = "the tests' own executable and PATH are looked up where they run"
)]

mod claude;
mod command;
mod sanitise;
mod whole;
