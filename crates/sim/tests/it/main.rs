//! The engine's core in a simulated world.

mod plants;
mod replay;
mod seeds;
