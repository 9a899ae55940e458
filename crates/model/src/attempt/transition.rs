//! The rows of the attempt machine.

use super::{
    Attempt, Class, Effect, Event, HarnessChange, Mode, Outcome, Prompt, Raised, Signal, StartPoint, State,
    Stuck, Throttled, Working, Workspace,
};
use crate::machine::{Machine as _, Rejected};
use crate::policy::budget::Budget;
use crate::session::{self, Session};
use crate::worker::{self, Worker};
use crate::{RunId, SessionId};

impl Attempt {
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
                    self.from = StartPoint::Target;
                }
                self.state = State::Ready;
                Ok(Raised::Nothing)
            }
            Event::StepStarted { run, budget, change } => {
                if let Some(change) = change {
                    self.change_harness(event, change)?;
                }
                self.start_step(event, run, *budget, effects)
            }
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
                // An agent that was told nothing yet will be told the new text; and a new text is another
                // input, on which the same failure may be tried again.
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
        budget: Option<Budget>,
        effects: &mut Vec<Effect>,
    ) -> Result<Raised, Rejected> {
        if !self.holding {
            return Err(self.reject(event, "its agent was freed"));
        }
        if self.has_live_worker() {
            return Err(self.reject(event, "a step of it is running"));
        }
        let (prompt, working) = match &self.state {
            State::Ready => {
                let prompt =
                    if self.steps > 0 || self.runs > 0 || matches!(self.from, StartPoint::Kept { .. }) {
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
            harness: self.harness.clone(),
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

    /// Goes on with another client, which knows nothing of the conversation so far.
    fn change_harness(&mut self, event: &Event, change: &HarnessChange) -> Result<(), Rejected> {
        if self.harness == change.to {
            return Err(self.reject(event, "it works with this harness already"));
        }
        if self.has_live_worker() {
            return Err(self.reject(event, "a step of it is running"));
        }
        self.harness = change.to.clone();
        if self.session.is_new() {
            return Ok(());
        }
        self.replace_session(event, &change.fresh)?;
        if let State::Working(working) = &mut self.state {
            working.next.tell_a_new_session();
        }
        Ok(())
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
        if let Some(budget) = self.warns.take() {
            self.session.warned = Some(budget.limit_micro_usd);
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
            // A person wanted it gone, and it ended by itself just before: what it asks for is not heeded any
            // more.
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
            // It was cornered while this step ran, or its steps are spent: the next one says so, whatever
            // this one asks for. Who could still ask and sleep without a step left would never come to an
            // end.
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
            working.next.tell_a_new_session();
        } else {
            self.session.apply(session::Event::Suspended)?;
            // The service answered: the conversation has the task, and is only to go on. Otherwise nobody
            // knows.
            if usage.tokens() > 0
                && let Prompt::Init | Prompt::Resume = working.next
            {
                working.next = Prompt::Step;
            }
        }
        if failure.class.counts() {
            self.errors += 1;
            let same = self
                .failure
                .as_ref()
                .is_some_and(|before| before.is_same(failure));
            self.repeats = if same { self.repeats + 1 } else { 1 };
            (self.failure, self.throttled) = (Some(failure.clone()), None);
        } else if failure.class.pauses_harness() {
            let times = self.throttled.as_ref().map_or(0, |before| before.times);
            self.throttled = Some(Throttled {
                failure: failure.clone(),
                times: times + 1,
            });
        }
        let why = match failure.class {
            Class::Auth => Some(Stuck::Auth),
            class if class.counts() && *repeats_left == 0 => Some(Stuck::NoProgress),
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
            Stuck::Auth | Stuck::NoProgress => Ok(Raised::NeedsPerson {
                why,
                message: failure.message.clone(),
            }),
        }
    }

    /// Fish or cut bait: one more step, which says so. What a step is saying, or was to say (an answer, the
    /// output of a check), is not lost for it: the last chance is the step after.
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
                why: Stuck::Auth | Stuck::NoProgress,
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
        match workspace {
            // Starting over is an attempt like any other: a workspace that keeps vanishing is looked at in
            // the end.
            Workspace::Missing if *attempts_left == 0 => {
                return Ok(Raised::Crashed {
                    attempts_left: 0,
                    reopen_at: *reopen_at,
                });
            }
            Workspace::Missing => return Ok(Raised::WorkspaceLost),
            Workspace::Clean => self.state = State::Ready,
            Workspace::Changed => self.work(Prompt::Resume),
        }
        Ok(Raised::Nothing)
    }

    /// Working again, with `next` to say; the mode and the last chance do not outlive what interrupted them.
    /// The last chance is told to whoever knows the task: a new session hears the task first, and what there
    /// is already, and the step after that is its last chance. That is one step more for each recovery, of
    /// which there are few, each after as many failures as an agent may have in a row.
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
