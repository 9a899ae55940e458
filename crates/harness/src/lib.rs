//! Agent clients: how each is started, and what its output means.
//!
//! A [`Harness`] is one client. It turns a [`StepRequest`] into a [`Launch`] (which the engine runs under a shim), and
//! its [`Reader`] turns the run's output, as it comes, into [`Event`]s and at the end into an [`Outcome`].
//!
//! * [`environment`] assembles what of crew's environment a client may see.
//! * [`Readable`] turns what a client printed into what people can read.
//! * [`sanitise`] makes untrusted text fit to be shown.

pub mod claude;
mod client;
mod command;
mod complaints;
mod duration;
pub mod environment;
mod error;
mod event;
mod lines;
mod money;
mod outcome;
mod readable;
pub mod sanitise;
mod step;
mod words;

pub use claude::Claude;
pub use client::{Harness, Installation, Reader};
pub use command::Command;
pub use error::{Error, Result};
pub use event::{Event, Mode, Usage};
pub use lines::LINE_LIMIT;
pub use money::Price;
pub use outcome::{Class, Failure, Outcome, Signal};
pub use readable::{Readable, readable};
pub use step::{Launch, Role, Session, StepRequest};
