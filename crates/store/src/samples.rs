//! Sample journals, for tests and for the fixtures of releases: one with every kind of event, and one of an
//! older schema.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;

use model::journal::{Entry, Fact, State, Stream, Write};
use model::machine::{Machine as _, Met, Sample};
use model::project::{self, Project};
use model::samples;
use model::ticket::{Event, Ticket};
use model::{TicketId, Time};

use crate::{Error, Journal, Ledger, Result};

/// The first event's time.
const BEGUN: Time = Time(1_767_225_600_000);
/// The time between two events, in milliseconds.
const STEP: i64 = 1_000;

/// The events that lead to a state, in order.
type Way = Vec<Event>;

/// Writes a small journal with every kind of event that the machines accept: the events of the project, then
/// one ticket after the other, `t-1`, `t-2` and so on, each to its end. `ledger` must be empty.
///
/// # Errors
/// As [`Journal::append`].
pub async fn every_event<J: Journal>(ledger: &Ledger<J>) -> Result<()> {
    let mut at = BEGUN;
    project(ledger, &mut at).await?;
    for (way, number) in histories().into_iter().zip(1..) {
        ticket(ledger, number, way, &mut at).await?;
    }
    Ok(())
}

/// Makes a SQLite journal at an absolute path that has the schema before today's, without an event: a crew
/// that opens it brings it up to date.
///
/// # Errors
/// As [`Sqlite::create`](crate::Sqlite::create).
pub async fn older_schema(path: &Path, id: &str) -> Result<()> {
    crate::sqlite::create_older(path, id).await
}

/// Goes the shortest way from `ticket` to every state that [`model::machine::search`] would try, the nearest
/// one first. `is_enough` gets each way up to and with an event that a state accepts, and the state after
/// it; it ends the search.
fn search(ticket: &Ticket, mut is_enough: impl FnMut(&Way, &Ticket) -> bool) {
    let mut met = Met::default();
    met.is_new(samples::ticket::aspects(ticket));
    let mut queue = VecDeque::from([(Way::new(), ticket.clone())]);
    while let Some((way, ticket)) = queue.pop_front() {
        for Sample { event, .. } in samples::ticket::alphabet(&ticket) {
            let Ok(change) = ticket.after(&event, BEGUN) else {
                continue;
            };
            let way: Way = way.iter().cloned().chain([event]).collect();
            if is_enough(&way, &change.ticket) {
                return;
            }
            if met.is_new(samples::ticket::aspects(&change.ticket)) {
                queue.push_back((way, change.ticket));
            }
        }
    }
}

/// Ways that together contain every event which any state accepts, each of them to the end of its ticket.
fn histories() -> Vec<Way> {
    let first = samples::ticket::first();
    let alphabet = samples::ticket::alphabet(&first);
    let names: BTreeSet<&str> = alphabet.iter().map(|sample| sample.event.name()).collect();
    let mut wanted: BTreeMap<&'static str, Way> = BTreeMap::new();
    search(&first, |way, _| {
        if let Some(last) = way.last() {
            wanted.entry(last.name()).or_insert_with(|| way.clone());
        }
        wanted.len() == names.len()
    });
    let mut longest: Vec<Way> = wanted.into_values().collect();
    longest.sort_by_key(|way| std::cmp::Reverse(way.len()));
    let mut held: BTreeSet<&'static str> = BTreeSet::new();
    let mut chosen = Vec::new();
    for way in longest {
        let is_new = way.last().is_some_and(|last| !held.contains(last.name()));
        if is_new {
            held.extend(way.iter().map(Event::name));
            chosen.push(to_the_end(way));
        }
    }
    chosen
}

/// The way, continued until the ticket is over, so that its agent is free for the next ticket.
fn to_the_end(way: Way) -> Way {
    let first = samples::ticket::first();
    let stands = way.iter().try_fold(first, |ticket, event| {
        ticket.after(event, BEGUN).map(|change| change.ticket)
    });
    let mut rest = Way::new();
    if let Some(ticket) = stands.ok().filter(|ticket| !ticket.is_done()) {
        search(&ticket, |way, after| {
            if after.is_done() {
                rest.clone_from(way);
            }
            after.is_done()
        });
    }
    way.into_iter().chain(rest).collect()
}

#[expect(clippy::needless_pass_by_value, reason = "it stands alone in `map_err`")]
fn refused(why: impl ToString) -> Error {
    Error::Invalid {
        what: format!("a sample event ({})", why.to_string()),
    }
}

async fn ticket<J: Journal>(ledger: &Ledger<J>, number: usize, way: Way, at: &mut Time) -> Result<()> {
    let id = TicketId::new(format!("t-{number}")).map_err(refused)?;
    let mut ticket = Ticket::new(id.clone());
    for (version, mut event) in way.into_iter().enumerate() {
        at.0 += STEP;
        // The way was found for a ticket of another name; a batch ends with the ticket itself or with one
        // that the journal does not have.
        if let Event::BatchLanding { tip, .. } = &mut event {
            *tip = match *tip == samples::ticket::first().id {
                true => id.clone(),
                false => TicketId::new("t-0").map_err(refused)?,
            };
        }
        let change = ticket.after(&event, *at).map_err(refused)?;
        let fence = ticket.fence;
        let minted = change.ticket.fence > fence;
        ticket = change.ticket;
        let write = Write {
            stream: Stream::Ticket(id.clone()),
            expected: version as u64,
            fence: (version > 0).then_some(fence),
            new_fence: minted.then_some(ticket.fence),
            entries: vec![Entry {
                fact: Fact::Ticket(event),
                after: State::Ticket(ticket.clone().into()),
                effects: change.effects,
            }],
            at: *at,
            cause: "a sample".to_owned(),
            timers: change.timers,
            slots: change.slots,
            completes: None,
            fires: None,
            answers: None,
        };
        let ordered = ledger.record(vec![write]).await?;
        let ids: Vec<_> = ordered.into_iter().map(|one| one.id).collect();
        ledger.finish(&ids, *at).await?;
    }
    Ok(())
}

async fn project<J: Journal>(ledger: &Ledger<J>, at: &mut Time) -> Result<()> {
    let (mut project, mut version) = (Project::default(), 0);
    // The events that end an engine are left out at first: some others are accepted only while an engine
    // runs.
    let ends = |sample: &Sample<project::Event>| {
        matches!(sample.event, project::Event::Closing | project::Event::Closed)
    };
    let up = samples::project::alphabet()
        .into_iter()
        .filter(|sample| !ends(sample));
    for Sample { event, .. } in up.chain(samples::project::alphabet()) {
        let Ok(step) = project::Machine::transition(&project, &event) else {
            continue;
        };
        at.0 += STEP;
        project = step.state;
        let write = Write {
            stream: Stream::Project,
            expected: version,
            fence: None,
            new_fence: None,
            entries: vec![Entry {
                fact: Fact::Project(event),
                after: State::Project(project.clone()),
                effects: Vec::new(),
            }],
            at: *at,
            cause: "a sample".to_owned(),
            timers: Vec::new(),
            slots: Vec::new(),
            completes: None,
            fires: None,
            answers: None,
        };
        ledger.record(vec![write]).await?;
        version += 1;
    }
    Ok(())
}
