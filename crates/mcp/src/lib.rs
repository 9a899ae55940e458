//! The agent's end of crew's tools: it knows the folder of its run and nothing else.
//!
//! * [`Caller`] sends a call and waits for the answer.
//! * [`serve`] offers the tools to a client by the Model Context Protocol, on standard input and output.

mod caller;
mod lines;
mod server;

pub use caller::{Caller, Error, Result};
pub use server::serve;
