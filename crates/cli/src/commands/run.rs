//! `crew run`: the engine in the foreground, with what it does before one's eyes; or in the background.

mod detach;

use std::collections::BTreeMap;
use std::ffi::OsString;

use clap::Args;
use model::attempt::Usage;
use model::journal::{Fact, State as JournalState};
use model::money::Usd;
use model::project::Event as Project;
use model::settings::{Budget, HarnessKind, OnStop, Settings};
use model::target::Verdict;
use model::ticket::{AfterLanding, Event, InTheWay, Ticket, Why};
use model::view::{self, Act, Item, Snapshot};
use model::{Oid, TicketId};
use store::Recorded;

use crate::background;
use crate::commands::events;
use crate::context::Context;
use crate::engine_log::Filter;
use crate::error::Result;
use crate::exit::Exit;
use crate::live::{Live, Tell, quiet};
use crate::ui::{self, Style, Table};
use client::documents::{self, Waits};
use client::repository::{journal, settings_or_default};
use client::{follow, inbox};
use runtime::{Place, Signal};

/// Run the engine here, until it is stopped or (with --until-idle) nothing can move any more
#[derive(Debug, Args)]
pub(crate) struct Run {
    /// End when nothing can move any more: 0 when all is done, 3 when something waits for a person.
    #[arg(long)]
    until_idle: bool,
    /// So many agents busy at once, instead of the settings' number.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(model::settings::MAX_AGENTS)))]
    agents: Option<u32>,
    /// Start agents although the target does not pass its own checks.
    #[arg(long)]
    anyway: bool,
    /// The harness that agents run on, instead of the settings' one.
    #[arg(long, value_name = "NAME")]
    harness: Option<String>,
    /// What goes into the log, .crew/logs/engine.log: a level (off, error, warn, info, debug, trace) or
    /// targets with levels, such as info,effect=debug. Without it, CREW_LOG says so, or else it is info.
    #[arg(long, value_name = "FILTER")]
    log: Option<String>,
    /// Leave the engine running in the background, and end this command once it runs. What it prints is in
    /// .crew/logs/run.log; `crew stop` ends it.
    #[arg(long)]
    detach: bool,
}

impl Run {
    pub(crate) async fn run(self, context: &mut Context) -> Result<Exit> {
        let filter = Filter::choose(self.log.as_deref(), context)?;
        let (place, settings) = context.ready()?;
        let Some((harness, client)) = settings.chosen_harness(self.harness.as_deref()) else {
            let error = match self.harness {
                Some(name) => runtime::Error::UnknownHarness { name },
                None => runtime::Error::NoHarness,
            };
            return Err(error.into());
        };
        if let Some(by) = place.lasting_holder(ui::warn).await? {
            return Err(runtime::Error::Held { by }.into());
        }
        let asks_for_none = match client.kind {
            HarnessKind::Claude => Some(harness.to_owned()),
            HarnessKind::Command => None,
        };
        if self.detach {
            if !context.json
                && let Some(harness) = &asks_for_none
                && is_first(&follow::present(journal(&place).await?.as_ref()).await?)
            {
                let warned = warn_of_client(context, harness, &settings.budget);
                quiet(context, warned)?;
            }
            return detach::detach(context, &place, &self.words(context)).await;
        }
        let options = runtime::Options {
            until_idle: self.until_idle,
            anyway: self.anyway,
            agents: self.agents,
            harness: self.harness,
            ..context.options()
        };
        let teller = Journal {
            settings,
            asks_for_none,
            edits: BTreeMap::new(),
        };
        let mut live = Live::start(context, place, options, filter, teller)
            .await?
            .with_notifier();
        let waits = live.until_end().await?;
        live.summary(&waits, self.until_idle)
    }

    /// The command line of the same engine in the background.
    fn words(&self, context: &Context) -> Vec<OsString> {
        let Self {
            until_idle,
            agents,
            anyway,
            harness,
            log,
            detach: _,
        } = self;
        let mut words: Vec<OsString> = [background::DETACHED, "run"].map(OsString::from).into();
        let flags = [
            ("--json", context.json),
            ("--until-idle", *until_idle),
            ("--anyway", *anyway),
        ];
        words.extend(flags.iter().filter(|(_, is)| *is).map(|(flag, _)| flag.into()));
        let agents = agents.map(|agents| agents.to_string());
        for (option, value) in [("--agents", &agents), ("--harness", harness), ("--log", log)] {
            words.extend(value.as_ref().map(|value| format!("{option}={value}").into()));
        }
        words
    }
}

/// What happens, as the journal has it.
struct Journal {
    settings: Settings,
    /// The harness, where its client does everything without asking.
    asks_for_none: Option<String>,
    /// The edits that were said to be in the way, of each ticket that waits for them.
    edits: BTreeMap<TicketId, Vec<InTheWay>>,
}

impl Journal {
    /// Whether a person was told already that the same edits are in the way: landing is tried again and
    /// again.
    fn has_told(&mut self, fold: &Recorded) -> bool {
        let (Fact::Ticket(event), JournalState::Ticket(after)) = (&fold.fact, &fold.after) else {
            return false;
        };
        if let Event::CheckoutEdited { paths, .. } = event {
            let told = self.edits.insert(after.id.clone(), paths.clone());
            return told.as_ref() == Some(paths);
        }
        if !matches!(event, Event::LandingRetried) {
            self.edits.remove(&after.id);
        }
        false
    }
}

impl Tell for Journal {
    fn begins(&mut self, context: &mut Context, place: &Place, crew: &Snapshot) -> Result<()> {
        if context.json {
            return Ok(());
        }
        if let Some(harness) = &self.asks_for_none
            && is_first(crew)
        {
            warn_of_client(context, harness, &self.settings.budget)?;
        }
        if !self.settings.has_checks() {
            warn(context)?;
        }
        warn_of_idle_paths(context, place, &self.settings)
    }

    fn tell(&mut self, before: &Snapshot, fold: &Recorded, is_live: bool) -> Vec<(String, Style)> {
        let matters = !self.has_told(fold)
            && if is_live {
                milestone(before, fold)
            } else {
                view::matters(&fold.fact)
            };
        if matters {
            let printed = view::printed(&fold.fact).filter(|_| !is_printed_already(before, &fold.fact));
            let printed = printed
                .map(ui::excerpt)
                .into_iter()
                .flatten()
                .map(|line| (format!("          │ {line}"), Style::Dim));
            std::iter::once((events::short(fold), style(fold)))
                .chain(printed)
                .collect()
        } else {
            Vec::new()
        }
    }

    /// Once: stop as the settings say. Twice: now, leaving what runs to the next engine.
    fn interrupted(&mut self, times: u32) -> (Signal, &'static str) {
        if times == 1 {
            let says = match self.settings.run.on_stop {
                OnStop::Finish => {
                    "stopping: running steps finish first (Ctrl-C again ends crew at once, and the agents at work run on)"
                }
                OnStop::Leave => "stopping: running steps run on, and the next engine adopts them",
                OnStop::Kill => "stopping: running steps are ended, and sent again by the next engine",
            };
            (Signal::Stop, says)
        } else {
            (
                Signal::Leave,
                "leaving: the agents at work run on without crew, and the next `crew run` adopts them; `crew stop --kill` ends them then",
            )
        }
    }
}

/// The result of an engine's run.
struct Outcome {
    /// The tickets that landed under it.
    landed: Vec<view::Landed>,
    interrupted: bool,
    paid: Usage,
}

impl Live<'_, Journal> {
    /// What became of it, and what to do next.
    fn summary(&mut self, waits: &[Waits], until_idle: bool) -> Result<Exit> {
        let outcome = self.outcome();
        let exit = match (outcome.interrupted, until_idle && !waits.is_empty()) {
            (true, _) => Exit::Interrupted,
            (false, true) => Exit::Held,
            (false, false) => Exit::Done,
        };
        if self.context.json {
            let summary = documents::RunSummary {
                landed: outcome.landed.iter().map(documents::Landed::of).collect(),
                waits: waits.to_vec(),
                interrupted: outcome.interrupted,
                queue: self.crew.counts(),
                usage: documents::Usage::of(outcome.paid),
            };
            self.context.out.json_line(&documents::Ran { summary })?;
            return Ok(exit);
        }
        let settings = settings_or_default(&self.place);
        let outbox = std::mem::take(&mut self.outbox);
        let inbox = inbox::inbox(&self.crew, &self.place, &settings, outbox).unwrap_or_default();
        self.tell_landed(&outcome.landed)?;
        self.tell_waits(waits, &inbox)?;
        self.tell_rest(waits, &inbox, outcome.paid)?;
        Ok(exit)
    }

    fn outcome(&self) -> Outcome {
        let since = self.begun_at;
        let landed = self.crew.landed.iter().filter(|landed| landed.seq > since);
        let mut paid = Usage::default();
        for charge in self.crew.charges.iter().filter(|charge| charge.seq > since) {
            paid.add(charge.usage);
        }
        Outcome {
            landed: landed.cloned().collect(),
            interrupted: self.is_interrupted(),
            paid,
        }
    }

    fn tell_landed(&mut self, landed: &[view::Landed]) -> Result<()> {
        let out = &mut self.context.out;
        let style = if landed.is_empty() {
            Style::Plain
        } else {
            Style::Green
        };
        let tickets = text::counted(landed.len(), "ticket");
        out.styled(&format!("landed {tickets}"), style)?;
        if landed.is_empty() {
            return Ok(());
        }
        let mut table = Table::bare(3);
        let works = self.crew.attempts.values();
        // Parts of a ticket land with its commit, and have their own words.
        let said: BTreeMap<(&Oid, &TicketId), &str> = works
            .filter_map(|work| Some(((work.landed.as_ref()?, &work.ticket), work.summary.as_deref()?)))
            .collect();
        for landed in landed {
            table.row([
                format!("  {}", landed.commit.short()).into(),
                landed.ticket.to_string().into(),
                landed.title.as_str().into(),
            ]);
            if let Some(said) = said.get(&(&landed.commit, &landed.ticket)) {
                table.below(2, said, Style::Dim);
            }
        }
        out.table(&table)
    }

    fn tell_waits(&mut self, waits: &[Waits], inbox: &[Item]) -> Result<()> {
        let mut items: BTreeMap<&TicketId, &Item> = BTreeMap::new();
        for item in inbox {
            if let Some(ticket) = &item.ticket {
                items.entry(ticket).or_insert(item);
            }
        }
        // A child that nobody is asked about goes on, or lands, with its parent.
        let is_of_parent = |ticket: &Ticket| ticket.delegated().is_some() && !items.contains_key(&ticket.id);
        let tickets = &self.crew.tickets;
        let own = |waits: &&Waits| {
            !tickets
                .get(&waits.ticket)
                .is_some_and(|ticket| is_of_parent(ticket))
        };
        let waits: Vec<&Waits> = waits.iter().filter(own).collect();
        if waits.is_empty() {
            return Ok(());
        }
        let out = &mut self.context.out;
        let n = waits.len();
        let (what, wait) = if n == 1 {
            ("ticket", "waits")
        } else {
            ("tickets", "wait")
        };
        out.styled(&format!("{n} {what} {wait} for a person"), Style::Yellow)?;
        let mut table = Table::bare(2);
        // The fault of the target is told once, below.
        let target = self.crew.target_in_the_way();
        let (of_target, others): (Vec<&Waits>, Vec<&Waits>) = waits
            .into_iter()
            .partition(|waits| target.as_ref() == Some(&waits.why));
        for waits in others {
            let item = items.get(&waits.ticket).copied();
            let (title, why) = match item {
                Some(item) => (&item.title, &item.why),
                None => (&waits.title, &waits.why),
            };
            table.row([format!("  {}", waits.ticket).into(), title.as_str().into()]);
            table.below(1, why, Style::Dim);
            for act in item.map(first_acts).unwrap_or_default() {
                table.below(1, &format!("→ {}", act.typed()), Style::Cyan);
            }
        }
        out.table(&table)?;
        match of_target.len() {
            0 => {}
            1 => out.line(&format!(
                "  {} waits for a target that passes",
                of_target[0].ticket
            ))?,
            many => out.line(&format!("  {many} wait for a target that passes"))?,
        }
        out.styled("  crew inbox says more", Style::Dim)
    }

    /// What is about no ticket of the queue.
    fn tell_rest(&mut self, waits: &[Waits], inbox: &[Item], paid: Usage) -> Result<()> {
        let goes_on = |id: &TicketId| !waits.iter().any(|waits| waits.ticket == *id);
        let under_way = self.crew.under_way().filter(|ticket| goes_on(&ticket.id)).count();
        let out = &mut self.context.out;
        // No ticket, so nothing of the queue waits for it; but whoever wrote it should know.
        for item in inbox.iter().filter(|item| item.ticket.is_none()) {
            out.styled(&format!("warning: {}", item.why), Style::Yellow)?;
            for act in &item.acts {
                out.styled(&format!("  → {}", act.typed()), Style::Dim)?;
            }
        }
        if paid.tokens() > 0 || paid.cost_micro_usd > 0 {
            let tokens = format!("{} tokens", ui::tokens(paid.tokens()));
            let price = ui::cost(paid);
            let price = if price.is_empty() {
                tokens
            } else {
                format!("{price}, {tokens}")
            };
            out.styled(&format!("paid: {price} (`crew cost` says for what)"), Style::Dim)?;
        }
        if under_way > 0 {
            let them = if under_way == 1 { "it" } else { "them" };
            out.line(&format!("{under_way} under way: `crew run` goes on with {them}"))?;
        }
        Ok(())
    }
}

/// A path filter that matches nothing is likely a slip: its check would be skipped without a word.
fn warn_of_idle_paths(context: &mut Context, place: &Place, settings: &Settings) -> Result<()> {
    // The engine reports a target that it cannot read.
    for (name, paths) in runtime::idle_paths(place, settings).unwrap_or_default() {
        let (target, paths) = (&settings.project.target, paths.join(", "));
        let says = format!("warning: the paths of the check {name} match no file on {target}: {paths}");
        context.out.styled(&says, Style::Yellow)?;
    }
    let of_review = runtime::idle_review_paths(place, settings).unwrap_or_default();
    let held = runtime::idle_hold_paths(place, settings).unwrap_or_default();
    for (of, idle) in [
        ("the paths of [review] when", of_review),
        ("[land] hold_paths", held),
    ] {
        if !idle.is_empty() {
            let (target, paths) = (&settings.project.target, idle.join(", "));
            let says = format!("warning: {of} match no file on {target}: {paths}");
            context.out.styled(&says, Style::Yellow)?;
        }
    }
    context.out.flush()
}

/// Whether no step has ended here yet.
fn is_first(crew: &Snapshot) -> bool {
    crew.charges.is_empty() && crew.archived.tickets.is_empty()
}

/// What the agents may do and cost, before the first of them is started.
fn warn_of_client(context: &mut Context, harness: &str, budget: &Budget) -> Result<()> {
    let limit = |usd: Option<Usd>, of| usd.map(|usd| format!("{usd} {of}"));
    let limits = [
        limit(budget.ticket_usd, "a ticket"),
        limit(budget.day_usd, "a day"),
    ];
    let limits: Vec<String> = limits.into_iter().flatten().collect();
    let budget = match limits.is_empty() {
        true => "none, [budget] in crew.toml sets one".to_owned(),
        false => limits.join(", "),
    };
    let says = format!("{harness} asks for no permission: its agents run as you; their budget: {budget}");
    context.out.wrapped(&ui::clean(&says), 2, Style::Yellow)?;
    context.out.flush()
}

fn warn(context: &mut Context) -> Result<()> {
    let out = &mut context.out;
    out.styled(
        "warning: no checks are configured: nothing guards the target",
        Style::Yellow,
    )?;
    out.styled(
        "  whatever merges, lands; name what must pass as [checks] commands",
        Style::Dim,
    )?;
    out.flush()
}

/// Whether what the checks printed on a red target was shown before, with the target or with another ticket.
fn is_printed_already(before: &Snapshot, fact: &Fact) -> bool {
    let is_held_for_it = |ticket: &Ticket| {
        let held = ticket.held.as_ref();
        held.is_some_and(|held| held.why == Why::TargetRed)
    };
    let target = before.project.target.as_ref();
    let is_shown = target.is_some_and(|target| target.verdict.printed().is_some());
    matches!(fact, Fact::Ticket(Event::TargetRed { .. }))
        && (is_shown || before.tickets.values().any(|ticket| is_held_for_it(ticket)))
}

/// The events that are worth a line above the live screen: work that is over, and work that needs a person.
fn milestone(before: &Snapshot, fold: &Recorded) -> bool {
    match (&fold.fact, &fold.after) {
        // The words of a landing that failed come before the ticket is held.
        (Fact::Ticket(Event::LandingEndOrdered { then }), _) => matches!(then, AfterLanding::Hold { .. }),
        (Fact::Ticket(Event::NotLanded), _) => false,
        (Fact::Ticket(_), JournalState::Ticket(after)) => {
            let was_held = before
                .tickets
                .get(&after.id)
                .is_some_and(|ticket| ticket.held.is_some());
            let was_done = before
                .tickets
                .get(&after.id)
                .is_some_and(|ticket| ticket.is_done());
            (after.held.is_some() && !was_held) || (after.is_done() && !was_done)
        }
        (Fact::Project(event), _) => stops_steps(event),
        (Fact::Ticket(_), _) => false,
    }
}

fn stops_steps(event: &Project) -> bool {
    is_about_money(event)
        || matches!(
            event,
            Project::HarnessPaused { .. } | Project::HarnessFreed { .. }
        )
        || is_red(event)
}

/// Whether the bare target was found not to pass its checks, or to be out of reach.
fn is_red(event: &Project) -> bool {
    let Project::Target(target) = event else {
        return false;
    };
    // That the remote is asked once more tells nobody anything new.
    target.looks == 0
        && matches!(
            target.verdict,
            Verdict::Failed { .. }
                | Verdict::Blind { .. }
                | Verdict::CouldNotRun { .. }
                | Verdict::OutOfReach { .. }
        )
}

fn is_about_money(event: &Project) -> bool {
    matches!(
        event,
        Project::DayBudgetLow { .. } | Project::DayBudgetSpent { .. } | Project::DayBudgetFree
    )
}

fn style(fold: &Recorded) -> Style {
    match (&fold.fact, &fold.after) {
        (Fact::Ticket(Event::Landed { .. }), _) => Style::Green,
        (Fact::Ticket(_), JournalState::Ticket(after)) if after.held.is_some() => Style::Yellow,
        (Fact::Project(Project::HarnessPaused { .. }), _) => Style::Yellow,
        (Fact::Project(event), _) if is_about_money(event) || is_red(event) => Style::Yellow,
        (Fact::Ticket(_) | Fact::Project(_), _) => Style::Plain,
    }
}

/// The first command that helps, with what is to be done by hand before it.
fn first_acts(item: &Item) -> &[Act] {
    let by_hand = item
        .acts
        .iter()
        .take_while(|act| matches!(act, Act::ByHand { .. }))
        .count();
    item.acts.get(..=by_hand).unwrap_or(&item.acts)
}
