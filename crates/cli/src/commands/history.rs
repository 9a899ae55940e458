//! `crew history`: how a ticket or an agent came to where it is.

use std::collections::BTreeSet;

use clap::Args;
use model::AgentName;
use model::journal::{Fact, State, Stream};
use model::project::Event;
use model::ticket::Effect;
use model::view::{Crew, describe, describe_effect};
use store::{EffectId, Fold, Journal as _, Ledger, Seq, Sqlite};

use crate::context::{Context, journal};
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::lookup::{self, Either};
use crate::ui::{Style, Table};
use crate::{documents, follow, runs, ui};

/// Show what happened to a ticket or agent: when, why, and what it led to
#[derive(Debug, Args)]
pub(crate) struct History {
    /// The ticket or the agent.
    #[arg(value_name = "AGENT|TICKET")]
    which: String,
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
        let which = lookup::either(&crew, &place, &self.which)?;
        let mut rows: Vec<Fold> = Vec::new();
        if let Some(ledger) = &ledger {
            match &which {
                Either::Ticket(id) => rows = ledger.history(&Stream::Ticket(id.clone())).await?,
                Either::Agent(name) => {
                    rows = of_agent(ledger, &crew, name).await?;
                }
            }
        }
        if let Some(seq) = self.at {
            return at(context, &rows, seq);
        }
        if let Some(wanted) = &self.to {
            check_state(wanted)?;
            rows = into(rows, wanted);
        }
        let mut shown = Vec::new();
        for fold in rows {
            let effects = match &ledger {
                Some(ledger) => effects(ledger, fold.seq).await?,
                None => Vec::new(),
            };
            shown.push((fold, effects));
        }
        if context.json {
            let events = shown
                .iter()
                .map(|(fold, effects)| documents::Told::of(fold, effects));
            context.out.json(&documents::History {
                of: self.which,
                events: events.collect(),
            })?;
            return Ok(Exit::Done);
        }
        if shown.is_empty() {
            context
                .out
                .line("nothing: no engine has seen it yet, or no event matches")?;
            return Ok(Exit::Done);
        }
        context.out.table(&table(&shown, &which))?;
        Ok(Exit::Done)
    }
}

/// The rows about an agent, the oldest first.
async fn of_agent(ledger: &Ledger<Sqlite>, crew: &Crew, agent: &AgentName) -> Result<Vec<Fold>> {
    let is_its = |state: &State| match state {
        State::Ticket(ticket) => ticket.attempt().is_some_and(|attempt| attempt.agent == *agent),
        State::Project(_) => false,
    };
    let mut rows = ledger.history(&Stream::Project).await?;
    rows.retain(|row| match &row.fact {
        Fact::Project(Event::AgentSpawned { name } | Event::AgentRetired { name }) => name == agent,
        Fact::Project(_) | Fact::Ticket(_) => false,
    });
    runs::rows(ledger, crew, agent, |before, row| {
        if is_its(&row.after) || before.is_some_and(is_its) {
            rows.push(row.clone());
        }
    })
    .await?;
    rows.sort_by_key(|row| row.seq);
    Ok(rows)
}

fn table(shown: &[(Fold, Vec<Effect>)], which: &Either) -> Table {
    let head = ["SEQ", "WHEN (UTC)", "TICKET", "STATE", "WHAT"];
    let mut table = Table::new(&head, &[0]).giving_way(&[3, 1]).wrapped();
    for (fold, effects) in shown {
        let ticket = match (&fold.stream, which) {
            (Stream::Ticket(id), Either::Agent(_)) => id.to_string(),
            (Stream::Ticket(_) | Stream::Project, _) => String::new(),
        };
        table.row([
            fold.seq.to_string().into(),
            ui::clock_time(fold.at).into(),
            ticket.into(),
            documents::state_name(&fold.after).into(),
            describe(&fold.fact).into(),
        ]);
        if !fold.cause.is_empty() {
            table.below(4, &format!("because: {}", fold.cause), Style::Dim);
        }
        for effect in effects {
            table.below(4, &format!("→ {}", describe_effect(effect)), Style::Dim);
        }
    }
    table
}

/// What an event ordered, in order.
async fn effects(ledger: &Ledger<Sqlite>, seq: u64) -> Result<Vec<Effect>> {
    let mut found = Vec::new();
    for index in 0.. {
        let Some(stored) = ledger.0.effect(EffectId { seq: Seq(seq), index }).await? else {
            break;
        };
        // One that an older crew wrote and this one cannot read is passed over: it was done long ago.
        found.extend(serde_json::from_str(&stored.body));
    }
    Ok(found)
}

/// The rows that led into a state from another one.
fn into(rows: Vec<Fold>, wanted: &str) -> Vec<Fold> {
    let mut before: std::collections::BTreeMap<String, BTreeSet<String>> = std::collections::BTreeMap::new();
    let mut found = Vec::new();
    for fold in rows {
        let now = words(&documents::state_name(&fold.after));
        let was = before
            .insert(fold.stream.to_string(), now.clone())
            .unwrap_or_default();
        if now.contains(wanted) && !was.contains(wanted) {
            found.push(fold);
        }
    }
    found
}

/// The names in a state's name: `in_progress/stuck (held)` is `in_progress`, `stuck` and `held`, and the whole.
fn words(name: &str) -> BTreeSet<String> {
    let parts = name
        .split(['/', ' ', '(', ')'])
        .filter(|part| !part.is_empty())
        .map(str::to_owned);
    parts.chain([name.to_owned()]).collect()
}

/// Every name that a state can have.
const STATES: [&str; 27] = [
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
    "reaped",
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
fn at(context: &mut Context, rows: &[Fold], seq: u64) -> Result<Exit> {
    let Some(fold) = rows.iter().rev().find(|fold| fold.seq <= seq) else {
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
        &format!("after event {}, {}", fold.seq, ui::clock_time(fold.at)),
        Style::Dim,
    )?;
    let mut lines = vec![("state", documents::state_name(&fold.after))];
    if let State::Ticket(ticket) = &fold.after {
        lines.push(("title", ticket.spec.title.clone()));
        if let Some(held) = &ticket.held {
            lines.push(("held", format!("{}: {}", held.why.name(), held.note)));
        }
        let labels: Vec<&str> = ticket.labels.iter().map(|label| label.as_str()).collect();
        lines.push(("labels", labels.join(", ")));
        lines.push((
            "attempts",
            format!("{} in all, {} counted", ticket.attempts, ticket.tries),
        ));
        if let Some(attempt) = ticket.attempt() {
            lines.push(("agent", attempt.agent.to_string()));
            lines.push((
                "attempt",
                format!(
                    "{}, {} steps, {} runs",
                    attempt.number, attempt.steps, attempt.runs
                ),
            ));
            lines.push(("session", attempt.session.id.to_string()));
            lines.push((
                "base",
                attempt.base.as_ref().map(ToString::to_string).unwrap_or_default(),
            ));
            lines.push(("errors", attempt.errors.to_string()));
            if let Some(failure) = &attempt.failure {
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
