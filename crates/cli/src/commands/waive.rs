//! `crew waive`: let a held ticket pass, by name and with a reason that is shown for ever.

use clap::Args;
use model::command::Command;

use crate::asking::ask;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::exit::Exit;
use client::repository::journal;
use client::{follow, lookup};

/// Let a held ticket pass in spite of what holds it; your name and reason stay in its history
#[derive(Debug, Args)]
pub(crate) struct Waive {
    /// The ticket.
    ticket: String,
    /// Let the ticket land without meeting this commitment, whether it is held or not; `crew explain` lists
    /// them.
    #[arg(long, value_name = "NUMBER")]
    commitment: Option<u32>,
    /// Why.
    #[arg(required = true)]
    reason: Vec<String>,
}

impl Waive {
    pub(crate) async fn run(self, context: &mut Context) -> Result<Exit> {
        let reason = self.reason.join(" ");
        if reason.trim().is_empty() {
            return Err(Error::usage(
                "a waiver needs a reason",
                "crew waive <ticket> <reason>: it stays in the history",
            ));
        }
        let place = context.there()?;
        let crew = follow::present(journal(&place).await?.as_ref()).await?;
        let ticket = lookup::ticket(&crew, &place, &self.ticket)?;
        let command = match self.commitment {
            Some(id) => Command::WaiveCommitment { ticket, id, reason },
            None => Command::Waive { ticket, reason },
        };
        ask(context, place, command).await
    }
}
