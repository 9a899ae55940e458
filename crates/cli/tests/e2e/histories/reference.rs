//! What must be true: tickets, agents, the target's content and the person's words, in as few rules as will
//! do.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest_state_machine::ReferenceStateMachine;

/// Agents that are busy at once, as the settings say.
pub(crate) const BUSY: usize = 2;
/// What there is at most: the small numbers are where things meet.
const TICKETS: usize = 5;
const SPAWNED: u32 = 2;

/// How the step of an agent ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// It has committed a piece of work.
    Piece,
    /// It has left a piece of work uncommitted.
    Uncommitted,
    /// It has committed a piece of work, and says that all is done.
    Done,
    /// It has left a piece of work uncommitted, and says that all is done.
    DoneUncommitted,
    /// It cannot go on.
    Blocked,
}

/// What happens. Tickets are meant by their number.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    /// A person writes a ticket.
    Write,
    /// A person writes a ticket, and says in it that it is taken.
    WriteTaken,
    /// A person adds a line to a ticket's file.
    Edit(usize),
    /// A person commits to the target.
    Commit,
    /// One more agent.
    Spawn,
    /// The step that runs for a ticket ends.
    Step(usize, End),
    /// The agent at work on a ticket is killed.
    Kill(usize),
    /// A person has a held ticket tried again.
    Retry(usize),
    /// A person gives a ticket up.
    Drop(usize),
    /// A ticket that a person has taken is given to an idle agent.
    Assign(usize),
    /// The engine is started.
    Start,
}

/// What happens, and what becomes of the engine after it.
#[derive(Clone, Debug)]
pub(crate) struct Transition {
    pub(crate) act: Act,
    /// The engine is killed once it has written so many facts about it, or has no more to write; `None`: it
    /// goes on.
    pub(crate) crash: Option<u8>,
}

/// What is known of a ticket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// It waits for an agent.
    Open,
    /// It waits for the person who has taken it.
    Taken,
    /// An agent is at work on it.
    Running,
    /// It waits for a person.
    Held,
    /// Its work is on the target.
    Landed,
    /// It was given up.
    Dropped,
}

#[derive(Clone, Debug)]
pub(crate) struct Ticket {
    pub(crate) state: State,
    /// The step that runs or ran last, over all its attempts; 0: none yet.
    pub(crate) run: u32,
    /// The runs that have left a piece of work.
    pub(crate) pieces: Vec<u32>,
    /// Lines that a person has added to its file.
    pub(crate) edits: u32,
    /// Whether the step was seen to run: an engine that is killed may not have come to start it.
    is_seen: bool,
    /// How its step ended while no engine was up to see it.
    ended: Option<End>,
}

/// All that must be true.
#[derive(Clone, Debug)]
pub(crate) struct Reference {
    pub(crate) is_up: bool,
    /// Agents that a person has spawned.
    pub(crate) spawned: u32,
    pub(crate) tickets: BTreeMap<usize, Ticket>,
    /// Commits of a person's on the target.
    pub(crate) commits: u32,
}

impl Reference {
    pub(crate) fn running(&self) -> usize {
        let tickets = self.tickets.values();
        tickets.filter(|ticket| ticket.state == State::Running).count()
    }

    fn of(&self, state: State) -> Vec<usize> {
        let tickets = self.tickets.iter();
        tickets
            .filter(|(_, ticket)| ticket.state == state)
            .map(|(number, _)| *number)
            .collect()
    }

    fn ticket(&mut self, number: usize) -> &mut Ticket {
        self.tickets.get_mut(&number).unwrap()
    }

    fn write(&mut self, state: State) {
        let ticket = Ticket {
            state,
            run: 0,
            pieces: Vec::new(),
            edits: 0,
            is_seen: false,
            ended: None,
        };
        self.tickets.insert(self.tickets.len() + 1, ticket);
    }

    fn begin(&mut self, number: usize) {
        let ticket = self.ticket(number);
        ticket.state = State::Running;
        ticket.run += 1;
        ticket.is_seen = false;
    }

    /// A step ends. An engine that is down sees it when it is up again.
    fn end(&mut self, number: usize, end: End) {
        let is_up = self.is_up;
        let ticket = self.ticket(number);
        if end != End::Blocked && ticket.ended.is_none() {
            ticket.pieces.push(ticket.run);
        }
        ticket.ended = None;
        match end {
            _ if !is_up => ticket.ended = Some(end),
            End::Piece | End::Uncommitted => self.begin(number),
            End::Done | End::DoneUncommitted => ticket.state = State::Landed,
            End::Blocked => ticket.state = State::Held,
        }
    }

    /// The engine is up, and sees what happened while none was.
    fn start(&mut self) {
        self.is_up = true;
        for number in self.of(State::Running) {
            if let Some(end) = self.tickets[&number].ended {
                self.end(number, end);
            }
        }
    }

    /// Whether the step of a running ticket is there to be ended.
    fn may_end(&self, number: usize) -> bool {
        let ticket = &self.tickets[&number];
        ticket.state == State::Running && ticket.ended.is_none() && (self.is_up || ticket.is_seen)
    }

    fn may_be_ended(&self) -> Vec<usize> {
        let running = self.of(State::Running).into_iter();
        running.filter(|number| self.may_end(*number)).collect()
    }

    /// Gives open tickets to idle agents, the oldest first.
    fn dispatch(&mut self) {
        while self.is_up
            && self.running() < BUSY
            && let Some(next) = self.of(State::Open).first()
        {
            self.begin(*next);
        }
    }
}

impl ReferenceStateMachine for Reference {
    type State = Self;
    type Transition = Transition;

    fn init_state() -> BoxedStrategy<Self> {
        Just(Self {
            is_up: true,
            spawned: 0,
            tickets: BTreeMap::new(),
            commits: 0,
        })
        .boxed()
    }

    fn transitions(state: &Self) -> BoxedStrategy<Transition> {
        let mut acts: Vec<(u32, BoxedStrategy<Act>)> = Vec::new();
        let mut add = |weight, numbers: Vec<usize>, act: fn(usize) -> Act| {
            if !numbers.is_empty() {
                acts.push((weight, proptest::sample::select(numbers).prop_map(act).boxed()));
            }
        };
        let running = state.of(State::Running);
        add(1, state.tickets.keys().copied().collect(), Act::Edit);
        if state.is_up {
            add(2, running.clone(), Act::Kill);
            add(3, state.of(State::Held), Act::Retry);
            add(1, state.of(State::Held), Act::Drop);
            add(1, state.of(State::Open), Act::Drop);
            if running.len() < BUSY {
                add(2, state.of(State::Taken), Act::Assign);
            }
        }
        let ending = state.may_be_ended();
        if !ending.is_empty() {
            let ends = prop_oneof![
                2 => Just(End::Piece),
                2 => Just(End::Uncommitted),
                3 => Just(End::Done),
                2 => Just(End::DoneUncommitted),
                1 => Just(End::Blocked),
            ];
            let step =
                (proptest::sample::select(ending), ends).prop_map(|(number, end)| Act::Step(number, end));
            acts.push((8, step.boxed()));
        }
        if state.tickets.len() < TICKETS {
            acts.push((4, Just(Act::Write).boxed()));
            acts.push((1, Just(Act::WriteTaken).boxed()));
        }
        if state.is_up && state.spawned < SPAWNED {
            acts.push((1, Just(Act::Spawn).boxed()));
        }
        // An engine that was killed may have left the checkout's index locked, which the next one finds and
        // mends.
        let next = if state.is_up {
            (1, Act::Commit)
        } else {
            (6, Act::Start)
        };
        acts.push((next.0, Just(next.1).boxed()));
        let act = proptest::strategy::Union::new_weighted(acts);
        let crash = prop_oneof![3 => Just(None), 2 => (0..8u8).prop_map(Some)];
        (act, crash)
            .prop_map(|(act, crash)| Transition { act, crash })
            .boxed()
    }

    fn preconditions(state: &Self, transition: &Transition) -> bool {
        let is = |number: &usize, wanted: State| {
            state
                .tickets
                .get(number)
                .is_some_and(|ticket| ticket.state == wanted)
        };
        match &transition.act {
            Act::Commit => state.is_up,
            Act::Write | Act::WriteTaken => state.tickets.len() < TICKETS,
            Act::Spawn => state.is_up && state.spawned < SPAWNED,
            Act::Start => !state.is_up,
            Act::Edit(number) => state.tickets.contains_key(number),
            Act::Step(number, _) => state.tickets.contains_key(number) && state.may_end(*number),
            Act::Kill(number) => state.is_up && is(number, State::Running),
            Act::Retry(number) => state.is_up && is(number, State::Held),
            Act::Drop(number) => state.is_up && (is(number, State::Held) || is(number, State::Open)),
            Act::Assign(number) => state.is_up && is(number, State::Taken) && state.running() < BUSY,
        }
    }

    fn apply(mut state: Self, transition: &Transition) -> Self {
        match transition.act {
            Act::Write => state.write(State::Open),
            Act::WriteTaken => state.write(State::Taken),
            Act::Edit(number) => state.ticket(number).edits += 1,
            Act::Commit => state.commits += 1,
            Act::Spawn => state.spawned += 1,
            Act::Step(number, end) => state.end(number, end),
            Act::Kill(number) => state.ticket(number).state = State::Held,
            Act::Retry(number) => state.ticket(number).state = State::Open,
            Act::Drop(number) => state.ticket(number).state = State::Dropped,
            Act::Assign(number) => state.begin(number),
            Act::Start => state.start(),
        }
        state.dispatch();
        if transition.crash.is_some() {
            state.is_up = false;
        } else if state.is_up {
            for ticket in state.tickets.values_mut() {
                ticket.is_seen = true;
            }
        }
        state
    }
}
