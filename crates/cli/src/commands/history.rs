//! `crew history`: how a ticket, an agent or the project came to where it is.

use std::collections::{BTreeMap, BTreeSet};

use clap::Args;
use model::journal::{State, Stream};
use model::policy::attention::Reason;
use model::ticket::Effect;
use model::view::{describe_effect, describe_with, printed};
use store::{Ledger, Recorded};

use crate::context::Context;
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::ui;
use crate::ui::{Cell, Style, Table};
use client::lookup::{self, Either};
use client::repository::journal;
use client::{documents, follow, history};

/// Show what happened to a ticket, an agent or the target: when, why, and what it led to
#[derive(Debug, Args)]
pub(crate) struct History {
    /// The ticket or the agent. Without one: the engine, its agents, the checks of the bare target; with
    /// --to, every ticket.
    #[arg(value_name = "AGENT|TICKET")]
    which: Option<String>,
    /// Only what led into this state (`stuck`, `held`, `verify` …).
    #[arg(long, value_name = "STATE")]
    to: Option<String>,
    /// The state as it was with this event, instead of the events.
    #[arg(long, value_name = "SEQ", conflicts_with = "to")]
    at: Option<u64>,
}

impl History {
    pub(crate) async fn run(self, context: &mut Context) -> Result<Exit> {
        let place = context.there()?;
        let ledger = journal(&place).await?;
        let crew = follow::present(ledger.as_ref()).await?;
        let which = match &self.which {
            Some(which) => Some(lookup::either(&crew, &place, which)?),
            None => None,
        };
        let which = which.as_ref();
        if let Some(wanted) = &self.to {
            check_state(wanted)?;
        }
        let mut table = Table::new(&["SEQ", "WHEN", "TICKET", "STATE", "WHAT"], &[0])
            .giving_way(&[3, 1])
            .wrapped();
        // The places of the rows. Each row is read again when it is written, so that no more than one is
        // held, however many there are.
        let mut places = Vec::new();
        if let Some(ledger) = &ledger {
            let mut entries = Entries::default();
            let take = |fold: &Recorded| {
                if self.to.as_ref().is_none_or(|wanted| entries.is_one(fold, wanted)) {
                    places.push(fold.seq);
                    table.measure(&cells(fold, which));
                }
            };
            match (which, &self.to) {
                (None, Some(_)) => each_of_all(ledger, take).await?,
                (_, _) => history::each(ledger, &crew, which, take).await?,
            }
        }
        places.sort_unstable();
        // The newest are the ones that are looked for.
        let left_out = places.len().saturating_sub(MOST_OF_ALL);
        if which.is_none() && self.to.is_some() && !context.json && left_out > 0 {
            places.drain(..left_out);
            let says = format!(
                "{left_out} earlier ones are left out: name a ticket or an agent for all of its own, or print them with --json"
            );
            context.out.styled(&says, Style::Dim)?;
        }
        if let Some(seq) = self.at {
            let last = places.iter().rev().find(|place| **place <= seq);
            let fold = match (&ledger, last) {
                (Some(ledger), Some(place)) => Some(ledger.row(*place).await?),
                _ => None,
            };
            return at(context, fold.as_ref(), seq);
        }
        if context.json {
            let (of, events) = (self.which, Vec::new());
            let mut list = context.out.json_list(&documents::History { of, events })?;
            if let Some(ledger) = &ledger {
                for place in places {
                    let fold = ledger.row(place).await?;
                    list.entry(&documents::HistoryEvent::of(
                        &fold,
                        &history::effects(ledger, place).await?,
                    ))?;
                }
            }
            list.end()?;
            return Ok(Exit::Done);
        }
        let Some(ledger) = ledger.filter(|_| !places.is_empty()) else {
            context
                .out
                .line("nothing: no engine has seen it yet, or no event matches")?;
            return Ok(Exit::Done);
        };
        for place in places {
            let fold = ledger.row(place).await?;
            tell(&mut table, &fold, &history::effects(&ledger, place).await?, which);
            context.out.part(&mut table)?;
        }
        Ok(Exit::Done)
    }
}

/// The most rows of all tickets that are printed for reading.
const MOST_OF_ALL: usize = 1_000;
/// Rows of the journal that are read at a time.
const PAGE: u32 = 512;

/// All rows, oldest first; no more than a page of them is held.
async fn each_of_all(ledger: &Ledger, mut each: impl FnMut(&Recorded)) -> Result<()> {
    let mut after = 0;
    loop {
        let page = ledger.tail(after, PAGE).await?;
        let Some(last) = page.last() else { return Ok(()) };
        after = last.seq;
        page.iter().for_each(&mut each);
    }
}

fn cells(fold: &Recorded, which: Option<&Either>) -> [Cell; 5] {
    let ticket = match (&fold.stream, which) {
        (Stream::Ticket(id), Some(Either::Agent(_)) | None) => id.as_str(),
        (Stream::Ticket(_), Some(Either::Ticket(_))) | (Stream::Project, _) => "",
    };
    [
        fold.seq.to_string().into(),
        ui::local(fold.at).into(),
        ticket.into(),
        documents::state_name(&fold.after).into(),
        ui::in_words(&describe_with(&fold.fact, &fold.after)).into(),
    ]
}

fn tell(table: &mut Table, fold: &Recorded, effects: &[Effect], which: Option<&Either>) {
    table.row(cells(fold, which));
    if !fold.cause.is_empty() {
        table.below(4, &format!("because: {}", fold.cause), Style::Dim);
    }
    for line in printed(&fold.fact).map(ui::excerpt).into_iter().flatten() {
        table.below(4, &format!("│ {line}"), Style::Plain);
    }
    for effect in effects {
        table.below(
            4,
            &format!("→ {}", describe_effect(effect, &fold.after)),
            Style::Dim,
        );
    }
}

/// Which rows led into a state from another one.
#[derive(Debug, Default)]
struct Entries {
    /// Of each stream the names of the state after its last row.
    before: BTreeMap<Stream, BTreeSet<String>>,
}

impl Entries {
    /// Whether the next row did. Those of a stream come in order.
    fn is_one(&mut self, fold: &Recorded, wanted: &str) -> bool {
        let now = words(&documents::state_name(&fold.after));
        let before = self.before.get(&fold.stream);
        let is_one = now.contains(wanted) && before.is_none_or(|was| !was.contains(wanted));
        self.before.insert(fold.stream.clone(), now);
        is_one
    }
}

/// The names in a state's name: `in_progress/stuck (held)` is `in_progress`, `stuck` and `held`, and the
/// whole.
fn words(name: &str) -> BTreeSet<String> {
    let parts = name
        .split(['/', ' ', '(', ')'])
        .filter(|part| !part.is_empty())
        .map(str::to_owned);
    parts.chain([name.to_owned()]).collect()
}

/// Every name that a state can have.
const STATES: [&str; 26] = [
    "new",
    "open",
    "in_progress",
    "verify",
    "done",
    "held",
    "preparing",
    "ready",
    "working",
    "waiting_for_input",
    "waiting_for_wakeup",
    "verifying",
    "stuck",
    "checking",
    "reviewing",
    "landing",
    "landed",
    "failed",
    "not_needed",
    "dropped",
    "closed_by_person",
    "uninitialized",
    "initializing",
    "busy",
    "shutting_down",
    "closed",
];

fn check_state(wanted: &str) -> Result<()> {
    if STATES.contains(&wanted) || wanted.contains('/') {
        return Ok(());
    }
    let hint = match model::settings::nearest(wanted, STATES) {
        Some(near) => format!("did you mean {near}?"),
        None => format!("the states are {}", STATES.join(", ")),
    };
    Err(Error::usage(format!("there is no state named {wanted}"), hint))
}

/// The state as it was with an event, or after the last one before it.
fn at(context: &mut Context, fold: Option<&Recorded>, seq: u64) -> Result<Exit> {
    let Some(fold) = fold else {
        return Err(Error::refused(
            format!("nothing had happened to it by event {seq}"),
            "`crew history` lists its events",
        ));
    };
    if context.json {
        context.out.json(&documents::Past::of(fold))?;
        return Ok(Exit::Done);
    }
    context.out.styled(
        &format!("after event {}, {}", fold.seq, ui::local(fold.at)),
        Style::Dim,
    )?;
    let mut lines = vec![("state", documents::state_name(&fold.after))];
    if let State::Ticket(ticket) = &fold.after {
        lines.push(("title", ticket.spec.title.clone()));
        if let Some(held) = &ticket.held {
            lines.push(("held", Reason::Held(held).to_string()));
        }
        let labels: Vec<&str> = ticket.labels_now().iter().map(|label| label.as_str()).collect();
        lines.push(("labels", labels.join(", ")));
        lines.push((
            "attempts",
            format!("{} in all, {} counted", ticket.attempts, ticket.tries),
        ));
        if let Some(attempt) = ticket.attempt() {
            lines.push(("agent", attempt.claim.agent.to_string()));
            lines.push((
                "attempt",
                format!(
                    "{}, steps: {}, runs: {}",
                    attempt.claim.number, attempt.conversation.steps, attempt.conversation.runs
                ),
            ));
            lines.push(("session", attempt.conversation.session.id.to_string()));
            lines.push((
                "base",
                attempt
                    .claim
                    .base
                    .as_ref()
                    .map(ToString::to_string)
                    .unwrap_or_default(),
            ));
            lines.push(("errors", attempt.conversation.errors.to_string()));
            if let Some(failure) = &attempt.conversation.failure {
                lines.push((
                    "failure",
                    format!("{}: {}", failure.class.name(), failure.message),
                ));
            }
        }
        if let Some(candidate) = ticket.candidate() {
            lines.push(("candidate", candidate.commit.to_string()));
        }
    }
    for (name, text) in lines.iter().filter(|(_, text)| !text.is_empty()) {
        context.out.line(&format!("{name:<10}{text}"))?;
    }
    Ok(Exit::Done)
}
