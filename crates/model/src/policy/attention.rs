//! Attention: whether a ticket moves by itself, waits for a person or for other tickets, or is over.
//!
//! Idle detection, the inbox, the queue and `crew explain` all ask here, so that they cannot disagree.

mod reason;
#[cfg(test)]
mod tests;

pub use reason::{Reason, edits, refused};

use std::fmt;

use crate::TicketId;
use crate::policy::route::Refusal;
use crate::project::HarnessPause;
use crate::ticket::{Done, Stage, State, Ticket};

/// The facts that count beside the ticket itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct Facts<'a> {
    /// The reason for which the ticket is not dispatched.
    pub refusal: Option<&'a Refusal>,
    /// The failure of an order for this ticket that a person has to mend, in words.
    pub failure: Option<&'a str>,
    /// The pause that keeps its next step from being started now, with the name of the harness.
    pub pause: Option<(&'a str, &'a HarnessPause)>,
    /// The ticket that [`blocker`] finds.
    pub blocker: Option<&'a TicketId>,
    /// Those of the tickets that its agent has delegated which are not over; none where that is not known.
    pub children: Option<&'a [TicketId]>,
}

/// The next thing that a ticket needs in order to go on.
#[derive(Clone, Debug, PartialEq)]
pub enum Need<'a> {
    /// Nothing any more: it is over.
    Over,
    /// Nothing of crew: it is not for agents.
    Apart,
    /// Nothing: it moves, or will by itself.
    Time,
    /// An agent: it is eligible.
    Agent,
    /// Other tickets, which move it when they move.
    Others(Others<'a>),
    /// A person has to act.
    Person(Reason<'a>),
}

/// The tickets that a ticket waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Others<'a> {
    /// The tickets that it depends on.
    Dependencies(&'a [TicketId]),
    /// The ticket that it recovers, which has not failed.
    Recovered(&'a TicketId),
    /// The ticket that is before it on the way to the target and cannot go on.
    Blocker(&'a TicketId),
    /// The ticket that shows that no workspace can be set up.
    SetUp(&'a TicketId),
    /// The ticket that it is a part of.
    Parent(&'a TicketId),
    /// Those of the tickets that its agent has delegated which are not over, and how many it has delegated.
    Children {
        /// Those that are not over.
        open: &'a [TicketId],
        /// The number of all.
        all: usize,
    },
}

impl Others<'_> {
    /// The tickets themselves.
    #[must_use]
    pub fn tickets(&self) -> &[TicketId] {
        match self {
            Others::Dependencies(ids) => ids,
            Others::Recovered(id) | Others::Blocker(id) | Others::SetUp(id) | Others::Parent(id) => {
                std::slice::from_ref(id)
            }
            Others::Children { open, .. } => open,
        }
    }
}

impl fmt::Display for Others<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Others::Dependencies(ids) => {
                let ids: Vec<&str> = ids.iter().map(TicketId::as_str).collect();
                write!(f, "it waits for {}", ids.join(", "))
            }
            Others::Recovered(id) => write!(f, "it recovers {id}, which has not failed"),
            Others::Parent(id) => write!(f, "it goes on with {id}, whose agent has delegated it"),
            Others::Children { open, all } => write!(f, "its agent waits for {}", unfinished(open, *all)),
            Others::SetUp(id) => write!(f, "no workspace can be set up, as {id} shows"),
            Others::Blocker(id) => write!(f, "it waits for {id}, which lands first and cannot go on"),
        }
    }
}

/// The children that an agent waits for: those that are not over, of so many.
#[must_use]
pub fn unfinished(open: &[TicketId], all: usize) -> String {
    let over = all.saturating_sub(open.len());
    let ids: Vec<&str> = open.iter().map(TicketId::as_str).collect();
    match (ids.is_empty(), over) {
        (true, _) => "what it has delegated".to_owned(),
        (false, 0) => ids.join(", "),
        (false, over) => format!("{} ({over} of {all} are over)", ids.join(", ")),
    }
}

impl Need<'_> {
    /// True if it moves, or will by itself, without a person and without another ticket.
    #[must_use]
    pub fn moves_by_itself(&self) -> bool {
        match self {
            Need::Time => true,
            Need::Person(reason) => reason.ends_by_itself(),
            Need::Over | Need::Apart | Need::Agent | Need::Others(_) => false,
        }
    }
}

/// The next thing that the ticket needs. A reason that a person can do something about comes before any other
/// wait.
#[must_use]
pub fn attention<'a>(ticket: &'a Ticket, facts: Facts<'a>) -> Need<'a> {
    match &ticket.state {
        State::Done(Done::Failed { reason }) => return Need::Person(Reason::Impossible(reason)),
        State::New | State::Done(_) => return Need::Over,
        State::Open | State::InProgress(_) | State::Verify(_) => {}
    }
    let reason = own(ticket).or_else(|| facts.failure.map(Reason::Failure));
    if let Some(reason) = reason {
        return Need::Person(reason);
    }
    match &ticket.state {
        State::New | State::Done(_) => Need::Over,
        State::Open => facts.refusal.map_or(Need::Agent, of_refusal),
        State::InProgress(attempt) => match (facts.pause, facts.refusal) {
            (Some((harness, pause)), _) if pause.asks_person() && attempt.is_between_steps() => {
                Need::Person(Reason::Harness { harness, pause })
            }
            (_, Some(refusal @ Refusal::TargetRed { .. })) if attempt.needs_target() => {
                Need::Person(Reason::Target(refusal))
            }
            // Each of them moves by itself, or waits for a person.
            (_, _) if attempt.waits_for_children() => {
                let all = attempt.open_children();
                Need::Others(Others::Children {
                    open: facts.children.unwrap_or(all),
                    all: all.len(),
                })
            }
            (_, _) => Need::Time,
        },
        State::Verify(verify) => {
            if let (Stage::Reviewing(reviewing), Some((harness, pause))) = (&verify.stage, facts.pause)
                && pause.asks_person()
                && !reviewing.is_live()
            {
                return Need::Person(Reason::Harness { harness, pause });
            }
            if let (Stage::Unified { is_saved: true }, Some(delegated)) = (&verify.stage, ticket.delegated())
            {
                return Need::Others(Others::Parent(&delegated.by));
            }
            let waits = matches!(verify.stage, Stage::Queued | Stage::Landing { .. });
            let blocker = facts.blocker.filter(|id| waits && **id != ticket.id);
            blocker.map_or(Need::Time, |id| Need::Others(Others::Blocker(id)))
        }
    }
}

/// The reason for which the ticket waits for a person, where its state alone has one.
fn own(ticket: &Ticket) -> Option<Reason<'_>> {
    if let Some(held) = &ticket.held {
        return Some(Reason::Held(held));
    }
    if let Some(open) = ticket.open_question() {
        return Some(Reason::Question {
            agent: open.agent,
            question: open.text,
            until: open.until,
        });
    }
    match &ticket.state {
        State::Verify(verify) => match &verify.stage {
            Stage::Landing { waiting, .. } => waiting.as_ref().map(Reason::Edits),
            Stage::Queued
            | Stage::Building
            | Stage::Checking(_)
            | Stage::InTrain(_)
            | Stage::Unified { .. }
            | Stage::Reviewing(_) => None,
            Stage::Proposed(proposal) if proposal.is_looked_at() => None,
            Stage::Proposed(proposal) => {
                let request = ticket.pull_request.as_deref();
                request.map(|request| Reason::Proposal { request, proposal })
            }
        },
        // crew looks at the workspace of a stuck agent by itself, unless the ticket is held.
        State::New | State::Open | State::InProgress(_) | State::Done(_) => None,
    }
}

fn of_refusal(refusal: &Refusal) -> Need<'_> {
    match refusal {
        Refusal::Epic
        | Refusal::TakenByPerson
        | Refusal::FileClosed
        | Refusal::NoFile
        | Refusal::FileUnheeded { asks: false, .. } => Need::Apart,
        Refusal::Delegated { by } => Need::Others(Others::Parent(by)),
        Refusal::WaitsFor { ids } => Need::Others(Others::Dependencies(ids)),
        Refusal::NotSetUp { id } => Need::Others(Others::SetUp(id)),
        Refusal::RecoveryNotNeededYet { recovers } => Need::Others(Others::Recovered(recovers)),
        Refusal::MissingDependency { .. }
        | Refusal::MissingRecovered { .. }
        | Refusal::Cycle { .. }
        | Refusal::DependencyFailed { .. } => Need::Person(Reason::Dependency(refusal)),
        Refusal::TargetRed { .. } => Need::Person(Reason::Target(refusal)),
        Refusal::Unreadable | Refusal::FileUnheeded { asks: true, .. } => Need::Person(Reason::File(refusal)),
        Refusal::AssigneeBusy { .. } | Refusal::NoAgentFree { .. } => Need::Agent,
        Refusal::Unknown
        | Refusal::Done { .. }
        | Refusal::InProgress { .. }
        | Refusal::Submitted { .. }
        | Refusal::Held { .. }
        | Refusal::Debouncing { .. }
        | Refusal::NotDue { .. }
        | Refusal::DayBudget { .. }
        | Refusal::TargetUnchecked { .. }
        | Refusal::RecoveryNotNeeded { .. } => Need::Time,
    }
}

/// The ticket that is being built, checked or landed and cannot go on before a person has mended something:
/// all that are submitted after it wait for it. `is_failing`: whether crew cannot do what it has to for a
/// ticket's work.
#[must_use]
pub fn blocker<'a>(
    tickets: impl IntoIterator<Item = &'a Ticket>,
    is_failing: impl Fn(&TicketId) -> bool,
) -> Option<&'a TicketId> {
    let is_first = |ticket: &&Ticket| match &ticket.state {
        State::Verify(verify) => {
            let is_apart = matches!(
                verify.stage,
                Stage::Queued | Stage::Proposed(_) | Stage::Unified { .. }
            );
            ticket.held.is_none() && !is_apart
        }
        State::New | State::Open | State::InProgress(_) | State::Done(_) => false,
    };
    let mut first = tickets.into_iter().filter(is_first);
    first
        .find(|ticket| is_failing(&ticket.id))
        .map(|ticket| &ticket.id)
}
