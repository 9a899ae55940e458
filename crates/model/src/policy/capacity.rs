//! How many agents may be busy, exist, and have a process at once.

use std::collections::{BTreeMap, BTreeSet};

use crate::settings;
use crate::ticket::Ticket;
use crate::{AgentName, TicketId, attempt};

/// The limits, as the settings give them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Agents busy at once.
    pub busy: u32,
    /// Agents that crew names by itself: the busy ones, and as many again that only wait for landing. With fixed names,
    /// as many as there are names.
    pub names: u32,
    /// Agent processes at once.
    pub workers: u32,
}

impl Limits {
    /// The limits that `[agents]` and `[run]` set.
    #[must_use]
    pub fn new(agents: &settings::Agents, run: &settings::Run) -> Self {
        let fixed = u32::try_from(agents.names.len()).unwrap_or(u32::MAX);
        let (busy, names) = match fixed {
            0 => (agents.count, agents.count.saturating_mul(2)),
            fixed => (fixed, fixed),
        };
        Self {
            busy,
            names,
            workers: run.max_workers,
        }
    }
}

/// Agents whose slot is taken by work that goes on: one that only waits for its work to land is not busy.
#[must_use]
pub fn busy(tickets: &BTreeMap<TicketId, Ticket>) -> u32 {
    count(tickets, |t| {
        t.attempt()
            .is_some_and(|a| a.seated && !matches!(a.state, attempt::State::Done))
    })
}

/// Agents of `roster` whose slot is free, by name.
#[must_use]
pub fn idle<'a>(tickets: &BTreeMap<TicketId, Ticket>, roster: &'a BTreeSet<AgentName>) -> Vec<&'a AgentName> {
    let seated: BTreeSet<&AgentName> = tickets.values().filter_map(Ticket::seat).collect();
    roster.iter().filter(|name| !seated.contains(name)).collect()
}

/// Claims that may be made now: further agents that may become busy, whether or not they exist yet.
#[must_use]
pub fn free(tickets: &BTreeMap<TicketId, Ticket>, limits: Limits) -> u32 {
    limits.busy.saturating_sub(busy(tickets))
}

/// Agents that crew should name now, so that `work` eligible tickets find someone: none while the idle ones suffice, none
/// beyond [`Limits::names`].
#[must_use]
pub fn further(
    tickets: &BTreeMap<TicketId, Ticket>,
    roster: &BTreeSet<AgentName>,
    limits: Limits,
    work: usize,
) -> u32 {
    let size = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let wanted = size(work).min(free(tickets, limits));
    let missing = wanted.saturating_sub(size(idle(tickets, roster).len()));
    missing.min(limits.names.saturating_sub(size(roster.len())))
}

/// Steps that may be started now.
#[must_use]
pub fn workers(tickets: &BTreeMap<TicketId, Ticket>, limits: Limits) -> u32 {
    limits
        .workers
        .saturating_sub(count(tickets, |t| t.live_run().is_some()))
}

fn count(tickets: &BTreeMap<TicketId, Ticket>, what: impl Fn(&Ticket) -> bool) -> u32 {
    u32::try_from(tickets.values().filter(|t| what(t)).count()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attempt::{Attempt, From};
    use crate::ticket::State;
    use crate::worker::Worker;
    use crate::{Fence, RunId, SessionId, Time};

    fn name(text: &str) -> AgentName {
        AgentName::new(text).unwrap()
    }

    fn taken(id: &str, agent: &str, state: attempt::State) -> (TicketId, Ticket) {
        let id = TicketId::new(id).unwrap();
        let session = SessionId(uuid::Uuid::from_u128(1));
        let mut attempt = Attempt::new(name(agent), Fence(1), 1, From::Target, session, Time(0));
        attempt.state = state;
        let state = State::InProgress(attempt);
        (
            id.clone(),
            Ticket {
                state,
                ..Ticket::new(id)
            },
        )
    }

    const LIMITS: Limits = Limits {
        busy: 2,
        names: 4,
        workers: 1,
    };

    #[test]
    fn an_agent_that_waits_for_landing_makes_room_for_another_at_most_as_many_again() {
        let roster = BTreeSet::from([name("a"), name("b")]);
        let mut tickets = BTreeMap::from([
            taken("t-1", "a", attempt::State::Ready),
            taken("t-2", "b", attempt::State::Ready),
        ]);
        assert_eq!((busy(&tickets), free(&tickets, LIMITS)), (2, 0));
        assert_eq!(further(&tickets, &roster, LIMITS, 9), 0, "both are busy");

        tickets.extend([
            taken("t-1", "a", attempt::State::Done),
            taken("t-2", "b", attempt::State::Done),
        ]);
        assert_eq!((busy(&tickets), free(&tickets, LIMITS)), (0, 2));
        assert_eq!(
            idle(&tickets, &roster),
            Vec::<&AgentName>::new(),
            "their slots are taken all the same"
        );
        assert_eq!(further(&tickets, &roster, LIMITS, 9), 2);
        assert_eq!(
            further(&tickets, &roster, LIMITS, 1),
            1,
            "no more than there is work"
        );

        let full = BTreeSet::from([name("a"), name("b"), name("c"), name("d")]);
        tickets.extend([
            taken("t-3", "c", attempt::State::Done),
            taken("t-4", "d", attempt::State::Done),
        ]);
        assert_eq!(
            further(&tickets, &full, LIMITS, 9),
            0,
            "as many again, and no more"
        );
    }

    #[test]
    fn idle_agents_are_used_before_new_ones_are_named() {
        let roster = BTreeSet::from([name("a"), name("b")]);
        let tickets = BTreeMap::from([taken("t-1", "a", attempt::State::Ready)]);
        assert_eq!(idle(&tickets, &roster), [&name("b")]);
        assert_eq!(further(&tickets, &roster, LIMITS, 9), 0);
        assert_eq!(further(&BTreeMap::new(), &BTreeSet::new(), LIMITS, 9), 2);
    }

    #[test]
    fn fixed_names_are_all_there_is() {
        let agents = settings::Agents {
            names: vec![name("a"), name("b"), name("c")],
            ..Default::default()
        };
        let limits = Limits::new(&agents, &settings::Run::default());
        assert_eq!(
            limits,
            Limits {
                busy: 3,
                names: 3,
                workers: 10
            }
        );
        let roster: BTreeSet<_> = agents.names.into_iter().collect();
        let tickets = BTreeMap::from([taken("t-1", "a", attempt::State::Done)]);
        assert_eq!(further(&tickets, &roster, limits, 9), 0);
        let limits = Limits::new(&settings::Agents::default(), &settings::Run::default());
        assert_eq!((limits.busy, limits.names), (4, 8));
    }

    #[test]
    fn live_workers_are_counted_not_agents() {
        let (id, mut ticket) = taken("t-1", "a", attempt::State::Ready);
        let State::InProgress(attempt) = &mut ticket.state else {
            panic!("it was taken")
        };
        attempt.worker = Some(Worker::new(RunId::of_step(&id, Fence(1), 1)));
        let tickets = BTreeMap::from([(id, ticket), taken("t-2", "b", attempt::State::Ready)]);
        assert_eq!(workers(&tickets, LIMITS), 0);
        assert_eq!(workers(&tickets, Limits { workers: 3, ..LIMITS }), 2);
    }
}
