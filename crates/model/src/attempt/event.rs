//! What happens to an attempt, and what it brings about.

use serde::{Deserialize, Serialize};

use super::{AfterStop, Attempt, Failure, HarnessChange, HarnessId, Mode, Prompt, Signal, Stuck, Usage};
use crate::policy::budget::Budget;
use crate::ticket::Repeat;
use crate::{Actor, AgentName, Fence, Oid, RunId, SessionId, Time};

/// What was found in a workspace.
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

/// What happened to an attempt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// Workspace, branch, session id and instructions exist.
    WorkspaceReady {
        /// The commit its branch was built on.
        base: Oid,
        /// Whether there is earlier work in it.
        earlier_work: bool,
    },
    /// A step was ordered.
    StepStarted {
        /// The run it is.
        run: RunId,
        /// What it says of the ticket's budget, when the agent must come to an end.
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
        /// What follows when it has ended.
        then: AfterStop,
    },
    /// A step ended well.
    StepFinished {
        /// What it used.
        usage: Usage,
        /// What the client now calls the session's running total, in millionths of a US dollar; none when it
        /// told none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        total_micro_usd: Option<u64>,
        /// What it said.
        signal: Signal,
        /// What it says it did.
        summary: Option<String>,
        /// The mode it announced.
        mode: Option<Mode>,
        /// A line of the agent's that crew could not use, in a message for the agent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unusable: Option<String>,
        /// How often in a row a step came to the same, of one without a signal.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        repeat: Option<Repeat>,
        /// Steps left after this one.
        steps_left: u32,
        /// Attempts the ticket has left.
        attempts_left: u32,
        /// When the ticket is given out again, should it go back.
        reopen_at: Time,
        /// Until when a question is waited for; none for as long as it takes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answer_by: Option<Time>,
    },
    /// A step ended in any other way.
    StepFailed {
        /// What it used all the same.
        usage: Usage,
        /// What the client now calls the session's running total, in millionths of a US dollar; none when it
        /// told none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        total_micro_usd: Option<u64>,
        /// Why.
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
        /// Who.
        by: Actor,
        /// What.
        text: String,
        /// The question, which the ticket keeps with the answer.
        question: String,
    },
    /// The wakeup's time has come.
    Woken,
    /// A person woke it before its time.
    WokenEarly {
        /// Who.
        by: Actor,
    },
    /// Nobody answered in time.
    WaitTimedOut,
    /// Stuck, and looked at.
    Recovered {
        /// What was found.
        workspace: Workspace,
        /// Its new session.
        fresh: SessionId,
        /// Recoveries left, this one among them: with none, it has crashed.
        recoveries_left: u32,
        /// Attempts the ticket has left.
        attempts_left: u32,
        /// When the ticket is given out again, should it go back.
        reopen_at: Time,
    },
    /// A person says: try again.
    Retried {
        /// Who.
        by: Actor,
        /// Its new session.
        fresh: SessionId,
    },
    /// The ticket's text changed.
    TicketEdited,
    /// It was submitted by other means than a step's end.
    Submitted,
    /// What it submitted passed.
    ChecksPassed,
    /// What it submitted came back.
    Returned {
        /// What the next step says.
        prompt: Prompt,
    },
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
        }
    }
}

/// What an attempt orders: the part of the executor. What its parent must hear is [`Raised`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Start the worker of a step, unless its run was started already.
    StartStep {
        /// Who.
        agent: AgentName,
        /// The run.
        run: RunId,
        /// The claim.
        fence: Fence,
        /// The attempt's number.
        number: u32,
        /// The step's number, from 1.
        step: u32,
        /// The client that the step is started with.
        harness: HarnessId,
        /// The conversation.
        session: SessionId,
        /// Whether the client has not seen it yet.
        new_session: bool,
        /// What it says.
        prompt: Prompt,
        /// The ticket's text changed since the agent last saw it.
        edited: bool,
        /// What is left of the ticket's budget, when the agent must come to an end.
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
        /// Who.
        agent: AgentName,
    },
}

/// What a child's step means to its parent.
#[derive(Clone, Debug, PartialEq)]
pub enum Raised {
    /// Nothing.
    Nothing,
    /// It asks to be verified.
    Submitted,
    /// The last chance was spent.
    GaveUp {
        /// Attempts the ticket has left.
        attempts_left: u32,
        /// When it is given out again.
        reopen_at: Time,
    },
    /// Its recoveries were spent.
    Crashed {
        /// Attempts the ticket has left.
        attempts_left: u32,
        /// When it is given out again.
        reopen_at: Time,
    },
    /// It cannot go on.
    Blocked {
        /// Why.
        why: String,
    },
    /// Its workspace is gone.
    WorkspaceLost {
        /// Attempts the ticket has left.
        attempts_left: u32,
        /// When it is given out again.
        reopen_at: Time,
    },
    /// Only a person can help.
    NeedsPerson {
        /// Why.
        why: Stuck,
        /// What was seen.
        message: String,
    },
}

/// A child's step: the state after, what it orders, and what its parent must hear.
pub type Outcome = (Attempt, Vec<Effect>, Raised);
