//! Costs: one charge per step that ended, and sums of them. Every surface's figures come from here.

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Snapshot;
use crate::attempt::{Attempt, Class, Event, Usage};
use crate::ticket::{Review, ReviewEvent, Ticket};
use crate::time::Day;
use crate::{AgentName, RunId, TicketId, Time};

/// The usage of one step. A step is charged once, when it has ended, however it ended; a step that runs is
/// not in it yet.
#[derive(Clone, Debug, PartialEq, Hash, Serialize, Deserialize)]
pub struct Charge {
    /// The row of the journal that records it.
    pub seq: u64,
    /// When it ended.
    pub at: Time,
    /// For which ticket.
    pub ticket: TicketId,
    /// The ticket's n-th attempt, from 1.
    pub attempt: u32,
    /// The agent that worked.
    pub agent: AgentName,
    /// The step, from 1; one that failed is followed by another of the same number.
    pub step: u32,
    /// The id of the run.
    pub run: Option<RunId>,
    /// The class of its failure; none when it ended well.
    pub failed: Option<Class>,
    /// The usage of the step.
    pub usage: Usage,
}

/// The key by which charges are summed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// Nothing: each step for itself, oldest first.
    Step,
    /// Attempts, by ticket.
    Attempt,
    /// Tickets, the most expensive first.
    Ticket,
    /// Agents, the most expensive first.
    Agent,
    /// Days of UTC, oldest first.
    Day,
}

/// The charges that count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only steps of this ticket.
    pub ticket: Option<TicketId>,
    /// Only steps of this agent.
    pub agent: Option<AgentName>,
    /// Only steps that ended then or later.
    pub since: Option<Time>,
}

/// A sum of charges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Sum {
    /// Steps that ended.
    pub steps: u64,
    /// The number of them that did not end well, stopped ones too.
    pub failed: u64,
    /// The usage of all of them.
    pub usage: Usage,
}

/// Charges that belong together. A field that they do not have in common is none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Line {
    /// The ticket.
    pub ticket: Option<TicketId>,
    /// Its title: text of its author, not sanitised.
    pub title: Option<String>,
    /// The attempt.
    pub attempt: Option<u32>,
    /// The agent.
    pub agent: Option<AgentName>,
    /// The day.
    pub day: Option<Day>,
    /// The step.
    pub charge: Option<Charge>,
    /// Their sum.
    pub sum: Sum,
}

/// An answer to "what was paid".
#[derive(Clone, Debug, PartialEq)]
pub struct Costs {
    /// In the order that belongs to what they are summed by.
    pub lines: Vec<Line>,
    /// All of them together.
    pub total: Sum,
    /// Steps that run and pass the filter: they count when they have ended.
    pub running: u32,
}

/// Charges being summed up.
#[derive(Clone, Debug)]
pub struct Sums {
    by: By,
    filter: Filter,
    total: Sum,
    /// Each by itself: there may be one for every step that ever ended, and a map leaves room between what it
    /// holds.
    lines: BTreeMap<(String, u64), Box<Line>>,
}

impl Sum {
    fn add(&mut self, charge: &Charge) {
        self.steps += 1;
        self.failed += u64::from(charge.failed.is_some());
        self.usage.add(charge.usage);
    }
}

impl Filter {
    fn takes(&self, charge: &Charge) -> bool {
        self.ticket.as_ref().is_none_or(|ticket| *ticket == charge.ticket)
            && self.agent.as_ref().is_none_or(|agent| *agent == charge.agent)
            && self.since.is_none_or(|since| charge.at >= since)
    }
}

impl Charge {
    /// The charge that this event of an attempt is, if it is the end of a step. `attempt` is as it was
    /// before.
    pub(super) fn of(
        event: &Event,
        ticket: &TicketId,
        attempt: &Attempt,
        seq: u64,
        at: Time,
    ) -> Option<Self> {
        let (usage, failed) = match event {
            Event::StepFinished { usage, .. } => (*usage, None),
            Event::StepFailed { usage, failure, .. } => (*usage, Some(failure.class)),
            Event::WorkspaceReady { .. }
            | Event::StepStarted { .. }
            | Event::WorkerSpawned
            | Event::StopOrdered { .. }
            | Event::Answered { .. }
            | Event::Woken
            | Event::WokenEarly { .. }
            | Event::WaitTimedOut
            | Event::Recovered { .. }
            | Event::Retried { .. }
            | Event::TicketEdited
            | Event::Submitted
            | Event::ChecksPassed
            | Event::Delegated { .. }
            | Event::ChildrenEndOrdered { .. }
            | Event::ChildrenOver { .. }
            | Event::Returned { .. }
            | Event::Called { .. }
            | Event::ModeSet { .. }
            | Event::ModeAnnounced { .. }
            | Event::Said { .. }
            | Event::Baited { .. }
            | Event::WentQuiet(_)
            | Event::Stirred => return None,
        };
        Some(Self {
            seq,
            at,
            ticket: ticket.clone(),
            attempt: attempt.claim.number,
            agent: attempt.claim.agent.clone(),
            step: attempt.conversation.steps + 1,
            run: attempt
                .conversation
                .worker
                .as_ref()
                .map(|worker| worker.run.clone()),
            failed,
            usage,
        })
    }
}

impl Charge {
    /// The charge that this event of a review is, if it is the end of a step. `review` is as it was before,
    /// and `attempt` the number of the attempt whose work is reviewed.
    pub(super) fn of_review(
        event: &ReviewEvent,
        ticket: &TicketId,
        attempt: u32,
        review: &Review,
        seq: u64,
        at: Time,
    ) -> Option<Self> {
        let failed = match event {
            ReviewEvent::Failed { failure, .. } => Some(failure.class),
            ReviewEvent::Started { .. }
            | ReviewEvent::Spawned
            | ReviewEvent::StopOrdered { .. }
            | ReviewEvent::Finished { .. }
            | ReviewEvent::VerdictNoted { .. }
            | ReviewEvent::Called { .. }
            | ReviewEvent::WentQuiet(_)
            | ReviewEvent::Stirred
            | ReviewEvent::Asked { .. }
            | ReviewEvent::Answered { .. }
            | ReviewEvent::WaitTimedOut => None,
        };
        let conversation = &review.conversation;
        Some(Self {
            seq,
            at,
            ticket: ticket.clone(),
            attempt,
            agent: review.agent.clone(),
            step: conversation.steps + 1,
            run: conversation.worker.as_ref().map(|worker| worker.run.clone()),
            failed,
            usage: event.usage()?,
        })
    }
}

impl Sums {
    /// Adds a charge, if it counts, of a ticket with this title.
    pub fn add(&mut self, charge: &Charge, title: Option<&str>) {
        if !self.filter.takes(charge) {
            return;
        }
        self.total.add(charge);
        let key = match self.by {
            By::Step => (String::new(), charge.seq),
            By::Attempt => (charge.ticket.to_string(), u64::from(charge.attempt)),
            By::Ticket => (charge.ticket.to_string(), 0),
            By::Agent => (charge.agent.to_string(), 0),
            By::Day => (charge.at.day().to_string(), 0),
        };
        let new = || Box::new(Line::of(self.by, charge, title));
        self.lines.entry(key).or_insert_with(new).sum.add(charge);
    }
}

impl Snapshot {
    /// The costs of the steps that `filter` takes, summed by `by`.
    #[must_use]
    pub fn costs(&self, by: By, filter: &Filter) -> Costs {
        self.costs_of(self.sums(by, filter))
    }

    /// The same, still to be added to: archived tickets are not in it.
    #[must_use]
    pub fn sums(&self, by: By, filter: &Filter) -> Sums {
        let mut sums = Sums {
            by,
            filter: filter.clone(),
            total: Sum::default(),
            lines: BTreeMap::new(),
        };
        for charge in &self.charges {
            let ticket = self.tickets.get(&charge.ticket);
            sums.add(charge, ticket.map(|ticket| ticket.spec.title.as_str()));
        }
        sums
    }

    /// The sums as costs, in order.
    #[must_use]
    pub fn costs_of(&self, sums: Sums) -> Costs {
        let Sums {
            by,
            filter,
            total,
            lines,
        } = sums;
        let mut lines: Vec<Line> = lines.into_values().map(|line| *line).collect();
        if let By::Ticket | By::Agent = by {
            let dear = |line: &Line| (line.sum.usage.cost_micro_usd, line.sum.usage.tokens());
            lines.sort_by_key(|line| std::cmp::Reverse(dear(line)));
        }
        let runs = |ticket: &&Arc<Ticket>| {
            let of = |attempt: &Attempt| {
                filter
                    .agent
                    .as_ref()
                    .is_none_or(|agent| *agent == attempt.claim.agent)
            };
            ticket.live_run().is_some()
                && ticket.attempt().is_some_and(of)
                && filter.ticket.as_ref().is_none_or(|id| *id == ticket.id)
        };
        let running = self.tickets.values().filter(runs).count();
        Costs {
            lines,
            total,
            running: u32::try_from(running).unwrap_or(u32::MAX),
        }
    }
}

impl Line {
    fn of(by: By, charge: &Charge, title: Option<&str>) -> Self {
        let title = || title.map(str::to_owned);
        let line = Line::default();
        match by {
            By::Step => Line {
                ticket: Some(charge.ticket.clone()),
                title: title(),
                attempt: Some(charge.attempt),
                agent: Some(charge.agent.clone()),
                day: Some(charge.at.day()),
                charge: Some(charge.clone()),
                ..line
            },
            By::Attempt => Line {
                ticket: Some(charge.ticket.clone()),
                title: title(),
                attempt: Some(charge.attempt),
                agent: Some(charge.agent.clone()),
                ..line
            },
            By::Ticket => Line {
                ticket: Some(charge.ticket.clone()),
                title: title(),
                ..line
            },
            By::Agent => Line {
                agent: Some(charge.agent.clone()),
                ..line
            },
            By::Day => Line {
                day: Some(charge.at.day()),
                ..line
            },
        }
    }
}
