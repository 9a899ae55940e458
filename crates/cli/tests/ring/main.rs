//! The ring, from end to end: the real binary, the real git, real processes and scripted agents.

mod support;

mod agents;
mod checks;
mod checkout;
mod landing;
mod people;
mod queue;
