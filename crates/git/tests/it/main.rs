//! The real git in temporary folders, with an empty HOME.

mod candidates;
mod check_checkouts;
mod following;
mod hostile;
mod locking;
mod repositories;
mod saving;
mod support;
mod workspaces;
