//! The real binary on real repositories.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

#[path = "../shared/normal.rs"]
mod normal;
#[path = "../shared/pty.rs"]
mod pty;
#[path = "../shared/readme.rs"]
mod readme;
#[path = "../shared/wait.rs"]
mod wait;

mod bad_input;
mod behind;
mod clean;
mod continuity;
mod dashboard;
mod demo;
mod doctor;
mod engine;
mod following;
mod init;
mod invariants;
mod json;
mod look;
mod output;
mod schema;
mod support;
mod tk;
mod tour;
