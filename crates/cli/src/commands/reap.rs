//! `crew reap`: give an agent up for good.

use clap::Args;
use client::repository::journal;
use client::{follow, lookup};
use model::command::Command;

use crate::asking::ask;
use crate::context::Context;
use crate::error::Result;
use crate::exit::Exit;

/// Give an agent up for good: its step is stopped, its ticket goes back, held, and its name is retired
#[derive(Debug, Args)]
pub(crate) struct Reap {
    /// The agent, or the ticket that it is at.
    agent: String,
}

impl Reap {
    pub(crate) async fn run(self, context: &mut Context) -> Result<Exit> {
        let place = context.there()?;
        let crew = follow::present(journal(&place).await?.as_ref()).await?;
        let agent = lookup::agent_at(&crew, &place, &self.agent)?;
        ask(context, place, Command::Reap { agent }).await
    }
}
