//! Tests of the clients: how they are started, how their output is read, and how it is shown.

#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test")]
#![expect(
    clippy::disallowed_methods,
    reason = "the tests' own executable and PATH are looked up where they run"
)]

mod claude;
mod command;
mod kinds;
mod transcript;
mod whole;
