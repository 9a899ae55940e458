//! The service over its own port, as a client meets it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

mod client;

mod answers;
mod faults;
