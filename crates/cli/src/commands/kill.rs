//! `crew kill`: stop an agent; its ticket goes back, held.

use clap::Args;
use model::command::Command;

use crate::asking::ask;
use crate::context::Context;
use crate::error::Result;
use crate::exit::Exit;
use client::repository::journal;
use client::{follow, lookup};

/// Stop an agent's process; its ticket goes back to the queue, held, its work kept
#[derive(Debug, Args)]
pub(crate) struct Kill {
    /// The agent, or the ticket that it is at.
    agent: String,
}

impl Kill {
    pub(crate) async fn run(self, context: &mut Context) -> Result<Exit> {
        let place = context.there()?;
        let crew = follow::present(journal(&place).await?.as_ref()).await?;
        let agent = lookup::agent_at(&crew, &place, &self.agent)?;
        ask(context, place, Command::Kill { agent }).await
    }
}
