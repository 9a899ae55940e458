//! The ring, from end to end: the real binary, the real git, real processes and scripted agents.

mod support;

mod agents;
mod checkout;
mod checks;
mod hazards;
mod landing;
mod people;
mod queue;
