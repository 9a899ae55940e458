//! The demonstration: it has a repository, eight tickets and scripted agents of its own; the engine, git and
//! the checks are the real ones.

mod ground;
mod page;
mod person;
mod project;
mod story;
mod summary;
mod tally;
mod watch;

pub(crate) use ground::Ground;
pub(crate) use page::Page;
pub(crate) use person::{LEAVES_IT, Person, THINKS, open};
pub(crate) use project::{BRANCH, make, queue};
pub(crate) use story::{Story, in_words, waits};
pub(crate) use summary::{document, show};
pub(crate) use tally::Tally;
pub(crate) use watch::Meeting;
