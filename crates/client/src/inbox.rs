//! The inbox: everything that waits for a person, gathered from the journal and the ticket folder.

use model::policy::attention;
use model::settings::Settings;
use model::ticket::Ticket;
use model::view::{self, Context, Failing, Item, Snapshot};
use model::{TicketId, Time};
use runtime::Place;
use store::Ledger;

use crate::clock;
use crate::engine::{Engine, look};
use crate::error::Result;
use crate::outbox::Outbox;
use crate::queue_facts::Facts;
use crate::refusals::refusals;
use crate::repository::Rejected;

/// The inbox of a crew as it is folded now, with the present state of its journal's outbox and of its ticket
/// folder.
pub async fn gather(
    crew: &Snapshot,
    place: &Place,
    settings: &(Settings, Option<Rejected>),
    ledger: Option<&Ledger>,
) -> Result<Vec<Item>> {
    inbox(crew, place, settings, Outbox::read(ledger).await?)
}

/// The reasons for which effects of one ticket cannot be carried out.
pub fn why_of(failing: &[Failing], ticket: &TicketId) -> Vec<String> {
    let of_it = failing.iter().filter(|failing| failing.ticket == *ticket);
    of_it.map(|failing| failing.why.clone()).collect()
}

/// As [`gather`], where the outbox was read.
pub fn inbox(
    crew: &Snapshot,
    place: &Place,
    settings: &(Settings, Option<Rejected>),
    outbox: Outbox,
) -> Result<Vec<Item>> {
    let ((settings, rejected), now) = (settings, clock::now());
    let facts = Facts::gather(crew, place, settings, &outbox.unwritten, now)?;
    let mut beside = context(crew, place, settings, &facts, outbox.failing, now)?;
    beside.settings = rejected.as_ref().map(|rejected| rejected.why.clone());
    Ok(view::inbox(&facts.tickets, &beside))
}

/// The facts beside the tickets that the inbox depends on, for a ticket folder whose facts are known.
pub fn context(
    crew: &Snapshot,
    place: &Place,
    settings: &Settings,
    facts: &Facts,
    mut failing: Vec<Failing>,
    now: Time,
) -> Result<Context> {
    let engine = look(Engine::of(place)?.as_ref()).engine;
    if !engine {
        // Nobody tries: no engine runs.
        failing.iter_mut().for_each(|failing| failing.until = None);
    }
    let tickets = || facts.tickets.values().map(AsRef::as_ref);
    let paused = |ticket: &Ticket| {
        let harness = settings.harness_of_next_step(&ticket.attempt()?.conversation.harness);
        let pause = crew.project.paused.get(&harness)?;
        let holds = pause.holds(now);
        holds.then(|| (ticket.id.clone(), (harness, pause.clone())))
    };
    let is_failing = |id: &TicketId| {
        let mut of_work = failing.iter().filter(|failing| !failing.is_file);
        of_work.any(|failing| failing.ticket == *id)
    };
    Ok(Context {
        engine,
        settings: None,
        refusals: refusals(facts, settings),
        files: facts.bad.clone(),
        refuses_work: place.refuses_work(settings),
        unwritable: place.refuses_files(),
        // Where they cannot be looked at, `crew doctor` shows the reason.
        locked: place
            .left_index_locks()
            .unwrap_or_default()
            .iter()
            .map(|lock| lock.display().to_string())
            .collect(),
        behind: place.behind().unwrap_or_default(),
        pauses: tickets().filter_map(paused).collect(),
        blocker: attention::blocker(tickets(), is_failing).cloned(),
        target: facts.target.clone(),
        children: tickets()
            .filter(|ticket| ticket.waits_for_children())
            .map(|ticket| (ticket.id.clone(), view::open_children(&facts.tickets, ticket)))
            .collect(),
        failing,
    })
}

/// A snapshot with the tickets as their files are now: a ticket that no engine has seen, or that a person has
/// opened again, is in the queue all the same.
pub fn seen(
    crew: &Snapshot,
    place: &Place,
    settings: &Settings,
    outbox: &Outbox,
    now: Time,
) -> Result<Snapshot> {
    let facts = Facts::gather(crew, place, settings, &outbox.unwritten, now)?;
    let mut seen = crew.clone();
    seen.tickets = facts.tickets;
    Ok(seen)
}
