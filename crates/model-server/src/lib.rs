//! A scripted model service on loopback, for tests with real agent clients: the client is real, and the
//! prompt contains the answers of the model.
//!
//! The newest user text that contains `@@[ …JSON steps… ]@@` is the script, and the number of the model's
//! turns after it is the number of the step that is due. So the service keeps no conversation, and
//! continues correctly when a client is killed, resumes, or is another process. It records the requests in
//! order ([`Server::requests`]) for a test to check.
//!
//! `script.rs` describes the steps. A new wire format is one file in `wire`.

mod compaction;
mod due;
mod error;
mod log;
mod reply;
mod respond;
mod route;
mod script;
mod server;
mod stream;
mod tool;
mod turn;
mod wire;

pub use error::{Error, Result};
pub use log::{End, Request};
pub use route::Route;
pub use server::Server;
