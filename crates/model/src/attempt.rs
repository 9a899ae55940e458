//! The attempt machine: one agent at work on one ticket, a child of the ticket.

use serde::{Deserialize, Serialize};

use crate::machine::{self, Machine as _, Rejected};
use crate::policy::budget::Purse;
use crate::policy::reconcile::{self, Action};
use crate::session::{self, Session};
use crate::worker::{self, Worker};
use crate::{AgentName, Fence, Oid, RunId, SessionId, Time};

/// An agent at work on a ticket: from its claim until its work is landed or given back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attempt {
    /// Who works.
    pub agent: AgentName,
    /// Whether the agent's slot is taken by it. A held ticket keeps its attempt and frees its agent.
    pub seated: bool,
    /// The claim's token.
    pub fence: Fence,
    /// The ticket's n-th attempt, from 1: it numbers the kept refs.
    pub number: u32,
    /// Where the work starts from.
    pub from: From,
    /// The commit its branch was built on; none while preparing.
    pub base: Option<Oid>,
    /// The conversation.
    pub session: Session,
    /// The process of the step that runs, or of the last one.
    pub worker: Option<Worker>,
    /// What follows when the worker that is being stopped has ended.
    pub stopping: Option<Then>,
    /// Runs started, failed ones included: it numbers the run directories.
    pub runs: u32,
    /// Steps that ended well.
    pub steps: u32,
    /// Failed steps in a row.
    pub errors: u32,
    /// The same failure in a row, for the breaker.
    pub repeats: u32,
    /// The last failure.
    pub failure: Option<Failure>,
    /// What its service asked it to wait for; none once a step got through, or failed for another reason.
    #[serde(default)]
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
    pub warns: Option<Purse>,
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
pub enum From {
    /// The target branch as it is when the workspace is made.
    Target,
    /// What attempt `number` left under `refs/crew/attempts/<ticket>/<number>`; the target when it left nothing.
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

/// How an agent goes about its task (Tavern). Exists only inside working.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// It does the work itself.
    #[default]
    Execute,
    /// It hands the work to others.
    Delegate,
    /// It thinks first.
    Plan,
    /// It splits the work.
    BreakUp,
    /// It brings the parts together.
    Unify,
}

/// What a step says to the agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Prompt {
    /// The task, to an agent that has not begun.
    Init,
    /// The task, to a new conversation about work already begun.
    Resume,
    /// Go on.
    Step,
    /// What it submitted did not pass.
    ChecksFailed {
        /// The command that failed.
        which: String,
        /// The end of its output.
        output: String,
    },
    /// It said it was done and had committed nothing.
    NothingCommitted,
    /// Its branch does not merge.
    MergeConflict {
        /// The paths in conflict.
        paths: Vec<String>,
    },
    /// The limit is reached; submit now or the work goes back.
    LastChance,
    /// A person's answer to its question.
    Answer {
        /// The answer.
        text: String,
    },
    /// The wakeup it asked for.
    Wakeup {
        /// Its reason.
        why: String,
    },
    /// Nobody answered its question in time.
    Unanswered {
        /// The question.
        question: String,
    },
}

/// What a step used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens read.
    pub input_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
    /// US dollars, in millionths: sums stay exact.
    pub cost_micro_usd: u64,
    /// The part of the cost that is estimated, where the client told no price; in millionths too.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub estimated_micro_usd: u64,
}

fn is_zero(micro: &u64) -> bool {
    *micro == 0
}

impl Usage {
    /// Tokens, both ways.
    #[must_use]
    pub fn tokens(self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }

    /// Adds `other`, saturating.
    pub fn add(&mut self, other: Usage) {
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        self.cost_micro_usd = self.cost_micro_usd.saturating_add(other.cost_micro_usd);
        self.estimated_micro_usd = self.estimated_micro_usd.saturating_add(other.estimated_micro_usd);
    }
}

/// How a step ended that ended well.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Signal {
    /// It said nothing in particular: stepped again.
    None,
    /// It asks to be verified.
    Done,
    /// It cannot go on.
    Blocked {
        /// Why, in its words.
        why: String,
    },
    /// It asks a person.
    Asked {
        /// The question.
        question: String,
    },
    /// It asks to be woken.
    WakeupSet {
        /// When.
        at: Time,
        /// Why.
        why: String,
    },
}

/// What kind of failure ended a step: each has its own rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// Gone when tried again.
    Transient,
    /// The service asks to wait; no error is counted, and the whole harness waits.
    RateLimited,
    /// The service is full; no error is counted, and the whole harness waits.
    Overloaded,
    /// The credentials are refused: stuck at once, and the harness is barred until a person retries.
    Auth,
    /// Another process has the session: a new id, once.
    SessionInUse,
    /// The client does not know the session: a new one.
    SessionMissing,
    /// The hard limit of a step: once more with a fresh session.
    Timeout,
    /// No sign of life for too long: a fresh session.
    Stalled,
    /// Ended with an error, or could not be started.
    Crash,
    /// The shim vanished without a record: the attempt goes on with its session.
    Lost,
    /// crew stopped it: never an error.
    KilledByUs,
    /// The client's output could not be read.
    MalformedOutput,
    /// Money or tokens are spent.
    Budget,
}

impl Class {
    /// Whether it counts towards the five in a row.
    #[must_use]
    pub fn counts(self) -> bool {
        match self {
            Class::RateLimited | Class::Overloaded | Class::KilledByUs => false,
            Class::Transient
            | Class::Auth
            | Class::SessionInUse
            | Class::SessionMissing
            | Class::Timeout
            | Class::Stalled
            | Class::Crash
            | Class::Lost
            | Class::MalformedOutput
            | Class::Budget => true,
        }
    }

    /// Whether it is the service's word, which holds for every agent of the harness.
    #[must_use]
    pub fn bars_harness(self) -> bool {
        match self {
            Class::RateLimited | Class::Overloaded | Class::Auth => true,
            Class::Transient
            | Class::SessionInUse
            | Class::SessionMissing
            | Class::Timeout
            | Class::Stalled
            | Class::Crash
            | Class::Lost
            | Class::KilledByUs
            | Class::MalformedOutput
            | Class::Budget => false,
        }
    }

    /// Whether the next step needs a new session.
    #[must_use]
    pub fn breaks_session(self) -> bool {
        match self {
            Class::SessionInUse
            | Class::SessionMissing
            | Class::Timeout
            | Class::Stalled
            | Class::MalformedOutput => true,
            Class::Transient
            | Class::RateLimited
            | Class::Overloaded
            | Class::Auth
            | Class::Crash
            | Class::Lost
            | Class::KilledByUs
            | Class::Budget => false,
        }
    }

    /// Its name on every surface, the journal's own included.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Class::Transient => "transient",
            Class::RateLimited => "rate_limited",
            Class::Overloaded => "overloaded",
            Class::Auth => "auth",
            Class::SessionInUse => "session_in_use",
            Class::SessionMissing => "session_missing",
            Class::Timeout => "timeout",
            Class::Stalled => "stalled",
            Class::Crash => "crash",
            Class::Lost => "lost",
            Class::KilledByUs => "killed_by_us",
            Class::MalformedOutput => "malformed_output",
            Class::Budget => "budget",
        }
    }
}

/// A failed step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// Its kind.
    pub class: Class,
    /// What was seen, in one line.
    pub message: String,
    /// When the service lets it go on, if it said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Time>,
}

/// A wait that the service asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Throttled {
    /// How it said so: of a class that is not counted.
    pub failure: Failure,
    /// How often in a row.
    pub times: u32,
}

impl Failure {
    /// A failure without a time to wait for.
    #[must_use]
    pub fn new(class: Class, message: impl Into<String>) -> Self {
        Self {
            class,
            message: message.into(),
            until: None,
        }
    }

    /// Whether it is the same again: when it is over does not matter.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        self.class == other.class && self.message == other.message
    }
}

/// Why an attempt is stuck.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stuck {
    /// Too many failed steps in a row.
    Errors,
    /// The credentials are refused: only a person can help.
    Auth,
    /// The same failure on unchanged input, three times: not paid again.
    Breaker,
}

/// What follows when the worker that is being stopped has ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Then {
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
        by: String,
    },
    /// The agent is given up for good.
    Reap {
        /// Why.
        why: String,
    },
    /// A person dropped the ticket.
    Drop {
        /// Who.
        by: String,
        /// Why.
        reason: String,
    },
}

impl Then {
    /// Whether the agent leaves the ticket for it: then what its last step asks for is not heeded.
    #[must_use]
    pub fn is_final(&self) -> bool {
        match self {
            Then::Retry { .. } | Then::Fail { .. } | Then::Pause => false,
            Then::Release { .. } | Then::Reap { .. } | Then::Drop { .. } => true,
        }
    }

    /// What a person asked for is not undone by what crew would do, nor the greater act by the lesser.
    fn rank(&self) -> u8 {
        match self {
            Then::Retry { .. } | Then::Fail { .. } => 0,
            Then::Pause => 1,
            Then::Release { .. } => 2,
            Then::Reap { .. } => 3,
            Then::Drop { .. } => 4,
        }
    }
}

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
        budget: Option<Purse>,
    },
    /// Its shim is known to live.
    WorkerSpawned,
    /// Its worker is being stopped.
    StopOrdered {
        /// What follows when it has ended.
        then: Then,
    },
    /// A step ended well.
    StepFinished {
        /// What it used.
        usage: Usage,
        /// What the client now calls the session's running total, in millionths of a US dollar; none when it told none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        total_micro_usd: Option<u64>,
        /// What it said.
        signal: Signal,
        /// What it says it did.
        summary: Option<String>,
        /// The mode it announced.
        mode: Option<Mode>,
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
        /// What the client now calls the session's running total, in millionths of a US dollar; none when it told none.
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
        by: String,
        /// What.
        text: String,
    },
    /// The wakeup's time has come.
    Woken,
    /// A person woke it before its time.
    WokenEarly {
        /// Who.
        by: String,
    },
    /// Nobody answered in time.
    WaitTimedOut,
    /// A person said: fish or cut bait.
    Baited {
        /// Who.
        by: String,
    },
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
        by: String,
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
    /// It is given up for good.
    Reaped {
        /// Why.
        why: String,
    },
}

/// What an attempt orders: the hands' part. What its parent must hear is [`Raised`].
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
        budget: Option<Purse>,
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
    WorkspaceLost,
    /// The last chance that a person gave it was spent.
    Reaped {
        /// Why it was given.
        why: String,
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
            Event::Baited { .. } => "baited",
            Event::Recovered { .. } => "recovered",
            Event::Retried { .. } => "retried",
            Event::TicketEdited => "ticket_edited",
            Event::Submitted => "submitted",
            Event::ChecksPassed => "checks_passed",
            Event::Returned { .. } => "returned",
            Event::Reaped { .. } => "reaped",
        }
    }
}

impl Attempt {
    /// A fresh claim: preparing.
    #[must_use]
    pub fn new(
        agent: AgentName,
        fence: Fence,
        number: u32,
        from: From,
        session: SessionId,
        at: Time,
    ) -> Self {
        Self {
            agent,
            seated: true,
            fence,
            number,
            from,
            base: None,
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
        !waiting && self.seated && self.stopping.is_none() && !self.has_live_worker()
    }

    /// The next state, its effects and what the ticket must hear.
    ///
    /// # Errors
    /// [`Rejected`] when the state does not accept the event.
    pub fn after(&self, event: &Event) -> Result<Outcome, Rejected> {
        let mut next = self.clone();
        let mut effects = Vec::new();
        let raised = next.take(event, &mut effects)?;
        Ok((next, effects, raised))
    }

    fn reject(&self, event: &Event, why: &str) -> Rejected {
        Rejected {
            state: self.state.name().to_owned(),
            event: event.name().to_owned(),
            why: why.to_owned(),
        }
    }

    fn take(&mut self, event: &Event, effects: &mut Vec<Effect>) -> Result<Raised, Rejected> {
        let no = |me: &Self, why: &str| Err(me.reject(event, why));
        match event {
            Event::WorkspaceReady { base, earlier_work } => {
                let State::Preparing = self.state else {
                    return no(self, "its workspace exists already");
                };
                self.base = Some(base.clone());
                // Only a workspace that holds work is worth resuming: a kept ref can be empty.
                if !earlier_work {
                    self.from = From::Target;
                }
                self.state = State::Ready;
                Ok(Raised::Nothing)
            }
            Event::StepStarted { run, budget } => self.start_step(event, run, *budget, effects),
            Event::WorkerSpawned => {
                self.move_worker(event, worker::Event::Spawned)?;
                Ok(Raised::Nothing)
            }
            Event::StopOrdered { then } => {
                let Some(worker) = self.worker.as_ref().filter(|w| w.is_live()) else {
                    return no(self, "no worker of it is alive");
                };
                if self
                    .stopping
                    .as_ref()
                    .is_some_and(|before| before.rank() >= then.rank())
                {
                    return no(self, "it is being stopped already");
                }
                effects.push(Effect::StopRun {
                    run: worker.run.clone(),
                });
                self.stopping = Some(then.clone());
                Ok(Raised::Nothing)
            }
            Event::StepFinished { .. } => self.finish_step(event),
            Event::StepFailed { .. } => self.fail_step(event, effects),
            Event::Answered { text, .. } => {
                let State::WaitingForInput { .. } = self.state else {
                    return no(self, "it has asked nothing");
                };
                self.work(Prompt::Answer { text: text.clone() });
                Ok(Raised::Nothing)
            }
            Event::Woken | Event::WokenEarly { .. } => {
                let State::WaitingForWakeup { why, .. } = &self.state else {
                    return no(self, "it is not asleep");
                };
                let why = why.clone();
                self.work(Prompt::Wakeup { why });
                Ok(Raised::Nothing)
            }
            Event::WaitTimedOut => {
                let next = match &self.state {
                    State::WaitingForInput { question, .. } => Prompt::Unanswered {
                        question: question.clone(),
                    },
                    State::WaitingForWakeup { .. } => Prompt::Step,
                    State::Preparing
                    | State::Ready
                    | State::Working(_)
                    | State::Verifying
                    | State::Done
                    | State::Stuck { .. }
                    | State::Reaped { .. } => return no(self, "it does not wait"),
                };
                self.work(next);
                Ok(Raised::Nothing)
            }
            Event::Baited { by } => self.corner(event, format!("{by} said to fish or cut bait")),
            Event::Recovered { .. } => self.recover(event),
            Event::Retried { fresh, .. } => {
                let live = self.has_live_worker();
                match &mut self.state {
                    State::Stuck { .. } => {
                        self.replace_session(event, fresh)?;
                        self.state = State::Ready;
                    }
                    // A wait between two steps is cut short.
                    State::Working(working) if working.due.is_some() && !live => working.due = None,
                    State::Working(_)
                    | State::Preparing
                    | State::Ready
                    | State::WaitingForInput { .. }
                    | State::WaitingForWakeup { .. }
                    | State::Verifying
                    | State::Done
                    | State::Reaped { .. } => {
                        return no(self, "it is neither stuck nor waiting for its next step");
                    }
                }
                (self.errors, self.repeats, self.recoveries) = (0, 0, 0);
                self.throttled = None;
                Ok(Raised::Nothing)
            }
            Event::TicketEdited => {
                if let State::Reaped { .. } = self.state {
                    return no(self, "it is over");
                }
                // An agent that was told nothing yet will be told the new text; and a new text is another input, on which
                // the same failure may be tried again.
                self.edited = self.runs > 0;
                (self.edit_told, self.repeats) = (false, 0);
                Ok(Raised::Nothing)
            }
            Event::Submitted => {
                if self.has_live_worker() {
                    return no(self, "a step is running; its end decides");
                }
                match self.state {
                    State::Ready
                    | State::Working(_)
                    | State::WaitingForInput { .. }
                    | State::WaitingForWakeup { .. }
                    | State::Stuck { .. } => {
                        self.state = State::Verifying;
                        Ok(Raised::Nothing)
                    }
                    State::Preparing => no(self, "it has no workspace yet"),
                    State::Verifying | State::Done => no(self, "it is submitted already"),
                    State::Reaped { .. } => no(self, "it is over"),
                }
            }
            Event::ChecksPassed => {
                let (State::Verifying | State::Done) = self.state else {
                    return no(self, "nothing of it was submitted");
                };
                self.state = State::Done;
                Ok(Raised::Nothing)
            }
            Event::Returned { prompt } => {
                let (State::Verifying | State::Done) = self.state else {
                    return no(self, "nothing of it was submitted");
                };
                if let Prompt::MergeConflict { .. } = prompt {
                    self.resolutions += 1;
                }
                self.work(prompt.clone());
                Ok(Raised::Nothing)
            }
            Event::Reaped { why } => {
                if self.has_live_worker() {
                    return no(self, "a worker of it is alive; it is stopped first");
                }
                if let State::Reaped { .. } = self.state {
                    return no(self, "it is over");
                }
                self.close_session(event)?;
                self.state = State::Reaped { why: why.clone() };
                Ok(Raised::Nothing)
            }
        }
    }

    fn start_step(
        &mut self,
        event: &Event,
        run: &RunId,
        budget: Option<Purse>,
        effects: &mut Vec<Effect>,
    ) -> Result<Raised, Rejected> {
        if !self.seated {
            return Err(self.reject(event, "its agent was freed"));
        }
        if self.has_live_worker() {
            return Err(self.reject(event, "a step of it is running"));
        }
        let (prompt, working) = match &self.state {
            State::Ready => {
                let prompt = if self.steps > 0 || self.runs > 0 || matches!(self.from, From::Kept { .. }) {
                    Prompt::Resume
                } else {
                    Prompt::Init
                };
                (
                    prompt.clone(),
                    Working {
                        mode: Mode::default(),
                        next: prompt,
                        due: None,
                        last_chance: false,
                        bait: None,
                    },
                )
            }
            State::Working(w) => (
                w.next.clone(),
                Working {
                    due: None,
                    ..w.clone()
                },
            ),
            State::Preparing
            | State::WaitingForInput { .. }
            | State::WaitingForWakeup { .. }
            | State::Verifying
            | State::Done
            | State::Stuck { .. }
            | State::Reaped { .. } => return Err(self.reject(event, "it is neither ready nor working")),
        };
        let new_session = self.session.is_new();
        self.session.apply(if new_session {
            session::Event::FirstMessageSent
        } else {
            session::Event::Resumed
        })?;
        self.runs += 1;
        effects.push(Effect::StartStep {
            agent: self.agent.clone(),
            run: run.clone(),
            fence: self.fence,
            number: self.number,
            step: self.steps + 1,
            session: self.session.id.clone(),
            new_session,
            prompt,
            edited: self.edited,
            budget,
        });
        self.warns = budget;
        self.worker = Some(Worker::new(run.clone()));
        (self.stopping, self.edit_told) = (None, self.edited);
        self.state = State::Working(working);
        Ok(Raised::Nothing)
    }

    fn finish_step(&mut self, event: &Event) -> Result<Raised, Rejected> {
        let Event::StepFinished {
            usage,
            total_micro_usd,
            signal,
            summary,
            mode,
            steps_left,
            attempts_left,
            reopen_at,
            answer_by,
        } = event
        else {
            return Err(self.reject(event, "not the end of a step"));
        };
        let State::Working(mut working) = self.state.clone() else {
            return Err(self.reject(event, "no step of it was running"));
        };
        self.move_worker(event, worker::Event::Exited)?;
        self.session.apply(session::Event::Suspended)?;
        self.steps += 1;
        self.usage.add(*usage);
        self.session.used(*usage, *total_micro_usd);
        if let Some(purse) = self.warns.take() {
            self.session.warned = Some(purse.limit_micro_usd);
        }
        (self.errors, self.repeats, self.failure, self.throttled) = (0, 0, None, None);
        // An edit that came while the step ran is told by the next one.
        self.edited &= !self.edit_told;
        self.edit_told = false;
        if summary.is_some() {
            self.summary.clone_from(summary);
        }
        working.mode = mode.unwrap_or(working.mode);
        let told = working.next == Prompt::LastChance;
        if self.stopping.take().is_some_and(|then| then.is_final()) {
            // A person wanted it gone, and it ended by itself just before: what it asks for is not heeded any more.
            self.state = State::Working(working);
            return Ok(Raised::Nothing);
        }
        match signal {
            Signal::Done => {
                self.state = State::Verifying;
                Ok(Raised::Submitted)
            }
            Signal::Blocked { why } => Ok(Raised::Blocked { why: why.clone() }),
            Signal::None | Signal::Asked { .. } | Signal::WakeupSet { .. } if told => {
                Ok(match working.bait {
                    Some(why) => Raised::Reaped { why },
                    None => Raised::GaveUp {
                        attempts_left: *attempts_left,
                        reopen_at: *reopen_at,
                    },
                })
            }
            // It was cornered while this step ran, or its steps are spent: the next one says so, whatever this one asks for.
            // Who could still ask and sleep without a step left would never come to an end.
            Signal::None | Signal::Asked { .. } | Signal::WakeupSet { .. }
                if working.last_chance || *steps_left == 0 =>
            {
                (working.last_chance, working.next) = (true, Prompt::LastChance);
                self.state = State::Working(working);
                Ok(Raised::Nothing)
            }
            Signal::Asked { question } => {
                self.state = State::WaitingForInput {
                    question: question.clone(),
                    until: *answer_by,
                };
                Ok(Raised::Nothing)
            }
            Signal::WakeupSet { at, why } => {
                self.state = State::WaitingForWakeup {
                    at: *at,
                    why: why.clone(),
                };
                Ok(Raised::Nothing)
            }
            Signal::None => {
                working.next = Prompt::Step;
                self.state = State::Working(working);
                Ok(Raised::Nothing)
            }
        }
    }

    fn fail_step(&mut self, event: &Event, effects: &mut Vec<Effect>) -> Result<Raised, Rejected> {
        let Event::StepFailed {
            usage,
            total_micro_usd,
            failure,
            retry_at,
            errors_left,
            repeats_left,
            fresh,
        } = event
        else {
            return Err(self.reject(event, "not the end of a step"));
        };
        let State::Working(mut working) = self.state.clone() else {
            return Err(self.reject(event, "no step of it was running"));
        };
        let killed = self.stopping.is_some();
        self.move_worker(
            event,
            if killed {
                worker::Event::Killed
            } else {
                worker::Event::Failed
            },
        )?;
        self.usage.add(*usage);
        self.session.used(*usage, *total_micro_usd);
        (self.stopping, self.edit_told, self.warns) = (None, false, None);
        if failure.class.breaks_session() {
            self.replace_session(event, fresh)?;
            // What was to be said is said again; only a plain task or "go on" needs the story so far.
            if let Prompt::Init | Prompt::Step = working.next {
                working.next = Prompt::Resume;
            }
        } else {
            self.session.apply(session::Event::Suspended)?;
        }
        if failure.class.counts() {
            self.errors += 1;
            let same = self
                .failure
                .as_ref()
                .is_some_and(|before| before.is_same(failure));
            self.repeats = if same { self.repeats + 1 } else { 1 };
            (self.failure, self.throttled) = (Some(failure.clone()), None);
        } else if failure.class.bars_harness() {
            let times = self.throttled.as_ref().map_or(0, |before| before.times);
            self.throttled = Some(Throttled {
                failure: failure.clone(),
                times: times + 1,
            });
        }
        let why = match failure.class {
            Class::Auth => Some(Stuck::Auth),
            class if class.counts() && *repeats_left == 0 => Some(Stuck::Breaker),
            class if class.counts() && *errors_left == 0 => Some(Stuck::Errors),
            Class::Transient
            | Class::RateLimited
            | Class::Overloaded
            | Class::SessionInUse
            | Class::SessionMissing
            | Class::Timeout
            | Class::Stalled
            | Class::Crash
            | Class::Lost
            | Class::KilledByUs
            | Class::MalformedOutput
            | Class::Budget => None,
        };
        let Some(why) = why else {
            working.due = Some(*retry_at);
            self.state = State::Working(working);
            return Ok(Raised::Nothing);
        };
        self.state = State::Stuck { why };
        match why {
            Stuck::Errors => {
                effects.push(Effect::InspectWorkspace {
                    agent: self.agent.clone(),
                });
                Ok(Raised::Nothing)
            }
            Stuck::Auth | Stuck::Breaker => Ok(Raised::NeedsPerson {
                why,
                message: failure.message.clone(),
            }),
        }
    }

    /// Fish or cut bait: one more step, which says so. What a step is saying, or was to say (an answer, the output of a
    /// check), is not lost for it: the last chance is the step after.
    fn corner(&mut self, event: &Event, why: String) -> Result<Raised, Rejected> {
        let live = self.has_live_worker();
        let State::Working(working) = &mut self.state else {
            return Err(self.reject(event, "it is not working"));
        };
        (working.last_chance, working.bait) = (true, Some(why));
        if !live && working.next == Prompt::Step {
            working.next = Prompt::LastChance;
        }
        Ok(Raised::Nothing)
    }

    fn recover(&mut self, event: &Event) -> Result<Raised, Rejected> {
        let Event::Recovered {
            workspace,
            fresh,
            recoveries_left,
            attempts_left,
            reopen_at,
        } = event
        else {
            return Err(self.reject(event, "not a recovery"));
        };
        match self.state {
            State::Stuck { why: Stuck::Errors } => {}
            State::Stuck {
                why: Stuck::Auth | Stuck::Breaker,
            } => {
                return Err(self.reject(event, "only a person can help with this"));
            }
            State::Preparing
            | State::Ready
            | State::Working(_)
            | State::WaitingForInput { .. }
            | State::WaitingForWakeup { .. }
            | State::Verifying
            | State::Done
            | State::Reaped { .. } => return Err(self.reject(event, "it is not stuck")),
        }
        if *recoveries_left == 0 {
            return Ok(Raised::Crashed {
                attempts_left: *attempts_left,
                reopen_at: *reopen_at,
            });
        }
        self.recoveries += 1;
        (self.errors, self.repeats) = (0, 0);
        self.replace_session(event, fresh)?;
        let facts = reconcile::Facts {
            reached: reconcile::Reached::Work,
            workspace: *workspace,
            imported: false,
        };
        match reconcile::action(facts) {
            // Starting over is an attempt like any other: a workspace that keeps vanishing is looked at in the end.
            Action::StartOver if *attempts_left == 0 => {
                return Ok(Raised::Crashed {
                    attempts_left: 0,
                    reopen_at: *reopen_at,
                });
            }
            Action::StartOver => return Ok(Raised::WorkspaceLost),
            Action::Ready => self.state = State::Ready,
            Action::Work => self.work(Prompt::Resume),
            // Nothing of it was submitted: these cannot follow.
            Action::Verify | Action::Land => return Err(self.reject(event, "it has not been submitted")),
        }
        Ok(Raised::Nothing)
    }

    /// Working again, with `next` to say; the mode and the last chance do not outlive what interrupted them.
    fn work(&mut self, next: Prompt) {
        self.state = State::Working(Working {
            mode: Mode::default(),
            next,
            due: None,
            last_chance: false,
            bait: None,
        });
    }

    fn move_worker(&mut self, event: &Event, by: worker::Event) -> Result<(), Rejected> {
        match &mut self.worker {
            Some(worker) => worker.apply(by),
            None => Err(self.reject(event, "it has no worker")),
        }
    }

    fn replace_session(&mut self, event: &Event, fresh: &SessionId) -> Result<(), Rejected> {
        if self.session.id == *fresh {
            return Err(self.reject(event, "a session is replaced by another one"));
        }
        if self.session.is_new() {
            // Nothing was said in it: it is still as good as a new one.
            return Ok(());
        }
        self.session.apply(session::Event::ErrorDetected)?;
        self.session = Session::new(fresh.clone(), self.session.number + 1);
        Ok(())
    }

    fn close_session(&mut self, event: &Event) -> Result<(), Rejected> {
        let closed = session::Machine::transition(&self.session.state, &session::Event::Closed);
        self.session.state = closed
            .map_err(|_| self.reject(event, "its session is closed"))?
            .state;
        Ok(())
    }
}
