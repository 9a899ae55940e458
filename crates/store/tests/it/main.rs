//! The journal's tests: one contract that every backend passes, and faults that only a file can suffer.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod contract;
mod damage;
mod file;
mod histories;
mod memory;
mod processes;
mod support;
