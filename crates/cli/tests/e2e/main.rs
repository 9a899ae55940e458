//! End-to-end tests: the real binary on real repositories, with the real git and real processes, in one test
//! program.
//!
//! What the suites share (a repository with a queue, a terminal, waiting for facts) is the crate `testkit`.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

mod bounds;
mod claude;
mod commands;
mod corpus;
mod engine;
mod faults;
mod histories;
mod kill;
mod log;
mod web_board;
mod web_security;
