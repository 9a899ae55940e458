//! The client: every frontend uses it to submit a command, follow the journal, look things up, gather the
//! inbox and print documents.
//!
//! * [`submit`] passes a command to the engine, and carries the command out where no engine runs.
//! * [`follow`] is the snapshot and the journal's tail as it grows; [`following`] is a whole repository as it
//!   changes, for a frontend that stays open.
//! * [`lookup`] finds the agent or ticket that a person means.
//! * [`names`] are the names that a shell completes.
//! * [`history`] has the rows about a ticket, an agent or the project.
//! * [`outbox`] has the effects that the journal has ordered and that are not done.
//! * [`inbox`] is everything that waits for a person; [`refusals`] are the reasons for which tickets wait.
//! * [`explanation`] is why a ticket stands as it does, and what helps.
//! * [`notifications`] are the words of a notifier that fails, for those who examine a repository.
//! * [`conversation`] is what an agent said and did, as lines for people.
//! * [`activity`] is what runs in the step of an agent.
//! * [`outputs`] are the files of steps, [`checks`] those of checks, and [`commits`] the commits of attempts.
//! * [`diff`] is the change of a ticket, and the folder in which it is made.
//! * [`status`] is a person's word that a ticket is to be done, or is over.
//! * [`workspaces`] removes the workspaces that nobody uses.
//! * [`documents`] are the shapes of `--json`.
//!
//! A frontend stands on this crate and calls neither git nor the ticket files itself.

pub mod activity;
pub mod checks;
pub mod clean;
pub mod clock;
pub mod commits;
pub mod conversation;
pub mod dependency;
pub mod diff;
pub mod disk_use;
pub mod documents;
pub mod engine;
pub mod error;
pub mod explanation;
pub mod follow;
pub mod following;
pub mod history;
pub mod inbox;
pub mod kept;
pub mod lookup;
pub mod names;
pub mod new_repository;
pub mod notifications;
pub mod outbox;
pub mod outputs;
pub mod queue_facts;
pub mod refusals;
pub mod repository;
pub mod revert;
pub mod rewind;
pub mod secrets;
pub mod status;
pub mod submit;
pub mod ticket_folder;
pub mod vouch;
pub mod word;
pub mod workspaces;

pub use error::{Error, Result};
/// A program of a person's choice that is run for a moment.
pub use process::{Answer, Exchange, GiveUp, NoAnswer, find_program};
pub use runtime::Place;
