//! The command `crew shim`, which owns one step's process. `main` answers it before anything else; this
//! module is for the command line's grammar.

use clap::Args;

use crate::exit::Exit;

/// Own one run, from its start to its record (crew starts this itself).
#[derive(Debug, Args)]
#[command(hide = true)]
pub(crate) struct Shim {}

impl Shim {
    pub(crate) fn run(self) -> Exit {
        // A shim begins in a process that has done nothing yet, and this one has read its command line.
        let Self {} = self;
        Exit::Usage
    }
}
