//! The engine at work: scripted agents, the real git and real processes.

mod agent_commands;
mod agents;
mod checkout;
mod checks;
mod clean_room;
mod failures;
mod file_settings;
mod files;
mod frozen;
mod garbage;
mod git_moves;
mod harnesses;
mod hazards;
mod landing;
mod money;
mod moved;
mod people;
mod prompts;
mod queue;
mod target;
mod unfinished;
mod waiting;
mod workspaces;
mod worktrees;
