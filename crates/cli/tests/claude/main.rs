//! crew with the real Claude Code: the real binary, the real git, the pinned client, and a model that says what the
//! ticket's script says. Nothing leaves the machine.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

#[expect(dead_code, reason = "the ring's tests use the rest of it")]
#[path = "../shared/world.rs"]
mod support;

#[path = "../shared/pty.rs"]
#[expect(dead_code, reason = "the tests of screens use the rest of it")]
mod pty;
#[path = "../shared/readme.rs"]
mod readme;
#[path = "../shared/wait.rs"]
mod wait;

mod client;
mod scene;

mod alone;
mod failures;
mod processes;
mod sessions;
mod tour;
mod usage;
mod work;
