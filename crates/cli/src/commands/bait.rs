//! `crew bait`: have an agent come to an end with one more step.

use clap::Args;
use client::repository::journal;
use client::{follow, lookup};
use model::command::Command;

use crate::asking::ask;
use crate::context::Context;
use crate::error::Result;
use crate::exit::Exit;

/// Have an agent come to an end: it gets one more step, which says so
///
/// With that step it submits its work, or the work goes back to the queue. An agent that waits gets the step
/// at once; a step that runs is not interrupted.
#[derive(Debug, Args)]
pub(crate) struct Bait {
    /// The agent, or the ticket it is at.
    #[arg(value_name = "AGENT|TICKET")]
    which: String,
}

impl Bait {
    pub(crate) async fn run(self, context: &mut Context) -> Result<Exit> {
        let place = context.there()?;
        let crew = follow::present(journal(&place).await?.as_ref()).await?;
        let agent = lookup::agent_at(&crew, &place, &self.which)?;
        ask(context, place, Command::Bait { agent }).await
    }
}
