//! The dashboard: its messages, its state, and how the state is drawn.
//!
//! [`App::update`] takes a [`Msg`] and returns [`Action`]s; [`draw`] is a function of the [`App`] alone.
//! Neither reads a clock, a file or a terminal, which the program around them does. Only [`Terminal`] and
//! [`Keyboard`] do I/O here, so that no other crate needs to know the terminal library.

mod app;
mod cell;
mod choose;
mod dialog;
mod diff;
mod draw;
mod hints;
mod history;
mod input;
mod keys;
mod log;
mod message;
mod pane;
mod plan;
mod queue;
mod terminal;
mod theme;

pub use app::{App, Options};
pub use draw::draw;
pub use message::{Action, Activity, CommandResult, Diff, DiffLine, Engine, Files, Key, Msg, Printed};
pub use terminal::{Keyboard, Terminal};
pub use theme::Tone;
