//! `crew ps`: the agents, and what each is doing.

use clap::Args;
use model::Time;
use model::policy::budget::Pause;
use model::project::Bar;
use model::view::{Agent, By, Counts, Crew, Filter, Status};
use serde_json::{Value, json};

use crate::context::{Context, journal};
use crate::error::Result;
use crate::exit::Exit;
use crate::ui::{Cell, Style, Table};
use crate::{clock, documents, follow, mail, ui};
use runtime::Holder;

/// Show the agents: state, ticket, step, tokens, cost
#[derive(Debug, Args)]
pub(crate) struct Ps {}

impl Ps {
    pub(crate) async fn run(self, context: &mut Context) -> Result<Exit> {
        let place = context.there()?;
        let crew = follow::crew(journal(&place).await?.as_ref()).await?;
        let holder = place.holder()?;
        let now = clock::now();
        let queue = mail::seen(&crew, &place, now)?.counts();
        if context.json {
            context.out.json(&document(&crew, holder.as_ref(), &queue, now))?;
            return Ok(Exit::Done);
        }
        let agents = crew.agents();
        if agents.is_empty() {
            context
                .out
                .line("no agents yet: `crew run` spawns them as there is work, `crew spawn` adds one")?;
        } else {
            context.out.table(&table(&agents, now))?;
        }
        context.out.write("\n")?;
        for bar in crew.bars(now) {
            context.out.styled(&bar, Style::Yellow)?;
        }
        context.out.styled(&engine(holder.as_ref(), now), Style::Dim)?;
        context
            .out
            .styled(&format!("queue: {}", counts(&queue)), Style::Dim)?;
        if let Some(paid) = paid(&crew, now) {
            context.out.styled(&paid, Style::Dim)?;
        }
        if let Some(pause) = pause(&crew, now) {
            context.out.styled(&pause.to_string(), Style::Yellow)?;
        }
        Ok(Exit::Done)
    }
}

/// What was paid today (of UTC) and in all; nothing where nothing was.
pub(crate) fn paid(crew: &Crew, now: Time) -> Option<String> {
    let since = |since| Filter {
        since,
        ..Filter::default()
    };
    let of = |filter| crew.costs(By::Day, &filter).total.usage;
    let (today, all) = (of(since(Some(now.day().begins()))), of(since(None)));
    if all.cost_micro_usd == 0 {
        return None;
    }
    let today = if today.cost_micro_usd == 0 {
        "nothing".to_owned()
    } else {
        ui::cost(today)
    };
    Some(format!("paid: {today} today, {} in all", ui::cost(all)))
}

/// Why no step is started now, of any ticket.
pub(crate) fn pause(crew: &Crew, now: Time) -> Option<Pause> {
    crew.project.pause.filter(|pause| pause.until > now)
}

fn document(crew: &Crew, holder: Option<&Holder>, queue: &Counts, now: Time) -> Value {
    let agents: Vec<Value> = crew.agents().iter().map(documents::agent).collect();
    json!({
        "agents": agents,
        "engine": holder.map(|holder| json!({
            "pid": holder.pid,
            "host": holder.host,
            "since": holder.since.and_then(|s| i64::try_from(s).ok()).map(|s| Time(s * 1000).to_string()),
        })),
        "queue": queue,
        "barred": barred(crew, now).map(|(harness, bar)| documents::bar(harness, bar)).collect::<Vec<_>>(),
        "usage": documents::usage(crew.costs(By::Day, &Filter::default()).total.usage),
        "pause": documents::pause(pause(crew, now)),
        "seq": crew.seq,
    })
}

/// The harnesses on which no step is started now.
fn barred(crew: &Crew, now: Time) -> impl Iterator<Item = (&String, &Bar)> {
    crew.project.barred.iter().filter(move |(_, bar)| bar.holds(now))
}

fn table(agents: &[Agent], now: Time) -> Table {
    let mut table = Table::new(
        &[
            "", "AGENT", "STATE", "FOR", "TICKET", "STEP", "TOKENS", "COST", "TITLE",
        ],
        &[3, 5, 6, 7],
    );
    for agent in agents {
        let style = style(agent.status);
        let busy = agent.ticket.is_some();
        let tokens = agent.usage.tokens();
        let some = |text: String, is: bool| if is { text } else { String::new() };
        table.row([
            Cell::styled(agent.status.symbol(), style),
            agent.name.as_str().into(),
            Cell::styled(agent.status.name(), style),
            agent
                .since
                .map(|since| ui::span(now.since(since)))
                .unwrap_or_default()
                .into(),
            agent
                .ticket
                .as_ref()
                .map(ToString::to_string)
                .unwrap_or_default()
                .into(),
            some(agent.step.to_string(), busy && agent.step > 0).into(),
            some(ui::tokens(tokens), tokens > 0).into(),
            ui::cost(agent.usage).into(),
            agent.title.clone().unwrap_or_default().into(),
        ]);
        if let Some(waits) = waits(agent, now) {
            table.below(2, &waits, Style::Dim);
        }
    }
    table
}

/// What an agent waits for, until when; nothing while it works.
pub(crate) fn waits(agent: &Agent, now: Time) -> Option<String> {
    let waits = agent.waits.as_ref()?;
    let until = waits.until.filter(|until| *until > now);
    // Between two steps a wait has an end; other waits end earlier when what they wait for comes.
    let when = match agent.status {
        Status::Ready | Status::Working => "again in",
        Status::Idle
        | Status::Preparing
        | Status::Waiting
        | Status::Verifying
        | Status::Done
        | Status::Stuck => "at the latest in",
    };
    let until = until
        .map(|until| format!(", {when} {}", ui::span(until.since(now))))
        .unwrap_or_default();
    Some(format!("waits for {}{until}", waits.what))
}

/// The colour of a status.
pub(crate) fn style(status: Status) -> Style {
    match status {
        Status::Idle => Style::Dim,
        Status::Preparing | Status::Ready | Status::Verifying => Style::Cyan,
        Status::Working => Style::Bold,
        Status::Waiting => Style::Yellow,
        Status::Done => Style::Green,
        Status::Stuck => Style::Red,
    }
}

fn engine(holder: Option<&Holder>, now: Time) -> String {
    match holder {
        None => "engine: none runs here; `crew run` starts one".to_owned(),
        Some(holder) => {
            let since = holder
                .since
                .and_then(|s| i64::try_from(s).ok())
                .map(|s| Time(s.saturating_mul(1000)));
            let since = since
                .map(|at| format!(", for {}", ui::span(now.since(at))))
                .unwrap_or_default();
            format!("engine: {holder}{since}")
        }
    }
}

/// The queue's counts in words; what is none is left out.
pub(crate) fn counts(counts: &Counts) -> String {
    let epics = if counts.epics == 1 { "epic" } else { "epics" };
    let all = [
        (counts.open, "open"),
        (counts.in_progress, "in progress"),
        (counts.verifying, "verifying"),
        (counts.held, "held"),
        (counts.landed, "landed"),
        (counts.ended, "ended otherwise"),
        (counts.epics, epics),
    ];
    let words: Vec<String> = all
        .iter()
        .filter(|(n, _)| *n > 0)
        .map(|(n, what)| format!("{n} {what}"))
        .collect();
    if words.is_empty() {
        "empty".to_owned()
    } else {
        words.join(", ")
    }
}
