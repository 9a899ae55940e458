//! crew with the real Claude Code: the real binary, the real git, the pinned client, and a model that says what the
//! ticket's script says. Nothing leaves the machine.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

#[expect(dead_code, reason = "the ring's tests use the rest of it")]
#[path = "../ring/support.rs"]
mod support;

mod client;
mod scene;

mod alone;
mod failures;
mod processes;
mod sessions;
mod usage;
mod work;
