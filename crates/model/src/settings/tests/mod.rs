//! The settings file: reading, refusals with their places, and writing.

mod bad;
mod detect;
mod read;
mod shapes;
mod template;
