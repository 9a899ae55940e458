//! The commitment machine: one promise about the work of a ticket, verified before the work lands. A child of
//! the ticket.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::machine::{self, Rejected, Step};
use crate::ticket::CheckCommand;
use crate::{Actor, AgentName, Oid};

/// How many commitments a ticket may have: an agent cannot make its own verification endless.
pub const MOST: usize = 50;

/// A promise about a ticket's work, as somebody said it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Promise {
    /// The promise in words.
    pub says: String,
    /// The command that passes when the promise is kept; none where only a person can name it as met.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<CheckCommand>,
}

/// The author of a commitment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// The ticket's file has it.
    Ticket,
    /// A person has added it by a command.
    Assigner(Actor),
    /// The ticket's own agent has promised it.
    Agent(AgentName),
}

/// A commitment of a ticket. Nobody deletes one: only the ticket's file takes its own away, by a person's
/// word.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Commitment {
    /// Its number in the ticket, from 1.
    pub id: u32,
    /// Its author.
    pub by: By,
    /// The promise.
    #[serde(flatten)]
    pub promise: Promise,
    /// The current state.
    pub state: State,
    /// The branch's tip that the last verdict is about. A verdict holds for this tip and the command,
    /// however often the branch is merged anew.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tip: Option<Oid>,
    /// The person who waived it, with the reason, in words; none while the work has to meet it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waived: Option<String>,
}

/// The states of a commitment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Nothing is known of it yet.
    #[default]
    Pending,
    /// Its command is ordered.
    Verifying,
    /// It is met.
    Passed,
    /// It is not met.
    Failed,
}

/// Something that happened to a commitment. Only its ticket decides these events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// Its command was ordered.
    Started,
    /// Its command passed, or a person named it as met.
    Passed,
    /// Its command failed.
    Failed,
    /// Its run came to nothing, or nobody waits for it any more.
    Interrupted,
    /// The branch has another tip, or the work is submitted anew.
    Reset,
}

/// A commitment orders nothing itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {}

/// The machine.
#[derive(Clone, Copy, Debug)]
pub struct Machine;

impl machine::Machine for Machine {
    type State = State;
    type Event = Event;
    type Effect = Effect;
    const NAME: &'static str = "commitment";

    fn transition(state: &State, event: &Event) -> Result<Step<State, Effect>, Rejected> {
        let no = |why: &str| {
            Err(Rejected {
                state: state.name().to_owned(),
                event: Self::event_name(event).to_owned(),
                why: why.to_owned(),
            })
        };
        match (state, event) {
            (State::Pending, Event::Started) => Ok(Step::to(State::Verifying)),
            (State::Verifying, Event::Passed) => Ok(Step::to(State::Passed)),
            (State::Verifying, Event::Failed) => Ok(Step::to(State::Failed)),
            (State::Verifying, Event::Interrupted) | (State::Passed | State::Failed, Event::Reset) => {
                Ok(Step::to(State::Pending))
            }
            (State::Verifying, Event::Started) => no("it is being verified already"),
            (State::Verifying, Event::Reset) => no("it is being verified"),
            (State::Pending, Event::Passed | Event::Failed | Event::Interrupted) => {
                no("it is not being verified")
            }
            (State::Pending, Event::Reset) => no("there is no verdict on it"),
            (State::Passed | State::Failed, Event::Started) => no("its last verdict is reset first"),
            (State::Passed | State::Failed, Event::Passed | Event::Failed | Event::Interrupted) => {
                no("its verdict is recorded already")
            }
        }
    }

    fn state_name(state: &State) -> String {
        state.name().to_owned()
    }

    fn effect_name(effect: &Effect) -> &'static str {
        match *effect {}
    }

    fn event_name(event: &Event) -> &'static str {
        match event {
            Event::Started => "started",
            Event::Passed => "passed",
            Event::Failed => "failed",
            Event::Interrupted => "interrupted",
            Event::Reset => "reset",
        }
    }
}

impl State {
    /// The state's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            State::Pending => "pending",
            State::Verifying => "verifying",
            State::Passed => "passed",
            State::Failed => "failed",
        }
    }
}

impl By {
    /// The author, as a word for a column.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            By::Ticket => "ticket".to_owned(),
            By::Assigner(actor) => actor.to_string(),
            By::Agent(agent) => agent.to_string(),
        }
    }
}

impl fmt::Display for Promise {
    /// The words, and the command where there is one and the words do not show it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.run {
            Some(run) if !self.says.contains(&run.to_string()) => write!(f, "{} (`{run}`)", self.says),
            Some(_) | None => f.write_str(&self.says),
        }
    }
}

impl Commitment {
    /// A commitment of which nothing is known yet.
    #[must_use]
    pub fn new(id: u32, by: By, promise: Promise) -> Self {
        Self {
            id,
            by,
            promise,
            state: State::Pending,
            tip: None,
            waived: None,
        }
    }

    /// The commitment with its author and its state, in words.
    #[must_use]
    pub fn words(&self) -> String {
        let (id, state) = (self.id, self.state_name());
        let from = match &self.by {
            By::Ticket => "from the ticket's file".to_owned(),
            By::Assigner(actor) => format!("by {actor}"),
            By::Agent(agent) => format!("by {agent}"),
        };
        if let Some(waived) = &self.waived {
            return format!("commitment {id}, {from}, waived by {waived}: {}", self.promise);
        }
        let how = match (&self.promise.run, self.state) {
            (None, State::Pending) => ", no command verifies it, so a gatekeeper or a person names it as met",
            (Some(_), _) | (None, State::Verifying | State::Passed | State::Failed) => "",
        };
        format!("commitment {id}, {from}, {state}{how}: {}", self.promise)
    }

    /// The name of its state, or that it is waived.
    #[must_use]
    pub fn state_name(&self) -> &'static str {
        match self.waived {
            Some(_) => "waived",
            None => self.state.name(),
        }
    }

    /// True if the ticket's own agent has made it.
    #[must_use]
    pub fn is_agents(&self) -> bool {
        matches!(self.by, By::Agent(_))
    }

    /// Whether it is met by the work at this tip.
    #[must_use]
    pub fn is_met_on(&self, tip: &Oid) -> bool {
        self.state == State::Passed && self.tip.as_ref() == Some(tip)
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

    /// Makes it pending, unless it is met by the work at `tip`.
    ///
    /// # Errors
    /// [`Rejected`] where the machine does not allow that.
    pub fn begin_anew(&mut self, tip: &Oid) -> Result<(), Rejected> {
        match self.state {
            State::Pending => Ok(()),
            State::Verifying => self.apply(Event::Interrupted),
            State::Passed if self.is_met_on(tip) => Ok(()),
            State::Passed | State::Failed => self.apply(Event::Reset),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_holds_for_its_tip_alone() {
        let oid = |digit: &str| Oid::new(digit.repeat(40)).unwrap();
        let promise = Promise {
            says: "it works".to_owned(),
            run: Some(CheckCommand::Shell("true".to_owned())),
        };
        let mut one = Commitment::new(1, By::Ticket, promise);
        one.apply(Event::Started).unwrap();
        one.apply(Event::Passed).unwrap();
        one.tip = Some(oid("a"));
        one.begin_anew(&oid("a")).unwrap();
        assert_eq!(one.state, State::Passed);
        one.begin_anew(&oid("b")).unwrap();
        assert_eq!(one.state, State::Pending);
    }
}
