//! A conversation: the steps of one agent with its client, a child of the attempt.
//!
//! It has one session after the other: a session is the memory of the client under one id.
//! It knows nothing of the ticket. Its owner decides when a step is started and what the end of one means.

mod after_stop;
mod failure;
mod harness;
mod quiet;
mod usage;

use serde::{Deserialize, Serialize};

pub use after_stop::AfterStop;
pub use failure::{Class, Failure, Stuck, Throttled};
pub use harness::{HarnessChange, HarnessId};
pub use quiet::{Quiet, Silence};
pub use usage::Usage;

use crate::call::Call;
use crate::machine::Rejected;
use crate::policy::budget::Budget;
use crate::session::{self, Session};
use crate::ticket::Repeat;
use crate::worker::{self, Worker};
use crate::{RunId, SessionId, Time};

/// The steps of an agent, with the sessions and processes that they take.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Conversation {
    /// The client that steps are started with, and that the run of the worker was started with.
    pub harness: HarnessId,
    /// The session of the next step.
    pub session: Session,
    /// The process of the step that runs, or of the last one.
    pub worker: Option<Worker>,
    /// The action that follows when the worker that is being stopped has ended.
    pub stopping: Option<AfterStop>,
    /// The call with which the agent has stated the result of the step that runs: the step ends with that,
    /// whatever its client says or does afterwards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Box<Called>>,
    /// Tickets that the agent has made in the step that runs.
    #[serde(default, skip_serializing_if = "is_none_made")]
    pub made: u32,
    /// Runs started, failed ones included: it numbers the run directories.
    pub runs: u32,
    /// Steps that ended well.
    pub steps: u32,
    /// Failed steps in a row since it last began or was retried or recovered.
    pub errors: u32,
    /// Failed steps in a row, whatever was retried or recovered in between: the wait grows with them.
    #[serde(default)]
    pub in_a_row: u32,
    /// The number of times in a row that the same failure came; see
    /// [`no_progress`](crate::policy::no_progress).
    pub repeats: u32,
    /// How many steps in a row ended well without a signal, changed nothing, and ended with the same words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_step: Option<Repeat>,
    /// The last failure.
    pub failure: Option<Failure>,
    /// The last request of the service to wait; none once a step got through, or failed for another reason.
    pub throttled: Option<Throttled>,
    /// The usage of all steps so far.
    pub usage: Usage,
    /// The budget of which the step that runs warns. Only a step that ends well has shown it to the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<Budget>,
    /// The silence of the step that runs; none while it shows signs of life.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quiet: Option<Box<Quiet>>,
    /// The last progress that the agent has reported in the step that runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<Box<Progress>>,
}

/// What an agent has reported of its progress.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// The agent's words.
    pub text: String,
    /// The time at which crew took them.
    pub at: Time,
}

/// A call of an agent's that was taken.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Called {
    /// The call.
    pub call: Call,
    /// The time at which crew took it.
    pub at: Time,
}

/// The reason why a conversation does not change as it was asked to. Its owner makes a [`Rejected`] of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused(pub String);

impl From<&str> for Refused {
    fn from(why: &str) -> Self {
        Self(why.to_owned())
    }
}

/// A session or a worker has refused.
impl From<Rejected> for Refused {
    fn from(rejected: Rejected) -> Self {
        Self(rejected.why)
    }
}

impl Conversation {
    /// A conversation in which no step was started yet.
    #[must_use]
    pub fn new(harness: HarnessId, session: SessionId) -> Self {
        Self {
            harness,
            session: Session::new(session, 1),
            worker: None,
            stopping: None,
            result: None,
            made: 0,
            runs: 0,
            steps: 0,
            errors: 0,
            in_a_row: 0,
            repeats: 0,
            same_step: None,
            failure: None,
            throttled: None,
            usage: Usage::default(),
            warning: None,
            quiet: None,
            progress: None,
        }
    }

    /// The run of it whose process may be alive.
    #[must_use]
    pub fn live_run(&self) -> Option<&RunId> {
        let worker = self.worker.as_ref().filter(|worker| worker.is_live());
        worker.map(|worker| &worker.run)
    }

    /// True if a process of the conversation may be alive.
    #[must_use]
    pub fn has_live_worker(&self) -> bool {
        self.live_run().is_some()
    }

    /// True if no step of the conversation runs or is being stopped.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.stopping.is_none() && !self.has_live_worker()
    }

    /// A step is started as `run`. Answers whether its session is new to the client.
    ///
    /// # Errors
    /// [`Refused`] while a step runs, or when the session is over.
    pub fn start(&mut self, run: &RunId, warning: Option<Budget>) -> Result<bool, Refused> {
        self.expect_no_step()?;
        let new_session = self.session.is_new();
        self.session.apply(if new_session {
            session::Event::FirstMessageSent
        } else {
            session::Event::Resumed
        })?;
        self.runs += 1;
        self.worker = Some(Worker::new(run.clone()));
        (self.result, self.progress, self.made) = (None, None, 0);
        (self.stopping, self.warning, self.quiet) = (None, warning, None);
        Ok(new_session)
    }

    /// The process of the step is known to live.
    ///
    /// # Errors
    /// [`Refused`] when that was known, or the process has ended.
    pub fn spawned(&mut self) -> Result<(), Refused> {
        self.move_worker(worker::Event::Spawned)
    }

    /// The step is being stopped, and `then` follows. Answers the run to stop.
    ///
    /// # Errors
    /// [`Refused`] when no step runs, or it is being stopped for something that is not less.
    pub fn stop(&mut self, then: &AfterStop) -> Result<RunId, Refused> {
        let Some(run) = self.live_run().cloned() else {
            return Err("no worker of it is alive".into());
        };
        if self
            .stopping
            .as_ref()
            .is_some_and(|before| !then.outranks(before))
        {
            return Err("it is being stopped already".into());
        }
        self.stopping = Some(then.clone());
        Ok(run)
    }

    /// The agent calls a tool in its step.
    ///
    /// # Errors
    /// [`Refused`] when no step runs, and for a second result of the same step.
    pub fn call(&mut self, call: &Call, at: Time) -> Result<(), Refused> {
        if !self.has_live_worker() {
            return Err("no step of it runs".into());
        }
        if let Call::ReportProgress { text } = call {
            let text = text.clone();
            self.progress = Some(Box::new(Progress { text, at }));
        }
        if !call.is_result() {
            return Ok(());
        }
        if let Some(first) = &self.result {
            let first = first.call.name();
            return Err(Refused(format!("your first result stands: {first}")));
        }
        let call = call.clone();
        self.result = Some(Box::new(Called { call, at }));
        Ok(())
    }

    /// The step that runs shows no sign of life.
    ///
    /// # Errors
    /// [`Refused`] when no step runs, it is being stopped, or that is known.
    pub fn went_quiet(&mut self, quiet: &Quiet) -> Result<(), Refused> {
        match (self.live_run(), &self.stopping, &self.quiet) {
            (None, _, _) => Err("no worker of it is alive".into()),
            (_, Some(_), _) => Err("it is being stopped".into()),
            (_, _, Some(_)) => Err("that is known".into()),
            (Some(_), None, None) => {
                self.quiet = Some(Box::new(quiet.clone()));
                Ok(())
            }
        }
    }

    /// The step that runs shows signs of life.
    ///
    /// # Errors
    /// [`Refused`] when no step runs.
    pub fn stirred(&mut self) -> Result<(), Refused> {
        if !self.has_live_worker() {
            return Err("no worker of it is alive".into());
        }
        self.quiet = None;
        Ok(())
    }

    /// The step ended well; `total` as in [`Session::total_micro_usd`]. Answers why it was being stopped.
    ///
    /// # Errors
    /// [`Refused`] when no step runs.
    pub fn finish(&mut self, usage: Usage, total: Option<u64>) -> Result<Option<AfterStop>, Refused> {
        self.move_worker(worker::Event::Exited)?;
        self.session.apply(session::Event::Suspended)?;
        (self.quiet, self.progress) = (None, None);
        self.steps += 1;
        self.used(usage, total);
        if let Some(budget) = self.warning.take() {
            self.session.warned = Some(budget.limit_micro_usd);
        }
        (self.failure, self.in_a_row) = (None, 0);
        self.clear_errors();
        Ok(self.stopping.take())
    }

    /// The step failed; `total` as in [`Session::total_micro_usd`]. `fresh` replaces a
    /// session that the failure breaks.
    ///
    /// # Errors
    /// [`Refused`] when no step runs.
    pub fn fail(
        &mut self,
        failure: &Failure,
        usage: Usage,
        total: Option<u64>,
        fresh: &SessionId,
    ) -> Result<(), Refused> {
        self.move_worker(match self.stopping {
            Some(_) => worker::Event::Killed,
            None => worker::Event::Failed,
        })?;
        self.used(usage, total);
        (self.stopping, self.warning) = (None, None);
        (self.quiet, self.progress) = (None, None);
        if failure.class.breaks_session() {
            self.replace_session(fresh)?;
        } else {
            self.session.apply(session::Event::Suspended)?;
        }
        self.count(failure);
        Ok(())
    }

    /// Goes on with another client, which knows nothing of the conversation so far. Returns true if the
    /// session that is replaced had begun.
    ///
    /// # Errors
    /// [`Refused`] while a step runs, and for the client that it has.
    pub fn change_harness(&mut self, change: &HarnessChange) -> Result<bool, Refused> {
        if self.harness == change.to {
            return Err("it works with this harness already".into());
        }
        self.expect_no_step()?;
        self.harness = change.to.clone();
        let talked = !self.session.is_new();
        if talked {
            self.replace_session(&change.fresh)?;
        }
        Ok(talked)
    }

    /// Goes on in the session `fresh`, unless the present session has not begun: that one is as good as new.
    ///
    /// # Errors
    /// [`Refused`] when `fresh` is the session that it has.
    pub fn replace_session(&mut self, fresh: &SessionId) -> Result<(), Refused> {
        if self.session.id == *fresh {
            return Err("a session is replaced by another one".into());
        }
        if self.session.is_new() {
            return Ok(());
        }
        self.session.apply(session::Event::ErrorDetected)?;
        self.session = Session::new(fresh.clone(), self.session.number + 1);
        Ok(())
    }

    /// No error in a row counts any more against the limits.
    pub fn clear_errors(&mut self) {
        (self.errors, self.repeats, self.throttled) = (0, 0, None);
        self.same_step = None;
    }

    fn expect_no_step(&self) -> Result<(), Refused> {
        if self.has_live_worker() {
            return Err("a step of it is running".into());
        }
        Ok(())
    }

    fn move_worker(&mut self, by: worker::Event) -> Result<(), Refused> {
        let worker = self.worker.as_mut().ok_or("it has no worker")?;
        Ok(worker.apply(by)?)
    }

    fn used(&mut self, usage: Usage, total: Option<u64>) {
        self.usage.add(usage);
        self.session.used(usage, total);
    }

    /// The steps in a row that failed up to now, or that the service refused.
    #[must_use]
    pub fn failed_in_a_row(&self) -> u32 {
        let refused = self.throttled.as_ref().map_or(0, |throttled| throttled.times);
        self.in_a_row.saturating_add(refused)
    }

    fn count(&mut self, failure: &Failure) {
        if failure.class.counts() {
            let before = self.failure.as_ref();
            let same = before.is_some_and(|before| before.is_same(failure));
            self.errors += 1;
            self.in_a_row += 1;
            self.same_step = None;
            self.repeats = if same { self.repeats + 1 } else { 1 };
            (self.failure, self.throttled) = (Some(failure.clone()), None);
        } else if failure.class.pauses_harness() {
            let times = self.throttled.as_ref().map_or(0, |before| before.times);
            self.throttled = Some(Throttled {
                failure: failure.clone(),
                times: times + 1,
            });
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_none_made(made: &u32) -> bool {
    *made == 0
}
