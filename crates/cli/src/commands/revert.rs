//! `crew revert`: take back what a ticket has landed, through the same gate.

use clap::Args;
use client::repository::{journal, settings};
use client::{documents, follow, lookup, revert, vouch};
use model::TicketId;

use crate::context::Context;
use crate::error::Result;
use crate::exit::Exit;

/// Take back what a ticket has landed, as a ticket of its own that passes the same checks
#[derive(Debug, Args)]
pub(crate) struct Revert {
    /// The ticket that has landed.
    ticket: String,
}

impl Revert {
    pub(crate) async fn run(self, context: &mut Context) -> Result<Exit> {
        let place = context.there()?;
        let crew = follow::present(journal(&place).await?.as_ref()).await?;
        let ticket = lookup::ticket(&crew, &place, &self.ticket)?;
        let put = revert::put(&place, &settings(&place)?, &ticket)?;
        if let Ok(id) = TicketId::new(put.id.as_str()) {
            vouch::vouch_for_new(&context.submitter(place.clone()), &place, &id, false).await?;
        }
        let message = format!(
            "{} takes {ticket} back (merge {}); an engine checks and lands it",
            put.id,
            put.merge.short()
        );
        if context.json {
            context.out.json(&documents::Answer {
                command: None,
                accepted: true,
                message,
                events: Vec::new(),
            })?;
        } else {
            context.out.line(&message)?;
        }
        Ok(Exit::Done)
    }
}
