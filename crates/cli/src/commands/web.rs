//! `crew web`: the page of a repository, on this machine; and the devices that are paired with it.

mod browser;
mod devices;
mod pair;
mod qr;
mod revoke;
mod serve;

use clap::{Args, Subcommand};
use web::Scope;

use crate::context::Context;
use crate::error::Result;
use crate::exit::Exit;

pub(crate) use serve::{link, refused};

/// Show crew in a browser: what waits for you, the tickets, agents, train and costs
///
/// The page is served on 127.0.0.1 only, and shows nothing before the browser is paired by the link that is
/// printed. Closing it, or ending the command, stops nothing that runs.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
pub(crate) struct Web {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    serve: serve::Serve,
}

#[derive(Debug, Subcommand)]
enum Command {
    Pair(pair::Pair),
    Devices(devices::Devices),
    Revoke(revoke::Revoke),
}

impl Web {
    pub(crate) async fn run(self, context: &mut Context) -> Result<Exit> {
        match self.command {
            None => self.serve.run(context).await,
            Some(Command::Pair(command)) => command.run(context),
            Some(Command::Devices(command)) => command.run(context),
            Some(Command::Revoke(command)) => command.run(context),
        }
    }

    /// Whether it gives somebody access, or takes it: only a person does.
    pub(crate) fn decides(&self) -> bool {
        !matches!(self.command, Some(Command::Devices(_)))
    }
}

/// The scope of a device that is paired.
fn scope(look: bool) -> Scope {
    if look { Scope::Look } else { Scope::Act }
}
