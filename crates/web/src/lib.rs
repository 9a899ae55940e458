//! The web page of crew: a server, the documents that it streams, and the page itself.

mod app;
mod asking;
mod assets;
mod board;
mod edge;
mod listen;
pub mod pairing;
mod problem;
mod serve;

pub use app::{App, Device, Options, Repo, Scope};
pub use listen::{Listener, Serving, Taken};
pub use problem::Problem;
