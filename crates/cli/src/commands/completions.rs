//! `crew completions`: for the shell.

use clap::{Args, Command, CommandFactory as _};
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
        clap_complete::generate(self.shell, &mut shown(), "crew", &mut text);
        context.out.bytes(&text)?;
        Ok(Exit::Done)
    }
}

/// The grammar without what is hidden, which a shell would complete all the same.
fn shown() -> Command {
    let whole = Arguments::command();
    let shown = |command: &&Command| !command.is_hide_set();
    let commands = whole.get_subcommands().filter(shown);
    Command::new("crew")
        .version(env!("CARGO_PKG_VERSION"))
        .args(whole.get_arguments())
        .subcommands(commands)
}
