//! A simulated world that runs the real core from a seed: faults, people, and the invariants after every step.
//!
//! Everything that happens is drawn from one number: the same seed gives the same run, byte for byte.

mod driver;
mod failure;
mod files;
mod git;
mod hands;
mod invariant;
mod options;
mod people;
mod plant;
mod process;
mod rng;
mod simulation;
mod world;

pub use failure::{Failure, Summary};
pub use plant::Plant;

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

/// Runs the simulation of `seed`, with a bug planted or without.
///
/// # Errors
/// [`Failure`] when an invariant does not hold: it prints everything that is needed to look into it.
pub fn run(seed: u64, plant: Option<Plant>) -> Result<Summary, Box<Failure>> {
    simulation::Simulation::new(seed, plant).run().0
}

/// Runs the simulation of `seed` again, and gives its whole trace: a line for each thing that happened, in order.
#[must_use]
pub fn replay(seed: u64, plant: Option<Plant>) -> Vec<String> {
    simulation::Simulation::new(seed, plant).run().1
}

/// What a future that never waits gives: the memory store's do not.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => unreachable!("the journal in memory never waits"),
    }
}
