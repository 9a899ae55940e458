//! `crew train`: the merge train, the entry that lands first on top.

use clap::Args;
use model::ticket::WhyUncoupled;
use model::view::TrainEntry;
use model::{Time, view};

use crate::context::Context;
use crate::error::Result;
use crate::exit::Exit;
use crate::ui;
use crate::ui::{Cell, Style, Table};
use client::engine::{self, Engine};
use client::repository::journal;
use client::{documents, follow};

/// Show the merge train: what is merged on what, what is checked, and what waits and why
#[derive(Debug, Args)]
pub(crate) struct Train {}

impl Train {
    pub(crate) async fn run(self, context: &mut Context) -> Result<Exit> {
        let (place, settings) = context.ready()?;
        let ledger = journal(&place).await?;
        let crew = follow::present(ledger.as_ref()).await?;
        let look = engine::look(Engine::of(&place)?.as_ref());
        let now = look.now;
        let entries = view::train(&crew, look);
        let by_pull_requests = settings.land.proposes().is_some();
        let settings = settings.train;
        if context.json {
            context.out.json(&documents::Train {
                batch: settings.batch,
                slots: settings.slots,
                entries: entries.into_iter().map(documents::TrainEntry::of).collect(),
            })?;
            return Ok(Exit::Done);
        }
        let held = crew.held().into_iter().filter(|held| held.submitted);
        let held: Vec<String> = held
            .map(|held| format!("{} ({})", held.ticket, held.why))
            .collect();
        let says = match held.is_empty() {
            true => String::new(),
            false => format!(
                "held, and not in the train: {}; `crew inbox` says why",
                held.join(", ")
            ),
        };
        if entries.is_empty() {
            let empty = match says.as_str() {
                "" => "nothing is submitted: the train is empty",
                says => says,
            };
            context.out.wrapped(empty, 0, Style::Plain)?;
            return Ok(Exit::Done);
        }
        let mut table = Table::new(
            &["", "TICKET", "STATE", "ON", "SLOT", "FOR", "AGENT", "TITLE"],
            &[0, 4, 5],
        )
        .wrapped();
        for entry in &entries {
            row(&mut table, entry, now);
        }
        context.out.table(&table)?;
        context.out.write("\n")?;
        let checkouts = match settings.slots {
            1 => "1 checkout".to_owned(),
            slots => format!("{slots} checkouts"),
        };
        let limits = match by_pull_requests {
            true => format!("no train: each ticket is proposed by itself; checks run in {checkouts}"),
            false if settings.batch == 1 => {
                format!("one run of the checks decides on one ticket; checks run in {checkouts}")
            }
            false => format!(
                "one run of the checks decides on up to {} tickets; checks run in {checkouts}",
                settings.batch
            ),
        };
        context.out.styled(&limits, Style::Dim)?;
        if !look.engine {
            let waits = "no engine runs here: `crew run` starts one, and the train goes on then";
            context.out.wrapped(waits, 0, Style::Yellow)?;
        }
        if !says.is_empty() {
            context.out.wrapped(&says, 0, Style::Yellow)?;
        }
        Ok(Exit::Done)
    }
}

fn row(table: &mut Table, entry: &TrainEntry, now: Time) {
    let on = match (&entry.ahead, entry.place) {
        (Some(ahead), _) => ahead.to_string(),
        (None, Some(_)) => "target".to_owned(),
        (None, None) => String::new(),
    };
    let style = match entry.trial {
        Some("failed") => Style::Yellow,
        Some("passed") => Style::Green,
        Some(_) => Style::Cyan,
        None => Style::Dim,
    };
    table.row([
        entry
            .place
            .map(|place| place.to_string())
            .unwrap_or_default()
            .into(),
        entry.ticket.to_string().into(),
        Cell::styled(entry.word, style),
        on.into(),
        entry
            .slot
            .map(|slot| slot.0.to_string())
            .unwrap_or_default()
            .into(),
        ui::span(now.since(entry.since)).into(),
        entry.agent.to_string().into(),
        entry.title.as_str().into(),
    ]);
    if let Some(what) = &entry.what {
        table.below(2, what, Style::Dim);
    }
    // The state of one that waits for its place is that it was taken out.
    let is_said = |why: &&WhyUncoupled| entry.what.as_ref() == Some(&why.story());
    let uncoupled = entry.uncoupled.as_ref().map(|uncoupled| &uncoupled.why);
    if let Some(why) = uncoupled.filter(|why| !is_said(why)) {
        table.below(2, &format!("it was {}", why.story()), Style::Dim);
    }
}
