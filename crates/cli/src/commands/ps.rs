//! `crew ps`: the agents, and what each is doing.

use std::path::PathBuf;

use clap::Args;
use model::policy::budget::Pause;
use model::policy::route;
use model::project::HarnessPause;
use model::settings::Settings;
use model::ticket::{Held, Ticket};
use model::view::{Agent, By, Counts, Failing, Filter, Snapshot, Status, checking};
use model::{Look, Time};

use crate::context::Context;
use crate::error::Result;
use crate::exit::Exit;
use crate::ui;
use crate::ui::{Cell, Style, Table};
use client::activity::Activity;
use client::engine::{self, Engine, look};
use client::outbox::Outbox;
use client::outputs::SettingUp;
use client::repository::{Rejected, journal, settings_or_default};
use client::{documents, follow, inbox};
use runtime::{Place, WaitingHook};
use store::{FailedHook, Ledger};

/// Show the agents: state, ticket, step, tokens, cost
#[derive(Debug, Args)]
pub(crate) struct Ps {}

impl Ps {
    pub(crate) async fn run(self, context: &mut Context) -> Result<Exit> {
        let place = context.there()?;
        let ledger = journal(&place).await?;
        let crew = follow::present(ledger.as_ref()).await?;
        let outbox = Outbox::read(ledger.as_ref()).await?;
        let engine = Engine::of(&place)?;
        let look = look(engine.as_ref());
        let now = look.now;
        let (settings, rejected) = settings_or_default(&place);
        let queue = inbox::seen(&crew, &place, &settings, &outbox, now)?.counts();
        // Where they cannot be looked at, `crew doctor` says why.
        let locks = place.left_index_locks().unwrap_or_default();
        let failed_hooks = failed_hooks(ledger.as_ref(), &settings).await?;
        let waiting_hooks = match &ledger {
            Some(ledger) => runtime::waiting_hooks(ledger, &settings.hooks).await?,
            None => Vec::new(),
        };
        if context.json {
            context.out.json(&document(
                &place,
                &crew,
                &outbox.failing,
                engine.as_ref(),
                (queue, rejected),
                (&locks, &failed_hooks, &waiting_hooks),
                look,
            ))?;
            return Ok(Exit::Done);
        }
        let agents = crew.agents();
        if agents.is_empty() {
            context.out.wrapped(
                "no agents yet: `crew run` spawns them as there is work, `crew spawn` adds one",
                0,
                Style::Plain,
            )?;
        } else {
            context.out.table(&table(&place, &crew, &outbox.failing, look))?;
        }
        context.out.write("\n")?;
        let out = &mut context.out;
        for ticket in crew.under_way().filter(|ticket| ticket.slot().is_none()) {
            let checks = ticket.checks().and_then(|checks| checking(checks, Some(now)));
            if let Some(says) = checks {
                let says = format!("{}, whose agent is free, is being checked: {says}", ticket.id);
                out.wrapped(&says, 2, Style::Plain)?;
            }
        }
        for says in failed_set_ups_in_words(&crew, look) {
            out.wrapped(&says, 2, Style::Yellow)?;
        }
        for (hook, failed) in &failed_hooks {
            let (ago, why) = (ui::span(now.since(failed.at)), ui::clean(&failed.why));
            let says = format!(
                "the hook `{hook}` failed on notice {}, {ago} ago: {why}",
                failed.notice
            );
            out.wrapped(&says, 2, Style::Yellow)?;
        }
        for waiting in &waiting_hooks {
            let next = match engine {
                Some(_) => "",
                None => ": `crew run` delivers what it was not given",
            };
            out.wrapped(&format!("{}{next}", waiting.words()), 2, Style::Yellow)?;
        }
        for pause in crew.obstacles(look) {
            out.wrapped(&ui::in_words(&pause), 2, Style::Yellow)?;
        }
        let names = &settings.agents.names;
        let idle = agents.iter().filter(|agent| agent.ticket.is_none());
        let unnamed: Vec<&str> = idle
            .filter(|agent| !route::takes_any(names, &agent.name))
            .map(|agent| agent.name.as_str())
            .collect();
        if !unnamed.is_empty() {
            let says = format!(
                "no ticket is given to {}, unless it is assigned: [agents] names in crew.toml has others",
                unnamed.join(", ")
            );
            out.wrapped(&says, 2, Style::Dim)?;
        }
        if let Some(rejected) = rejected {
            out.wrapped(&rejected.words(), 2, Style::Yellow)?;
        }
        if let Some(why) = place.refuses_work(&settings) {
            out.wrapped(&why, 2, Style::Yellow)?;
        }
        if let Some(why) = place.refuses_files() {
            out.wrapped(
                &format!("no ticket's file can be written: {why}"),
                2,
                Style::Yellow,
            )?;
        }
        for lock in &locks {
            let says = format!(
                "an engine was killed while it landed, and its {} keeps your git out: `crew run` ends the landing",
                lock.display()
            );
            out.wrapped(&says, 2, Style::Yellow)?;
        }
        out.wrapped(&in_words(engine.as_ref(), now), 2, Style::Dim)?;
        if let Some(says) = engine.as_ref().and_then(|_| engine::stopping(&crew)) {
            out.wrapped(&says, 2, Style::Yellow)?;
        }
        // A target that is in the way is among the obstacles.
        let head = client::repository::target(&place, &settings);
        let target = crew.target_checks(look, head.as_ref());
        if let Some(says) = target.filter(|_| crew.target_in_the_way().is_none()) {
            out.wrapped(&text::sanitise::line(&says), 2, Style::Dim)?;
        }
        out.wrapped(&format!("queue: {}", counts(&queue)), 2, Style::Dim)?;
        if let Some(paid) = paid(&crew, now) {
            out.wrapped(&paid, 2, Style::Dim)?;
        }
        if let Some(pause) = pause(&crew, now) {
            out.wrapped(&ui::in_words(&pause.to_string()), 2, Style::Yellow)?;
        }
        Ok(Exit::Done)
    }
}

/// The hooks whose program failed on the last notice that it got.
async fn failed_hooks(
    ledger: Option<&Ledger>,
    settings: &Settings,
) -> Result<Vec<(&'static str, FailedHook)>> {
    let Some(ledger) = ledger else {
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    for hook in settings.hooks.each().filter(|hook| !hook.command.is_empty()) {
        let failed = ledger.delivered(hook.name).await?.failed;
        found.extend(failed.map(|failed| (hook.name, failed)));
    }
    Ok(found)
}

/// The cost of today (of UTC) and in all; nothing where nothing was paid.
pub(crate) fn paid(crew: &Snapshot, now: Time) -> Option<String> {
    // Archived tickets have cost nothing today.
    let today = Filter {
        since: Some(now.day().begins()),
        ..Filter::default()
    };
    let (today, all) = (crew.costs(By::Day, &today).total.usage, crew.paid());
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
pub(crate) fn pause(crew: &Snapshot, now: Time) -> Option<Pause> {
    crew.project.pause.filter(|pause| pause.until > now)
}

/// The tickets that are held because their workspace could not be set up.
fn failed_set_ups(crew: &Snapshot) -> impl Iterator<Item = (&Ticket, &Held)> {
    let tickets = crew.tickets.values();
    tickets.filter_map(|ticket| Some((&**ticket, ticket.failed_set_up()?)))
}

/// The tickets that are held because their workspace could not be set up, each in words, with the time of the
/// next try.
pub(crate) fn failed_set_ups_in_words(crew: &Snapshot, look: Look) -> impl Iterator<Item = String> {
    // What keeps every workspace from being set up is said once.
    let mut is_said = false;
    let is_news =
        move |(_, held): &(&Ticket, &Held)| !(held.for_all && std::mem::replace(&mut is_said, held.for_all));
    failed_set_ups(crew).filter(is_news).map(move |(ticket, held)| {
        let again = look.added(held.retry_at.and_then(|at| look.tried_again(at)));
        format!("{} is held: {}{again}", ticket.id, held.note)
    })
}

/// The command that sets up the workspace of an agent's ticket now.
pub(crate) fn setting_up(place: &Place, crew: &Snapshot, agent: &Agent) -> Option<SettingUp> {
    SettingUp::of(place, crew.tickets.get(agent.ticket.as_ref()?)?)
}

fn document(
    place: &Place,
    crew: &Snapshot,
    failing: &[Failing],
    engine: Option<&Engine>,
    (queue, rejected): (Counts, Option<Rejected>),
    (locks, hooks, waiting): (&[PathBuf], &[(&'static str, FailedHook)], &[WaitingHook]),
    look: Look,
) -> documents::Ps {
    let one = |agent: Agent| {
        let of_it = agent.ticket.as_ref().map(|ticket| inbox::why_of(failing, ticket));
        let setting_up = setting_up(place, crew, &agent);
        let activity = Activity::of(place, &agent, look.engine, look.now);
        documents::Agent::of(agent, look, of_it.unwrap_or_default(), setting_up, activity)
    };
    let failed = failed_set_ups(crew);
    documents::Ps {
        agents: crew.agents().into_iter().map(one).collect(),
        failed_set_ups: failed
            .map(|(ticket, held)| documents::FailedSetUp::of(ticket, held))
            .collect(),
        engine: engine.map(documents::Engine::of),
        queue,
        rejected_settings: rejected.map(|rejected| rejected.why),
        paused: paused(crew, look.now)
            .map(|(harness, pause)| documents::Paused::of(harness, pause))
            .collect(),
        usage: documents::Usage::of(crew.paid()),
        index_locks: locks.iter().map(|lock| lock.display().to_string()).collect(),
        failed_hooks: hooks
            .iter()
            .map(|(hook, failed)| documents::FailedHook::of(hook, failed))
            .collect(),
        waiting_hooks: waiting.iter().map(documents::WaitingHook::of).collect(),
        pause: pause(crew, look.now).map(documents::Pause::of),
        target: crew.project.target.as_deref().map(documents::Target::of),
        seq: crew.seq,
    }
}

/// The harnesses on which no step is started now.
fn paused(crew: &Snapshot, now: Time) -> impl Iterator<Item = (&String, &HarnessPause)> {
    crew.project
        .paused
        .iter()
        .filter(move |(_, pause)| pause.holds(now))
}

fn table(place: &Place, crew: &Snapshot, failing: &[Failing], look: Look) -> Table {
    let mut table = headed();
    for (depth, agent) in &crew.agents_in_trees() {
        let mut row = cells(
            agent,
            agent.status_at(look),
            agent.title.as_deref().unwrap_or_default(),
            look.now,
        );
        row[1] = format!("{}{}", ui::branch(*depth), agent.name).into();
        table.row(row);
        let set_up = setting_up(place, crew, agent).map(|it| it.words(look.now));
        let runs = || Some(Activity::of(place, agent, look.engine, look.now)?.words(look.now));
        if let Some(waits) = set_up.or_else(|| agent.waiting(look)).or_else(runs) {
            let style = match agent.quiet {
                Some(_) => Style::Yellow,
                None => Style::Dim,
            };
            table.below(2, &waits, style);
        }
        if let Some(reports) = agent.reports(look.now) {
            table.below(2, &reports, Style::Dim);
        }
        for why in agent
            .ticket
            .iter()
            .flat_map(|ticket| inbox::why_of(failing, ticket))
        {
            table.below(2, &why, Style::Red);
        }
    }
    table
}

/// A table of agents, without a row.
pub(crate) fn headed() -> Table {
    let head = [
        "", "AGENT", "STATE", "FOR", "TICKET", "STEP", "TOKENS", "COST", "TITLE",
    ];
    Table::new(&head, &[3, 5, 6, 7]).giving_way(&[3, 6, 5, 7])
}

/// An agent's row in it. `status`: as it is to be shown; `what` stands at the end.
pub(crate) fn cells(agent: &Agent, status: Status, what: &str, now: Time) -> [Cell; 9] {
    let style = style(status);
    let tokens = agent.usage.tokens();
    let some = |text: String, is: bool| Cell::from(if is { text } else { String::new() });
    let since = agent.since.map(|since| ui::span(now.since(since)));
    let ticket = agent.ticket.as_ref().map(ToString::to_string);
    [
        Cell::styled(status.symbol(), style),
        agent.name.as_str().into(),
        Cell::styled(&agent.in_mode(status), style),
        since.unwrap_or_default().into(),
        ticket.unwrap_or_default().into(),
        some(agent.step.to_string(), agent.ticket.is_some() && agent.step > 0),
        some(ui::tokens(tokens), tokens > 0),
        ui::cost(agent.usage).into(),
        what.into(),
    ]
}

/// The colour of a status.
pub(crate) fn style(status: Status) -> Style {
    match status {
        Status::Idle => Style::Dim,
        Status::Preparing | Status::Ready | Status::Verifying | Status::Reviewing => Style::Cyan,
        Status::Working => Style::Bold,
        Status::Waiting => Style::Yellow,
        Status::Done => Style::Green,
        Status::Stuck => Style::Red,
    }
}

fn in_words(engine: Option<&Engine>, now: Time) -> String {
    let Some(engine) = engine else {
        return "engine: none runs here; `crew run` starts one".to_owned();
    };
    let since = engine
        .since
        .map(|at| format!(", for {}", ui::span(now.since(at))))
        .unwrap_or_default();
    let how = match engine.stopped() {
        Some(pid) => format!("; stopped by a signal: `kill -CONT {pid}` lets it go on"),
        None if engine.is_dead() => "; it is dead, and a git of its has not ended yet".to_owned(),
        None => String::new(),
    };
    format!("engine: {engine}{since}{how}")
}

/// The queue's counts in words; what is none is left out.
pub(crate) fn counts(counts: &Counts) -> String {
    let words = counts.words();
    if words.is_empty() {
        "empty".to_owned()
    } else {
        words.join(", ")
    }
}
