//! `crew say`: tell an agent something; its next prompt says it.

use clap::Args;
use client::repository::journal;
use client::{follow, lookup};
use model::command::Command;

use crate::asking::ask;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::exit::Exit;

/// Tell an agent something: its next prompt says it
///
/// The running step is not interrupted, and an agent that waits is not woken. Each message is at most 4 KiB,
/// and 20 can wait for the agent's next step.
#[derive(Debug, Args)]
pub(crate) struct Say {
    /// The agent, or the ticket it is at.
    #[arg(value_name = "AGENT|TICKET")]
    which: String,
    /// The words.
    #[arg(required = true)]
    text: Vec<String>,
}

/// The longest message, in bytes: it stands in the journal and in a prompt.
const LONGEST: usize = 4 << 10;

impl Say {
    pub(crate) async fn run(self, context: &mut Context) -> Result<Exit> {
        let place = context.there()?;
        let crew = follow::present(journal(&place).await?.as_ref()).await?;
        let agent = lookup::agent_at(&crew, &place, &self.which)?;
        let text = self.text.join(" ");
        if text.trim().is_empty() {
            return Err(Error::usage(
                "there is nothing to tell in an empty message",
                "crew say <agent> <text>",
            ));
        }
        if text.len() > LONGEST {
            return Err(Error::usage(
                format!("a message is at most {} KiB", LONGEST >> 10),
                "write it into the ticket, or into a file that the agent can read, and name that",
            ));
        }
        ask(context, place, Command::Say { agent, text }).await
    }
}
