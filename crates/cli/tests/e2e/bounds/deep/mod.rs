//! Floods and a long queue: each takes a minute or more.

pub(crate) mod floods;
mod long_queue;
