//! The ring, from end to end: the real binary, the real git, real processes and scripted agents.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

#[expect(dead_code, reason = "the matrix's tests use the rest of it")]
#[path = "../shared/world.rs"]
mod support;
#[path = "../shared/wait.rs"]
mod wait;

mod agents;
mod checkout;
mod checks;
mod failures;
mod files;
mod hazards;
mod landing;
mod money;
mod moved;
mod people;
mod prompts;
mod queue;
mod unfinished;
mod waiting;
