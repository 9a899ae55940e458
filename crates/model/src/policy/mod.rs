//! The policies: pure functions from facts to decisions.

pub mod attention;
pub mod backoff;
pub mod budget;
pub mod capacity;
pub mod conflict;
pub mod delegation;
pub mod failure;
pub mod no_progress;
pub mod review;
pub mod route;
pub mod stall;
pub mod train;
