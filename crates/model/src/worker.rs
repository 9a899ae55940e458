//! The worker machine: the process of one step, a child of the conversation.

use serde::{Deserialize, Serialize};

use crate::RunId;
use crate::machine::{self, Rejected, Step};

/// The process of one step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Worker {
    /// Its run, under a shim of that name.
    pub run: RunId,
    /// The current state.
    pub state: State,
}

/// The states of a worker. The last three are absorbing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Ordered; no process is known yet.
    Spawning,
    /// Its shim is known to live.
    Running,
    /// It ended by itself with exit code 0.
    Done,
    /// It ended in any other way, or its shim vanished without a record.
    Failed,
    /// crew stopped it.
    Killed,
}

/// Something that happened to a worker. Only its conversation decides these events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// The shim runs.
    Spawned,
    /// Exit code 0.
    Exited,
    /// Any other end, or no record of one.
    Failed,
    /// It ended because crew stopped it.
    Killed,
}

/// A worker orders nothing itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {}

/// The machine.
#[derive(Clone, Copy, Debug)]
pub struct Machine;

impl machine::Machine for Machine {
    type State = State;
    type Event = Event;
    type Effect = Effect;
    const NAME: &'static str = "worker";

    fn transition(state: &State, event: &Event) -> Result<Step<State, Effect>, Rejected> {
        let no = |why: &str| {
            Err(Rejected {
                state: name(*state).to_owned(),
                event: Self::event_name(event).to_owned(),
                why: why.to_owned(),
            })
        };
        match (state, event) {
            (State::Spawning, Event::Spawned) => Ok(Step::to(State::Running)),
            // A step can be over before anyone saw it run.
            (State::Spawning | State::Running, Event::Exited) => Ok(Step::to(State::Done)),
            (State::Spawning | State::Running, Event::Failed) => Ok(Step::to(State::Failed)),
            (State::Spawning | State::Running, Event::Killed) => Ok(Step::to(State::Killed)),
            (State::Running, Event::Spawned) => no("it runs already"),
            (State::Done | State::Failed | State::Killed, _) => no("its end is recorded already"),
        }
    }

    fn state_name(state: &State) -> String {
        name(*state).to_owned()
    }

    fn effect_name(effect: &Effect) -> &'static str {
        match *effect {}
    }

    fn event_name(event: &Event) -> &'static str {
        match event {
            Event::Spawned => "spawned",
            Event::Exited => "exited",
            Event::Failed => "failed",
            Event::Killed => "killed",
        }
    }
}

fn name(state: State) -> &'static str {
    match state {
        State::Spawning => "spawning",
        State::Running => "running",
        State::Done => "done",
        State::Failed => "failed",
        State::Killed => "killed",
    }
}

impl Worker {
    /// A worker that was ordered.
    #[must_use]
    pub fn new(run: RunId) -> Self {
        Self {
            run,
            state: State::Spawning,
        }
    }

    /// True if a process may be alive.
    #[must_use]
    pub fn is_live(&self) -> bool {
        match self.state {
            State::Spawning | State::Running => true,
            State::Done | State::Failed | State::Killed => false,
        }
    }

    /// Moves by `event`.
    ///
    /// # Errors
    /// [`Rejected`] when the state does not accept the event.
    pub fn apply(&mut self, event: Event) -> Result<(), Rejected> {
        use machine::Machine as _;
        self.state = Machine::transition(&self.state, &event)?.state;
        Ok(())
    }
}
