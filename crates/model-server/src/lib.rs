//! A scripted model service on loopback, for tests with real agent clients: the client is real, what the model says
//! is written in the prompt.
//!
//! The newest user text that holds `@@[ …JSON steps… ]@@` is the script, and the number of the model's turns after
//! it is the step that is due. So the service keeps no conversation: it goes on rightly when a client is killed,
//! resumes, or is a different process. What it was asked is kept in order ([`Server::requests`]) for a test to
//! assert on.
//!
//! [`script::Step`] tells what a step can be. A new wire format is one file in `wire`.

mod compaction;
mod cue;
mod error;
mod log;
mod reply;
mod respond;
mod route;
/// What a test writes into a prompt.
pub mod script;
mod server;
mod stream;
mod tool;
mod wire;

pub use error::{Error, Result};
pub use log::{End, Request};
pub use route::Route;
pub use server::Server;
