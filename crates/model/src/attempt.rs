//! The attempt machine: one agent at work on one ticket, a child of the ticket.

mod claim;
mod event;
mod step;
mod transition;

use serde::{Deserialize, Serialize};

pub use claim::{Claim, Slot, StartPoint};
pub use event::{Effect, Event, Outcome, Raised, Workspace};
pub use step::{Mode, Prompt, Signal};

use crate::Time;
use crate::conversation::Conversation;
pub use crate::conversation::{AfterStop, Class, Failure, HarnessChange, HarnessId, Stuck, Throttled, Usage};
use crate::machine::{self, Rejected};

/// An agent at work on a ticket: from its claim until its work is landed or given back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attempt {
    /// What its agent got when it took the ticket.
    pub claim: Claim,
    /// What its agent and the client do in steps.
    pub conversation: Conversation,
    /// Times it was brought back from stuck.
    pub recoveries: u32,
    /// Conflicts it was asked to resolve.
    pub resolutions: u32,
    /// Times its work was built on the target, over all its submissions: it numbers the candidates.
    pub rounds: u32,
    /// What the agent said it did, in its own words.
    pub summary: Option<String>,
    /// The ticket's text changed since the agent last saw it.
    pub edited: bool,
    /// The step that runs was told of it. Only a step that ends well has shown it to the agent.
    pub edit_told: bool,
    /// When it was claimed.
    pub claimed_at: Time,
    /// Since when it stands where it stands.
    pub since: Time,
    /// Where it stands.
    pub state: State,
}

/// Where an attempt stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Its workspace is being made.
    Preparing,
    /// Waiting for its first step.
    Ready,
    /// Being stepped.
    Working(Working),
    /// It asked a person something.
    WaitingForInput {
        /// The question, as the agent put it.
        question: String,
        /// It goes on without an answer then; none when it waits for as long as it takes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<Time>,
    },
    /// It asked to be woken.
    WaitingForWakeup {
        /// When.
        at: Time,
        /// Why, in the agent's words.
        why: String,
    },
    /// It said it is done; the work is being checked.
    Verifying,
    /// Its work passed; it waits for landing.
    Done,
    /// It failed too often; recovered on the next loop, or by a person.
    Stuck {
        /// Why.
        why: Stuck,
    },
}

/// Between the first step and the submission.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Working {
    /// How it goes about the task.
    pub mode: Mode,
    /// What the next step says.
    pub next: Prompt,
    /// The next step is not started before.
    pub due: Option<Time>,
}

/// The machine, standing alone: the ticket drives it through [`Attempt::after`].
#[derive(Clone, Copy, Debug)]
pub struct Machine;

impl machine::Machine for Machine {
    type State = Attempt;
    type Event = Event;
    type Effect = Effect;
    const NAME: &'static str = "attempt";

    fn transition(state: &Attempt, event: &Event) -> Result<machine::Step<Attempt, Effect>, Rejected> {
        let (state, effects, _) = state.after(event)?;
        Ok(machine::Step { state, effects })
    }

    fn state_name(state: &Attempt) -> String {
        state.state.name().to_owned()
    }

    fn event_name(event: &Event) -> &'static str {
        event.name()
    }
}

impl State {
    /// The state's name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            State::Preparing => "preparing",
            State::Ready => "ready",
            State::Working(_) => "working",
            State::WaitingForInput { .. } => "waiting_for_input",
            State::WaitingForWakeup { .. } => "waiting_for_wakeup",
            State::Verifying => "verifying",
            State::Done => "done",
            State::Stuck { .. } => "stuck",
        }
    }
}

impl Attempt {
    /// Whether it has a workspace: from ready until its work is taken over.
    #[must_use]
    pub fn has_workspace(&self) -> bool {
        match self.state {
            State::Ready
            | State::Working(_)
            | State::WaitingForInput { .. }
            | State::WaitingForWakeup { .. }
            | State::Stuck { .. } => true,
            State::Preparing | State::Verifying | State::Done => false,
        }
    }

    /// Whether its workspace may hold what nothing else does: until its work has landed. Not before it is
    /// ready.
    #[must_use]
    pub fn may_have_work(&self) -> bool {
        self.has_workspace() || self.state == State::Verifying
    }

    /// What it has asked a person and waits to hear.
    #[must_use]
    pub fn question(&self) -> Option<&str> {
        let State::WaitingForInput { question, .. } = &self.state else {
            return None;
        };
        Some(question)
    }

    /// An attempt as its claim begins it: preparing.
    #[must_use]
    pub fn new(claim: Claim, conversation: Conversation, at: Time) -> Self {
        Self {
            claim,
            conversation,
            recoveries: 0,
            resolutions: 0,
            rounds: 0,
            summary: None,
            edited: false,
            edit_told: false,
            claimed_at: at,
            since: at,
            state: State::Preparing,
        }
    }

    /// Whether it may be stepped at `now`, as far as it itself is concerned.
    #[must_use]
    pub fn can_step(&self, now: Time) -> bool {
        let waiting = match &self.state {
            State::Ready => false,
            State::Working(w) => w.due.is_some_and(|due| due > now),
            State::Preparing
            | State::WaitingForInput { .. }
            | State::WaitingForWakeup { .. }
            | State::Verifying
            | State::Done
            | State::Stuck { .. } => true,
        };
        !waiting && self.claim.has_slot() && self.conversation.is_idle()
    }
}
