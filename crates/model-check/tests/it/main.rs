//! The exhaustive exploration.

mod deep;
mod explored;
