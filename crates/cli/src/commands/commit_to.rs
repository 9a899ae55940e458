//! `crew commit-to`: add a commitment to a ticket, which its work must meet before it lands.

use clap::Args;
use model::command::Command;
use model::commitment::Promise;
use model::ticket::CheckCommand;

use crate::asking::ask;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::exit::Exit;
use client::repository::journal;
use client::{follow, lookup};

/// Add a commitment to a ticket: its work lands once the command passes on it
///
/// Several words are a program and its arguments, which no shell reads; one word with blanks in it is a text
/// for the shell. Without a command, a gatekeeper has to name the commitment as met: that needs a review of
/// the ticket. Nobody takes a commitment back.
#[derive(Debug, Args)]
pub(crate) struct CommitTo {
    /// The ticket.
    ticket: String,
    /// The promise in words.
    says: String,
    /// The command that passes when the promise is kept.
    #[arg(last = true, value_name = "COMMAND")]
    run: Vec<String>,
}

impl CommitTo {
    pub(crate) async fn run(self, context: &mut Context) -> Result<Exit> {
        let says = text::sanitise::line(&self.says);
        if says.trim().is_empty() {
            return Err(Error::usage(
                "a commitment needs words",
                "crew commit-to <ticket> \"the page is there\" -- test -e page.html",
            ));
        }
        let run = command(self.run)?;
        let place = context.there()?;
        let crew = follow::present(journal(&place).await?.as_ref()).await?;
        let ticket = lookup::ticket(&crew, &place, &self.ticket)?;
        let promise = Promise { says, run };
        ask(context, place, Command::CommitTo { ticket, promise }).await
    }
}

fn command(words: Vec<String>) -> Result<Option<CheckCommand>> {
    if words.first().is_some_and(|first| first.trim().is_empty()) {
        return Err(Error::usage(
            "the command of the commitment is empty",
            "give it a command: crew commit-to <ticket> \"the page is there\" -- test -e page.html",
        ));
    }
    Ok(match words.as_slice() {
        [] => None,
        [text] if text.contains(char::is_whitespace) => Some(CheckCommand::Shell(text.clone())),
        _ => Some(CheckCommand::Argv(words)),
    })
}
