//! `crew rewind`: take a ticket back to a commit of an earlier attempt.

use clap::Args;
use client::repository::journal;
use client::{follow, lookup, rewind};
use model::command::Command;

use crate::asking::ask;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::exit::Exit;

/// Take a ticket back to its work of an earlier moment: the next attempt begins there
///
/// The commit is the last one at or before that event which git still has: what was submitted, what an
/// attempt left at its end, or where one began. The agent begins a new session. The work of the present
/// attempt is kept under refs/crew/attempts.
#[derive(Debug, Args)]
pub(crate) struct Rewind {
    /// The ticket.
    ticket: String,
    /// The event: a number of `crew history <ticket>`.
    #[arg(long, value_name = "SEQ")]
    at: u64,
}

impl Rewind {
    pub(crate) async fn run(self, context: &mut Context) -> Result<Exit> {
        let place = context.there()?;
        let ledger = journal(&place).await?;
        let crew = follow::present(ledger.as_ref()).await?;
        let ticket = lookup::ticket(&crew, &place, &self.ticket)?;
        if self.at > crew.seq {
            return Err(Error::refused(
                format!("there is no event {} yet: the last one is {}", self.at, crew.seq),
                format!("`crew history {ticket}` lists its events with their numbers"),
            ));
        }
        let past = match &ledger {
            Some(ledger) => rewind::find(&place, ledger, &ticket, self.at).await?,
            None => None,
        };
        let Some(past) = past else {
            return Err(Error::refused(
                format!(
                    "{ticket} has no commit at or before event {} that git still has",
                    self.at
                ),
                format!("`crew history {ticket}` lists its events: a commit comes with the first workspace"),
            ));
        };
        let command = Command::Rewind {
            ticket,
            commit: past.commit,
            at: past.seq,
        };
        ask(context, place, command).await
    }
}
