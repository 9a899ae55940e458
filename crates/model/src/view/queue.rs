//! The queue in numbers and lists.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use super::Snapshot;
use crate::ticket::{Done, State, Ticket};
use crate::{TicketId, Time};

/// The number of tickets in each state. Each ticket counts once; epics only as epics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Counts {
    /// In the queue and not held.
    pub open: u32,
    /// Of those, the ones that need not wait for any ticket on which they depend.
    pub ready: u32,
    /// With an agent, and not held.
    pub in_progress: u32,
    /// Submitted, and not held.
    pub verifying: u32,
    /// Waiting for a person, or for something outside crew.
    pub held: u32,
    /// Tickets that landed.
    pub landed: u32,
    /// Over in any other way.
    pub ended: u32,
    /// Epics that are not over: they are worked on through their parts.
    pub epics: u32,
}

impl Counts {
    /// All but epics.
    #[must_use]
    pub fn total(&self) -> u32 {
        self.open + self.in_progress + self.verifying + self.held + self.landed + self.ended
    }

    /// Those that are over.
    #[must_use]
    pub fn done(&self) -> u32 {
        self.landed + self.ended
    }

    /// The numbers in words, as every surface has them: `2 open`. Those that are none are left out.
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        let mut words = self.unfinished();
        words.extend(in_words([
            (self.landed, "landed"),
            (self.ended, "ended otherwise"),
        ]));
        let epics = if self.epics == 1 { "epic" } else { "epics" };
        words.extend(in_words([(self.epics, epics)]));
        words
    }

    /// As [`Self::words`], of the tickets that are not over, without epics.
    #[must_use]
    pub fn unfinished(&self) -> Vec<String> {
        let all = [
            (self.open, "open"),
            (self.in_progress, "in progress"),
            (self.verifying, "verifying"),
            (self.held, "held"),
        ];
        in_words(all).collect()
    }
}

impl Ticket {
    /// Whether it is in the queue as it is shown: it is not over, or waits for a person's word all the same.
    #[must_use]
    pub fn is_listed(&self) -> bool {
        match &self.state {
            State::Open | State::InProgress(_) | State::Verify(_) => true,
            State::Done(done) => matches!(done, Done::Failed { .. }),
            State::New => false,
        }
    }
}

/// A held ticket.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Held {
    /// The id of the ticket.
    pub ticket: TicketId,
    /// Its title.
    pub title: String,
    /// The reason's kind.
    pub why: &'static str,
    /// The reason in words, partly an agent's: not sanitised.
    pub note: String,
    /// The time at which that began.
    pub since: Time,
    /// When crew tries again by itself; none when only a person moves it on.
    pub retry_at: Option<Time>,
    /// True if its work is submitted, so that a person may wave it through.
    pub submitted: bool,
}

impl Snapshot {
    /// The number of tickets in each state.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let mut counts = Counts {
            landed: self.archived.landed,
            ended: self.archived.ended,
            ..Counts::default()
        };
        for ticket in self.tickets.values() {
            let slot = match &ticket.state {
                State::New => continue,
                State::Done(Done::Landed { .. }) => &mut counts.landed,
                State::Done(
                    Done::Failed { .. }
                    | Done::NotNeeded
                    | Done::Replaced { .. }
                    | Done::Dropped { .. }
                    | Done::ClosedByPerson,
                ) => &mut counts.ended,
                State::Open | State::InProgress(_) | State::Verify(_) if ticket.held.is_some() => {
                    &mut counts.held
                }
                State::Open if ticket.spec.kind == "epic" => &mut counts.epics,
                State::Open => {
                    if self.has_satisfied_dependencies(ticket) {
                        counts.ready += 1;
                    }
                    &mut counts.open
                }
                State::InProgress(_) => &mut counts.in_progress,
                // Nothing verifies a part of a ticket but with the whole.
                State::Verify(_) if ticket.is_unified() => &mut counts.in_progress,
                State::Verify(_) => &mut counts.verifying,
            };
            *slot += 1;
        }
        counts
    }

    /// Tickets that are worked on or verified, and not held.
    pub fn under_way(&self) -> impl Iterator<Item = &Arc<Ticket>> {
        self.tickets.values().filter(|ticket| {
            ticket.held.is_none() && matches!(ticket.state, State::InProgress(_) | State::Verify(_))
        })
    }

    /// Tickets that are held, by id.
    #[must_use]
    pub fn held(&self) -> Vec<Held> {
        let held = |ticket: &Arc<Ticket>| {
            ticket
                .held
                .as_ref()
                .filter(|_| !ticket.is_done())
                .map(|held| Held {
                    ticket: ticket.id.clone(),
                    title: ticket.spec.title.clone(),
                    why: held.why.name(),
                    note: held.note.clone(),
                    since: held.since,
                    retry_at: held.retry_at,
                    submitted: matches!(ticket.state, State::Verify(_)),
                })
        };
        self.tickets.values().filter_map(held).collect()
    }

    /// Tickets that are not over, and those that wait for a person's word all the same, in the order in
    /// which they are shown: the nearest to the target first, then by priority, age and id; a child
    /// below its parent.
    #[must_use]
    pub fn order(&self) -> Vec<&Ticket> {
        let rank = |ticket: &Ticket| match &ticket.state {
            State::Verify(_) => 0,
            State::InProgress(_) => 1,
            State::Open | State::New => 2,
            State::Done(_) => 3,
        };
        let mut open: Vec<&Ticket> = self
            .tickets
            .values()
            .map(Arc::as_ref)
            .filter(|ticket| ticket.is_listed())
            .collect();
        open.sort_by_key(|t| (rank(t), t.spec.priority, t.spec.created, &t.id));
        super::tree::tickets_in_trees(open)
    }

    fn has_satisfied_dependencies(&self, ticket: &Ticket) -> bool {
        ticket.spec.deps.iter().all(|id| self.satisfies_dependents(id))
    }
}

fn in_words<const N: usize>(all: [(u32, &'static str); N]) -> impl Iterator<Item = String> {
    let some = all.into_iter().filter(|(n, _)| *n > 0);
    some.map(|(n, what)| format!("{n} {what}"))
}
