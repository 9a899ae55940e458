//! `crew drop`: give a ticket up, its work kept.

use clap::Args;
use model::command::Command;

use crate::asking::ask;
use crate::context::Context;
use crate::error::Result;
use crate::exit::Exit;
use client::repository::journal;
use client::{follow, kept, lookup};

/// Give a ticket up: it is closed, its work kept under a ref
#[derive(Debug, Args)]
pub(crate) struct Drop {
    /// The ticket.
    ticket: String,
    /// Why, for the record.
    reason: Vec<String>,
}

impl Drop {
    pub(crate) async fn run(self, context: &mut Context) -> Result<Exit> {
        let place = context.there()?;
        let crew = follow::present(journal(&place).await?.as_ref()).await?;
        let ticket = lookup::ticket(&crew, &place, &self.ticket)?;
        let reason = self.reason.join(" ");
        let before = kept::of_ticket(&place, &ticket)?;
        let command = Command::Drop {
            ticket: ticket.clone(),
            reason,
        };
        let exit = ask(context, place.clone(), command).await?;
        // An engine that is up keeps it in a moment.
        let after = kept::of_ticket(&place, &ticket)?;
        let new: Vec<_> = after.iter().filter(|kept| !before.contains(kept)).collect();
        let was_worked_on = crew.tickets.get(&ticket).is_some_and(|known| known.attempts > 0);
        if context.json || exit != Exit::Done {
            return Ok(exit);
        }
        for kept in &new {
            context.out.line(&format!("  {}", kept.line()))?;
        }
        if new.is_empty() && was_worked_on {
            let says = format!("  `crew explain {ticket}` names where its work is kept");
            context.out.line(&says)?;
        }
        Ok(exit)
    }
}
