//! Landing: a candidate is built, and the target moves to it.

pub(crate) mod candidate;
pub(crate) mod land;
mod lfs;
pub(crate) mod pins;
mod proposal;
pub(crate) mod remote;
mod resolution;
mod revert;
mod taken_back;
