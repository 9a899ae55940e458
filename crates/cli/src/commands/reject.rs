//! `crew reject`: send work that is in review, or waits for a person's word, back to its agent.

use clap::Args;
use model::command::Command;

use crate::asking::ask;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::exit::Exit;
use client::repository::journal;
use client::{follow, lookup};

/// Send work that is in review, or waits for your word, back to its agent
#[derive(Debug, Args)]
pub(crate) struct Reject {
    /// The ticket.
    ticket: String,
    /// The reason: its agent gets it with the next step.
    why: String,
}

impl Reject {
    pub(crate) async fn run(self, context: &mut Context) -> Result<Exit> {
        if self.why.trim().is_empty() {
            return Err(Error::usage(
                "a rejection needs a reason".to_owned(),
                "the agent gets it: crew reject t-1 \"the tests are missing\"".to_owned(),
            ));
        }
        let place = context.there()?;
        let crew = follow::present(journal(&place).await?.as_ref()).await?;
        let ticket = lookup::ticket(&crew, &place, &self.ticket)?;
        let why = self.why;
        ask(context, place, Command::Reject { ticket, why }).await
    }
}
