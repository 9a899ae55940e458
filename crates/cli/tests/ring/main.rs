//! The ring, from end to end: the real binary, the real git, real processes and scripted agents.

mod support;

mod agents;
mod checkout;
mod hazards;
mod checks;
mod landing;
mod people;
mod queue;
