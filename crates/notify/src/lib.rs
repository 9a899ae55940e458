//! Notifier: tells people, by programs of their choice, what waits for them.
//!
//! A notifier follows the inbox of one repository for one person. It keeps what it has told on the disk, so
//! that a message comes at least once, and twice with the same id at worst, whenever it was killed.
//!
//! * [`Settings`] are `notify.toml`: one file for a person, whatever the repository.
//! * [`run`] follows the inbox until it is stopped; [`Inside`] does so beside an engine or a server.
//! * [`test`] sends a message to every program of the settings.

mod inside;
mod kept;
mod lock;
mod message;
mod notifier;
mod plan;
mod program;
mod reader;
mod report;
mod secrets;
mod settings;
mod test;

pub use inside::Inside;
pub use notifier::{End, Options, run};
pub use report::Report;
pub use settings::{Quiet, Settings, To, path};
pub use test::test;
