//! `crew dashboard`: everything on one screen, and keys to act.

mod diff;
mod done;
mod shown;
mod watched;

use std::io;

use clap::Args;
use tui::Terminal;

use crate::context::Context;
use crate::error::{Error, Result};
use crate::exit::Exit;
use client::error::Doing as _;
use client::follow;
use client::repository::journal;

/// Show everything on one screen, live: agents, queue, train, inbox, output, history; with keys to act
#[derive(Debug, Default, Args)]
pub(crate) struct Dashboard {
    /// Without colours; `NO_COLOR` in the environment says the same.
    #[arg(long)]
    no_color: bool,
}

impl Dashboard {
    /// Whether `crew` without arguments opens the dashboard: a person sits at a terminal that can show it, in
    /// a repository with a crew.
    pub(crate) fn opens_alone(context: &Context) -> bool {
        let terminal = context.out.terminal;
        terminal.is
            && io::IsTerminal::is_terminal(&io::stdin())
            && !context.json
            && context.var("TERM") != Some("dumb")
            && context.there().is_ok()
    }

    pub(crate) async fn run(self, context: &mut Context) -> Result<Exit> {
        if context.json {
            return Err(Error::usage(
                "the dashboard is for people and has no JSON",
                "`crew ps --json`, `crew queue --json` and `crew events --json -f` say the same to programs",
            ));
        }
        if !context.out.terminal.is {
            return Err(Error::usage(
                "the dashboard needs a terminal",
                "`crew ps`, `crew queue` and `crew events` print what it shows",
            ));
        }
        let place = context.there()?;
        let options = tui::Options {
            repository: place
                .root
                .file_name()
                .map(|name| name.to_string_lossy().into_owned())
                .unwrap_or_default(),
            colour: context.out.terminal.colour && !self.no_color,
            clock: client::clock::local_date_time,
            in_words: client::clock::in_words,
        };
        // What cannot be read is told here, before the screen is taken over.
        follow::present(journal(&place).await?.as_ref()).await?;
        context.out.flush()?;
        let submitter = context.submitter(place.clone());
        let terminal = Terminal::take().doing("take over", "the terminal")?;
        let mut shown = shown::Shown::new(place, submitter, terminal, &options)?;
        shown.until_left().await
    }
}
