//! The session machine: the memory of an agent's client under one id, a child of the conversation.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::SessionId;
use crate::conversation::Usage;
use crate::machine::{self, Rejected, Step};

/// A session with an agent's client. A new one is never resumed; a resumed one always existed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// Its id at the client.
    pub id: SessionId,
    /// The number of sessions of the conversation, this one included.
    pub number: u32,
    /// Steps that were started in it.
    pub steps: u32,
    /// The usage of its ended steps: some clients report totals over the session.
    pub used: Usage,
    /// The client's last running total, in millionths of a US dollar; none before it reported one. It is the
    /// client's own figure, for taking differences: the usage of a killed step may be missing in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_micro_usd: Option<u64>,
    /// The ticket's budget of which a step in it warned last, in millionths of a US dollar.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warned: Option<u64>,
    /// The current state.
    pub state: State,
}

/// The states of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// An id that no client has seen.
    New,
    /// A process is talking in it.
    Active,
    /// Between two steps.
    Suspended,
    /// The client refused it or broke it: replaced by a new one.
    Corrupt,
}

/// Something that happened to a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// The first step was started with this id.
    FirstMessageSent,
    /// A step ended; the session waits for the next one.
    Suspended,
    /// A further step was started in it.
    Resumed,
    /// The client cannot go on with it.
    ErrorDetected,
}

/// A session orders nothing itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {}

/// The machine.
#[derive(Clone, Copy, Debug)]
pub struct Machine;

impl machine::Machine for Machine {
    type State = State;
    type Event = Event;
    type Effect = Effect;
    const NAME: &'static str = "session";

    fn transition(state: &State, event: &Event) -> Result<Step<State, Effect>, Rejected> {
        let no = |why: &str| Err(reject(*state, *event, why));
        match (state, event) {
            (State::New, Event::FirstMessageSent) | (State::Suspended, Event::Resumed) => {
                Ok(Step::to(State::Active))
            }
            (State::Active, Event::Suspended) => Ok(Step::to(State::Suspended)),
            (State::Active | State::Suspended, Event::ErrorDetected) => Ok(Step::to(State::Corrupt)),
            (State::New, Event::Resumed) => no("a new session is never resumed"),
            (State::New, Event::Suspended | Event::ErrorDetected) => no("it has not begun"),
            (State::Active | State::Suspended, Event::FirstMessageSent) => no("it has had its first message"),
            (State::Active, Event::Resumed) => no("a process is already talking in it"),
            (State::Suspended, Event::Suspended) => no("it is suspended already"),
            (
                State::Corrupt,
                Event::FirstMessageSent | Event::Suspended | Event::Resumed | Event::ErrorDetected,
            ) => no("a corrupt session is replaced, not used again"),
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
            Event::FirstMessageSent => "first_message_sent",
            Event::Suspended => "suspended",
            Event::Resumed => "resumed",
            Event::ErrorDetected => "error_detected",
        }
    }
}

/// The word of a state.
#[must_use]
pub fn name(state: State) -> &'static str {
    match state {
        State::New => "new",
        State::Active => "active",
        State::Suspended => "suspended",
        State::Corrupt => "corrupt",
    }
}

fn reject(state: State, event: Event, why: &str) -> Rejected {
    use machine::Machine as _;
    Rejected {
        state: name(state).to_owned(),
        event: Machine::event_name(&event).to_owned(),
        why: why.to_owned(),
    }
}

impl Session {
    /// A session that no client has seen.
    #[must_use]
    pub fn new(id: SessionId, number: u32) -> Self {
        Self {
            id,
            number,
            steps: 0,
            used: Usage::default(),
            total_micro_usd: None,
            warned: None,
            state: State::New,
        }
    }

    /// Moves by `event`.
    ///
    /// # Errors
    /// [`Rejected`] when the state does not accept the event.
    pub fn apply(&mut self, event: Event) -> Result<(), Rejected> {
        use machine::Machine as _;
        self.state = Machine::transition(&self.state, &event)?.state;
        if let Event::FirstMessageSent | Event::Resumed = event {
            self.steps += 1;
        }
        Ok(())
    }

    /// A step of the session has ended with this usage; `total` as in [`Session::total_micro_usd`], none when
    /// the client reported none.
    pub fn used(&mut self, usage: Usage, total: Option<u64>) {
        self.used.add(usage);
        self.total_micro_usd = total.or(self.total_micro_usd);
    }

    /// True if the next step must open the session rather than resume it.
    #[must_use]
    pub fn is_new(&self) -> bool {
        self.state == State::New
    }
}
