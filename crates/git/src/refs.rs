//! Refs: read, moved by compare-and-swap, and freed of locks that a killed git left behind.

pub(crate) mod keep;
mod living;
mod locks;
mod moves;
pub(crate) mod proof;
mod read;
mod stored;
