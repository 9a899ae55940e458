//! git: the only place that runs it, for workspaces, imports, merges without a checkout, compare-and-swap
//! refs and checkouts that follow a branch.
//!
//! Everything here blocks; an asynchronous caller calls it from blocking threads. Files that an agent can
//! write are never read *by git* as configuration, hooks, attributes or an index: see [`Git`] for the pins of
//! every call, [`Workspace`] for the repository of an agent, and [`Repository::import`] for the way of its
//! commits.
//!
//! git [`Version::MINIMUM`] or newer is needed.

mod checkout;
mod clock;
mod command;
mod error;
mod files;
mod landing;
mod objects;
mod parse;
mod processes;
mod refs;
mod repository;
mod types;
mod workspace;

pub use checkout::Checkout;
pub use checkout::check::{CheckCheckout, Stay};
pub use checkout::made::Made;
pub use checkout::submodules::Submodule;
pub use command::git::{Git, Surroundings, ToRemotes};
pub use error::{Error, Result};
pub use files::delete::delete_tree;
pub use landing::candidate::{Candidate, Message, Outcome};
pub use landing::land::{Intent, Landing};
pub use landing::pins::CandidatePin;
pub use landing::remote::{Remote, Standing, tracking};
pub use objects::contents::MOST_READ;
pub use objects::history::{CommitInfo, LandedMerge, TicketCommit};
pub use objects::list::TreeFile;
pub use objects::patch::{FileChange, FileChangeKind, PatchForm};
pub use refs::kept_refs::{Kept, KeptKind, Pin, Rescued};
pub use refs::proof::Proof;
pub use repository::Repository;
pub use repository::lock::Lock;
pub use repository::root::is_plain_main;
pub use repository::traces::{Movement, Traces};
pub use types::blocked::{Behind, Blocked, Followed, Obstacle};
pub use types::change::{Change, Mode, Written};
pub use types::holder::Holder;
pub use types::id::{Branch, Id};
pub use types::identity::{Identity, Time};
pub use types::invalid::Invalid;
pub use types::not_copied::{LeftOut, NotCopied};
pub use types::oid::{Oid, Tree};
pub use types::operation::Operation;
pub use types::quote::unquoted;
pub use types::refusal::{Limits, Refusal};
pub use types::status::Status;
pub use types::trouble::Trouble;
pub use types::unsaved::{NestedWork, Unsaved};
pub use types::version::Version;

pub use workspace::import::Imported;
pub use workspace::leftovers::{LeftBehind, NoWork};
pub use workspace::moved::Moved;
pub use workspace::present::Present;
pub use workspace::root::holds_workspaces;
pub use workspace::save::Saved;
pub use workspace::set_up::SetUp;
pub use workspace::submitted::Submission;
pub use workspace::turns::Turn;
pub use workspace::undeletable::Undeletable;
pub use workspace::{Spec, Workspace};
