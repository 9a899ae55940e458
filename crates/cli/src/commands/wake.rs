//! `crew wake`: wake an agent before its time.

use clap::Args;
use model::command::Command;

use crate::asking::ask;
use crate::context::Context;
use crate::error::Result;
use crate::exit::Exit;
use client::repository::journal;
use client::{follow, lookup};

/// Wake an agent that sleeps before its time, or have it go on without its children
#[derive(Debug, Args)]
pub(crate) struct Wake {
    /// The agent, or the ticket it is at.
    #[arg(value_name = "AGENT|TICKET")]
    which: String,
}

impl Wake {
    pub(crate) async fn run(self, context: &mut Context) -> Result<Exit> {
        let place = context.there()?;
        let crew = follow::present(journal(&place).await?.as_ref()).await?;
        let agent = lookup::agent_at(&crew, &place, &self.which)?;
        ask(context, place, Command::Wake { agent }).await
    }
}
