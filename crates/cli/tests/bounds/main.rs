//! Bounded everything: the memory of crew's processes and what another agent notices, whatever one agent does and however long the
//! queue is. The real binary, git and processes; figures are the kernel's own (`VmHWM`).

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

#[expect(dead_code, reason = "the ring's tests use the rest of it")]
#[path = "../shared/world.rs"]
mod support;
#[path = "../shared/wait.rs"]
mod wait;

mod floods;
mod long_queue;
mod memory;
