//! The engine's core in a simulated world.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod found;
mod plants;
mod regressions;
mod replay;
mod replay_command;
mod seeds;
mod sweep;
