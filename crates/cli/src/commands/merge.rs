//! `crew merge`: bring a ticket to landing by hand, through the same gate.

use clap::Args;
use model::command::Command;

use crate::asking::ask;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::exit::Exit;
use client::lookup::Either;
use client::repository::journal;
use client::{follow, lookup};

/// Land a ticket's work by hand, through the same checks
#[derive(Debug, Args)]
pub(crate) struct Merge {
    /// The ticket, or the agent that works on it.
    #[arg(value_name = "AGENT|TICKET")]
    which: String,
}

impl Merge {
    pub(crate) async fn run(self, context: &mut Context) -> Result<Exit> {
        let place = context.there()?;
        let crew = follow::present(journal(&place).await?.as_ref()).await?;
        let ticket = match lookup::either(&crew, &place, &self.which)? {
            Either::Ticket(ticket) => ticket,
            Either::Agent(name) => crew.agent(&name).and_then(|agent| agent.ticket).ok_or_else(|| {
                Error::refused(
                    format!("{name} has no ticket, so there is nothing to merge"),
                    "`crew queue` lists the tickets",
                )
            })?,
        };
        ask(context, place, Command::Merge { ticket }).await
    }
}
