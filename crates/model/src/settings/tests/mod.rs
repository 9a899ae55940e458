//! The settings file: what is read, what is refused and where, and what is written.

mod bad;
mod detect;
mod read;
mod template;
