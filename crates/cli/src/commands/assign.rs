//! `crew assign`: give a ticket to an agent out of turn.

use clap::Args;
use model::command::Command;

use crate::asking::ask;
use crate::context::Context;
use crate::error::Result;
use crate::exit::Exit;
use client::repository::journal;
use client::{follow, lookup};

/// Give a ticket to an idle agent now, out of turn
#[derive(Debug, Args)]
pub(crate) struct Assign {
    /// The agent.
    agent: String,
    /// The ticket.
    ticket: String,
}

impl Assign {
    pub(crate) async fn run(self, context: &mut Context) -> Result<Exit> {
        let place = context.there()?;
        let crew = follow::present(journal(&place).await?.as_ref()).await?;
        let agent = lookup::agent(&crew, &self.agent)?;
        let ticket = lookup::ticket(&crew, &place, &self.ticket)?;
        ask(context, place, Command::Assign { agent, ticket }).await
    }
}
