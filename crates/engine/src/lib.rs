//! The engine's core: synchronous and deterministic. What happened goes in, what is to be made durable comes
//! out.
//!
//! No clock, no task, no channel and no hash order: the same inputs give the same outputs, byte for byte.
//! Around it stands the [`driver`], which the runtime feeds with the world and the simulator with a simulated
//! one.

#![cfg_attr(
    not(test),
    deny(
        clippy::wildcard_enum_match_arm,
        reason = "a new variant must be considered at every match"
    )
)]

mod core;
pub mod driver;
mod error;
mod failures;
mod hindrances;
mod input;
mod names;
mod output;
mod project;
mod ready_queue;
mod renames;
mod spending;
mod ticket_folder;
mod tickets;
mod watches;

pub use crate::core::{Core, Duty, Loaded, Rest, TargetCheck, Waits};
pub use error::Error;
pub use input::{
    AtRemote, CheckEnd, End, Expected, Input, Observation, Report, RunEnd, TargetFound, TargetMoved,
    TargetSeen,
};
pub use output::{Output, Postponed};
