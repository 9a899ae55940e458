//! The commands, one by one, on real repositories.

mod archived;
mod bad_input;
mod clean;
mod continuity;
mod dashboard;
mod deep;
mod demo;
mod doctor;
pub(crate) mod engine;
pub(crate) mod following;
mod found;
mod init;
mod invariants;
mod json;
mod look;
mod output;
pub(crate) mod repo;
mod schema;
mod shells;

mod tk;
mod tour;
