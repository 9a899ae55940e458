//! The kill test: the real program, git and processes, and SIGKILL at random moments.

#![expect(
    clippy::disallowed_methods,
    reason = "a test starts programs beside crew, reads its seed, and waits for facts with a deadline"
)]

mod actions;
mod adopt;
mod carried_on;
mod clean;
mod crew;

mod deep;
mod facts;
mod faults;
mod gate;
mod git;
mod kinds;
mod life;
mod moment;
mod old_journal;
mod oracle;
mod own;
mod processes;
mod rig;
mod rng;
mod scenario;
mod stop;
mod team;
mod world;
