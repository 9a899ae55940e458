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
/// for the shell. Nobody takes a commitment back.
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
        let promise = Promise { says, run: Some(run) };
        ask(context, place, Command::CommitTo { ticket, promise }).await
    }
}

fn command(words: Vec<String>) -> Result<CheckCommand> {
    let is_empty = words.first().is_none_or(|first| first.trim().is_empty());
    if is_empty {
        return Err(Error::usage(
            "the commitment has no command, and a gatekeeper cannot name one as met",
            "give it a command: crew commit-to <ticket> \"the page is there\" -- test -e page.html",
        ));
    }
    Ok(match words.as_slice() {
        [text] if text.contains(char::is_whitespace) => CheckCommand::Shell(text.clone()),
        _ => CheckCommand::Argv(words),
    })
}
