//! The engine's shell: it observes the world, drives the core, makes its decisions durable and performs their
//! effects.
//!
//! * [`Place`] is where everything of one repository stands.
//! * [`Reading`] is what a ticket's file says.
//! * [`run`] is the engine in the foreground.
//! * [`carry_out`] runs the dispatcher for one command while no engine runs.

#![cfg_attr(
    not(test),
    deny(
        clippy::wildcard_enum_match_arm,
        reason = "a new variant must be considered at every match"
    )
)]

mod blocking;
mod calls;
mod check;
mod clock;
mod dispatcher;
mod error;
mod executor;
mod folders;
mod gh;
mod hooks;
pub mod log;
mod lost_file;
mod moved;
mod observe;
mod orphans;
mod outputs;
mod own_repository;
mod place;
mod points;
mod preflight;
mod prompt;
mod queue;
mod reading;
mod record;
mod revert;
pub mod secrets;
mod set_up;
mod settings_file;
mod signalled;
mod start;
mod state_file;
mod target;
mod timing;
pub mod undeletable;
mod users_folders;
mod workspaces;

pub use check::{
    CHECK_MARK, MissingProgram, Tool, command_of, forget_set_up, forget_verdicts, had_kept_set_up,
    idle_hold_paths, idle_paths, idle_review_paths, is_canary, missing_programs, tests_on_target, toolchain,
};
pub use engine::TargetFound;
pub use error::{Error, Result};
pub use executor::pull_request_client;
pub use folders::folders;
pub use hooks::{BrokenHook, HOOK_MARK, HOOK_TICKET, WaitingHook, broken_hooks, waiting_hooks};
pub use lost_file::bring_back;
pub use orphans::{check_runs, end_all_runs, end_run};
pub use outputs::{ended_at, finish_taking_away, forget_passed_checks, take_away, ticket_of};
pub use own_repository::known_root;
pub use place::{CREW_DIR, Place, life_of, stopped};
pub use queue::origin_of;
pub use reading::Reading;
pub use revert::{Obstacle as RevertObstacle, obstacle as revert_obstacle};
pub use set_up::{SET_UP_MARK, set_up_runs};
pub use signalled::{Told, stop_by_signal};
pub use start::{Options, Signal, carry_out, client, run, try_prompts};
pub use target::try_target;
pub use workspaces::is_one_folder;
