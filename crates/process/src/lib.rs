//! Processes: runs under a shim, their directories, process trees and signals.
//!
//! A *run* is a program started under a shim: an agent's step or a check. The shim owns it and outlives the
//! engine; everything the engine knows of a run it reads from the run's directory, so any later engine can go
//! on with it.
//!
//! | file | written by | holds |
//! |---|---|---|
//! | `spec.json` | engine | program, arguments, limits |
//! | `env.json` | engine | the program's environment; removed once it has started |
//! | `stdin` | engine | the program's standard input; missing: an empty one |
//! | `lock` | | empty; locked by the shim for as long as it lives |
//! | `shim.json` | shim | identities of shim and program: boot, process id, start time |
//! | `stop` | engine | empty; there as soon as the run is to stop |
//! | `out`, `err` | shim | the program's output: its beginning, and of a flood its end too |
//! | `beat.json` | shim | the last heartbeat, with the process tree |
//! | `said.json` | engine | the last that the program said of its work |
//! | `exit.json` | shim, or the sweep | the end of the run; written last |
//!
//! * [`Run`] is the directory: create, start, look, stop, end, sweep.
//! * [`Watch`] waits for the end without polling; [`Tail`] reads output on from an offset.
//! * [`ask`] puts a short question to a program, such as its version; [`is_root`] is whether this process is
//!   root.
//! * [`start_again`] and [`run_again`] start this very program once more, apart from any run.
//! * [`shim_main`] is the shim itself, behind the binary's hidden subcommand.

mod again;
mod ask;
mod asks;
mod capture;
mod clock;
mod elsewhere;
mod end;
mod error;
mod exchange;
mod files;
mod linux;
mod look;
mod record;
mod report;
mod run;
mod shim;
mod spawn;
mod spec;
mod sweep;
mod tail;
mod watch;

pub use again::{leave_terminal, run_again, start_again};
pub use ask::ask;
pub use asks::{
    Answered, Ask, Asks, CALLS_DIR, CALLS_TOKEN, MOST_BYTES, QUEUE_MARK, Reply, is_same_token, sent_at,
};
pub use end::Pulse;
pub use error::{Error, Result};
pub use exchange::{Answer, Exchange, GiveUp, NoAnswer};
pub use linux::{Identity, Life, life, this_program};
pub use record::{Beat, Captured, Child, Exit, Fault, Reason, Said, Started, short};
pub use run::{RUN_DIR, Run, Shim, Status};
pub use shim::shim_main;
pub use spawn::{NotFound, find_program};
pub use spec::{DEFAULT_BEAT_MS, DEFAULT_GRACE_MS, DEFAULT_OUTPUT_CAP, MARKER, Spec};
pub use sweep::Swept;
pub use tail::{Stream, Tail};
pub use watch::Watch;

/// Whether this process has root's rights.
#[must_use]
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}
