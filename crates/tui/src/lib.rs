//! The dashboard: what happens as values, a state that takes them in, and how that state is drawn.
//!
//! [`App::update`] takes a [`Msg`] and gives [`Action`]s; [`draw`] is a function of the [`App`] alone. Neither reads a
//! clock, a file or a terminal: the program around them does, and [`Terminal`] is the one piece of that which lives
//! here, so that nobody else needs to know the library it is made with.

mod app;
mod cell;
mod choose;
mod dialog;
mod draw;
mod input;
mod keys;
mod log;
mod message;
mod pane;
mod past;
mod plan;
mod queue;
mod terminal;
mod theme;

pub use app::{App, Options};
pub use draw::draw;
pub use message::{Action, CommandResult, Engine, Files, Key, Msg};
pub use pane::Pane;
pub use terminal::{Keyboard, Terminal};
