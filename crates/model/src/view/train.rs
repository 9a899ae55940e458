//! The merge train as people see it: the entries in the order in which they land, then those that wait.

use std::collections::BTreeMap;

use super::{Snapshot, Standing, checking};
use crate::policy::attention::Facts;
use crate::ticket::{CheckSlot, Stage, State, Ticket, Trial, Uncoupled, Verify, WhyUncoupled};
use crate::{AgentName, Look, Oid, TicketId, Time};

/// A submitted ticket, in the train or waiting for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrainEntry {
    /// Its place, counted from the target; none while it waits for one.
    pub place: Option<u32>,
    /// The ticket.
    pub ticket: TicketId,
    /// Its title.
    pub title: String,
    /// The agent that did the work.
    pub agent: AgentName,
    /// Its state in a word or two.
    pub word: &'static str,
    /// More about the state.
    pub what: Option<String>,
    /// The time since which the state lasts.
    pub since: Time,
    /// The entry that it is merged on; none: the target.
    pub ahead: Option<TicketId>,
    /// The merged result.
    pub commit: Option<Oid>,
    /// The verdict on the entries up to it.
    pub trial: Option<&'static str>,
    /// The checkout in which its checks run.
    pub slot: Option<CheckSlot>,
    /// The last time that it was taken out of the train.
    pub uncoupled: Option<Uncoupled>,
}

/// The train, and behind it the submitted tickets that are not in it. Held ones are in the inbox.
#[must_use]
pub fn train(crew: &Snapshot, look: Look) -> Vec<TrainEntry> {
    let submitted = crew.tickets.values().filter_map(|ticket| match &ticket.state {
        // Work that is a part of another ticket's is in the train with that one.
        State::Verify(verify) if ticket.held.is_none() && !ticket.is_unified() => {
            Some((ticket.as_ref(), verify.as_ref()))
        }
        State::New | State::Open | State::InProgress(_) | State::Verify(_) | State::Done(_) => None,
    });
    let (members, mut others): (Vec<_>, Vec<_>) = submitted.partition(|(_, verify)| is_member(&verify.stage));
    others.sort_by_key(|(ticket, verify)| {
        let is_building = matches!(verify.stage, Stage::Building);
        let since = ticket.in_line_since.unwrap_or(verify.submitted_at);
        (!is_building, since, &ticket.id)
    });
    let (beside, members): (Vec<_>, Vec<_>) = members
        .iter()
        .copied()
        .partition(|member| is_beside(*member, &members));
    let line = line(&members);
    let placed = line
        .into_iter()
        .zip(1..)
        .map(|(member, place)| (member, Some(place)));
    let beside = beside.into_iter().map(|member| (member, None));
    let placed = placed.chain(beside);
    let waiting = others.into_iter().map(|member| (member, None));
    placed
        .chain(waiting)
        .map(|((ticket, verify), place)| entry(ticket, verify, place, look))
        .collect()
}

fn is_member(stage: &Stage) -> bool {
    match stage {
        Stage::Checking(_) | Stage::InTrain(_) | Stage::Landing { waiting: None, .. } => true,
        Stage::Queued
        | Stage::Building
        | Stage::Reviewing { .. }
        | Stage::Proposed(_)
        | Stage::Unified { .. }
        | Stage::Landing { waiting: Some(_), .. } => false,
    }
}

/// Whether a ticket is at its own checks beside the others: it never joined the train, and nothing is merged
/// on it.
fn is_beside((ticket, verify): (&Ticket, &Verify), members: &[(&Ticket, &Verify)]) -> bool {
    let is_checked = matches!(verify.stage, Stage::Checking(_));
    let has_joined = verify.train.ahead.is_some() || verify.train.joined_at.is_some();
    let is_on_it = |(_, other): &(&Ticket, &Verify)| other.train.ahead.as_ref() == Some(&ticket.id);
    is_checked && !has_joined && members.len() > 1 && !members.iter().any(is_on_it)
}

/// The members, each behind the one that it is merged on.
fn line<'a>(members: &[(&'a Ticket, &'a Verify)]) -> Vec<(&'a Ticket, &'a Verify)> {
    let ids: BTreeMap<&TicketId, ()> = members.iter().map(|(ticket, _)| (&ticket.id, ())).collect();
    let mut left: Vec<_> = members.to_vec();
    left.sort_by_key(|(ticket, verify)| (verify.train.joined_at, ticket.in_line_since, &ticket.id));
    let mut line: Vec<(&Ticket, &Verify)> = Vec::new();
    while !left.is_empty() {
        let is_next = |(_, verify): &(&Ticket, &Verify)| match &verify.train.ahead {
            Some(ahead) => !ids.contains_key(ahead) || line.iter().any(|(ticket, _)| ticket.id == *ahead),
            None => true,
        };
        let at = left.iter().position(is_next).unwrap_or(0);
        let next = left.remove(at);
        line.push(next);
    }
    line
}

/// Whether it was in the train when it was taken out; commitments that are met and conflicts with the target
/// are no part of one.
fn was_in_train(uncoupled: &Uncoupled) -> bool {
    match uncoupled.why {
        WhyUncoupled::Cleared | WhyUncoupled::Behind { .. } => false,
        WhyUncoupled::Conflict { .. }
        | WhyUncoupled::AheadLeft { .. }
        | WhyUncoupled::BatchEnded { .. }
        | WhyUncoupled::TargetMoved
        | WhyUncoupled::Edited { .. }
        | WhyUncoupled::Refused { .. }
        | WhyUncoupled::NotCleared { .. }
        | WhyUncoupled::Hindered { .. }
        | WhyUncoupled::Alone => true,
    }
}

fn entry(ticket: &Ticket, verify: &Verify, place: Option<u32>, look: Look) -> TrainEntry {
    let standing = Standing::of(ticket, Facts::default(), look);
    let trial = match &verify.stage {
        Stage::Checking(_) => Some("running"),
        Stage::InTrain(entry) => Some(match entry.trial {
            Trial::Untried => "untried",
            Trial::Passed { .. } => "passed",
            Trial::Failed { .. } => "failed",
        }),
        Stage::Landing { .. } => Some("passed"),
        Stage::Queued
        | Stage::Building
        | Stage::Reviewing { .. }
        | Stage::Unified { .. }
        | Stage::Proposed(_) => None,
    };
    let running = ticket
        .checks()
        .and_then(|checks| checking(checks, Some(look.now)));
    let is_in_line = place.is_some() || matches!(verify.stage, Stage::Building);
    TrainEntry {
        place,
        ticket: ticket.id.clone(),
        title: ticket.spec.title.clone(),
        agent: verify.attempt.claim.agent.clone(),
        word: standing.word,
        what: running.or(standing.why),
        since: ticket.since,
        ahead: verify.train.ahead.clone().filter(|_| is_in_line),
        commit: ticket.candidate().map(|candidate| candidate.commit.clone()),
        trial,
        slot: ticket.checks().map(|checks| checks.slot),
        uncoupled: verify.train.uncoupled.clone().filter(was_in_train),
    }
}
