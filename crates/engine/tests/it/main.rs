//! The engine's core, driven by inputs as the runtime drives it: what it decides about each of them.
//!
//! Where a table has many cells, a snapshot holds it: a paragraph a state, and under it what was decided.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod journal;
mod matrix;
mod scene;
mod sent_back;
mod states;
mod train;
mod unheeded;
mod words;

mod budget;
mod checks;
mod commands;
mod conflicts;
mod delegation;
mod dispatch;
mod doubt;
mod driver;
mod edits;
mod files;
mod harness_pause;
mod hindered;
mod late;
mod limits;
mod loading;
mod one_command;
mod proposal_drops;
mod proposals;
mod red_target;
mod reports;
mod rest;
mod restore;
mod roster;
mod runaway;
mod runs;
mod stops;
mod story;
mod submitted;
mod target;
mod timers;
mod turns;
mod unified;
mod writing;
