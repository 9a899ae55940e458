//! The exhaustive exploration.

mod explored;
