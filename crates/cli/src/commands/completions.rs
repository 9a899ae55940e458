//! `crew completions`: for the shell.

use clap::Args;
use clap_complete::Shell;
use client::error::Doing as _;

use crate::completion;
use crate::context::Context;
use crate::error::Result;
use crate::exit::Exit;

/// Print the completions for a shell
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// Which shell.
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit> {
        let script = completion::script(self.shell).doing("write", "the completions")?;
        context.out.bytes(script.as_bytes())?;
        Ok(Exit::Done)
    }
}
