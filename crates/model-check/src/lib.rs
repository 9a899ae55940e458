//! Every state that two engines and three tickets can get into, visited: the real ticket machine and the real
//! admission of the journal, under crashes, lost leases, foreign pushes and people.
//!
//! The simulation draws histories at random and runs the whole core; this takes only the parts that safety
//! depends on (claims, fences, versions, compare-and-swap, one effect after the other) and leaves nothing
//! out. The decisions that an engine *would* make are widened to everything that the machines accept, so that
//! a rule of the core that changes cannot make the proof untrue.

mod act;
mod book;
mod bounds;
mod chain;
mod deed;
mod engine;
mod invariant;
mod journal;
mod moves;
mod order;
mod rest;
mod search;
mod state;
mod team;
mod world;

pub use bounds::{Bounds, Guards, Lease};
pub use search::{Found, Summary, explore};
