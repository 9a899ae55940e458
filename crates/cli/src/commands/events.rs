//! `crew events`: what happened, as it happens.

use clap::Args;
use model::attempt;
use model::journal::{Fact, State, Stream};
use model::ticket::Event;
use model::view;
use store::{Journal as _, Recorded};

use crate::context::Context;
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::interrupts::interrupts;
use crate::ui;
use crate::ui::Style;
use client::documents;
use client::follow::Follow;
use client::repository::journal;

/// Where a line goes on that is wider than the terminal: behind its number.
const HANG: usize = 8;

/// Show what happened, newest last
#[derive(Debug, Args)]
pub(crate) struct Events {
    /// Go on as more happens, until interrupted.
    #[arg(short, long)]
    follow: bool,
    /// So many of the latest.
    #[arg(short = 'n', long, default_value_t = 50, value_name = "N")]
    last: usize,
    /// From the very first on.
    #[arg(long, conflicts_with = "last")]
    all: bool,
}

impl Events {
    pub(crate) async fn run(self, context: &mut Context) -> Result<Exit> {
        let place = context.there()?;
        let Some(ledger) = journal(&place).await? else {
            if self.follow {
                return Err(Error::refused(
                    "nothing has happened here yet, so there is nothing to follow",
                    "`crew run` begins",
                ));
            }
            if context.json {
                context.out.json(&documents::Events { events: Vec::new() })?;
            }
            return Ok(Exit::Done);
        };
        let head = ledger.0.head().await?.0;
        let begin = if self.all {
            0
        } else {
            head.saturating_sub(self.last as u64)
        };
        let mut rows = Follow::new(ledger.clone(), begin);
        if context.json && !self.follow {
            let mut list = context.out.json_list(&documents::Events { events: Vec::new() })?;
            rows.each(|fold| list.entry(&documents::Event::of(fold))).await?;
            list.end()?;
            return Ok(Exit::Done);
        }
        rows.each(|fold| show(context, fold)).await?;
        if !self.follow {
            return Ok(Exit::Done);
        }
        let mut interrupt = interrupts()?;
        loop {
            rows.each(|fold| show(context, fold)).await?;
            context.out.flush()?;
            tokio::select! {
                () = rows.changed() => {}
                _ = interrupt.recv() => return Ok(Exit::Interrupted),
            }
        }
    }
}

fn show(context: &mut Context, fold: &Recorded) -> Result<()> {
    if context.json {
        return context.out.json_line(&documents::Event::of(fold));
    }
    let line = format!("{:>6}  {}", fold.seq, line(fold));
    context.out.wrapped(&line, HANG, Style::Plain)
}

/// An event on one line: when, of what, what.
fn line(fold: &Recorded) -> String {
    let of = match &fold.stream {
        Stream::Project => "crew",
        Stream::Ticket(id) => id.as_str(),
    };
    format!(
        "{}  {of:<10}  {}{}",
        ui::clock_time(fold.at),
        view::describe_with(&fold.fact, &fold.after),
        aftermath(fold)
    )
}

/// The further effect of a step's end when the step was the last of its attempt: else the ticket would move
/// without a word.
fn aftermath(fold: &Recorded) -> String {
    let (
        Fact::Ticket(Event::Attempt(attempt::Event::StepFinished { .. } | attempt::Event::StepFailed { .. })),
        State::Ticket(after),
    ) = (&fold.fact, &fold.after)
    else {
        return String::new();
    };
    match (after.attempt(), &after.held) {
        (Some(_), _) => String::new(),
        (None, Some(held)) => format!("; held: {}", held.note),
        (None, None) => match after.due.filter(|due| *due > fold.at) {
            Some(due) => format!(
                "; its attempt is over, the next one in {}",
                ui::left(due.since(fold.at))
            ),
            None => "; its attempt is over".to_owned(),
        },
    }
}

/// An event on a short line.
pub(crate) fn short(fold: &Recorded) -> String {
    let whole = ui::clock_time(fold.at);
    let time = whole.split_once(' ').map_or(whole.as_str(), |(_, time)| time);
    let says = view::describe_with(&fold.fact, &fold.after) + &aftermath(fold);
    match (&fold.stream, &fold.fact, &fold.after) {
        (Stream::Ticket(id), Fact::Ticket(Event::Landed { .. }), State::Ticket(after)) => {
            format!("{time}  {id:<10}  {says}: {}", after.spec.title)
        }
        (Stream::Ticket(id), ..) => format!("{time}  {id:<10}  {says}"),
        (Stream::Project, ..) => format!("{time}  {:<10}  {says}", "crew"),
    }
}
