//! The only place that runs git: workspaces, import, merges without a checkout, compare-and-swap refs, following a
//! checkout.
//!
//! Everything here blocks; an asynchronous caller calls it from blocking threads. What an agent can write is never
//! read *by git* as configuration, hooks, attributes or an index: see [`Git`] for what every call pins, [`Workspace`]
//! for how an agent's repository stands apart, and [`Repository::import`] for how its commits come over.
//!
//! git [`Version::MINIMUM`] or newer is needed.

#[cfg(test)]
extern crate self as git;

mod agent_refs;
mod beneath;
mod bring;
mod candidate;
mod check;
mod checkout;
mod clock;
mod command;
mod create;
mod delete;
mod diff;
mod error;
mod follow;
mod fsck;
mod helper;
mod history;
mod id;
mod identity;
mod import;
mod index;
mod keep;
#[cfg(test)]
mod kill_tests;
mod land;
mod lock;
mod look;
mod memory;
mod objects;
mod oid;
mod plain;
mod proof;
mod quote;
mod refs;
mod remove;
mod repository;
mod root;
mod save;
mod shut;
mod snapshot;
mod spare;
mod staged;
mod stored;
mod undeletable;
mod version;
mod workspace;

pub use candidate::{Candidate, Message, Outcome};
pub use check::CheckCheckout;
pub use checkout::{Checkout, Operation};
pub use command::{Git, Surroundings};
pub use delete::delete_tree;
pub use diff::{Change, ChangeKind, DiffStat, Mode};
pub use error::{Error, Result};
pub use follow::{Blocked, Followed, Obstacle};
pub use history::{CommitInfo, LandedMerge};
pub use id::{Branch, Id};
pub use identity::{Identity, Time};
pub use import::{Imported, Limits, Refusal};
pub use keep::{Kept, KeptKind, Pin, Rescued};
pub use land::{Intent, Landing};
pub use lock::{Holder, Lock};
pub use oid::{Oid, Tree};
pub use proof::Proof;
pub use repository::Repository;
pub use root::holds_workspaces;
pub use save::Saved;
pub use snapshot::{NestedWork, Unsaved};
pub use undeletable::Undeletable;
pub use version::Version;
pub use workspace::{Spec, Workspace};
