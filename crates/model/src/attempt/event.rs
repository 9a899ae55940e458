//! Events of an attempt, and the effects and news that follow from them.

use serde::{Deserialize, Serialize};

use super::{
    AfterChildren, AfterStop, Attempt, Child, ChildResult, Failure, HarnessChange, HarnessId, Mode, Prompt,
    Quiet, Signal, Stuck, Usage,
};
use crate::call::Call;
use crate::policy::budget::Budget;
use crate::ticket::{Part, Repeat};
use crate::{Actor, AgentName, Fence, Oid, RunId, SessionId, Time};

/// The contents of a workspace as they were found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Workspace {
    /// It is not there.
    Missing,
    /// Neither commits nor changes.
    Clean,
    /// Commits, or changes that are not committed.
    Changed,
}

/// Something that happened to an attempt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// Workspace, branch, session id and instructions exist.
    WorkspaceReady {
        /// The commit its branch was built on.
        base: Oid,
        /// True if the workspace has earlier work.
        earlier_work: bool,
    },
    /// A step was ordered.
    StepStarted {
        /// The run it is.
        run: RunId,
        /// The state of the ticket's budget that the prompt shows, when the agent must come to an end.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        budget: Option<Budget>,
        /// The change to another harness, when the settings do not name the attempt's own any more.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        change: Option<HarnessChange>,
    },
    /// Its shim is known to live.
    WorkerSpawned,
    /// Its worker is being stopped.
    StopOrdered {
        /// The action that follows when the worker has ended.
        then: AfterStop,
    },
    /// A step ended well.
    StepFinished {
        /// The usage of the step.
        usage: Usage,
        /// The client's running total for the session after the step, in millionths of a US dollar; none when
        /// the client reported none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        total_micro_usd: Option<u64>,
        /// The way in which the agent ended the step.
        signal: Signal,
        /// The agent's own summary of its work.
        summary: Option<String>,
        /// The lines of the agent's that crew could not use, each in a message for the agent.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        unusable: Vec<String>,
        /// How often in a row a step came to the same, of one without a signal, or of one that has changed
        /// files after its submission.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        repeat: Option<Repeat>,
        /// Steps left after this one.
        steps_left: u32,
        /// Attempts the ticket has left.
        attempts_left: u32,
        /// The time at which the ticket may be dispatched again, if it goes back to the queue.
        reopen_at: Time,
        /// Until when a question is waited for; none for as long as it takes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answer_by: Option<Time>,
    },
    /// A step ended in any other way.
    StepFailed {
        /// The usage of the failed step.
        usage: Usage,
        /// The client's running total for the session after the step, in millionths of a US dollar; none when
        /// the client reported none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        total_micro_usd: Option<u64>,
        /// The failure.
        failure: Failure,
        /// The next step is not started before.
        retry_at: Time,
        /// Errors in a row left after this one.
        errors_left: u32,
        /// Same failures in a row left after this one.
        repeats_left: u32,
        /// The session that replaces this one, should the failure break it.
        fresh: SessionId,
    },
    /// A person answered.
    Answered {
        /// The actor who did it.
        by: Actor,
        /// The answer.
        text: String,
        /// The question, which the ticket keeps with the answer.
        question: String,
    },
    /// The wakeup's time has come.
    Woken,
    /// A person woke it before its time.
    WokenEarly {
        /// The actor who did it.
        by: Actor,
    },
    /// Nobody answered in time.
    WaitTimedOut,
    /// Stuck, and looked at.
    Recovered {
        /// The contents of the workspace.
        workspace: Workspace,
        /// Its new session.
        fresh: SessionId,
        /// Recoveries left, this one among them: with none, it has crashed.
        recoveries_left: u32,
        /// Attempts the ticket has left.
        attempts_left: u32,
        /// The time at which the ticket may be dispatched again, if it goes back to the queue.
        reopen_at: Time,
    },
    /// A person asked for another try.
    Retried {
        /// The actor who did it.
        by: Actor,
        /// Its new session.
        fresh: SessionId,
    },
    /// The ticket's text changed.
    TicketEdited,
    /// It was submitted by other means than a step's end.
    Submitted,
    /// The submitted work passed its checks.
    ChecksPassed,
    /// The submitted work came back.
    Returned {
        /// The prompt of the next step.
        prompt: Prompt,
    },
    /// Its agent has delegated, while its step runs.
    Delegated {
        /// The children, in the order of their turns.
        children: Vec<Child>,
    },
    /// Its children are being ended: they are stopped, and those that have not begun do not begin.
    ChildrenEndOrdered {
        /// What follows once they are over.
        then: AfterChildren,
    },
    /// No child of it is at work any more, and none will be.
    ChildrenOver {
        /// What each of them came to.
        results: Vec<ChildResult>,
    },
    /// The agent called a tool in its step.
    Called {
        /// The call. The first one that states the result of the step decides how the step ends.
        call: Call,
        /// The time at which crew took it.
        at: Time,
    },
    /// The agent, or a person, set its mode.
    ModeSet {
        /// The mode.
        mode: Mode,
        /// The actor who did it.
        by: Actor,
    },
    /// The agent announced a mode in the output of its running step. A change that its mode does not allow is
    /// not made, and the agent is told with its next prompt.
    ModeAnnounced {
        /// The mode.
        mode: Mode,
        /// The number of the announcement in the step's output, from 1.
        number: u32,
    },
    /// A person told the agent something, which its next prompt says.
    Said {
        /// The actor who did it.
        by: Actor,
        /// The words.
        text: String,
    },
    /// A person wants the agent to come to an end: its next step is the last one.
    Baited {
        /// The actor who did it.
        by: Actor,
    },
    /// The step that runs shows no sign of life.
    WentQuiet(Quiet),
    /// The step that was silent shows signs of life again.
    Stirred,
}

impl Event {
    /// The event's name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Event::WorkspaceReady { .. } => "workspace_ready",
            Event::StepStarted { .. } => "step_started",
            Event::WorkerSpawned => "worker_spawned",
            Event::StopOrdered { .. } => "stop_ordered",
            Event::StepFinished { .. } => "step_finished",
            Event::StepFailed { .. } => "step_failed",
            Event::Answered { .. } => "answered",
            Event::Woken => "woken",
            Event::WokenEarly { .. } => "woken_early",
            Event::WaitTimedOut => "wait_timed_out",
            Event::Recovered { .. } => "recovered",
            Event::Retried { .. } => "retried",
            Event::TicketEdited => "ticket_edited",
            Event::Submitted => "submitted",
            Event::ChecksPassed => "checks_passed",
            Event::Returned { .. } => "returned",
            Event::Delegated { .. } => "delegated",
            Event::ChildrenEndOrdered { .. } => "children_end_ordered",
            Event::ChildrenOver { .. } => "children_over",
            Event::Called { .. } => "called",
            Event::ModeSet { .. } => "mode_set",
            Event::ModeAnnounced { .. } => "mode_announced",
            Event::Said { .. } => "said",
            Event::Baited { .. } => "baited",
            Event::WentQuiet(_) => "went_quiet",
            Event::Stirred => "stirred",
        }
    }
}

/// Orders of an attempt to the executor. News for its parent are a [`Raised`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Start the worker of a step, unless its run was started already.
    StartStep {
        /// The name of the agent.
        agent: AgentName,
        /// The run.
        run: RunId,
        /// The fence of the claim.
        fence: Fence,
        /// The attempt's number.
        number: u32,
        /// The step's number, from 1.
        step: u32,
        /// The client that the step is started with.
        harness: HarnessId,
        /// The id of the session.
        session: SessionId,
        /// True if the client has not seen the session yet.
        new_session: bool,
        /// The prompt of the step.
        prompt: Prompt,
        /// The ticket's text changed since the agent last saw it.
        edited: bool,
        /// The rest of the ticket's budget, when the agent must come to an end.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        budget: Option<Budget>,
    },
    /// Stop a run: TERM, KILL after the grace, then every straggler.
    StopRun {
        /// The run.
        run: RunId,
    },
    /// Look at the workspace of a stuck attempt.
    InspectWorkspace {
        /// The name of the agent.
        agent: AgentName,
    },
    /// Write the file of a child, unless it is there.
    CreateChild {
        /// The child.
        child: Box<Child>,
    },
}

impl Effect {
    /// The effect's name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Effect::StartStep { .. } => "start_step",
            Effect::StopRun { .. } => "stop_run",
            Effect::InspectWorkspace { .. } => "inspect_workspace",
            Effect::CreateChild { .. } => "create_child",
        }
    }
}

/// News of a child's step for its parent.
#[derive(Clone, Debug, PartialEq)]
pub enum Raised {
    /// Nothing changes for the parent.
    Nothing,
    /// It asks to be verified.
    Submitted,
    /// The last chance was spent.
    GaveUp {
        /// Whether the last step ended without any word on the work.
        without_result: bool,
        /// The lines of its last step that crew could not use, each in a message for the agent.
        unusable: Vec<String>,
        /// Attempts the ticket has left.
        attempts_left: u32,
        /// The time at which the ticket may be dispatched again.
        reopen_at: Time,
    },
    /// Its recoveries were spent.
    Crashed {
        /// Attempts the ticket has left.
        attempts_left: u32,
        /// The time at which the ticket may be dispatched again.
        reopen_at: Time,
    },
    /// It cannot go on.
    Blocked {
        /// The reason, in words.
        why: String,
    },
    /// Its workspace is gone.
    WorkspaceLost {
        /// Attempts the ticket has left.
        attempts_left: u32,
        /// The time at which the ticket may be dispatched again.
        reopen_at: Time,
    },
    /// Only a person can help.
    NeedsPerson {
        /// The reason.
        why: Stuck,
        /// The observation, in one line.
        message: String,
    },
    /// It has made tickets for the parts of its work, and hands the work back to wait for them.
    BrokenUp {
        /// The parts.
        parts: Vec<Part>,
    },
}

/// The outcome of a child's step: the state after it, its orders, and its news for the parent.
pub type Outcome = (Attempt, Vec<Effect>, Raised);
