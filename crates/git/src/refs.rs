//! Refs: read, moved by compare-and-swap, and freed of locks that a killed git left behind.

pub(crate) mod kept_refs;
mod lock_holders;
mod locks;
mod moves;
pub(crate) mod proof;
mod read;
mod ref_files;
