//! The tickets of the journal, each with the version of its stream.
//!
//! Beside the map of all tickets there are two that follow from it: the tickets with an attempt, which every
//! input may move, and the deadlines ahead, so that the next one is found without a search.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::ticket::Ticket;
use model::{AgentName, RunId, TicketId, Time};

/// Every ticket that is not archived.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tickets {
    all: BTreeMap<TicketId, Arc<Ticket>>,
    versions: BTreeMap<TicketId, u64>,
    /// Those with an attempt.
    active: BTreeMap<TicketId, Arc<Ticket>>,
    deadlines: BTreeMap<Time, BTreeSet<TicketId>>,
    /// Those that an agent has delegated and that are not done.
    delegated: BTreeSet<TicketId>,
}

impl Tickets {
    /// Every ticket, by id.
    pub(crate) fn all(&self) -> &BTreeMap<TicketId, Arc<Ticket>> {
        &self.all
    }

    /// The ticket as the journal has it.
    pub(crate) fn get(&self, id: &TicketId) -> Option<&Ticket> {
        self.all.get(id).map(Arc::as_ref)
    }

    /// Whether the journal has the ticket.
    pub(crate) fn contains(&self, id: &TicketId) -> bool {
        self.all.contains_key(id)
    }

    /// The version of the ticket's stream; 0 where there is none.
    pub(crate) fn version(&self, id: &TicketId) -> u64 {
        self.versions.get(id).copied().unwrap_or(0)
    }

    /// The ticket that an event is applied to: a new one where there is none.
    pub(crate) fn shared(&self, id: &TicketId) -> Arc<Ticket> {
        let there = self.all.get(id).cloned();
        there.unwrap_or_else(|| Ticket::new(id.clone()).into())
    }

    /// Tickets with an attempt, by id.
    pub(crate) fn active(&self) -> impl Iterator<Item = (&TicketId, &Ticket)> + Clone {
        self.active.iter().map(|(id, ticket)| (id, ticket.as_ref()))
    }

    /// The ids of tickets with an attempt, for a loop that changes them.
    pub(crate) fn active_ids(&self) -> Vec<TicketId> {
        self.active.keys().cloned().collect()
    }

    /// The ids of tickets that an agent has delegated and that are not done.
    pub(crate) fn delegated_ids(&self) -> Vec<TicketId> {
        self.delegated.iter().cloned().collect()
    }

    /// The ticket whose slot an agent takes.
    pub(crate) fn of_agent(&self, agent: &AgentName) -> Option<&TicketId> {
        let mut active = self.active();
        let of_it = active.find(|(_, ticket)| ticket.slots().any(|(name, _)| name == agent));
        of_it.map(|(id, _)| id)
    }

    /// The ticket that waits for the end of a run.
    pub(crate) fn of_run(&self, run: &RunId) -> Option<&TicketId> {
        let mut active = self.active();
        active.find(|(_, ticket)| ticket.waits_for(run)).map(|(id, _)| id)
    }

    /// The first deadline after `now`.
    pub(crate) fn next_deadline(&self, now: Time) -> Option<Time> {
        let mut ahead = self.deadlines.range(Time(now.0.saturating_add(1))..);
        ahead.next().map(|(at, _)| *at)
    }

    /// The ticket is now this one.
    pub(crate) fn put(&mut self, ticket: Arc<Ticket>, version: u64) {
        let id = ticket.id.clone();
        self.forget_deadline(&id);
        if let Some(deadline) = ticket.deadline() {
            self.deadlines.entry(deadline.at).or_default().insert(id.clone());
        }
        if ticket.attempt().is_some() {
            self.active.insert(id.clone(), Arc::clone(&ticket));
        } else {
            self.active.remove(&id);
        }
        if ticket.delegated().is_some() && !ticket.is_done() {
            self.delegated.insert(id.clone());
        } else {
            self.delegated.remove(&id);
        }
        self.versions.insert(id.clone(), version);
        self.all.insert(id, ticket);
    }

    /// The ticket was archived. A ticket that is not done stays.
    pub(crate) fn forget(&mut self, id: &TicketId) -> Option<Arc<Ticket>> {
        let ticket = self.all.get(id).filter(|ticket| ticket.is_done()).cloned()?;
        self.forget_deadline(id);
        self.all.remove(id);
        self.versions.remove(id);
        Some(ticket)
    }

    fn forget_deadline(&mut self, id: &TicketId) {
        if let Some(old) = self.get(id).and_then(Ticket::deadline)
            && let Some(there) = self.deadlines.get_mut(&old.at)
        {
            there.remove(id);
            if there.is_empty() {
                self.deadlines.remove(&old.at);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use model::ticket::{Done, State};

    use super::*;

    fn id() -> TicketId {
        TicketId::new("t-1").unwrap()
    }

    fn due(at: Option<i64>) -> Arc<Ticket> {
        let mut ticket = Ticket::new(id());
        (ticket.state, ticket.due) = (State::Open, at.map(Time));
        ticket.into()
    }

    #[test]
    fn the_next_deadline_is_the_first_ahead_and_goes_with_its_ticket() {
        let mut tickets = Tickets::default();
        tickets.put(due(Some(5)), 1);
        assert_eq!(tickets.next_deadline(Time(4)), Some(Time(5)));
        assert_eq!(tickets.next_deadline(Time(5)), None, "it is not ahead any more");
        tickets.put(due(Some(9)), 2);
        assert_eq!(
            tickets.next_deadline(Time(0)),
            Some(Time(9)),
            "the old one is gone"
        );
        tickets.put(due(None), 3);
        assert_eq!(tickets.next_deadline(Time(0)), None);
        assert_eq!(tickets.version(&id()), 3);
    }

    #[test]
    fn a_ticket_is_active_as_long_as_it_has_an_attempt() {
        let mut tickets = Tickets::default();
        let mut claimed = Ticket::new(id());
        let attempt = model::samples::attempt::first();
        let agent = attempt.claim.agent.clone();
        claimed.state = State::InProgress(attempt.into());
        tickets.put(claimed.into(), 1);
        assert_eq!(tickets.active_ids(), [id()]);
        assert_eq!(tickets.of_agent(&agent), Some(&id()));
        tickets.put(due(None), 2);
        assert!(tickets.active_ids().is_empty() && tickets.of_agent(&agent).is_none());
    }

    #[test]
    fn only_a_ticket_that_is_done_is_forgotten() {
        let mut tickets = Tickets::default();
        tickets.put(due(None), 1);
        assert_eq!(tickets.forget(&id()), None);
        let mut done = Ticket::new(id());
        done.state = State::Done(Done::NotNeeded);
        tickets.put(done.into(), 2);
        assert!(tickets.forget(&id()).is_some());
        assert_eq!((tickets.contains(&id()), tickets.version(&id())), (false, 0));
    }
}
