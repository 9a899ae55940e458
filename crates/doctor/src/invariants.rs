//! The invariants between the journal, the repository and the processes.

use std::collections::{BTreeMap, BTreeSet};

use git::Oid;
use model::journal::Stream;
use model::money::Usd;
use model::ticket::Ticket;
use model::time::Day;
use model::view::{AttemptSummary, Charge};
use model::{TicketId, Time};
use store::Journal as _;

use crate::{Area, Finding, Subject, target};
use client::error::Error;

const AREA: Area = Area::Invariants;

pub(super) async fn look(subject: &Subject, found: &mut Vec<Finding>) {
    let before = found.len();
    // While an engine works, these tables and the states that were read are of two moments, so the second
    // look decides.
    slots(subject, found).await;
    timers(subject, found).await;
    let has_target = target::look(subject, found);
    workspaces(subject, found);
    work(subject, found);
    sums(subject, found);
    pins(subject, found);
    state_file(subject, found);
    if found.len() == before {
        let landed = if subject.is_whole {
            "landed"
        } else {
            "landed lately"
        };
        let work = match subject.audit.landed().len() {
            0 if subject.is_whole => "nothing landed yet".to_owned(),
            0 => "nothing landed lately".to_owned(),
            _ if !has_target => format!("the work that {landed} was not looked for in the target"),
            1 => format!("the work that {landed} is in the target, once"),
            n => format!("all {n} that {landed} are in the target, each once"),
        };
        found.push(Finding::fine(AREA, work));
    }
}

/// The table that keeps an agent at one ticket agrees with the states.
async fn slots(subject: &Subject, found: &mut Vec<Finding>) {
    let Ok(rows) = subject.ledger.0.slots().await else {
        return;
    };
    let slots: BTreeSet<_> = rows.into_iter().map(|slot| (slot.agent, slot.ticket)).collect();
    let slot: BTreeSet<_> = subject
        .audit
        .tickets()
        .values()
        .flat_map(|ticket| {
            let agents = ticket.slots().map(|(agent, _)| agent);
            agents.map(|agent| (agent.clone(), ticket.id.clone()))
        })
        .collect();
    for (agent, ticket) in slots.symmetric_difference(&slot) {
        found.push(Finding::bug(
            AREA,
            format!("{agent} and {ticket}: the table of slots and the ticket's state do not agree"),
        ));
    }
}

/// A ticket that waits for a time has its timer, and no other has one.
async fn timers(subject: &Subject, found: &mut Vec<Finding>) {
    let Ok(rows) = subject.ledger.0.due(Time(i64::MAX), u32::MAX).await else {
        return;
    };
    let mut set: BTreeMap<Stream, Vec<(String, i64)>> = BTreeMap::new();
    for row in rows {
        let timers = set.entry(row.timer.stream).or_default();
        timers.push((row.timer.key, row.due.0));
    }
    for ticket in subject.audit.tickets().values() {
        let set = set.remove(&Stream::Ticket(ticket.id.clone())).unwrap_or_default();
        let wanted: Vec<(String, i64)> = ticket
            .deadline()
            .iter()
            .map(|deadline| (deadline.key.as_str().to_owned(), deadline.at.0))
            .collect();
        if set != wanted {
            found.push(Finding::bug(
                AREA,
                format!("{}: its timer is not the deadline of its state", ticket.id),
            ));
        }
    }
    // An archived ticket is over, and waits for nothing.
    for id in &subject.crew.archived.tickets {
        if set.contains_key(&Stream::Ticket(id.clone())) {
            found.push(Finding::bug(
                AREA,
                format!("{id}: its timer is not the deadline of its state"),
            ));
        }
    }
}

/// From ready until the work is imported, an attempt has its workspace; after that, its branch.
fn workspaces(subject: &Subject, found: &mut Vec<Finding>) {
    let Some(root) = subject.workspaces() else { return };
    let mut attempts = subject
        .crew
        .tickets
        .values()
        .filter_map(|ticket| ticket.attempt());
    let is_under_way = attempts.any(model::attempt::Attempt::may_have_work);
    let missing = is_under_way
        .then(|| subject.place.missing_workspaces())
        .transpose();
    if let Ok(Some(Some(folder))) = missing {
        found.push(Finding::error(
            AREA,
            &runtime::Error::WorkspacesMissing { folder }.into(),
        ));
        return;
    }
    for ticket in subject.crew.tickets.values() {
        let Some(attempt) = ticket.attempt() else { continue };
        if subject.is_changing(&ticket.id) {
            continue;
        }
        let space = attempt.workspace(&ticket.id);
        let folder = root.join(format!("{}-{}", space.agent, space.of));
        if attempt.has_workspace() && !folder.is_dir() {
            found.push(Finding::note(
                AREA,
                format!("{}: the workspace of {} is gone", ticket.id, attempt.claim.agent),
                "nothing to do: crew starts the attempt over from the work it has kept",
            ));
        }
        if let Some(base) = &attempt.claim.base
            && let Err(error) =
                Oid::parse(base.as_str()).and_then(|base| subject.place.repository.tree_of(&base))
        {
            found.push(Finding::wrong(
                AREA,
                format!(
                    "{}: the commit its work stands on is not in the repository: {}",
                    ticket.id,
                    text::with_causes(&error)
                ),
                format!(
                    "bring it back from a clone that has it: git fetch --refetch <clone>; if {} is held, then crew retry {}",
                    ticket.id, ticket.id
                ),
            ));
        }
    }
}

/// Work that an agent has submitted and no target has is under a ref, so that git does not delete it.
fn work(subject: &Subject, found: &mut Vec<Finding>) {
    let kept = subject
        .crew
        .attempts
        .values()
        .filter(|work| work.landed.is_none());
    let tips: Vec<(&AttemptSummary, Oid)> = kept
        .filter_map(|work| Some((work, Oid::parse(work.tip.as_ref()?.as_str()).ok()?)))
        .collect();
    let asked: Vec<Oid> = tips.iter().map(|(_, tip)| tip.clone()).collect();
    let lost = match subject.place.repository.unreachable(&asked) {
        Ok(lost) => lost,
        Err(error) => {
            found.push(Finding::error(AREA, &Error::Git(error)));
            return;
        }
    };
    for (work, tip) in tips.iter().filter(|(_, tip)| lost.contains(tip)) {
        found.push(Finding::note(
            AREA,
            format!(
                "{}: no ref leads to {}, which {} submitted in attempt {}: git will delete it some day",
                work.ticket,
                tip.short(),
                work.agent,
                work.attempt
            ),
            format!("if it is worth keeping: git branch kept-{} {tip}", work.ticket),
        ));
    }
}

/// The cost in a ticket's state is the sum of its steps.
fn sums(subject: &Subject, found: &mut Vec<Finding>) {
    let mut charges: BTreeMap<&TicketId, Vec<&Charge>> = BTreeMap::new();
    for charge in &subject.crew.charges {
        charges.entry(&charge.ticket).or_default().push(charge);
    }
    let mut says = subject.misadded.clone();
    for ticket in subject.crew.tickets.values() {
        let of = charges.remove(&ticket.id).unwrap_or_default();
        says.insert(ticket.id.clone(), misadded(ticket, of));
    }
    found.extend(says.into_values().flatten().map(|says| Finding::bug(AREA, says)));
}

/// The days on which the steps of a ticket have another cost than its state has, in words.
pub(super) fn misadded<'a>(ticket: &Ticket, charges: impl IntoIterator<Item = &'a Charge>) -> Vec<String> {
    let mut paid: BTreeMap<Day, u64> = BTreeMap::new();
    for charge in charges {
        let sum = paid.entry(charge.at.day()).or_default();
        *sum = sum.saturating_add(charge.usage.cost_micro_usd);
    }
    let steps = |day| paid.get(day).copied().unwrap_or_default();
    let odd = ticket
        .spent
        .days
        .iter()
        .filter(|(day, spent)| steps(day) != **spent);
    odd.map(|(day, spent)| {
        format!(
            "{}: its state has a cost of {} on {day}, its steps of {}",
            ticket.id,
            Usd(*spent),
            Usd(steps(day))
        )
    })
    .collect()
}

/// A base and a candidate that are pinned are those of tickets that the journal knows.
fn pins(subject: &Subject, found: &mut Vec<Finding>) {
    let repository = &subject.place.repository;
    let bases = repository.pins().unwrap_or_default();
    let bases = bases.into_iter().map(|pin| (pin.ticket, pin.name, "base"));
    let candidates = repository.candidate_pins().unwrap_or_default();
    let candidates = candidates
        .into_iter()
        .map(|pin| (pin.ticket, pin.name, "candidate"));
    for (ticket, name, what) in bases.chain(candidates) {
        if !subject.knows(&ticket) {
            found.push(Finding::wrong(
                AREA,
                format!("{name}: the {what} of a ticket that this journal does not know"),
                format!("if no other journal works here: git update-ref -d {name}"),
            ));
        }
    }
}

/// `.crew/state.json` is whole, and not ahead of the journal; without an engine it is the journal's.
fn state_file(subject: &Subject, found: &mut Vec<Finding>) {
    let path = subject.place.crew_dir.join("state.json");
    let Some(text) = &subject.state_file else { return };
    let seq = serde_json::from_slice::<serde_json::Value>(text)
        .ok()
        .and_then(|state| state.get("seq")?.as_u64());
    let says = match seq {
        None => "crew did not write it",
        Some(seq) if seq > subject.crew.seq && subject.holder.is_none() => {
            "it knows of more than the journal has: the journal is older, as from a backup"
        }
        Some(_) => return,
    };
    found.push(Finding::wrong(
        AREA,
        format!("{}: {says}", path.display()),
        "the next engine writes it anew; nothing of crew's reads it",
    ));
}
