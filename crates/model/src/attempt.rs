//! The attempt machine: one agent at work on one ticket, a child of the ticket.

mod children;
mod claim;
mod event;
pub mod mode;
mod step;
mod transition;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use children::{AfterChildren, Child, ChildEnd, ChildResult, ChildWork, Order};
pub use claim::{Claim, Shared, Slot, StartPoint};
pub use event::{Effect, Event, Outcome, Raised, Workspace};
pub use mode::Mode;
pub use step::{Prompt, Refused, Signal, changed_after_words, unusable_words};

use crate::conversation::Conversation;
pub use crate::conversation::{
    AfterStop, Class, Failure, HarnessChange, HarnessId, Progress, Quiet, Silence, Stuck, Throttled, Usage,
};
use crate::machine::{self, Rejected};
use crate::ticket::Listed;
use crate::{Actor, Oid, TicketId, Time};

/// An agent at work on a ticket: from its claim until its work is landed or given back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attempt {
    /// The agent, the fence and the start of the work, as they were when the ticket was claimed.
    pub claim: Claim,
    /// The steps of the agent with its client.
    pub conversation: Conversation,
    /// The number of times that the attempt was recovered from being stuck.
    pub recoveries: u32,
    /// Conflicts it was asked to resolve, without those that it resolved for nothing.
    pub resolutions: u32,
    /// Conflicts that it resolved for nothing: other work landed first.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub overtaken: u32,
    /// The conflict that it was asked to resolve; none once its work came back for another reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conflict: Option<Box<Conflict>>,
    /// Times its work was built on the target, over all its submissions: it numbers the candidates.
    pub rounds: u32,
    /// The agent's own summary of its work.
    pub summary: Option<String>,
    /// The lines of its last step that crew could not use, each in a message for the agent, which its next
    /// step gets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unusable: Vec<String>,
    /// The words of its last step that its mode did not allow.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<Refused>,
    /// The way in which the agent goes about the task, whenever it is working.
    #[serde(default)]
    pub mode: Mode,
    /// It was in another mode before, so that every prompt says in which mode it is.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub mode_changed: bool,
    /// The changes of mode that the agent announced in the output of its running step, or of its last one.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub announced: u32,
    /// Those of them that its mode did not allow, while its step runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused_modes: Vec<Refused>,
    /// The words of people that the agent was not shown yet, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<Message>,
    /// The first so many of them are in the prompt of the running step. Only a step that ends well has shown
    /// them to the agent.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub messages_shown: u32,
    /// The person who wants it to come to an end with its next step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baited: Option<Actor>,
    /// The prompt of the running step says so: it is the last one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub bait_shown: bool,
    /// What the ticket asks for changed since the agent last saw it.
    pub edited: bool,
    /// That change is of its text, and may ask for more: the work is not done before the agent was told.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub text_edited: bool,
    /// The prompt of the running step mentions the edit. Only a step that ends well has shown it to the
    /// agent.
    pub edit_shown: bool,
    /// Its next step begins something new, which waits for a target that lets agents start: the step is its
    /// first one, or a person has set it going again.
    #[serde(default)]
    pub waits_for_target: bool,
    /// While it is stuck or ready: no step is started before this time, since too many have failed in a row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resumes_at: Option<Time>,
    /// The children that it has delegated and that are not known to be over, in the order of their turns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<TicketId>,
    /// How each of them was ordered.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub orders: BTreeMap<TicketId, Order>,
    /// The prompt that said why its submitted work came back last: every prompt says it to an agent that
    /// does not remember it, until the work is submitted again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub returned: Option<Box<Prompt>>,
    /// When it was claimed.
    pub claimed_at: Time,
    /// The time at which the present state began.
    pub since: Time,
    /// The current state.
    pub state: State,
}

/// Words of a person for an agent at work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// The person.
    pub by: Actor,
    /// The words.
    pub text: String,
}

/// The most messages that wait for an agent's next step.
pub const MOST_MESSAGES: usize = 20;

/// A conflict with the target that an agent was asked to resolve.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conflict {
    /// The paths in conflict.
    pub paths: Vec<String>,
    /// The target's commit.
    pub target: Oid,
}

/// The state of an attempt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Its workspace is being made.
    Preparing,
    /// Waiting for its first step.
    Ready,
    /// The agent works in steps.
    Working(Working),
    /// It asked a person something.
    WaitingForInput {
        /// The question, as the agent put it.
        question: String,
        /// The time at which it goes on without an answer; none when it waits for as long as it takes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<Time>,
    },
    /// It asked to be woken.
    WaitingForWakeup {
        /// The time at which the agent wants to go on.
        at: Time,
        /// The reason, in the agent's words.
        why: String,
    },
    /// The agent reported that it is done; the work is being checked.
    Verifying,
    /// Its work passed; it waits for landing.
    Done,
    /// It failed too often; recovered on the next loop, or by a person.
    Stuck {
        /// The reason.
        why: Stuck,
    },
    /// Its children work: in its workspace one after the other, in workspaces of their own side by side.
    WaitingForChildren {
        /// The children, in the order of their turns.
        ids: Vec<TicketId>,
        /// What follows once they are over, if they are being ended.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        then: Option<AfterChildren>,
    },
}

/// Between the first step and the submission.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Working {
    /// The prompt of the next step.
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

    fn effect_name(effect: &Effect) -> &'static str {
        effect.name()
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
            State::WaitingForChildren { .. } => "waiting_for_children",
        }
    }
}

impl Attempt {
    /// True if crew has made its work by itself, so that it is submitted as it is.
    #[must_use]
    pub fn is_made_by_crew(&self) -> bool {
        let is_revert = matches!(self.claim.from, StartPoint::Revert { .. });
        is_revert && self.state == State::Ready && self.conversation.runs == 0
    }

    /// True if it has a workspace: from ready until its work is imported.
    #[must_use]
    pub fn has_workspace(&self) -> bool {
        match self.state {
            State::Ready
            | State::Working(_)
            | State::WaitingForInput { .. }
            | State::WaitingForWakeup { .. }
            | State::WaitingForChildren { .. }
            | State::Stuck { .. } => true,
            State::Preparing | State::Verifying | State::Done => false,
        }
    }

    /// True if its workspace may hold work that exists nowhere else: from the moment it is ready until the
    /// work has landed.
    #[must_use]
    pub fn may_have_work(&self) -> bool {
        self.has_workspace() || self.state == State::Verifying
    }

    /// The question that the agent has asked a person and that has no answer yet.
    #[must_use]
    pub fn question(&self) -> Option<&str> {
        let State::WaitingForInput { question, .. } = &self.state else {
            return None;
        };
        Some(question)
    }

    /// What a person has ordered that takes the agent from its ticket, while that is under way: its step is
    /// being stopped, or its children are being ended.
    #[must_use]
    pub fn being_ended(&self) -> Option<&AfterStop> {
        let of_children = match self.after_children() {
            Some(AfterChildren::Stop { then }) => Some(then),
            Some(AfterChildren::Unify { .. }) | None => None,
        };
        let stopping = self.conversation.stopping.as_ref().or(of_children);
        stopping.filter(|then| then.is_final())
    }

    /// The files that its agent has changed after it had submitted, which its next step is to look at.
    #[must_use]
    pub fn changed_after(&self) -> Option<&Listed> {
        let State::Working(Working {
            next: Prompt::ChangedAfter { paths },
            ..
        }) = &self.state
        else {
            return None;
        };
        Some(paths)
    }

    /// The answer to its last question that the agent has not been given yet, because its next step waits.
    #[must_use]
    pub fn waiting_answer(&self) -> Option<&str> {
        let State::Working(Working {
            next: Prompt::Answer { text },
            ..
        }) = &self.state
        else {
            return None;
        };
        self.needs_target().then_some(text)
    }

    /// An attempt as its claim begins it: preparing.
    #[must_use]
    pub fn new(claim: Claim, conversation: Conversation, at: Time) -> Self {
        Self {
            claim,
            conversation,
            recoveries: 0,
            resolutions: 0,
            overtaken: 0,
            conflict: None,
            rounds: 0,
            summary: None,
            unusable: Vec::new(),
            refused: Vec::new(),
            mode: Mode::default(),
            mode_changed: false,
            announced: 0,
            refused_modes: Vec::new(),
            messages: Vec::new(),
            messages_shown: 0,
            baited: None,
            bait_shown: false,
            edited: false,
            text_edited: false,
            edit_shown: false,
            waits_for_target: true,
            resumes_at: None,
            children: Vec::new(),
            orders: BTreeMap::new(),
            returned: None,
            claimed_at: at,
            since: at,
            state: State::Preparing,
        }
    }

    /// A person has it begin anew: no conflict counts any more.
    pub(crate) fn forget_conflicts(&mut self) {
        (self.resolutions, self.overtaken, self.conflict) = (0, 0, None);
    }

    /// True if a step is the next thing that it needs.
    #[must_use]
    pub fn is_between_steps(&self) -> bool {
        match self.state {
            State::Ready | State::Working(_) => !self.conversation.has_live_worker(),
            State::Preparing
            | State::WaitingForInput { .. }
            | State::WaitingForWakeup { .. }
            | State::Verifying
            | State::Done
            | State::WaitingForChildren { .. }
            | State::Stuck { .. } => false,
        }
    }

    /// True if a step is the next thing that it needs, and none is started on a target that lets no agent
    /// start.
    #[must_use]
    pub fn needs_target(&self) -> bool {
        self.waits_for_target && self.is_between_steps()
    }

    /// True if the attempt itself allows a step at `now`.
    #[must_use]
    pub fn can_step(&self, now: Time) -> bool {
        let waiting = match &self.state {
            State::Ready => self.resumes_at.is_some_and(|at| at > now),
            State::Working(w) => w.due.is_some_and(|due| due > now),
            State::Preparing
            | State::WaitingForInput { .. }
            | State::WaitingForWakeup { .. }
            | State::Verifying
            | State::Done
            | State::WaitingForChildren { .. }
            | State::Stuck { .. } => true,
        };
        !waiting && self.claim.has_slot() && self.conversation.is_idle()
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_zero(n: &u32) -> bool {
    *n == 0
}
