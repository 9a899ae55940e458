//! What must hold between the journal, the repository and the processes.

use std::collections::{BTreeMap, BTreeSet};

use git::{Branch, Oid};
use model::attempt::State;
use model::journal::Stream;
use store::{Journal as _, StreamId};

use super::finding::whole;
use super::{Area, Finding, Patient};
use crate::error::Error;

const AREA: Area = Area::Invariants;
/// More merges than any repository has.
const ALL: usize = 1 << 30;

pub(super) async fn look(patient: &Patient, found: &mut Vec<Finding>) {
    let before = found.len();
    slots(patient, found).await;
    timers(patient, found).await;
    landed(patient, found);
    // While an engine works, a workspace is made or removed between two looks.
    if patient.holder.is_none() {
        workspaces(patient, found);
    }
    if found.len() == before {
        let n = patient.audit.landed().len();
        let work = match n {
            0 => "nothing landed yet".to_owned(),
            1 => "what landed is in the target, once".to_owned(),
            n => format!("all {n} that landed are in the target, each once"),
        };
        found.push(Finding::fine(AREA, work));
    }
}

/// The table that keeps an agent at one ticket says what the states say.
async fn slots(patient: &Patient, found: &mut Vec<Finding>) {
    let Ok(rows) = patient.ledger.0.slots().await else {
        return;
    };
    let slots: BTreeSet<(String, String)> = rows.into_iter().map(|slot| (slot.agent, slot.ticket)).collect();
    let seats: BTreeSet<(String, String)> = patient
        .audit
        .tickets()
        .values()
        .filter_map(|ticket| Some((ticket.seat()?.to_string(), ticket.id.to_string())))
        .collect();
    for (agent, ticket) in slots.symmetric_difference(&seats) {
        found.push(bug(format!(
            "{agent} and {ticket}: the table of slots and the ticket's state do not agree"
        )));
    }
}

/// A ticket that waits for a time has its timer, and no other has one.
async fn timers(patient: &Patient, found: &mut Vec<Finding>) {
    for ticket in patient.audit.tickets().values() {
        let stream = StreamId(Stream::Ticket(ticket.id.clone()).to_string());
        let Ok(rows) = patient.ledger.0.timers_of(&stream).await else {
            continue;
        };
        let set: Vec<(String, i64)> = rows.into_iter().map(|row| (row.timer.key, row.due.0)).collect();
        let wanted: Vec<(String, i64)> = ticket
            .deadline()
            .iter()
            .map(|deadline| (deadline.key.as_str().to_owned(), deadline.at.0))
            .collect();
        if set != wanted {
            found.push(bug(format!(
                "{}: its timer is not the deadline of its state",
                ticket.id
            )));
        }
    }
}

/// What landed is in the target, exactly once.
fn landed(patient: &Patient, found: &mut Vec<Finding>) {
    let Some(settings) = &patient.settings else { return };
    let repository = &patient.place.repository;
    let target = &settings.project.target;
    // A target that is not there is said by the part that looks at the repository.
    let Ok(tip) = Branch::parse(target).and_then(|branch| repository.target(&branch)) else {
        return;
    };
    let merges = match repository.landed(&tip, ALL) {
        Ok(merges) => merges,
        Err(error) => {
            found.push(Finding::error(AREA, &Error::Git(error)));
            return;
        }
    };
    let in_target: BTreeSet<&str> = merges.iter().map(|merge| merge.info.commit.as_str()).collect();
    for (ticket, commit) in patient.audit.landed() {
        if !in_target.contains(commit.as_str()) {
            let short: String = commit.as_str().chars().take(10).collect();
            found.push(Finding::wrong(
                AREA,
                format!(
                    "{ticket} landed as {short}, which is no longer in {target}: its history was rewritten"
                ),
                format!("git merge {short} brings it back; `crew ticket reopen {ticket}` has it done again"),
            ));
        }
    }
    let mut times: BTreeMap<(&str, &str), u32> = BTreeMap::new();
    for merge in merges.iter().filter(|merge| !merge.attempt.is_empty()) {
        *times.entry((&merge.ticket, &merge.attempt)).or_default() += 1;
    }
    for ((ticket, attempt), times) in times {
        if times > 1 {
            found.push(bug(format!(
                "attempt {attempt} of {ticket} is in {target} {times} times"
            )));
        }
    }
}

/// From ready until the work is taken over, an attempt has its workspace; after that, its branch.
fn workspaces(patient: &Patient, found: &mut Vec<Finding>) {
    let Some(root) = patient.workspaces() else { return };
    for ticket in patient.crew.tickets.values() {
        let Some(attempt) = ticket.attempt() else { continue };
        let at_work = match attempt.state {
            State::Ready
            | State::Working(_)
            | State::WaitingForInput { .. }
            | State::WaitingForWakeup { .. }
            | State::Stuck { .. } => true,
            State::Preparing | State::Verifying | State::Done | State::Reaped { .. } => false,
        };
        let folder = root.join(format!("{}-{}", attempt.agent, ticket.id));
        if at_work && !folder.is_dir() {
            found.push(Finding::note(
                AREA,
                format!("{}: the workspace of {} is gone", ticket.id, attempt.agent),
                "nothing to do: crew starts the attempt over from the work it has kept",
            ));
        }
        if let Some(base) = &attempt.base
            && let Err(error) =
                Oid::parse(base.as_str()).and_then(|base| patient.place.repository.tree_of(&base))
        {
            found.push(Finding::wrong(
                AREA,
                format!(
                    "{}: the commit its work stands on is not in the repository: {}",
                    ticket.id,
                    whole(&error)
                ),
                format!("crew kill {}, then crew retry {}", attempt.agent, ticket.id),
            ));
        }
    }
}

fn bug(says: String) -> Finding {
    Finding::wrong(
        AREA,
        says,
        "this is a fault of crew's: tell its makers, with the output of `crew events --json`",
    )
}
