//! Integration tests with the real git, in temporary folders and with an empty HOME.

#![expect(clippy::unwrap_used, reason = "standing_gits of tests are tests")]

mod candidates;
mod check_checkouts;
mod following;
mod hostile;
mod kills;
mod lagging;
mod leftovers;
mod local_settings;
mod locking;
mod nested;
mod pins;
mod present;
mod records;
mod remotes;
mod removing;
mod repositories;
mod resolutions;
mod saving;
mod submitted;
mod support;
mod taken_back;
mod too_large;
mod trust;
mod unchanged;
mod workspaces;
mod writers;
