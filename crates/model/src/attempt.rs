//! The attempt machine: one agent at work on one ticket, a child of the ticket.

mod event;
mod failure;
mod harness;
mod step;
mod transition;

use serde::{Deserialize, Serialize};

pub use event::{Effect, Event, Outcome, Raised, Workspace};
pub use failure::{Class, Failure, Stuck, Throttled};
pub use harness::{HarnessChange, HarnessId};
pub use step::{Mode, Prompt, Signal, Usage};

use crate::machine::{self, Rejected};
use crate::policy::budget::Budget;
use crate::session::Session;
use crate::worker::Worker;
use crate::{Actor, AgentName, Fence, Oid, SessionId, Time};

/// An agent at work on a ticket: from its claim until its work is landed or given back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attempt {
    /// Who works.
    pub agent: AgentName,
    /// Whether the agent's slot is taken by it. A held ticket keeps its attempt and frees its agent.
    pub holding: bool,
    /// The claim's token.
    pub fence: Fence,
    /// The ticket's n-th attempt, from 1: it numbers the kept refs.
    pub number: u32,
    /// Where the work starts from.
    pub from: StartPoint,
    /// The commit its branch was built on; none while preparing.
    pub base: Option<Oid>,
    /// The client that steps are started with, and that the run of the worker was started with.
    pub harness: HarnessId,
    /// The conversation.
    pub session: Session,
    /// The process of the step that runs, or of the last one.
    pub worker: Option<Worker>,
    /// What follows when the worker that is being stopped has ended.
    pub stopping: Option<AfterStop>,
    /// Runs started, failed ones included: it numbers the run directories.
    pub runs: u32,
    /// Steps that ended well.
    pub steps: u32,
    /// Failed steps in a row.
    pub errors: u32,
    /// How many times in a row the same failure came; see [`no_progress`](crate::policy::no_progress).
    pub repeats: u32,
    /// The last failure.
    pub failure: Option<Failure>,
    /// What its service asked it to wait for; none once a step got through, or failed for another reason.
    pub throttled: Option<Throttled>,
    /// Times it was brought back from stuck.
    pub recoveries: u32,
    /// Conflicts it was asked to resolve.
    pub resolutions: u32,
    /// Times its work was built on the target, over all its submissions: it numbers the candidates.
    pub rounds: u32,
    /// What its steps used so far.
    pub usage: Usage,
    /// What the agent said it did, in its own words.
    pub summary: Option<String>,
    /// The ticket's text changed since the agent last saw it.
    pub edited: bool,
    /// The step that runs was told of it. Only a step that ends well has shown it to the agent.
    pub edit_told: bool,
    /// The step that runs warns of its ticket's budget. Only a step that ends well has shown it to the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warns: Option<Budget>,
    /// When it was claimed.
    pub claimed_at: Time,
    /// Since when it stands where it stands.
    pub since: Time,
    /// Where it stands.
    pub state: State,
}

/// Where an attempt's work starts from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StartPoint {
    /// The target branch as it is when the workspace is made.
    Target,
    /// What attempt `number` left under `refs/crew/attempts/<ticket>/<number>`; the target when it left
    /// nothing.
    Kept {
        /// The earlier attempt.
        number: u32,
    },
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
    /// It was given up for good; its agent's name is retired.
    Reaped {
        /// Why.
        why: String,
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
    /// The step limit was reached: one more step, which says so.
    pub last_chance: bool,
    /// Why the last chance came before the step limit: unless it submits, it is given up for this.
    pub bait: Option<String>,
}

/// What follows when the worker that is being stopped has ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AfterStop {
    /// The step failed: no sign of life, or over its limit.
    Retry {
        /// `Stalled` or `Timeout`.
        class: Class,
    },
    /// The step has failed, and its client does not end by itself: it tries again what cannot succeed.
    Fail {
        /// How.
        failure: Failure,
    },
    /// The engine is being stopped: the step is repeated, nothing is counted.
    Pause,
    /// A person killed the agent: the ticket goes back, held.
    Release {
        /// Who.
        by: Actor,
    },
    /// The agent is given up for good.
    Reap {
        /// Why.
        why: String,
    },
    /// A person dropped the ticket.
    Drop {
        /// Who.
        by: Actor,
        /// Why.
        reason: String,
    },
}

impl AfterStop {
    /// Whether the agent leaves the ticket for it: then what its last step asks for is not heeded.
    #[must_use]
    pub fn is_final(&self) -> bool {
        match self {
            AfterStop::Retry { .. } | AfterStop::Fail { .. } | AfterStop::Pause => false,
            AfterStop::Release { .. } | AfterStop::Reap { .. } | AfterStop::Drop { .. } => true,
        }
    }

    /// What a person asked for is not undone by what crew would do, nor the greater act by the lesser.
    fn rank(&self) -> u8 {
        match self {
            AfterStop::Retry { .. } | AfterStop::Fail { .. } => 0,
            AfterStop::Pause => 1,
            AfterStop::Release { .. } => 2,
            AfterStop::Reap { .. } => 3,
            AfterStop::Drop { .. } => 4,
        }
    }
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
            State::Reaped { .. } => "reaped",
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
            State::Preparing | State::Verifying | State::Done | State::Reaped { .. } => false,
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

    /// A fresh claim: preparing.
    #[must_use]
    pub fn new(
        agent: AgentName,
        fence: Fence,
        number: u32,
        from: StartPoint,
        harness: HarnessId,
        session: SessionId,
        at: Time,
    ) -> Self {
        Self {
            agent,
            holding: true,
            fence,
            number,
            from,
            base: None,
            harness,
            session: Session::new(session, 1),
            worker: None,
            stopping: None,
            runs: 0,
            steps: 0,
            errors: 0,
            repeats: 0,
            failure: None,
            throttled: None,
            recoveries: 0,
            resolutions: 0,
            rounds: 0,
            usage: Usage::default(),
            summary: None,
            edited: false,
            edit_told: false,
            warns: None,
            claimed_at: at,
            since: at,
            state: State::Preparing,
        }
    }

    /// Whether a process of its may be alive.
    #[must_use]
    pub fn has_live_worker(&self) -> bool {
        self.worker.as_ref().is_some_and(Worker::is_live)
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
            | State::Stuck { .. }
            | State::Reaped { .. } => true,
        };
        !waiting && self.holding && self.stopping.is_none() && !self.has_live_worker()
    }
}
