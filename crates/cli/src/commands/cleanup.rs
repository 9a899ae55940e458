//! `crew cleanup`: remove an agent's workspace, its work kept.

use clap::Args;
use model::command::Command;

use crate::asking::ask;
use crate::context::Context;
use crate::error::Result;
use crate::exit::Exit;
use client::repository::journal;
use client::{follow, lookup};

/// Remove an agent's workspace; its work is kept under a ref, its ticket held
#[derive(Debug, Args)]
pub(crate) struct Cleanup {
    /// The agent.
    agent: String,
}

impl Cleanup {
    pub(crate) async fn run(self, context: &mut Context) -> Result<Exit> {
        let place = context.there()?;
        let crew = follow::present(journal(&place).await?.as_ref()).await?;
        let agent = lookup::agent(&crew, &self.agent)?;
        ask(context, place, Command::Cleanup { agent }).await
    }
}
