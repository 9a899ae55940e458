//! Archive: tickets that are over and taken out of the fold, so that the fold is as large as the work that
//! goes on.
//!
//! Each leaves a [`Record`]. With all of them restored, a view is as it would be had nothing been archived;
//! everything that is shown without them (counts, dependencies, the latest landings) is the same either way.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{AttemptSummary, Charge, Landed, Snapshot};
use crate::attempt::Usage;
use crate::ticket::{Done, State, Ticket};
use crate::{TicketId, Time};

/// The shape of a stored view and its records, and of the fold's result for a row: a view that was stored
/// with another is made anew from the rows.
pub const SHAPE: u32 = 5;

/// The time for which a ticket has been over when it is archived: its cost then belongs to no day whose
/// budget still counts.
const REST: Duration = Duration::from_secs(24 * 60 * 60);

/// The number of latest landings that stay in the view, archived or not.
pub const LANDINGS: usize = 100;

/// The archived tickets, as far as they are shown without their records.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Archived {
    /// Their ids.
    pub tickets: BTreeSet<TicketId>,
    /// The ids of those that were dropped: a ticket may depend on one.
    pub dropped: BTreeSet<TicketId>,
    /// The number of them that landed.
    pub landed: u32,
    /// The number of them that ended in any other way.
    pub ended: u32,
    /// Landings that are in no view but with their records.
    pub landings: u32,
}

/// An archived ticket: the entries that the view had of it beside its state.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Record {
    /// The id of the ticket.
    pub ticket: TicketId,
    /// The cost of the ticket.
    pub cost: TicketCost,
    /// The attempts at it.
    pub summaries: Summaries,
}

/// The cost of a ticket, step by step.
#[derive(Clone, Debug, PartialEq, Hash, Serialize, Deserialize)]
pub struct TicketCost {
    /// Its title: text of its author, not sanitised.
    pub title: String,
    /// The oldest first.
    pub charges: Vec<Charge>,
}

/// The attempts at a ticket, and its landings.
#[derive(Clone, Debug, PartialEq, Hash, Serialize, Deserialize)]
pub struct Summaries {
    /// The attempts, by number.
    pub attempts: Vec<AttemptSummary>,
    /// The oldest first.
    pub landed: Vec<Landed>,
}

impl Snapshot {
    /// Tickets that may be archived, at most so many: over for a day, and no ticket that is not over depends
    /// on them or recovers them. One that failed waits for a person's word.
    #[must_use]
    pub fn behind(&self, now: Time, most: usize) -> BTreeSet<TicketId> {
        let open = self.tickets.values().filter(|ticket| !ticket.is_done());
        let linked: BTreeSet<&TicketId> = open
            .flat_map(|ticket| ticket.spec.deps.iter().chain(&ticket.spec.recovers))
            .collect();
        self.tickets
            .values()
            .filter(|ticket| ticket.is_done() && ticket.unheeded.is_none() && !ticket.has_failed())
            .filter(|ticket| ticket.since + REST <= now && !linked.contains(&ticket.id))
            .map(|ticket| ticket.id.clone())
            .take(most)
            .collect()
    }

    /// Takes tickets that are over out of the view; a ticket that is not there stays away.
    pub fn archive(&mut self, tickets: &BTreeSet<TicketId>) -> Vec<Record> {
        let mut charges: BTreeMap<TicketId, Vec<Charge>> = BTreeMap::new();
        let all = std::mem::take(&mut self.charges);
        for charge in all {
            match tickets.contains(&charge.ticket) && self.tickets.contains_key(&charge.ticket) {
                true => charges.entry(charge.ticket.clone()).or_default().push(charge),
                false => self.charges.push(charge),
            }
        }
        let mut landed: BTreeMap<TicketId, Vec<Landed>> = BTreeMap::new();
        for one in &self.landed {
            if tickets.contains(&one.ticket) {
                landed.entry(one.ticket.clone()).or_default().push(one.clone());
            }
        }
        let mut records = Vec::new();
        for id in tickets {
            let Some(ticket) = self.tickets.remove(id) else {
                continue;
            };
            *self.archived.counted(&ticket) += 1;
            if let Some(ids) = self.archived.unsatisfying(&ticket) {
                ids.insert(id.clone());
            }
            let attempts = self.attempts.range((id.clone(), 0)..=(id.clone(), u32::MAX));
            let keys: Vec<_> = attempts.map(|(key, _)| key.clone()).collect();
            records.push(Record {
                ticket: id.clone(),
                cost: TicketCost {
                    title: ticket.spec.title.clone(),
                    charges: charges.remove(id).unwrap_or_default(),
                },
                summaries: Summaries {
                    attempts: keys.iter().filter_map(|key| self.attempts.remove(key)).collect(),
                    landed: landed.remove(id).unwrap_or_default(),
                },
            });
            self.archived.tickets.insert(id.clone());
        }
        let mut old = self.landed.len().saturating_sub(LANDINGS);
        let before = self.landed.len();
        self.landed.retain(|one| {
            let is_old = old > 0;
            old = old.saturating_sub(1);
            !is_old || !self.archived.tickets.contains(&one.ticket)
        });
        self.archived.landings += count(before - self.landed.len());
        records
    }

    /// Restores an archived ticket as it was.
    pub fn restore(&mut self, record: Record, ticket: Arc<Ticket>) {
        if !self.archived.tickets.remove(&record.ticket) {
            return;
        }
        self.archived.dropped.remove(&record.ticket);
        let counted = self.archived.counted(&ticket);
        *counted = counted.saturating_sub(1);
        self.tickets.insert(record.ticket.clone(), ticket);
        self.charges.extend(record.cost.charges);
        self.take_summaries(record.summaries);
    }

    fn take_summaries(&mut self, summaries: Summaries) {
        for work in summaries.attempts {
            self.attempts.insert((work.ticket.clone(), work.attempt), work);
        }
        for landed in summaries.landed {
            if let Err(at) = self.landed.binary_search_by_key(&landed.seq, |one| one.seq) {
                self.landed.insert(at, landed);
                self.archived.landings = self.archived.landings.saturating_sub(1);
            }
        }
    }

    /// Puts restored entries where they belong: the charges are sorted, the oldest first.
    pub fn sort_charges(&mut self) {
        self.charges.sort_by_key(|charge| charge.seq);
    }

    /// The usage of all steps that ever ended, as their agents were charged for them.
    #[must_use]
    pub fn paid(&self) -> Usage {
        let mut paid = Usage::default();
        self.members.values().for_each(|member| paid.add(member.usage));
        paid
    }

    /// The number of landings that there ever were.
    #[must_use]
    pub fn landings(&self) -> usize {
        self.landed.len() + self.archived.landings as usize
    }

    /// True if a ticket is over, archived or not, in a way in which those that depend on it may begin.
    pub(super) fn satisfies_dependents(&self, id: &TicketId) -> bool {
        match self.tickets.get(id).map(|ticket| &ticket.state) {
            Some(State::Done(done)) => done.satisfies_dependents(),
            Some(State::New | State::Open | State::InProgress(_) | State::Verify(_)) => false,
            None => self.archived.satisfies_dependents(id),
        }
    }
}

impl Archived {
    /// True if such a ticket was archived, and those that depend on it may begin.
    fn satisfies_dependents(&self, id: &TicketId) -> bool {
        self.tickets.contains(id) && !self.dropped.contains(id)
    }

    /// The set of those that ended as this ticket did, where no ticket that depends on it may begin.
    fn unsatisfying(&mut self, ticket: &Ticket) -> Option<&mut BTreeSet<TicketId>> {
        match &ticket.state {
            State::Done(Done::Dropped { .. }) => Some(&mut self.dropped),
            State::Done(
                Done::Landed { .. }
                | Done::Failed { .. }
                | Done::NotNeeded
                | Done::Replaced { .. }
                | Done::ClosedByPerson,
            )
            | State::New
            | State::Open
            | State::InProgress(_)
            | State::Verify(_) => None,
        }
    }

    /// The number that such a ticket is counted in.
    fn counted(&mut self, ticket: &Ticket) -> &mut u32 {
        match &ticket.state {
            State::Done(Done::Landed { .. }) => &mut self.landed,
            State::Done(
                Done::Failed { .. }
                | Done::NotNeeded
                | Done::Replaced { .. }
                | Done::Dropped { .. }
                | Done::ClosedByPerson,
            )
            | State::New
            | State::Open
            | State::InProgress(_)
            | State::Verify(_) => &mut self.ended,
        }
    }
}

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
