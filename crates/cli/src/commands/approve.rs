//! `crew approve`: approve a ticket's sensitive paths, what looks like secrets in it, its commitments, its
//! fewer tests, or its work in a gatekeeper's place.

use clap::Args;
use model::command::Command;

use crate::asking::ask;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::exit::Exit;
use client::repository::journal;
use client::{follow, lookup};

/// The least characters of an abbreviated commit.
const SHORTEST: usize = 7;

/// Approve what a ticket waits for: held paths, secrets, its commitments, fewer tests, or a review
///
/// The approval is for one tip of the branch. If the work has moved on to another one, it is refused.
#[derive(Debug, Args)]
pub(crate) struct Approve {
    /// The ticket.
    ticket: String,
    /// The commit that you have looked at, at least 7 characters of it: the tip of the branch, or its merge
    /// as `crew queue` shows it. Without it, the tip that the ticket has as the command is written.
    #[arg(long, value_name = "COMMIT")]
    tip: Option<String>,
}

impl Approve {
    pub(crate) async fn run(self, context: &mut Context) -> Result<Exit> {
        let tip = self.tip.map(|tip| commit(&tip)).transpose()?;
        let place = context.there()?;
        let crew = follow::present(journal(&place).await?.as_ref()).await?;
        let ticket = lookup::ticket(&crew, &place, &self.ticket)?;
        let seen = || {
            let tip = crew
                .tickets
                .get(&ticket)
                .and_then(|ticket| ticket.tip_to_approve());
            tip.map(|tip| tip.as_str().to_owned())
        };
        let tip = tip.or_else(seen);
        ask(context, place, Command::Approve { ticket, tip }).await
    }
}

/// A commit's name, or its beginning.
fn commit(text: &str) -> Result<String> {
    let tip = text.trim().to_ascii_lowercase();
    if tip.len() < SHORTEST || !tip.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(Error::usage(
            format!("--tip {} is not the name of a commit", text::sanitise::line(text)),
            "give at least 7 characters of its name: crew approve t-1 --tip 1f3c9a2",
        ));
    }
    Ok(tip)
}
