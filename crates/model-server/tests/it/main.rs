//! Tests of the service through its port, as a client uses it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

mod client;

mod answers;
mod faults;
