//! Ready queue: an incremental cache of [`route::order`]. A ticket that did not change is not looked at
//! again, however long the queue.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use model::policy::route::{self, Place, Queue, Refusal};
use model::ticket::Ticket;
use model::{TicketId, Time};

/// The eligible tickets, and those that become eligible by themselves.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReadyQueue {
    /// In the order in which they are dispatched.
    eligible: BTreeSet<Place>,
    /// Those of them that are meant for an agent.
    named: BTreeSet<TicketId>,
    /// Files that are to be still for a while longer.
    debouncing: BTreeSet<(Time, TicketId)>,
    /// Tickets whose backoff is not over.
    not_due: BTreeSet<(Time, TicketId)>,
    /// Open recovery tickets that are not needed any more.
    not_needed: BTreeSet<TicketId>,
    /// In which of these sets each is.
    said: BTreeMap<TicketId, Said>,
    /// Tickets by what they depend on or recover.
    behind: BTreeMap<TicketId, BTreeSet<TicketId>>,
    /// To be looked at again.
    stale: BTreeSet<TicketId>,
    /// The setting that everything was looked at with; none when nothing was.
    debounce: Option<Duration>,
    now: Time,
    /// Whether nothing has changed since [`ReadyQueue::take_touched`].
    is_routed: bool,
}

#[derive(Clone, Debug)]
enum Said {
    Eligible(Place),
    Debouncing(Time),
    Due(Time),
}

impl ReadyQueue {
    /// Something has changed that could let a ticket be dispatched.
    pub(crate) fn touch(&mut self) {
        self.is_routed = false;
    }

    /// Whether tickets are to be dispatched: something has changed since this was asked the last time.
    pub(crate) fn take_touched(&mut self) -> bool {
        !std::mem::replace(&mut self.is_routed, true)
    }

    /// A ticket is about to be what it is now; `old` is what it was.
    pub(crate) fn moved(&mut self, old: Option<&Ticket>, new: &Ticket) {
        self.touch();
        let id = &new.id;
        for other in links(old).filter(|other| !links(Some(new)).any(|kept| kept == *other)) {
            if let Some(behind) = self.behind.get_mut(other) {
                behind.remove(id);
                if behind.is_empty() {
                    self.behind.remove(other);
                }
            }
        }
        for other in links(Some(new)).filter(|other| !links(old).any(|had| had == *other)) {
            self.behind.entry(other.clone()).or_default().insert(id.clone());
        }
        if old.is_none_or(|old| seen_by_others(old) != seen_by_others(new)) {
            self.stale
                .extend(self.behind.get(id).into_iter().flatten().cloned());
        }
        self.stale.insert(id.clone());
    }

    /// A ticket's file is another, or gone. `known`: the journal has the ticket, and others look at that
    /// alone.
    pub(crate) fn refiled(&mut self, id: &TicketId, known: bool) {
        self.touch();
        if !known {
            self.stale
                .extend(self.behind.get(id).into_iter().flatten().cloned());
        }
        self.stale.insert(id.clone());
    }

    /// Looks again at what may have changed.
    pub(crate) fn refresh(&mut self, queue: Queue<'_>) {
        // A clock that was set back, or other settings: nothing that was said counts.
        if self.debounce != Some(queue.debounce) || queue.now < self.now {
            self.stale.extend(queue.tickets.keys().cloned());
            self.debounce = Some(queue.debounce);
        }
        self.now = queue.now;
        for waiting in [&self.debouncing, &self.not_due] {
            let over = waiting.iter().take_while(|(until, _)| *until <= queue.now);
            self.stale.extend(over.map(|(_, id)| id.clone()));
        }
        // That nothing is given out today is no ticket's own affair.
        let queue = Queue {
            pause: None,
            target: None,
            set_up: None,
            ..queue
        };
        for id in std::mem::take(&mut self.stale) {
            self.forget(&id);
            if route::is_not_needed(queue, &id) {
                self.not_needed.insert(id.clone());
            }
            let said = match route::eligible(queue, &id) {
                Ok(()) => route::place(queue, &id).map(Said::Eligible),
                Err(Refusal::Debouncing { until }) if queue.tickets.contains_key(&id) => {
                    Some(Said::Debouncing(until))
                }
                Err(Refusal::NotDue { until }) => Some(Said::Due(until)),
                Err(_) => None,
            };
            let Some(said) = said else { continue };
            match &said {
                Said::Eligible(place) => {
                    self.eligible.insert(place.clone());
                    let ticket = queue.tickets.get(&id);
                    if ticket.is_some_and(|ticket| ticket.spec.assignee.is_some()) {
                        self.named.insert(id.clone());
                    }
                }
                Said::Debouncing(until) => {
                    self.debouncing.insert((*until, id.clone()));
                }
                Said::Due(until) => {
                    self.not_due.insert((*until, id.clone()));
                }
            }
            self.said.insert(id, said);
        }
    }

    fn forget(&mut self, id: &TicketId) {
        self.not_needed.remove(id);
        self.named.remove(id);
        match self.said.remove(id) {
            Some(Said::Eligible(place)) => {
                self.eligible.remove(&place);
            }
            Some(Said::Debouncing(until)) => {
                self.debouncing.remove(&(until, id.clone()));
            }
            Some(Said::Due(until)) => {
                self.not_due.remove(&(until, id.clone()));
            }
            None => {}
        }
    }

    /// [`route::order`], at the last [`ReadyQueue::refresh`] and were no budget spent.
    pub(crate) fn order(&self) -> impl ExactSizeIterator<Item = &TicketId> {
        self.eligible.iter().map(|place| &place.id)
    }

    /// Those of [`ReadyQueue::order`] that say whom they are meant for.
    pub(crate) fn named(&self) -> impl Iterator<Item = &TicketId> {
        self.named.iter()
    }

    /// [`route::not_needed`].
    pub(crate) fn not_needed(&self) -> impl Iterator<Item = &TicketId> {
        self.not_needed.iter()
    }

    /// [`route::debounce_ends_at`].
    pub(crate) fn debounce_ends_at(&self) -> Option<Time> {
        self.debouncing.first().map(|(until, _)| *until)
    }

    /// Compares everything with what a look at the whole queue says: every test and simulation of a build for
    /// tests does it at every turn.
    #[cfg(debug_assertions)]
    pub(crate) fn check(&self, queue: Queue<'_>) {
        let queue = Queue {
            pause: None,
            target: None,
            set_up: None,
            ..queue
        };
        let ready: Vec<&TicketId> = self.order().collect();
        assert_eq!(ready, route::order(queue));
        let over: Vec<&TicketId> = self.not_needed().collect();
        assert_eq!(over, route::not_needed(queue));
        assert_eq!(self.debounce_ends_at(), route::debounce_ends_at(queue));
        let meant = |ids: &mut dyn Iterator<Item = &TicketId>| -> BTreeSet<model::AgentName> {
            ids.filter_map(|id| route::assignee(queue, id).cloned()).collect()
        };
        assert_eq!(meant(&mut self.named()), meant(&mut ready.into_iter()));
    }
}

/// The facts on which a ticket's own standing depends.
fn links(ticket: Option<&Ticket>) -> impl Iterator<Item = &TicketId> {
    let open = ticket.filter(|ticket| !ticket.is_done());
    open.into_iter()
        .flat_map(|ticket| ticket.spec.deps.iter().chain(&ticket.spec.recovers))
}

/// The facts on which the standing of others can depend: whether it is done, how, and whether
/// it has failed.
fn seen_by_others(ticket: &Ticket) -> (bool, Option<&'static str>, bool) {
    use model::ticket::State;
    let done = match &ticket.state {
        State::Done(done) => Some(done.name()),
        State::New | State::Open | State::InProgress(_) | State::Verify(_) => None,
    };
    (ticket.is_done(), done, ticket.has_failed())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use model::AgentName;
    use model::policy::budget::Spent;
    use model::policy::route::File;
    use model::ticket::{Done, FileStatus, Held, Spec, State, Why};
    use model::time::Day;
    use proptest::collection::{btree_set, vec};
    use proptest::prelude::*;

    use super::*;
    use crate::spending::Spending;

    const IDS: usize = 5;

    fn id(n: usize) -> TicketId {
        TicketId::new(format!("t-{n}")).unwrap()
    }

    #[derive(Clone, Debug)]
    enum Change {
        Ticket(Box<Ticket>),
        File(usize, Option<File>),
        Time(Time),
        Debounce(Duration),
    }

    fn ticket() -> impl Strategy<Value = Ticket> {
        let links = (
            btree_set(0..IDS + 1, 0..3),
            prop::option::weighted(0.3, 0..IDS + 1),
        );
        let spec = (
            links,
            0..3u8,
            0..3i64,
            prop::option::of(prop_oneof!["ann", "zoe"]),
        )
            .prop_map(|((deps, recovers), priority, created, assignee)| Spec {
                deps: deps.into_iter().map(id).collect(),
                recovers: recovers.map(id),
                created: Time(created),
                priority,
                assignee,
                ..Spec::default()
            });
        let state = prop_oneof![
            6 => Just(State::Open),
            1 => Just(State::New),
            1 => Just(State::Done(Done::NotNeeded)),
            1 => Just(State::Done(Done::Failed { reason: String::new() })),
            1 => Just(State::Done(Done::Dropped { by: model::Actor::Engine, reason: String::new() })),
        ];
        let held = prop_oneof![
            6 => Just(None),
            1 => Just(Some(Why::Failed)),
            1 => Just(Some(Why::NoProgress)),
            1 => Just(Some(Why::Killed)),
        ];
        let spent = vec((0..3i64, 0..5u64), 0..3);
        let rest = (held, prop::option::weighted(0.3, 0..2000i64), spent);
        (0..IDS, spec, state, rest).prop_map(|(n, spec, state, (why, due, spent))| Ticket {
            spec,
            state,
            held: why.map(|why| {
                Box::new(Held {
                    why,
                    note: String::new(),
                    since: Time(0),
                    retry_at: None,
                    may_pass: false,
                    for_all: false,
                    output: None,
                })
            }),
            due: due.map(Time),
            spent: Spent {
                since_grant_micro_usd: 0,
                days: spent.into_iter().map(|(day, cost)| (Day(day), cost)).collect(),
            },
            ..Ticket::new(id(n))
        })
    }

    fn change() -> impl Strategy<Value = Change> {
        let status = prop_oneof![
            4 => Just(FileStatus::Open),
            1 => Just(FileStatus::InProgress),
            1 => Just(FileStatus::Closed),
        ];
        let file =
            (status, 0..2000i64, prop::bool::weighted(0.1)).prop_map(|(status, at, unreadable)| File {
                status,
                changed_at: Time(at),
                unreadable,
            });
        prop_oneof![
            6 => ticket().prop_map(|ticket| Change::Ticket(Box::new(ticket))),
            4 => (0..IDS + 1, prop::option::weighted(0.8, file)).prop_map(|(n, file)| Change::File(n, file)),
            2 => (0..3000i64).prop_map(|at| Change::Time(Time(at))),
            1 => (0..3u64).prop_map(|seconds| Change::Debounce(Duration::from_secs(seconds))),
        ]
    }

    proptest! {
        /// Whatever changes, in whatever order, also by a clock that is set back: what was kept up to date is
        /// what a look at everything would find.
        #[test]
        fn the_line_is_what_a_look_at_the_whole_queue_says(changes in vec(change(), 1..40)) {
            let (mut ready, mut spending) = (ReadyQueue::default(), Spending::default());
            let (mut tickets, mut files) = (BTreeMap::<_, Arc<Ticket>>::new(), BTreeMap::new());
            let roster = BTreeSet::from([AgentName::new("ann").unwrap()]);
            let (mut now, mut debounce) = (Time(0), Duration::ZERO);
            for change in changes {
                match change {
                    Change::Ticket(ticket) => {
                        ready.moved(tickets.get(&ticket.id).map(Arc::as_ref), &ticket);
                        spending.moved(tickets.get(&ticket.id).map(Arc::as_ref), &ticket);
                        tickets.insert(ticket.id.clone(), Arc::new(*ticket));
                    }
                    Change::File(n, file) => {
                        match file {
                            Some(file) => files.insert(id(n), file),
                            None => files.remove(&id(n)),
                        };
                        ready.refiled(&id(n), tickets.contains_key(&id(n)));
                    }
                    Change::Time(at) => now = at,
                    Change::Debounce(time) => debounce = time,
                }
                let queue = Queue { tickets: &tickets, files: &files, roster: &roster, names: &[], debounce, pause: None, target: None, set_up: None, now };
                ready.refresh(queue);
                ready.check(queue);
                for day in (0..3).map(Day) {
                    prop_assert_eq!(spending.of_day(day), model::policy::budget::of_day(&tickets, day));
                }
            }
        }
    }
}
