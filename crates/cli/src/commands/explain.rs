//! `crew explain`: why a ticket is, or is not, given out.

use clap::Args;
use model::attempt::{self, Failure};
use model::journal::{self, Stream};
use model::policy::route::Refusal;
use model::policy::{capacity, failure};
use model::settings::Settings;
use model::ticket::{Stage, State, Ticket, Why, remedy};
use model::view::{Failing, MEND, printed};
use model::{Moment, TicketId};
use store::Ledger;

use crate::commands::ps;
use crate::context::Context;
use crate::error::Result;
use crate::exit::Exit;
use crate::ui;
use crate::ui::Style;
use client::queue_facts::Facts;
use client::repository::journal;
use client::{clock, documents, follow, inbox, lookup};

/// Where a line goes on that is wider than the terminal.
const HANG: usize = 4;

/// Say why a ticket is not given out, or what happens to it next
#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// The ticket.
    ticket: String,
}

impl Explain {
    pub(crate) async fn run(self, context: &mut Context) -> Result<Exit> {
        let (place, settings) = context.ready()?;
        let ledger = journal(&place).await?;
        let mut crew = follow::present(ledger.as_ref()).await?;
        let id = lookup::ticket(&crew, &place, &self.ticket)?;
        if let Some(ledger) = &ledger {
            ledger.restore(&mut crew, &id, None).await?;
        }
        let mut failing = inbox::failing(ledger.as_ref()).await?;
        failing.retain(|failing| failing.ticket == id);
        let facts = Facts::gather(&crew, &place, &settings, clock::now())?;
        let refusal = client::refusals::refusal(&facts, &settings, &id);
        let runs = place.engine()?.is_some();
        // Without its file it goes on.
        let is_stuck = failing.iter().any(|failing| !failing.is_file);
        let says = match &refusal {
            Some(Refusal::InProgress { .. } | Refusal::Submitted { .. }) | None if is_stuck => {
                "it cannot go on before something is mended".to_owned()
            }
            Some(refusal) => refusal.to_string(),
            None if runs => "nothing is in the way: it is given out next".to_owned(),
            None => "nothing is in the way: it is given out as soon as an engine runs".to_owned(),
        };
        let ticket = facts.tickets.get(&id).map(AsRef::as_ref);
        let agents = crew.agents();
        let agent = agents.iter().find(|agent| agent.ticket.as_ref() == Some(&id));
        let failure = agent
            .and_then(|agent| agent.failure.as_ref())
            .or_else(|| failure_of(ticket));
        let printed = match (&ledger, ticket) {
            (Some(ledger), Some(ticket)) => of_its_check(ledger, ticket).await?,
            (None, _) | (_, None) => None,
        };
        let title = ticket.map(|ticket| ticket.spec.title.clone()).unwrap_or_default();
        let state = ticket.map_or_else(|| "unknown".to_owned(), Ticket::state_name);
        if context.json {
            let waits = agent.and_then(|agent| agent.waits.as_ref());
            context.out.json(&documents::Explanation {
                failing: inbox::why_of(&failing, &id),
                ticket: id,
                title,
                state,
                engine: runs,
                says,
                refusal,
                waits_for: waits.map(|waits| waits.what.clone()),
                waits_until: waits.and_then(|waits| waits.until).map(Moment),
                failure: failure.map(documents::Failure::of),
                printed,
            })?;
            return Ok(Exit::Done);
        }
        let out = &mut context.out;
        out.wrapped(&format!("{id}  {title}"), 2, Style::Bold)?;
        out.wrapped(&format!("state: {state}"), HANG, Style::Plain)?;
        out.wrapped(&says, HANG, Style::Plain)?;
        for line in printed.as_deref().map(ui::last_lines).into_iter().flatten() {
            out.wrapped(&format!("  │ {line}"), HANG, Style::Plain)?;
        }
        if let Some(waits) = agent.and_then(|agent| agent.waiting(clock::now())) {
            out.wrapped(&format!("  it {waits}"), HANG, Style::Plain)?;
        }
        if let Some(what) = ticket.and_then(for_the_person) {
            out.wrapped(
                &format!("  hint: {what}; `crew merge {id}` tries at once"),
                HANG,
                Style::Plain,
            )?;
        }
        if let Some(why) = no_worker(&facts, &settings, ticket) {
            out.wrapped(&format!("  {why}"), HANG, Style::Plain)?;
        }
        let over = ticket.is_some_and(|ticket| ticket.is_done() || ticket.held.is_some());
        if let Some(why) = place.refuses_work(&settings).filter(|_| !over) {
            out.wrapped(&format!("  {why}"), HANG, Style::Plain)?;
        }
        if let Some(why) = place.refuses_files() {
            out.wrapped(
                &format!("  no ticket's file can be written: {why}"),
                HANG,
                Style::Plain,
            )?;
        }
        // Where no file can be written, that is said already.
        let is_told = |failing: &Failing| failing.is_file && place.refuses_files().is_some();
        for failing in failing.iter().filter(|failing| !is_told(failing)) {
            out.wrapped(&format!("  {}", failing.why), HANG, Style::Red)?;
            out.wrapped(&format!("  hint: {MEND}"), HANG, Style::Plain)?;
        }
        if let Some(failure) = failure {
            let rule = failure::says(failure.class);
            let errors = agent.map_or(0, |agent| agent.errors);
            let count = failure::in_a_row(failure.class, errors).filter(|_| errors > 0);
            let count = count.map(|count| format!(", {count}")).unwrap_or_default();
            let class = failure.class.name();
            out.wrapped(
                &format!("  {class}{count}: {}", failure.message),
                HANG,
                Style::Plain,
            )?;
            out.wrapped(&format!("  rule: {rule}"), HANG, Style::Plain)?;
        }
        // An agent that waits for it says so itself.
        if agent.is_none() && !over {
            for pause in crew.pauses(clock::now()) {
                out.wrapped(&format!("  no step is started: {pause}"), HANG, Style::Plain)?;
            }
        }
        for (label, line) in next(&id, refusal.as_ref(), &facts) {
            out.wrapped(&format!("  {label}: {line}"), HANG, Style::Plain)?;
        }
        let at_work = ticket.is_some_and(|ticket| matches!(ticket.state, State::InProgress(_)));
        if let Some(pause) = ps::pause(&crew, clock::now())
            && at_work
        {
            out.wrapped(&pause.to_string(), HANG, Style::Yellow)?;
        }
        for problem in facts
            .problems
            .iter()
            .filter(|problem| problem.contains(&format!("/{id}.md")))
        {
            out.wrapped(&format!("  in its file: {problem}"), HANG, Style::Yellow)?;
        }
        Ok(Exit::Done)
    }
}

/// Why an agent that is ready for a step is not given one, where that is for want of a process.
fn no_worker(facts: &Facts, settings: &Settings, ticket: Option<&Ticket>) -> Option<String> {
    let attempt = ticket?.attempt()?;
    let limits = capacity::Limits::new(&settings.agents, &settings.run);
    let tickets = facts.tickets.values().map(AsRef::as_ref);
    let is_full = capacity::workers(tickets, limits) == 0;
    (matches!(attempt.state, attempt::State::Ready) && is_full).then(|| {
        let n = limits.workers;
        format!("as many agent processes run as may: [run] max_workers = {n}")
    })
}

/// The output of the check for which a ticket is held.
async fn of_its_check(ledger: &Ledger, ticket: &Ticket) -> Result<Option<String>> {
    let mut last = None;
    if ticket.held.is_some() {
        let stream = Stream::Ticket(ticket.id.clone());
        let each = |fold: store::Recorded| {
            let held = match &fold.after {
                journal::State::Ticket(after) => after.held == ticket.held,
                journal::State::Project(_) => false,
            };
            if held && let Some(text) = printed(&fold.fact) {
                last = Some(text.to_owned());
            }
        };
        ledger.each_of(&stream, 0, each).await?;
    }
    Ok(last)
}

/// The failure that holds a ticket whose agent was freed.
fn failure_of(ticket: Option<&Ticket>) -> Option<&Failure> {
    let ticket = ticket?;
    match ticket.held.as_ref()?.why {
        Why::Auth | Why::NoProgress => ticket.attempt()?.conversation.failure.as_ref(),
        Why::Failed
        | Why::Blocked
        | Why::Killed
        | Why::Reaped
        | Why::CouldNotRun
        | Why::TargetRed
        | Why::SensitivePaths { .. }
        | Why::Conflict
        | Why::Review
        | Why::Budget { .. } => None,
    }
}

/// A person's remedy for edits of theirs that a landing waits for.
fn for_the_person(ticket: &Ticket) -> Option<String> {
    let State::Verify(verify) = &ticket.state else {
        return None;
    };
    match &verify.stage {
        Stage::Landing { waiting, .. } => Some(remedy(&waiting.as_ref()?.paths)),
        Stage::Queued | Stage::Building | Stage::Checking(_) | Stage::Reviewing { .. } => None,
    }
}

/// Further help: the state of the tickets that it waits for, and a person's remedies.
fn next(id: &TicketId, refusal: Option<&Refusal>, facts: &Facts) -> Vec<(String, String)> {
    let hint = |text: String| vec![("hint".to_owned(), text)];
    match refusal {
        Some(Refusal::WaitsFor { ids }) => ids
            .iter()
            .map(|dep| {
                let state = facts
                    .tickets
                    .get(dep)
                    .map_or_else(|| "unreadable".to_owned(), |ticket| ticket.state_name());
                (dep.to_string(), state)
            })
            .collect(),
        Some(Refusal::Cycle { .. }) => {
            hint("break it with `crew ticket undep <ticket> <dependency>`".to_owned())
        }
        Some(Refusal::MissingDependency { id: missing }) => {
            hint(format!("create it, or `crew ticket undep {id} {missing}`"))
        }
        Some(Refusal::Held { retry_at: None, .. }) => {
            hint(held(id, facts.tickets.get(id).map(AsRef::as_ref)))
        }
        Some(Refusal::DayBudget { .. }) => {
            hint("raise `day_usd` in crew.toml, and it goes on at once".to_owned())
        }
        Some(Refusal::TakenByPerson) => hint(format!("`crew ticket reopen {id}` gives it to crew")),
        Some(
            Refusal::Unknown
            | Refusal::Done { .. }
            | Refusal::InProgress { .. }
            | Refusal::Submitted { .. }
            | Refusal::Held {
                retry_at: Some(_), ..
            }
            | Refusal::NoFile
            | Refusal::Unreadable
            | Refusal::FileClosed
            | Refusal::Debouncing { .. }
            | Refusal::Epic
            | Refusal::NotDue { .. }
            | Refusal::RecoveryNotNeededYet { .. }
            | Refusal::RecoveryNotNeeded { .. }
            | Refusal::AssigneeBusy { .. }
            | Refusal::NoAgentFree { .. },
        )
        | None => Vec::new(),
    }
}

/// A person's remedies for a held ticket.
fn held(id: &TicketId, ticket: Option<&Ticket>) -> String {
    let why = ticket
        .and_then(|ticket| ticket.held.as_ref())
        .map(|held| &held.why);
    let merged = ticket.is_some_and(|ticket| ticket.candidate().is_some());
    let usual = format!("`crew retry {id}` tries it again, `crew drop {id}` gives it up");
    match why {
        Some(Why::Auth) => format!(
            "log the agent's client in again, then `crew retry {id}`: every agent goes on; `crew drop {id}` gives it up"
        ),
        Some(Why::Budget { .. }) => format!(
            "`crew retry {id}` grants as much again, `ticket_usd` in crew.toml raises it for all, `crew drop {id}` gives it up"
        ),
        Some(Why::SensitivePaths { .. }) => {
            format!("`crew approve {id}` lets these paths pass, `crew drop {id}` gives it up")
        }
        Some(_) | None if merged => format!("{usual}, `crew waive {id} <reason>` lets it pass"),
        Some(_) | None => usual,
    }
}
