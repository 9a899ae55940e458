//! Capacity: how many agents may be busy, exist, and have a process at once. Of all tickets only those with
//! an attempt matter; a caller that has these apart need not pass the others.

use std::collections::BTreeSet;

use crate::settings;
use crate::ticket::Ticket;
use crate::{AgentName, attempt};

/// The limits, as the settings give them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Agents busy at once.
    pub busy: u32,
    /// Agents that crew names by itself: the busy ones, and as many again whose work is being landed. Those
    /// who wait for a person or for a time are not counted.
    pub names: u32,
    /// True if the settings name the agents: then crew names none by itself, whatever waits.
    pub fixed: bool,
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
            fixed: !agents.names.is_empty(),
            workers: run.max_workers,
        }
    }
}

/// Agents whose slot is taken by work that goes on: one whose work is on its way to the target (it is
/// checked, reviewed, or in the train), or that waits for an answer or for its wakeup, is not busy. A batch
/// of the train may so be larger than the number of agents at work.
#[must_use]
pub fn busy<'t>(tickets: impl Iterator<Item = &'t Ticket>) -> u32 {
    count(tickets, |t| {
        t.attempt()
            .is_some_and(|a| a.claim.has_slot() && !submitted(a) && !waits(a))
    })
}

/// True if the agent of an attempt has said that its work is done, and nothing came back to it.
fn submitted(attempt: &attempt::Attempt) -> bool {
    match attempt.state {
        attempt::State::Verifying | attempt::State::Done => true,
        attempt::State::Preparing
        | attempt::State::Ready
        | attempt::State::Working(_)
        | attempt::State::WaitingForInput { .. }
        | attempt::State::WaitingForWakeup { .. }
        | attempt::State::WaitingForChildren { .. }
        | attempt::State::Stuck { .. } => false,
    }
}

/// True if an attempt waits for a person or for a time, which may be for days, or for its children, which
/// have its agent's place.
fn waits(attempt: &attempt::Attempt) -> bool {
    match attempt.state {
        attempt::State::WaitingForInput { .. }
        | attempt::State::WaitingForWakeup { .. }
        | attempt::State::WaitingForChildren { .. } => true,
        attempt::State::Preparing
        | attempt::State::Ready
        | attempt::State::Working(_)
        | attempt::State::Verifying
        | attempt::State::Done
        | attempt::State::Stuck { .. } => false,
    }
}

/// Agents of `roster` whose slot is free, by name.
#[must_use]
pub fn idle<'a, 't>(
    tickets: impl Iterator<Item = &'t Ticket>,
    roster: &'a BTreeSet<AgentName>,
) -> Vec<&'a AgentName> {
    let holding: BTreeSet<&AgentName> = tickets.filter_map(Ticket::slot).collect();
    roster.iter().filter(|name| !holding.contains(name)).collect()
}

/// Claims that may be made now: further agents that may become busy, whether or not they exist yet.
#[must_use]
pub fn free<'t>(tickets: impl Iterator<Item = &'t Ticket>, limits: Limits) -> u32 {
    limits.busy.saturating_sub(busy(tickets))
}

/// Agents that crew should name now, so that `work` eligible tickets find someone: none while the idle ones
/// suffice, none where the settings name the agents, none beyond [`Limits::names`], not counting those who
/// wait for a person or a time, and none beyond [`settings::MAX_AGENTS`] in all.
#[must_use]
pub fn further<'t>(
    tickets: impl Iterator<Item = &'t Ticket> + Clone,
    roster: &BTreeSet<AgentName>,
    limits: Limits,
    work: usize,
) -> u32 {
    if limits.fixed {
        return 0;
    }
    let size = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let wanted = size(work).min(free(tickets.clone(), limits));
    let missing = wanted.saturating_sub(size(idle(tickets.clone(), roster).len()));
    let waiting = count(tickets, |t| {
        t.attempt().is_some_and(|a| a.claim.has_slot() && waits(a))
    });
    let names = limits
        .names
        .saturating_add(waiting)
        .min(settings::MAX_AGENTS.max(limits.names));
    missing.min(names.saturating_sub(size(roster.len())))
}

/// Steps that may be started now. Those of gatekeepers count too.
#[must_use]
pub fn workers<'t>(tickets: impl Iterator<Item = &'t Ticket>, limits: Limits) -> u32 {
    let live: usize = tickets.map(|t| t.live_conversations().count()).sum();
    limits
        .workers
        .saturating_sub(u32::try_from(live).unwrap_or(u32::MAX))
}

fn count<'t>(tickets: impl Iterator<Item = &'t Ticket>, what: impl Fn(&Ticket) -> bool) -> u32 {
    u32::try_from(tickets.filter(|t| what(t)).count()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::TicketId;
    use crate::attempt::{Attempt, Claim, StartPoint};
    use crate::conversation::Conversation;
    use crate::ticket::State;
    use crate::worker::Worker;
    use crate::{Fence, RunId, SessionId, Time};

    fn name(text: &str) -> AgentName {
        AgentName::new(text).unwrap()
    }

    fn taken(id: &str, agent: &str, state: attempt::State) -> (TicketId, Ticket) {
        let id = TicketId::new(id).unwrap();
        let session = SessionId(uuid::Uuid::from_u128(1));
        let claim = Claim::new(name(agent), Fence(1), 1, StartPoint::Target);
        let conversation = Conversation::new(crate::samples::harness(), session);
        let mut attempt = Attempt::new(claim, conversation, Time(0));
        attempt.state = state;
        let state = State::InProgress(Box::new(attempt));
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
        fixed: false,
        workers: 1,
    };

    #[test]
    fn an_agent_whose_work_is_submitted_makes_room_for_another_at_most_as_many_again() {
        let roster = BTreeSet::from([name("a"), name("b")]);
        let mut tickets = BTreeMap::from([
            taken("t-1", "a", attempt::State::Ready),
            taken("t-2", "b", attempt::State::Ready),
        ]);
        assert_eq!((busy(tickets.values()), free(tickets.values(), LIMITS)), (2, 0));
        assert_eq!(further(tickets.values(), &roster, LIMITS, 9), 0, "both are busy");

        tickets.extend([
            taken("t-1", "a", attempt::State::Verifying),
            taken("t-2", "b", attempt::State::Done),
        ]);
        assert_eq!((busy(tickets.values()), free(tickets.values(), LIMITS)), (0, 2));
        assert_eq!(
            idle(tickets.values(), &roster),
            Vec::<&AgentName>::new(),
            "their slots are taken all the same"
        );
        assert_eq!(further(tickets.values(), &roster, LIMITS, 9), 2);
        assert_eq!(
            further(tickets.values(), &roster, LIMITS, 1),
            1,
            "no more than there is work"
        );

        let full = BTreeSet::from([name("a"), name("b"), name("c"), name("d")]);
        tickets.extend([
            taken("t-3", "c", attempt::State::Verifying),
            taken("t-4", "d", attempt::State::Verifying),
        ]);
        assert_eq!(
            further(tickets.values(), &full, LIMITS, 9),
            0,
            "as many again, and no more"
        );
    }

    fn asleep() -> attempt::State {
        attempt::State::WaitingForWakeup {
            at: Time(1),
            why: "the build".to_owned(),
        }
    }

    fn asking() -> attempt::State {
        attempt::State::WaitingForInput {
            question: "which?".to_owned(),
            until: None,
        }
    }

    #[test]
    fn a_fleet_of_sleeping_agents_does_not_starve_the_queue() {
        let names = ["a", "b", "c", "d", "e", "f"];
        let roster: BTreeSet<_> = names.iter().map(|n| name(n)).collect();
        let tickets: BTreeMap<_, _> = names
            .iter()
            .enumerate()
            .map(|(n, name)| {
                let state = if n % 2 == 0 { asleep() } else { asking() };
                taken(&format!("t-{n}"), name, state)
            })
            .collect();
        assert_eq!((busy(tickets.values()), free(tickets.values(), LIMITS)), (0, 2));
        assert_eq!(
            further(tickets.values(), &roster, LIMITS, 9),
            2,
            "as many as may be busy, no more"
        );
        let fixed = Limits {
            fixed: true,
            ..LIMITS
        };
        assert_eq!(
            further(tickets.values(), &roster, fixed, 9),
            0,
            "a person named them all"
        );
    }

    #[test]
    fn however_many_sleep_there_are_no_more_agents_than_a_crew_may_have() {
        let limits = Limits {
            busy: settings::MAX_AGENTS,
            names: settings::MAX_AGENTS,
            ..LIMITS
        };
        let names: Vec<String> = (0..settings::MAX_AGENTS).map(|n| format!("a-{n}")).collect();
        let roster: BTreeSet<_> = names.iter().map(|n| name(n)).collect();
        let tickets = names.iter().enumerate();
        let tickets: BTreeMap<TicketId, Ticket> = tickets
            .map(|(n, name)| taken(&format!("t-{n}"), name, asleep()))
            .collect();
        assert_eq!(further(tickets.values(), &roster, limits, 9), 0);
    }

    #[test]
    fn idle_agents_are_used_before_new_ones_are_named() {
        let roster = BTreeSet::from([name("a"), name("b")]);
        let tickets = BTreeMap::from([taken("t-1", "a", attempt::State::Ready)]);
        assert_eq!(idle(tickets.values(), &roster), [&name("b")]);
        assert_eq!(further(tickets.values(), &roster, LIMITS, 9), 0);
        assert_eq!(further(std::iter::empty(), &BTreeSet::new(), LIMITS, 9), 2);
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
                fixed: true,
                workers: 10
            }
        );
        let roster: BTreeSet<_> = agents.names.into_iter().collect();
        let tickets = BTreeMap::from([taken("t-1", "a", attempt::State::Done)]);
        assert_eq!(further(tickets.values(), &roster, limits, 9), 0);
        assert_eq!(
            further(std::iter::empty(), &BTreeSet::new(), limits, 9),
            0,
            "they are taken on by their names"
        );
        let limits = Limits::new(&settings::Agents::default(), &settings::Run::default());
        assert_eq!((limits.busy, limits.names), (4, 8));
    }

    #[test]
    fn live_workers_are_counted_not_agents() {
        let (id, mut ticket) = taken("t-1", "a", attempt::State::Ready);
        let State::InProgress(attempt) = &mut ticket.state else {
            panic!("it was taken")
        };
        attempt.conversation.worker = Some(Worker::new(RunId::of_step(&id, Fence(1), 1)));
        let tickets = BTreeMap::from([(id, ticket), taken("t-2", "b", attempt::State::Ready)]);
        assert_eq!(workers(tickets.values(), LIMITS), 0);
        assert_eq!(workers(tickets.values(), Limits { workers: 3, ..LIMITS }), 2);
    }
}
