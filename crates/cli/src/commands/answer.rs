//! `crew answer`: answer an agent's question.

use clap::Args;
use model::command::Command;

use crate::asking::ask;
use crate::context::{Context, journal};
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::{follow, lookup};

/// Answer an agent's question; it hears it at its next step
#[derive(Debug, Args)]
pub(crate) struct Answer {
    /// The agent.
    agent: String,
    /// The answer.
    #[arg(required = true)]
    text: Vec<String>,
}

impl Answer {
    pub(crate) async fn run(self, context: &mut Context) -> Result<Exit> {
        let text = self.text.join(" ");
        if text.trim().is_empty() {
            return Err(Error::usage(
                "an answer cannot be empty",
                "crew answer <agent> <text>",
            ));
        }
        let place = context.there()?;
        let crew = follow::crew(journal(&place).await?.as_ref()).await?;
        let agent = lookup::agent(&crew, &self.agent)?;
        ask(context, place, Command::Answer { agent, text }).await
    }
}
