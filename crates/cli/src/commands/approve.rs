//! `crew approve`: approve a ticket's sensitive paths, its commitments, or its work in a gatekeeper's place.

use clap::Args;
use model::command::Command;

use crate::asking::ask;
use crate::context::Context;
use crate::error::Result;
use crate::exit::Exit;
use client::repository::journal;
use client::{follow, lookup};

/// Approve what a ticket waits for: held paths, its commitments, or a review
#[derive(Debug, Args)]
pub(crate) struct Approve {
    /// The ticket.
    ticket: String,
}

impl Approve {
    pub(crate) async fn run(self, context: &mut Context) -> Result<Exit> {
        let place = context.there()?;
        let crew = follow::present(journal(&place).await?.as_ref()).await?;
        let ticket = lookup::ticket(&crew, &place, &self.ticket)?;
        ask(context, place, Command::Approve { ticket }).await
    }
}
