//! `crew inbox`: what waits for a person, and what to type about it.

use std::collections::BTreeMap;

use clap::Args;
use model::Look;
use model::view::{Act, Item, Kind};

use crate::context::Context;
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::interrupts::interrupts;
use crate::ui::{self, Out, Style};
use client::engine::{Engine, look};
use client::follow::{Changes, Follow};
use client::repository::{journal, settings_or_default};
use client::{documents, follow, inbox};

/// Show what waits for you, and what to type about it; 3 when something does
#[derive(Debug, Args)]
pub(crate) struct Inbox {
    /// Go on as more comes and goes, until interrupted.
    #[arg(short, long)]
    follow: bool,
}

/// Lines of a text that are shown in the list: the whole of a question is shown by `crew answer`.
const MOST: usize = 8;

impl Inbox {
    pub(crate) async fn run(self, context: &mut Context) -> Result<Exit> {
        let place = context.there()?;
        let ledger = journal(&place).await?;
        let mut crew = follow::present(ledger.as_ref()).await?;
        let settings = settings_or_default(&place);
        let items = inbox::gather(&crew, &place, &settings, ledger.as_ref()).await?;
        if !self.follow {
            if context.json {
                let items = items.iter().map(documents::Item::of).collect();
                context.out.json(&documents::Inbox { items })?;
            } else {
                list(&mut context.out, &items, look(Engine::of(&place)?.as_ref()))?;
            }
            return Ok(if items.is_empty() { Exit::Done } else { Exit::Held });
        }
        let Some(ledger) = ledger else {
            return Err(Error::refused(
                "nothing has happened here yet, so there is nothing to follow",
                "`crew run` begins",
            ));
        };
        let mut interrupt = interrupts()?;
        let mut rows = Follow::new(ledger.clone(), crew.seq);
        let mut files = Changes::of(&place.tickets_dir);
        let mut shown: BTreeMap<String, Item> = BTreeMap::new();
        let mut items = items;
        loop {
            let look = look(Engine::of(&place)?.as_ref());
            news(context, &mut shown, &items, look)?;
            context.out.flush()?;
            tokio::select! {
                () = rows.changed() => {}
                () = files.wait() => {}
                _ = interrupt.recv() => return Ok(Exit::Interrupted),
            }
            loop {
                let more = rows.more().await?;
                if more.is_empty() {
                    break;
                }
                for fold in &more {
                    ledger.fold_row(&mut crew, fold).await?;
                }
            }
            let settings = settings_or_default(&place);
            items = inbox::gather(&crew, &place, &settings, Some(&ledger)).await?;
        }
    }
}

/// Tells what came and what went since the last look.
fn news(context: &mut Context, shown: &mut BTreeMap<String, Item>, items: &[Item], look: Look) -> Result<()> {
    let now: BTreeMap<String, Item> = items.iter().map(|item| (item.id.clone(), item.clone())).collect();
    for (id, gone) in shown.iter().filter(|(id, _)| !now.contains_key(*id)) {
        if context.json {
            context.out.json_line(&documents::News {
                item: documents::Item::of(gone),
                waits: false,
            })?;
        } else {
            let of = gone.ticket.as_ref().map_or(id.as_str(), |ticket| ticket.as_str());
            context
                .out
                .styled(&format!("{} {of}: settled", gone.kind.name()), Style::Dim)?;
        }
    }
    // When it is tried next, and whether that needs an engine to be started, is no news.
    let is_told = |item: &&Item| {
        shown.get(&item.id).is_some_and(|known| {
            let (until, acts) = (item.until, item.acts.clone());
            Item {
                until,
                acts,
                ..known.clone()
            } == **item
        })
    };
    for item in items.iter().filter(|item| !is_told(item)) {
        if context.json {
            context.out.json_line(&documents::News {
                item: documents::Item::of(item),
                waits: true,
            })?;
        } else {
            show(&mut context.out, item, look)?;
        }
    }
    *shown = now;
    Ok(())
}

fn list(out: &mut Out, items: &[Item], look: Look) -> Result<()> {
    if items.is_empty() {
        return out.styled("nothing waits for you", Style::Dim);
    }
    for (nth, item) in items.iter().enumerate() {
        if nth > 0 {
            out.write("\n")?;
        }
        show(out, item, look)?;
    }
    Ok(())
}

/// An entry: what and since when, about what, why, and what to type.
pub(crate) fn show(out: &mut Out, item: &Item, look: Look) -> Result<()> {
    let name = match &item.kind {
        Kind::Held(why) => format!("held, {why}"),
        Kind::Question
        | Kind::Checkout
        | Kind::PullRequest
        | Kind::Unwritten
        | Kind::Harness
        | Kind::Dependency
        | Kind::DependencyFailed
        | Kind::Impossible
        | Kind::File
        | Kind::Failing
        | Kind::Target
        | Kind::Disk
        | Kind::Settings
        | Kind::Stuck => item.kind.name().to_owned(),
    };
    let mut head = vec![name];
    head.extend(item.ticket.as_ref().map(ToString::to_string));
    head.extend(item.agent.as_ref().map(ToString::to_string));
    head.extend(item.since.map(|since| ui::span(look.now.since(since))));
    let columns = out.terminal.columns;
    let room = columns.map(|columns| columns.saturating_sub(2));
    let cut = |text: &str| columns.map_or_else(|| text.to_owned(), |all| text::sanitise::fit(text, all));
    out.styled(&cut(&head.join("  ")), style(item))?;
    out.styled(&cut(&format!("  {}", ui::clean(&item.title))), Style::Bold)?;
    for line in ui::wrap(&ui::in_words(&item.why), room, MOST) {
        out.line(&format!("  {line}"))?;
    }
    for line in item.printed.as_deref().map(ui::excerpt).into_iter().flatten() {
        out.wrapped(&format!("  │ {line}"), 4, Style::Plain)?;
    }
    if let Some(says) = item.by_itself(look) {
        out.styled(&cut(&format!("  {says}")), Style::Dim)?;
    }
    for act in &item.acts {
        // A line to be typed is never cut: the terminal breaks it, and it can be copied whole.
        match act {
            Act::ByHand { what } => {
                for (nth, line) in ui::wrap(what, room.map(|room| room.saturating_sub(2)), MOST)
                    .iter()
                    .enumerate()
                {
                    let mark = if nth == 0 { "→" } else { " " };
                    out.styled(&format!("  {mark} {line}"), Style::Cyan)?;
                }
            }
            Act::Answer { .. }
            | Act::Approve { .. }
            | Act::Reject { .. }
            | Act::Retry { .. }
            | Act::Waive { .. }
            | Act::WaiveCommitment { .. }
            | Act::Drop { .. }
            | Act::Merge { .. }
            | Act::Wake { .. }
            | Act::Kill { .. }
            | Act::Undep { .. }
            | Act::Reopen { .. }
            | Act::Close { .. } => {
                out.styled(&format!("  → {}", act.typed()), Style::Cyan)?;
                if let Some(what) = act.lets_pass() {
                    out.wrapped(&format!("    {what}"), 4, Style::Dim)?;
                }
            }
        }
    }
    Ok(())
}

fn style(item: &Item) -> Style {
    match item.kind.asks() {
        true => Style::Yellow,
        false => Style::Red,
    }
}
