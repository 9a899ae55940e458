//! `crew path`: the folder in which a ticket is worked on.

use clap::Args;

use crate::context::Context;
use crate::error::Result;
use crate::exit::Exit;
use client::repository::journal;
use client::{diff, documents, follow};

/// Print the folder in which an agent works, or a ticket is worked on
#[derive(Debug, Args)]
pub(crate) struct Path {
    /// The ticket or the agent; of a gatekeeper, the checkout of its review.
    #[arg(value_name = "TICKET|AGENT")]
    name: String,
}

impl Path {
    pub(crate) async fn run(self, context: &mut Context) -> Result<Exit> {
        let (place, settings) = context.ready()?;
        let crew = follow::present(journal(&place).await?.as_ref()).await?;
        let path = diff::path(&place, &settings, &crew, &self.name)?;
        if context.json {
            context.out.json(&documents::WorkFolder::new(&path))?;
            return Ok(Exit::Done);
        }
        // The whole path is for a shell: `cd "$(crew path ada)"`.
        context.out.write(&format!("{}\n", path.display()))?;
        Ok(Exit::Done)
    }
}
