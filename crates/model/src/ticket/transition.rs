//! The ticket's table (machines.md §2): what each state makes of each event.

use super::{
    Again, Candidate, Done, Effect, Event, Held, Label, Released, Stage, State, Ticket, Verify, Waiting, Why,
};
use crate::attempt::{self, Attempt, Prompt, Raised, Stuck};
use crate::machine::{self, Rejected, Step};
use crate::policy::budget::Purse;
use crate::{SessionId, Time};

/// The machine.
#[derive(Clone, Copy, Debug)]
pub struct Machine;

impl machine::Machine for Machine {
    type State = Ticket;
    type Event = Event;
    type Effect = Effect;
    const NAME: &'static str = "ticket";

    fn transition(state: &Ticket, event: &Event) -> Result<Step<Ticket, Effect>, Rejected> {
        let mut next = Draft {
            ticket: state.clone(),
            effects: Vec::new(),
            event,
        };
        next.take()?;
        Ok(Step {
            state: next.ticket,
            effects: next.effects,
        })
    }

    fn state_name(state: &Ticket) -> String {
        state.state_name()
    }

    fn event_name(event: &Event) -> &'static str {
        event.name()
    }
}

/// A ticket on its way to the next state.
struct Draft<'a> {
    ticket: Ticket,
    effects: Vec<Effect>,
    event: &'a Event,
}

type Taken = Result<(), Rejected>;

impl Draft<'_> {
    fn no<T>(&self, why: &str) -> Result<T, Rejected> {
        Err(Rejected {
            state: self.ticket.state_name(),
            event: self.event.name().to_owned(),
            why: why.to_owned(),
        })
    }

    fn take(&mut self) -> Taken {
        if let State::New = self.ticket.state {
            let Event::Created { spec } = self.event else {
                return self.no("it has not been created");
            };
            self.ticket.spec = spec.clone();
            self.ticket.state = State::Open;
            return Ok(());
        }
        let event = self.event;
        match event {
            Event::Created { .. } => self.no("it exists already"),
            Event::Edited { spec } => self.edit(spec),
            Event::FileDrifted => Ok(()),
            Event::Claimed { .. } => self.claim(),
            Event::RecoveryNotNeeded => {
                self.expect_open()?;
                if self.ticket.spec.recovers.is_none() {
                    return self.no("it recovers no other ticket");
                }
                self.finish(Done::NotNeeded);
                self.ticket.labels.insert(Label::Recovery);
                Ok(())
            }
            Event::ClosedByPerson => self.close(),
            Event::Reopened { .. } => self.reopen(),
            Event::Dropped { by, reason } => self.drop_by(by, reason),
            Event::Retried { seat, fresh, .. } => self.retry(*seat, fresh),
            Event::RetryDue => self.retry_due(),
            Event::Waived { by, reason } => self.waive(by, reason),
            Event::PathsApproved { .. } => self.approve_paths(),
            Event::BudgetSpent { purse } => self.spend_budget(*purse),
            Event::BudgetRaised { seat } => self.raise_budget(*seat),

            Event::Attempt(event) => self.attempt(event),
            Event::Submitted { by, at } => {
                let attempt = self.working()?.after(&attempt::Event::Submitted)?.0;
                self.submit(attempt, by.clone(), *at);
                Ok(())
            }
            Event::WorkerGaveUp {
                attempts_left,
                reopen_at,
            } => {
                self.expect_free()?;
                self.working()?;
                self.give_back(Label::AgentIncomplete, *attempts_left, *reopen_at)
            }
            Event::WorkerCrashed {
                attempts_left,
                reopen_at,
            } => {
                self.expect_free()?;
                self.working()?;
                self.give_back(Label::AgentError, *attempts_left, *reopen_at)
            }
            Event::WorkerLost => {
                let State::InProgress(attempt) = &self.ticket.state else {
                    return self.no("no agent has it");
                };
                let attempt = attempt.clone();
                self.expect_free()?;
                // Its host is gone, and so is its worker: nothing is left to be stopped.
                let attempt = Attempt {
                    worker: None,
                    ..attempt
                };
                self.ticket.state = State::InProgress(attempt);
                self.ticket.labels.insert(Label::AutoRecovered);
                self.back_to_open()
            }
            Event::Blocked { why } => {
                self.expect_free()?;
                self.working()?;
                self.block(why)
            }
            Event::Released { why } => self.release(why),

            Event::CheckStarted => self.start_check(),
            Event::CandidateBuilt { candidate } => {
                let verify = self.building()?;
                verify.stage = Stage::Checking(candidate.clone());
                self.effects.push(Effect::RunChecks {
                    candidate: candidate.clone(),
                });
                Ok(())
            }
            Event::ChecksPassed { tree, passed, review } => self.pass(tree, passed, *review),
            Event::ChecksFailed {
                which,
                output,
                steps_left,
                reopen_at,
                again,
            } => {
                // Taking the branch over is the first of the checks: it can fail while nothing is merged yet.
                self.stage(
                    |s| matches!(s, Stage::Building | Stage::Checking(_)),
                    "its checks do not run",
                )?;
                if self.opens_breaker(again.as_ref()) && *steps_left > 0 {
                    return self.open_breaker();
                }
                let prompt = Prompt::ChecksFailed {
                    which: which.clone(),
                    output: output.clone(),
                };
                self.send_back(
                    prompt,
                    *steps_left,
                    *reopen_at,
                    &format!("`{which}` failed:\n{output}"),
                )
            }
            Event::NoCommits {
                steps_left,
                reopen_at,
                again,
            } => {
                self.building()?;
                if self.opens_breaker(again.as_ref()) && *steps_left > 0 {
                    return self.open_breaker();
                }
                self.send_back(
                    Prompt::NothingCommitted,
                    *steps_left,
                    *reopen_at,
                    "nothing was committed",
                )
            }
            Event::Conflicted {
                paths,
                resolutions_left,
                again,
            } => {
                self.building()?;
                if self.opens_breaker(again.as_ref()) && *resolutions_left > 0 {
                    return self.open_breaker();
                }
                self.conflict(paths, *resolutions_left)
            }
            Event::CouldNotRun { why, retry_at } => self.hold_check(
                Why::CouldNotRun,
                format!("the checks could not be run: {why}"),
                *retry_at,
            ),
            Event::TargetRed { which, retry_at } => {
                let note = format!("the target branch itself fails `{which}`: mend it, and this goes on");
                self.hold_check(Why::TargetRed, note, *retry_at)
            }
            Event::SensitivePaths { paths, tip } => {
                let at_work = |s: &Stage| match s {
                    Stage::Building | Stage::Checking(_) | Stage::Landing { .. } => true,
                    Stage::Queued | Stage::Reviewing { .. } => false,
                };
                self.stage(at_work, "it is neither being checked nor landing")?;
                let note = format!(
                    "it touches {}: `crew approve {}` lets it land",
                    paths.join(", "),
                    self.ticket.id
                );
                self.unseat();
                self.hold(
                    Why::SensitivePaths {
                        paths: paths.clone(),
                        tip: tip.clone(),
                    },
                    note,
                    None,
                );
                Ok(())
            }

            Event::ReviewClaimed { agent, .. } => {
                let reviewer = Some(agent.clone());
                let Stage::Reviewing {
                    reviewer: old, due, ..
                } = &mut self.reviewing()?.stage
                else {
                    return self.no("it is not in review");
                };
                if old.is_some() {
                    return self.no("a reviewer has it");
                }
                (*old, *due) = (reviewer, None);
                Ok(())
            }
            Event::ReviewCrashed { left, due } => self.review_again(Label::EvaluatorError, *left, *due),
            Event::ReviewGaveUp { left, due } => self.review_again(Label::EvaluatorIncomplete, *left, *due),
            Event::Approved { acceptance_test, .. } => {
                let Stage::Reviewing { candidate, .. } = &self.reviewed()?.stage else {
                    return self.no("it is not in review");
                };
                let mut candidate = candidate.clone();
                if acceptance_test.trim().is_empty() {
                    return self.no("an approval says how the work was tested");
                }
                candidate.passed = vec![acceptance_test.clone()];
                self.ticket.labels.clear();
                self.ticket.review_tries = 0;
                self.land(candidate)
            }
            Event::Rejected {
                reason,
                feedback,
                attempts_left,
                reopen_at,
            } => {
                self.reviewed()?;
                self.ticket.feedback.push(format!("{reason}\n{feedback}"));
                self.ticket.review_tries = 0;
                self.ticket.labels.remove(&Label::EvaluatorError);
                self.ticket.labels.remove(&Label::EvaluatorIncomplete);
                self.give_back(Label::Rejected, *attempts_left, *reopen_at)
            }
            Event::WorkFailed { reason } => {
                self.reviewed()?;
                self.keep_work();
                self.finish(Done::Failed {
                    reason: reason.clone(),
                });
                self.ticket.labels.insert(Label::Failed);
                Ok(())
            }

            Event::Landed { commit } => self.landed(commit),
            Event::TargetMoved => {
                self.landing()?.stage = Stage::Queued;
                Ok(())
            }
            Event::CheckoutEdited { paths, retry_at } => {
                let wait = Waiting {
                    paths: paths.clone(),
                    retry_at: *retry_at,
                };
                let Stage::Landing { waiting, .. } = &mut self.landing()?.stage else {
                    return self.no("it is not landing");
                };
                *waiting = Some(wait);
                Ok(())
            }
            Event::LandingRetried => {
                let Stage::Landing {
                    candidate,
                    waiting: Some(_),
                } = &self.landing()?.stage
                else {
                    return self.no("it does not wait");
                };
                let candidate = candidate.clone();
                self.land(candidate)
            }
        }
    }

    // The guards, named.

    fn expect_open(&self) -> Taken {
        match self.ticket.state {
            State::Open => Ok(()),
            State::New | State::InProgress(_) | State::Verify(_) | State::Done(_) => {
                self.no("it is not open")
            }
        }
    }

    fn expect_free(&self) -> Taken {
        if self.ticket.held.is_some() {
            return self.no("it is held");
        }
        Ok(())
    }

    /// In progress, with no process of it alive.
    fn working(&self) -> Result<&Attempt, Rejected> {
        let State::InProgress(attempt) = &self.ticket.state else {
            return self.no("no agent is at work on it");
        };
        if attempt.has_live_worker() {
            return self.no("a worker of it is alive; it is stopped first");
        }
        Ok(attempt)
    }

    fn verify(&mut self) -> Result<&mut Verify, Rejected> {
        if !matches!(self.ticket.state, State::Verify(_)) {
            return self.no("nothing of it is submitted");
        }
        self.expect_free()?;
        let State::Verify(verify) = &mut self.ticket.state else {
            unreachable!("matched above")
        };
        Ok(verify)
    }

    fn stage(&mut self, wanted: fn(&Stage) -> bool, why: &str) -> Result<&mut Verify, Rejected> {
        if !wanted(&self.verify()?.stage) {
            return self.no(why);
        }
        self.verify()
    }

    fn building(&mut self) -> Result<&mut Verify, Rejected> {
        self.stage(|s| matches!(s, Stage::Building), "it is not being merged")
    }

    fn checking(&mut self) -> Result<&mut Verify, Rejected> {
        self.stage(|s| matches!(s, Stage::Checking(_)), "its checks do not run")
    }

    fn reviewing(&mut self) -> Result<&mut Verify, Rejected> {
        self.stage(|s| matches!(s, Stage::Reviewing { .. }), "it is not in review")
    }

    /// In review, and someone reviews it: a verdict has an author.
    fn reviewed(&mut self) -> Result<&mut Verify, Rejected> {
        self.reviewing()?;
        self.stage(
            |s| {
                matches!(
                    s,
                    Stage::Reviewing {
                        reviewer: Some(_),
                        ..
                    }
                )
            },
            "nobody reviews it",
        )
    }

    fn landing(&mut self) -> Result<&mut Verify, Rejected> {
        self.stage(|s| matches!(s, Stage::Landing { .. }), "it is not landing")
    }

    // The queue.

    fn edit(&mut self, spec: &super::Spec) -> Taken {
        let text_changed = self.ticket.spec.digest != spec.digest;
        self.ticket.spec = spec.clone();
        if text_changed {
            // Another text is another input.
            self.ticket.again = None;
        }
        if text_changed
            && let State::InProgress(attempt) | State::Verify(Verify { attempt, .. }) = &mut self.ticket.state
        {
            *attempt = attempt.after(&attempt::Event::TicketEdited)?.0;
        }
        Ok(())
    }

    fn claim(&mut self) -> Taken {
        let Event::Claimed {
            agent,
            fence,
            session,
            at,
            eligible,
        } = self.event
        else {
            return self.no("not a claim");
        };
        self.expect_open()?;
        self.expect_free()?;
        if self.ticket.due.is_some_and(|due| due > *at) {
            return self.no("it is not due yet");
        }
        if !eligible {
            return self.no("it is not eligible");
        }
        if *fence <= self.ticket.fence {
            return self.no("the claim's fence is not newer than the last");
        }
        let ticket = &mut self.ticket;
        (ticket.fence, ticket.due) = (*fence, None);
        ticket.tries += 1;
        ticket.attempts += 1;
        let (number, from) = (ticket.attempts, ticket.from.clone());
        let attempt = Attempt::new(agent.clone(), *fence, number, from.clone(), session.clone(), *at);
        ticket.state = State::InProgress(attempt);
        self.effects.push(Effect::PrepareWorkspace {
            agent: agent.clone(),
            fence: *fence,
            number,
            from,
        });
        Ok(())
    }

    fn reopen(&mut self) -> Taken {
        if !self.ticket.is_done() {
            return self.no("it is not done");
        }
        let ticket = &mut self.ticket;
        ticket.state = State::Open;
        (ticket.tries, ticket.review_tries, ticket.due) = (0, 0, None);
        ticket.spent.since_grant_micro_usd = 0;
        ticket.from = attempt::From::Target;
        ticket.labels.clear();
        Ok(())
    }

    fn finish(&mut self, done: Done) {
        let ticket = &mut self.ticket;
        ticket.state = State::Done(done);
        (ticket.held, ticket.due, ticket.again) = (None, None, None);
        ticket.labels.clear();
        ticket.feedback.clear();
    }

    fn drop_by(&mut self, by: &str, reason: &str) -> Taken {
        match &self.ticket.state {
            State::New | State::Open => {}
            State::InProgress(_) => {
                self.working()?;
                self.keep_work();
            }
            State::Verify(verify) => {
                if let Stage::Landing { waiting: None, .. } = verify.stage
                    && self.ticket.held.is_none()
                {
                    return self.no("it is landing at this moment");
                }
                self.keep_work();
            }
            State::Done(_) => return self.no("it is done"),
        }
        self.finish(Done::Dropped {
            by: by.to_owned(),
            reason: reason.to_owned(),
        });
        Ok(())
    }

    // The attempt.

    fn attempt(&mut self, event: &attempt::Event) -> Taken {
        match event {
            attempt::Event::Submitted | attempt::Event::ChecksPassed | attempt::Event::Returned { .. } => {
                return self.no("the ticket itself says so");
            }
            attempt::Event::Retried { .. } | attempt::Event::Reaped { .. } => {
                return self.no("this goes through the ticket");
            }
            attempt::Event::WorkspaceReady { .. }
            | attempt::Event::StepStarted { .. }
            | attempt::Event::WorkerSpawned
            | attempt::Event::StopOrdered { .. }
            | attempt::Event::StepFinished { .. }
            | attempt::Event::StepFailed { .. }
            | attempt::Event::Answered { .. }
            | attempt::Event::Woken
            | attempt::Event::WokenEarly { .. }
            | attempt::Event::WaitTimedOut
            | attempt::Event::Baited { .. }
            | attempt::Event::Recovered { .. }
            | attempt::Event::TicketEdited => {}
        }
        let State::InProgress(attempt) = &self.ticket.state else {
            return self.no("no agent is at work on it");
        };
        self.expect_free()?;
        let (attempt, effects, raised) = attempt.after(event)?;
        self.effects.extend(effects.into_iter().map(Effect::Attempt));
        let agent = attempt.agent.to_string();
        let since = attempt.since;
        self.ticket.state = State::InProgress(attempt.clone());
        match raised {
            Raised::Nothing => Ok(()),
            Raised::Submitted => {
                self.submit(attempt, agent, since);
                Ok(())
            }
            Raised::GaveUp {
                attempts_left,
                reopen_at,
            } => self.give_back(Label::AgentIncomplete, attempts_left, reopen_at),
            Raised::Crashed {
                attempts_left,
                reopen_at,
            } => self.give_back(Label::AgentError, attempts_left, reopen_at),
            Raised::Blocked { why } => self.block(&why),
            Raised::WorkspaceLost => self.release(&Released::WorkspaceLost),
            Raised::Reaped { why } => self.release(&Released::Reaped { why }),
            Raised::NeedsPerson { why, message } => {
                self.unseat();
                let (why, note) = match why {
                    Stuck::Auth => (
                        Why::Auth,
                        format!("the agent's credentials are refused: {message}"),
                    ),
                    Stuck::Breaker | Stuck::Errors => (
                        Why::Breaker,
                        format!("the same failure came three times in a row on unchanged input: {message}"),
                    ),
                };
                self.hold(why, note, None);
                Ok(())
            }
        }
    }

    /// Into the line. What a person submits is taken as it is, whatever held it; submitting is the success that an agent's
    /// labels wait for.
    fn submit(&mut self, attempt: Attempt, by: String, submitted_at: Time) {
        for label in [Label::AgentIncomplete, Label::AgentError, Label::AutoRecovered] {
            self.ticket.labels.remove(&label);
        }
        self.ticket.held = None;
        let round = attempt.rounds;
        self.ticket.state = State::Verify(Verify {
            attempt,
            by,
            submitted_at,
            round,
            approved: None,
            stage: Stage::Queued,
        });
    }

    /// A person closed its file. What an agent has is submitted instead; what is submitted closes when it has landed.
    fn close(&mut self) -> Taken {
        match &self.ticket.state {
            State::New | State::Open => {}
            State::InProgress(_) => return self.no("an agent has it: closing it submits it"),
            State::Verify(_) if self.ticket.held.is_some() => self.keep_work(),
            State::Verify(_) => return self.no("it is submitted: it is closed when it has landed"),
            State::Done(_) => return self.no("it is done"),
        }
        self.finish(Done::ClosedByPerson);
        Ok(())
    }

    /// Back to the queue; with no attempt left, held until a person looks at it.
    fn give_back(&mut self, label: Label, attempts_left: u32, reopen_at: Time) -> Taken {
        self.back_to_open()?;
        self.ticket.labels.insert(label);
        if attempts_left == 0 {
            self.ticket.labels.insert(Label::Failed);
            let note = format!(
                "its attempts are spent; `crew retry {}` gives it new ones",
                self.ticket.id
            );
            self.hold(Why::Failed, note, None);
        } else {
            self.ticket.due = Some(reopen_at);
        }
        Ok(())
    }

    /// Open again, from what the attempt leaves; due at once.
    fn back_to_open(&mut self) -> Taken {
        let Some(attempt) = self.ticket.attempt() else {
            return self.no("no attempt stands behind it");
        };
        self.ticket.from = attempt::From::Kept {
            number: attempt.number,
        };
        self.keep_work();
        self.ticket.state = State::Open;
        (self.ticket.due, self.ticket.held) = (None, None);
        Ok(())
    }

    fn keep_work(&mut self) {
        if let Some(attempt) = self.ticket.attempt() {
            self.effects.push(Effect::KeepWork {
                agent: attempt.agent.clone(),
                number: attempt.number,
            });
        }
    }

    fn block(&mut self, why: &str) -> Taken {
        self.back_to_open()?;
        self.effects.push(Effect::AddNote {
            text: format!("BLOCKED: {why}"),
        });
        self.hold(Why::Blocked, why.to_owned(), None);
        Ok(())
    }

    fn release(&mut self, why: &Released) -> Taken {
        self.working()?;
        match why {
            Released::Killed { by } => {
                self.back_to_open()?;
                self.ticket.labels.insert(Label::Killed);
                self.hold(Why::Killed, format!("its agent was killed by {by}"), None);
            }
            Released::Reaped { why } => {
                self.back_to_open()?;
                self.ticket.labels.insert(Label::Reaped);
                self.hold(Why::Reaped, format!("its agent was given up: {why}"), None);
            }
            Released::WorkspaceFailed {
                why,
                attempts_left,
                reopen_at,
            } => {
                if !matches!(self.working()?.state, attempt::State::Preparing) {
                    return self.no("its workspace was made");
                }
                // Nothing was made, so there is nothing to keep, and the next attempt starts where this one should have.
                let from = self.ticket.from.clone();
                self.give_back(Label::AgentError, *attempts_left, *reopen_at)?;
                self.ticket.from = from;
                if let Some(held) = &mut self.ticket.held {
                    held.note = format!("its workspace could not be made: {why}");
                }
            }
            Released::WorkspaceLost => {
                self.back_to_open()?;
                self.ticket.labels.insert(Label::AutoRecovered);
            }
        }
        Ok(())
    }

    fn hold(&mut self, why: Why, note: String, retry_at: Option<Time>) {
        self.ticket.held = Some(Held {
            why,
            note,
            since: self.ticket.since,
            retry_at,
        });
    }

    /// A held ticket frees its agent.
    fn unseat(&mut self) {
        if let State::InProgress(attempt) | State::Verify(Verify { attempt, .. }) = &mut self.ticket.state {
            attempt.seated = false;
        }
    }

    // Verification.

    fn start_check(&mut self) -> Taken {
        let verify = self.stage(|s| matches!(s, Stage::Queued), "it is not in the line")?;
        verify.attempt.rounds += 1;
        verify.round = verify.attempt.rounds;
        verify.stage = Stage::Building;
        let effect = Effect::BuildCandidate {
            agent: verify.attempt.agent.clone(),
            fence: verify.attempt.fence,
            number: verify.attempt.number,
            round: verify.round,
            approved: verify.approved.clone(),
        };
        self.effects.push(effect);
        Ok(())
    }

    fn pass(&mut self, tree: &crate::Oid, passed: &[String], review: bool) -> Taken {
        let verify = self.checking()?;
        let Stage::Checking(candidate) = &verify.stage else {
            return self.no("its checks do not run");
        };
        if candidate.tree != *tree {
            return self.no("the verdict is of another tree");
        }
        let candidate = Candidate {
            passed: passed.to_vec(),
            ..candidate.clone()
        };
        verify.attempt = verify.attempt.after(&attempt::Event::ChecksPassed)?.0;
        self.ticket.again = None;
        let verify = self.checking()?;
        if review {
            verify.stage = Stage::Reviewing {
                candidate,
                reviewer: None,
                due: None,
            };
            return Ok(());
        }
        self.land(candidate)
    }

    fn land(&mut self, candidate: Candidate) -> Taken {
        let verify = self.verify()?;
        let agent = verify.attempt.agent.clone();
        verify.stage = Stage::Landing {
            candidate: candidate.clone(),
            waiting: None,
        };
        self.effects.push(Effect::Land { agent, candidate });
        Ok(())
    }

    /// Back to its agent, in the same session; to the queue when the agent was freed meanwhile.
    fn send_back(&mut self, prompt: Prompt, steps_left: u32, reopen_at: Time, story: &str) -> Taken {
        let State::Verify(verify) = &self.ticket.state else {
            return self.no("nothing of it is submitted");
        };
        if steps_left == 0 {
            self.ticket.feedback.push(story.to_owned());
            self.give_back(Label::Failed, 0, reopen_at)?;
            let first = story.lines().next().unwrap_or_default().trim_end_matches(':');
            let note = format!(
                "{first}, and its steps are spent; `crew retry {}` gives it new ones",
                self.ticket.id
            );
            self.hold(Why::Failed, note, None);
            return Ok(());
        }
        if !verify.attempt.seated {
            self.ticket.feedback.push(story.to_owned());
            return self.back_to_open();
        }
        let attempt = verify.attempt.after(&attempt::Event::Returned { prompt })?.0;
        self.ticket.state = State::InProgress(attempt);
        Ok(())
    }

    /// Notes what came of submitted work; whether it was the same once too often.
    fn opens_breaker(&mut self, again: Option<&Again>) -> bool {
        self.ticket.again = again.cloned();
        again.is_some_and(|again| again.left == 0)
    }

    /// Held as submitted: a retry first looks whether it is still so, and pays no step for that.
    fn open_breaker(&mut self) -> Taken {
        let Some(again) = &self.ticket.again else {
            return self.no("nothing came again");
        };
        let note = format!(
            "{}, {} times in a row: not paid again; `crew retry {}` tries it once more",
            again.of.says(),
            again.times,
            self.ticket.id
        );
        self.verify()?.stage = Stage::Queued;
        self.unseat();
        self.hold(Why::Breaker, note, None);
        Ok(())
    }

    fn conflict(&mut self, paths: &[String], resolutions_left: u32) -> Taken {
        let verify = self.building()?;
        if resolutions_left == 0 {
            verify.stage = Stage::Queued;
            self.unseat();
            let note = format!("conflicts in {} could not be resolved", paths.join(", "));
            self.hold(Why::Conflict, note, None);
            return Ok(());
        }
        let story = format!("the branch conflicts with the target in {}", paths.join(", "));
        self.send_back(
            Prompt::MergeConflict {
                paths: paths.to_vec(),
            },
            1,
            Time::default(),
            &story,
        )
    }

    fn hold_check(&mut self, why: Why, note: String, retry_at: Time) -> Taken {
        self.stage(
            |s| matches!(s, Stage::Building | Stage::Checking(_)),
            "its checks do not run",
        )?;
        self.unseat();
        self.hold(why, note, Some(retry_at));
        Ok(())
    }

    fn review_again(&mut self, label: Label, left: u32, again: Time) -> Taken {
        let Stage::Reviewing { reviewer, due, .. } = &mut self.reviewing()?.stage else {
            return self.no("it is not in review");
        };
        if reviewer.is_none() {
            return self.no("nobody reviews it");
        }
        (*reviewer, *due) = (None, Some(again));
        self.ticket.labels.insert(label);
        self.ticket.review_tries += 1;
        if left == 0 {
            self.unseat();
            self.hold(
                Why::Review,
                "its review ended without a verdict too often".to_owned(),
                None,
            );
        }
        Ok(())
    }

    fn landed(&mut self, commit: &crate::Oid) -> Taken {
        let verify = self.landing()?;
        let Stage::Landing { candidate, .. } = &verify.stage else {
            return self.no("it is not landing");
        };
        if candidate.commit != *commit {
            return self.no("another commit was to be landed");
        }
        let acceptance = match candidate.passed.as_slice() {
            [] => "no checks are configured".to_owned(),
            passed => passed.join("; "),
        };
        let (agent, number) = (verify.attempt.agent.clone(), verify.attempt.number);
        self.effects.push(Effect::RemoveWorkspace {
            agent: agent.clone(),
            number,
        });
        self.finish(Done::Landed {
            commit: commit.clone(),
            acceptance,
            agent,
        });
        Ok(())
    }

    // What is held.

    fn retry(&mut self, seat: bool, fresh: &SessionId) -> Taken {
        let for_money = self.is_held_for_budget();
        let held = self.ticket.held.take().is_some();
        if !held && !matches!(self.ticket.state, State::InProgress(_)) {
            return self.no("it is not held");
        }
        // Money is granted by whoever was told that it is about money.
        if for_money {
            self.grant();
        }
        self.ticket.tries = 0;
        self.ticket.review_tries = 0;
        self.ticket.again = None;
        self.ticket.labels.clear();
        match &mut self.ticket.state {
            State::New | State::Done(_) => self.no("it is not held"),
            State::Open => {
                self.ticket.due = None;
                Ok(())
            }
            State::InProgress(attempt) if seat || !held => {
                // What only lacked money goes on as it was.
                if !for_money {
                    let event = attempt::Event::Retried {
                        by: String::new(),
                        fresh: fresh.clone(),
                    };
                    *attempt = attempt.after(&event)?.0;
                }
                attempt.seated = true;
                Ok(())
            }
            State::InProgress(_) => self.back_to_open(),
            State::Verify(verify) => {
                verify.attempt.resolutions = 0;
                verify.stage = Stage::Queued;
                Ok(())
            }
        }
    }

    fn grant(&mut self) {
        self.ticket.spent.since_grant_micro_usd = 0;
        if let State::InProgress(attempt) | State::Verify(Verify { attempt, .. }) = &mut self.ticket.state {
            attempt.session.warned = None;
        }
    }

    /// Between two steps, or between two attempts: held, and its work stays where it is. Held for it already, it says
    /// the new figures.
    fn spend_budget(&mut self, purse: Purse) -> Taken {
        if !self.is_held_for_budget() {
            self.expect_free()?;
        }
        match &self.ticket.state {
            State::Open => {}
            State::InProgress(_) => {
                let (attempt::State::Ready | attempt::State::Working(_)) = self.working()?.state else {
                    return self.no("no step of it is to be started");
                };
            }
            State::New | State::Verify(_) | State::Done(_) => {
                return self.no("no step of it is to be started");
            }
        }
        let id = &self.ticket.id;
        let note = format!(
            "spent {purse}; `crew retry {id}` grants as much again, or raise `ticket_usd` in crew.toml"
        );
        self.unseat();
        self.hold(Why::Budget { purse }, note, None);
        Ok(())
    }

    fn raise_budget(&mut self, seat: bool) -> Taken {
        if !self.is_held_for_budget() {
            return self.no("no budget holds it");
        }
        self.ticket.held = None;
        match &mut self.ticket.state {
            State::InProgress(attempt) if seat => {
                attempt.seated = true;
                Ok(())
            }
            State::InProgress(_) => self.back_to_open(),
            State::New | State::Open | State::Verify(_) | State::Done(_) => Ok(()),
        }
    }

    fn is_held_for_budget(&self) -> bool {
        let held = self.ticket.held.as_ref();
        held.is_some_and(|held| matches!(held.why, Why::Budget { .. }))
    }

    fn retry_due(&mut self) -> Taken {
        let Some(Held {
            retry_at: Some(_), ..
        }) = &self.ticket.held
        else {
            return self.no("it waits for a person");
        };
        let State::Verify(verify) = &mut self.ticket.state else {
            return self.no("nothing of it is submitted");
        };
        verify.stage = Stage::Queued;
        self.ticket.held = None;
        Ok(())
    }

    fn waive(&mut self, by: &str, reason: &str) -> Taken {
        let Some(held) = &self.ticket.held else {
            return self.no("it is not held");
        };
        if let Why::SensitivePaths { .. } = held.why {
            return self.approve_paths();
        }
        let Some(candidate) = self.ticket.candidate().cloned() else {
            return self.no("there is no merged result that could go on; retry it, or drop it");
        };
        self.ticket.held = None;
        let verify = self.verify()?;
        verify.attempt.state = attempt::State::Done;
        let passed = vec![format!("waived by {by}: {reason}")];
        self.land(Candidate { passed, ..candidate })
    }

    fn approve_paths(&mut self) -> Taken {
        let Some(Held {
            why: Why::SensitivePaths { tip, .. },
            ..
        }) = &self.ticket.held
        else {
            return self.no("no paths of it wait for approval");
        };
        let tip = tip.clone();
        let State::Verify(verify) = &mut self.ticket.state else {
            return self.no("nothing of it is submitted");
        };
        verify.approved = Some(tip);
        verify.stage = Stage::Queued;
        self.ticket.held = None;
        Ok(())
    }
}
