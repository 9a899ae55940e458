//! `crew retry`: try a held ticket again.

use clap::Args;
use model::command::Command;

use crate::asking::ask;
use crate::context::Context;
use crate::error::Result;
use crate::exit::Exit;
use client::repository::journal;
use client::{follow, lookup};

/// Try a held ticket again, its attempts counted afresh
#[derive(Debug, Args)]
pub(crate) struct Retry {
    /// The ticket.
    ticket: String,
}

impl Retry {
    pub(crate) async fn run(self, context: &mut Context) -> Result<Exit> {
        let place = context.there()?;
        let crew = follow::present(journal(&place).await?.as_ref()).await?;
        let ticket = lookup::ticket(&crew, &place, &self.ticket)?;
        ask(context, place, Command::Retry { ticket }).await
    }
}
