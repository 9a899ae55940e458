//! Agent clients: how each is started, and how its output is read.
//!
//! A [`Harness`] is one client, made by its [`Kind`]. It turns a [`StepRequest`] into a [`Launch`], which
//! the engine runs under a shim. A [`Reader`] turns the output of that run into [`Event`]s as it comes, and
//! into an [`Outcome`] at the end. A [`Transcript`] turns
//! it into entries for people.
//!
//! To add a kind of client, write a file beside `claude.rs` that implements [`Harness`] and [`Reader`] and
//! describes itself in a constant `KIND`. Then add that constant to the list [`KINDS`] in `kinds.rs`.

pub mod claude;
mod client;
mod command;
mod commitment;
mod directive;
mod duration;
pub mod entry;
pub mod environment;
mod error;
mod event;
mod json;
mod kind;
mod kinds;
mod lines;
mod mode;
mod money;
mod outcome;
mod product;
mod program;
mod signal;
mod stderr;
mod step;
mod transcript;
mod unusable;
mod usage;
mod verdict;

pub use claude::Claude;
pub use client::{Harness, Installation, Reader};
pub use command::Command;
pub use commitment::Commitment;
pub use error::{Error, Result};
pub use event::Event;
pub use kind::{Kind, Table};
pub use kinds::{KINDS, kind};
pub use lines::LINE_LIMIT;
pub use mode::Mode;
pub use money::Price;
pub use outcome::{Class, Failure, Outcome, Signal};
pub use product::Product;
pub use step::{Calls, Launch, Role, Session, StepRequest};
pub use transcript::Transcript;
pub use usage::Usage;
pub use verdict::{Given, Verdict};
