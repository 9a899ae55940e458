//! A simulated world that runs the real core from a seed: faults, people, and the invariants after every
//! step.
//!
//! Everything that happens is drawn from one number: the same seed gives the same run, byte for byte.

#![cfg_attr(
    not(test),
    deny(
        clippy::wildcard_enum_match_arm,
        reason = "a new variant must be considered at every match"
    )
)]

mod bound;
mod case;
mod chance;
mod checks;
mod commitments;
mod executor;
mod failure;
mod files;
mod folders;
mod git;
mod invariant;
mod options;
mod people;
mod plant;
mod process;
mod rng;
mod shell;
mod shrink;
mod simulation;
mod trace;
mod words;
mod world;

pub use case::Case;
pub use chance::{Fault, Site};
pub use failure::{Failure, Summary};
pub use plant::Plant;
pub use shrink::shrink;
pub use trace::{Line, Who, names};

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

/// The value of a future that never waits, as the memory store's do not.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => unreachable!("the journal in memory never waits"),
    }
}
