//! The engine's core in a simulated world.

mod replay;
mod seeds;
