//! `crew events`: what happened, as it happens.

use clap::Args;
use model::attempt;
use model::journal::{Fact, State, Stream};
use model::ticket::Event;
use model::view::notice::Kind;
use model::view::{self, Notice, notice};
use store::{Journal as _, Ledger, Recorded};

use crate::context::Context;
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::interrupts::interrupts;
use crate::ui;
use crate::ui::Style;
use client::documents;
use client::follow::{Changes, Follow};
use client::repository::journal;
use runtime::Place;

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
    /// From the one after this row of the journal on: where an earlier look ended.
    #[arg(long, conflicts_with_all = ["last", "all"], value_name = "ROW")]
    since: Option<u64>,
    /// Only what whoever leads the agents wants to know: work that is completed, failed or landed, comments,
    /// questions, what is stuck or held, and budgets.
    #[arg(long)]
    leader: bool,
}

/// Rows that are read at a time on the way back to the latest notices.
const PAGE: u32 = 250;

impl Events {
    pub(crate) async fn run(self, context: &mut Context) -> Result<Exit> {
        let place = context.there()?;
        let ledger = match journal(&place).await? {
            None if self.follow => first_journal(&place).await?,
            ledger => ledger,
        };
        let Some(ledger) = ledger else {
            if self.follow {
                return Ok(Exit::Interrupted);
            }
            if context.json && self.leader {
                context.out.json(&documents::Notices { notices: Vec::new() })?;
            } else if context.json {
                context.out.json(&documents::Events { events: Vec::new() })?;
            }
            return Ok(Exit::Done);
        };
        let head = ledger.0.head().await?.0;
        let begin = match self.since {
            Some(row) if row > head => {
                return Err(Error::refused(
                    format!("the journal has no row {row} yet: its last one is {head}"),
                    "give `--since` the id of a notice or row that was shown before",
                ));
            }
            Some(row) => row,
            None if self.all => 0,
            None if self.leader => begin_of_last(&ledger, head, self.last).await?,
            None => head.saturating_sub(self.last as u64),
        };
        if self.leader {
            return self.lead(context, &ledger, begin).await;
        }
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

impl Events {
    /// Shows notices, from behind a row on.
    async fn lead(self, context: &mut Context, ledger: &Ledger, begin: u64) -> Result<Exit> {
        let mut rows = Follow::new(ledger.clone(), begin);
        if context.json && !self.follow {
            let mut list = context
                .out
                .json_list(&documents::Notices { notices: Vec::new() })?;
            loop {
                let notices = more(ledger, &mut rows).await?;
                let Some(notices) = notices else { break };
                notices.iter().try_for_each(|notice| list.entry(notice))?;
            }
            list.end()?;
            return Ok(Exit::Done);
        }
        let mut interrupt = interrupts()?;
        loop {
            while let Some(notices) = more(ledger, &mut rows).await? {
                for notice in &notices {
                    show_notice(context, notice)?;
                }
            }
            if !self.follow {
                return Ok(Exit::Done);
            }
            context.out.flush()?;
            tokio::select! {
                () = rows.changed() => {}
                _ = interrupt.recv() => return Ok(Exit::Interrupted),
            }
        }
    }
}

/// The journal, once there is one; none when the wait for it was interrupted.
async fn first_journal(place: &Place) -> Result<Option<Ledger>> {
    let mut interrupt = interrupts()?;
    loop {
        // The folder of the journal is made with it.
        let folder = match place.crew_dir.is_dir() {
            true => &place.crew_dir,
            false => &place.root,
        };
        let mut changes = Changes::of(folder);
        if let Some(ledger) = journal(place).await? {
            return Ok(Some(ledger));
        }
        tokio::select! {
            () = changes.wait() => {}
            _ = interrupt.recv() => return Ok(None),
        }
    }
}

/// The notices among the next rows; none when there are no more rows.
async fn more(ledger: &Ledger, rows: &mut Follow) -> Result<Option<Vec<Notice>>> {
    let more = rows.more().await?;
    if more.is_empty() {
        return Ok(None);
    }
    notices(ledger, &more).await.map(Some)
}

async fn notices(ledger: &Ledger, rows: &[Recorded]) -> Result<Vec<Notice>> {
    let mut notices = Vec::new();
    for row in rows {
        notices.extend(ledger.notice(row).await?);
    }
    Ok(notices)
}

/// The row after which the latest so many notices are.
async fn begin_of_last(ledger: &Ledger, head: u64, last: usize) -> Result<u64> {
    let (mut begin, mut found) = (head, 0);
    while begin > 0 {
        let before = begin.saturating_sub(u64::from(PAGE));
        let rows = ledger.tail(before, PAGE).await?;
        for row in rows.iter().rev().filter(|row| row.seq <= begin) {
            if found == last {
                return Ok(row.seq);
            }
            found += usize::from(notice(row.row()).is_some());
        }
        begin = before;
    }
    Ok(0)
}

/// A notice for people: what kind, when, of what ticket and agent, and below it what there is to say.
fn show_notice(context: &mut Context, notice: &Notice) -> Result<()> {
    if context.json {
        return context.out.json_line(notice);
    }
    let ticket = notice.ticket.as_ref().map(|ticket| format!("  {ticket}"));
    let agent = notice.agent.as_ref().map(|agent| format!("  {agent}"));
    let title = notice
        .title
        .as_ref()
        .map(|title| format!("  {}", ui::clean(title)));
    let head = format!(
        "{:>6}  {}  {} {}{}{}{}",
        notice.id,
        ui::local_date_time(notice.at),
        notice.kind.symbol(),
        notice.kind.name(),
        ticket.unwrap_or_default(),
        agent.unwrap_or_default(),
        title.unwrap_or_default(),
    );
    let style = match notice.kind {
        Kind::Completed | Kind::Comment => Style::Plain,
        Kind::Landed => Style::Green,
        Kind::Question => Style::Yellow,
        Kind::Failed | Kind::Stuck | Kind::Held | Kind::Budget => Style::Red,
    };
    context.out.wrapped(&head, HANG, style)?;
    let says = format!("{}{}", " ".repeat(HANG), ui::clean(&notice.says));
    context.out.wrapped(&says, HANG, Style::Plain)
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
        ui::local_date_time(fold.at),
        ui::in_words(&view::describe_with(&fold.fact, &fold.after)),
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
    let time = ui::local_time(fold.at);
    let says = ui::in_words(&view::describe_with(&fold.fact, &fold.after)) + &aftermath(fold);
    match (&fold.stream, &fold.fact, &fold.after) {
        (Stream::Ticket(id), Fact::Ticket(Event::Landed { .. }), State::Ticket(after)) => {
            format!("{time}  {id:<10}  {says}: {}", after.spec.title)
        }
        (Stream::Ticket(id), ..) => format!("{time}  {id:<10}  {says}"),
        (Stream::Project, ..) => format!("{time}  {:<10}  {says}", "crew"),
    }
}
