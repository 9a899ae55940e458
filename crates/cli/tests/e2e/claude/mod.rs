//! crew with the real Claude Code: the real binary, the real git, the pinned client, and a model that says
//! what the ticket's script says. Nothing leaves the machine.

mod alone;
mod conversation;
mod deep;
mod failures;
mod processes;
mod sessions;
mod team;
mod tools;
mod tour;
mod usage;
mod work;
