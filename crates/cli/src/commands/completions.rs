//! `crew completions`: for the shell.

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use crate::arguments::Arguments;
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
        let mut text = Vec::new();
        clap_complete::generate(self.shell, &mut Arguments::command(), "crew", &mut text);
        context.out.bytes(&text)?;
        Ok(Exit::Done)
    }
}
