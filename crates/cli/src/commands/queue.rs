//! `crew queue`: the tickets, what is nearest to the target first.

use std::collections::BTreeMap;
use std::time::Duration;

use clap::Args;
use model::settings::Settings;
use model::ticket::{State, Ticket};
use model::view::{Landed, Sign, Snapshot, Standing, Summaries, standing_since};
use model::{AgentName, TicketId, Time};
use store::Ledger;

use crate::commands::ps;
use crate::context::Context;
use crate::error::Result;
use crate::exit::Exit;
use crate::ui;
use crate::ui::{Cell, Style, Table};
use client::outbox::Outbox;
use client::queue_facts::Facts;
use client::repository::{Rejected, journal, settings};
use client::{clock, documents, follow, inbox};

/// Show the tickets: what is at work, what waits and for what, what is held, what landed
#[derive(Debug, Args)]
pub(crate) struct Queue {
    /// Everything that landed, not only the latest.
    #[arg(long)]
    landed: bool,
}

/// So many of what landed are shown when not all are asked for.
const LATEST: usize = 5;

impl Queue {
    pub(crate) async fn run(self, context: &mut Context) -> Result<Exit> {
        let place = context.there()?;
        let (settings, rejected) = match settings(&place) {
            // It is said below the queue.
            Err(error @ client::Error::Settings { .. }) => (Settings::default(), Some(Rejected::of(&error))),
            read => (read?, None),
        };
        let ledger = journal(&place).await?;
        let crew = follow::present(ledger.as_ref()).await?;
        let all = match &ledger {
            Some(ledger) if self.landed || context.json => all_landed(ledger, &crew).await?,
            _ => Vec::new(),
        };
        let now = clock::now();
        let outbox = Outbox::read(ledger.as_ref()).await?;
        let facts = Facts::gather(&crew, &place, &settings, &outbox.unwritten, now)?;
        // The view over the files too: what no engine has seen yet is in the queue all the same.
        let mut seen = crew.clone();
        seen.tickets.clone_from(&facts.tickets);
        let beside = inbox::context(&crew, &place, &settings, &facts, outbox.failing, now)?;
        if context.json {
            let one = |ticket: &Ticket| {
                let file = facts.file(&ticket.id).map(|file| file.changed_at);
                let failing = inbox::why_of(&beside.failing, &ticket.id);
                documents::Ticket::of(ticket, file, beside.refusals.get(&ticket.id), failing)
            };
            context.out.json(&documents::Queue {
                counts: seen.counts(),
                tickets: seen.order().into_iter().map(one).collect(),
                held: seen.held().into_iter().map(documents::Held::of).collect(),
                landed: all,
                pause: ps::pause(&crew, now).map(documents::Pause::of),
                problems: facts.problems,
            })?;
            return Ok(Exit::Done);
        }
        let shown = seen.order();
        if shown.is_empty() {
            context
                .out
                .line("the queue is empty: `crew ticket create <title>` adds to it")?;
        } else {
            let mut table = Table::new(&["TICKET", "P", "STATE", "AGENT", "FOR", "TITLE"], &[4]);
            for ticket in shown {
                let standing = beside.standing(ticket, now);
                // Nobody knows since when a ticket waits that no engine has seen.
                let is_seen = crew.tickets.contains_key(&ticket.id);
                let since = standing_since(ticket).filter(|_| is_seen);
                let lasts = since.map(|since| now.since(since));
                row(&mut table, (ticket, ticket.depth() as usize), &standing, lasts);
            }
            context.out.table(&table)?;
        }
        let shown = if self.landed {
            &all[..]
        } else {
            &crew.landed[crew.landed.len().saturating_sub(LATEST)..]
        };
        if !shown.is_empty() {
            context.out.write("\n")?;
            let table = Table::new(&["LANDED", "COMMIT", "AGENT", "AGO", "STEPS", "TITLE"], &[3, 4]);
            let rows = shown.iter().map(|one| landed(one, now));
            context.out.long_table(table, rows)?;
        }
        let skip = crew.landings().saturating_sub(shown.len());
        if skip > 0 {
            context
                .out
                .styled(&format!("and {skip} before: `crew queue --landed`"), Style::Dim)?;
        }
        for problem in &facts.problems {
            context
                .out
                .styled(&format!("warning: {problem}"), Style::Yellow)?;
        }
        let counts = seen.counts();
        if counts.total() + counts.epics > 0 {
            context.out.write("\n")?;
            context.out.styled(&ps::counts(&counts), Style::Dim)?;
        }
        if let Some(why) = rejected {
            context.out.wrapped(&why.words(), 2, Style::Yellow)?;
        }
        if let Some(why) = crew.target_in_the_way() {
            context.out.styled(&why, Style::Yellow)?;
        }
        if let Some(pause) = ps::pause(&crew, now) {
            context
                .out
                .styled(&ui::in_words(&pause.to_string()), Style::Yellow)?;
        }
        Ok(Exit::Done)
    }
}

/// Everything that ever landed, the oldest first. `crew` is the snapshot without archived tickets; it has the
/// latest landings all the same.
async fn all_landed(ledger: &Ledger, crew: &Snapshot) -> Result<Vec<Landed>> {
    let of_view = crew.landed.iter().cloned();
    let mut all: BTreeMap<u64, Landed> = of_view.map(|landed| (landed.seq, landed)).collect();
    let add = |_: &TicketId, summaries: &Summaries| {
        let landed = summaries.landed.iter().cloned();
        all.extend(landed.map(|landed| (landed.seq, landed)));
    };
    ledger.attempt_summaries(crew, add).await?;
    Ok(all.into_values().collect())
}

/// `depth`: how deep in a tree of children the ticket stands.
fn row(table: &mut Table, (ticket, depth): (&Ticket, usize), standing: &Standing, lasts: Option<Duration>) {
    let attempt = ticket.attempt();
    let agent = attempt
        .map(|attempt| attempt.claim.agent.to_string())
        .unwrap_or_default();
    let step = match &ticket.state {
        State::InProgress(attempt) => {
            attempt.conversation.steps + u32::from(attempt.conversation.has_live_worker())
        }
        State::New | State::Open | State::Verify(_) | State::Done(_) => 0,
    };
    let state = match step {
        0 => standing.word.to_owned(),
        step => format!("{}, step {step}", standing.word),
    };
    table.row([
        format!("{}{}", ui::branch(depth), ticket.id).into(),
        format!("P{}", ticket.spec.priority).into(),
        Cell::styled(&state, style(standing.sign)),
        agent.into(),
        lasts.map(|span| ui::span(span).into()).unwrap_or_default(),
        ticket.spec.title.as_str().into(),
    ]);
    if let Some(why) = &standing.why {
        table.below(2, &ui::in_words(why), Style::Dim);
    }
}

fn style(sign: Sign) -> Style {
    match sign {
        Sign::Wrong | Sign::Failed => Style::Red,
        Sign::Asks | Sign::InTheWay | Sign::Waits => Style::Yellow,
        Sign::Ready | Sign::Landed => Style::Green,
        Sign::Preparing | Sign::Working | Sign::Ended => Style::Bold,
        Sign::Queued | Sign::Verifying | Sign::Landing => Style::Cyan,
        Sign::Apart | Sign::Closed | Sign::Dropped => Style::Dim,
    }
}

fn landed(landed: &Landed, now: Time) -> Vec<Cell> {
    let agent = landed.agent.as_ref().map(AgentName::as_str);
    vec![
        landed.ticket.as_str().into(),
        landed.commit.short().into(),
        agent.unwrap_or_default().into(),
        ui::span(now.since(landed.at)).into(),
        landed.steps.to_string().into(),
        landed.title.as_str().into(),
    ]
}
