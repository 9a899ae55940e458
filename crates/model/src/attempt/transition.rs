//! The rows of the attempt machine.

mod mode;
mod people;
mod step;

use super::{Attempt, Effect, Event, Outcome, Prompt, Raised, StartPoint, State, Stuck, Working, Workspace};
use crate::SessionId;
use crate::machine::Rejected;

impl Attempt {
    /// The next state, its effects and its news for the ticket.
    ///
    /// # Errors
    /// [`Rejected`] when the state does not accept the event.
    pub fn after(&self, event: &Event) -> Result<Outcome, Rejected> {
        let mut next = self.clone();
        let mut effects = Vec::new();
        let raised = next.take(event, &mut effects)?;
        Ok((next, effects, raised))
    }

    pub(super) fn reject(&self, event: &Event, why: impl Into<String>) -> Rejected {
        Rejected {
            state: self.state.name().to_owned(),
            event: event.name().to_owned(),
            why: why.into(),
        }
    }

    fn take(&mut self, event: &Event, effects: &mut Vec<Effect>) -> Result<Raised, Rejected> {
        let no = |me: &Self, why: &str| Err(me.reject(event, why));
        match event {
            Event::WorkspaceReady { base, earlier_work } => {
                let State::Preparing = self.state else {
                    return no(self, "its workspace exists already");
                };
                self.claim.base = Some(base.clone());
                // Only a workspace that holds work is worth resuming: a kept ref can be empty.
                if !earlier_work {
                    self.claim.from = StartPoint::Target;
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
                let spawned = self.conversation.spawned();
                spawned.map_err(|no| self.reject(event, no.0))?;
                Ok(Raised::Nothing)
            }
            Event::StopOrdered { then } => {
                let stopped = self.conversation.stop(then);
                let run = stopped.map_err(|no| self.reject(event, no.0))?;
                effects.push(Effect::StopRun { run });
                Ok(Raised::Nothing)
            }
            Event::StepFinished { .. } => self.finish_step(event),
            Event::StepFailed { .. } => self.fail_step(event, effects),
            Event::Answered { text, .. } => {
                // An answer that the agent has not been given yet is replaced.
                if self.question().or(self.waiting_answer()).is_none() {
                    return no(self, "it has asked nothing");
                }
                self.work(Prompt::Answer { text: text.clone() });
                self.waits_for_target = true;
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
                    | State::WaitingForChildren { .. }
                    | State::Stuck { .. } => return no(self, "it does not wait"),
                };
                self.work(next);
                Ok(Raised::Nothing)
            }
            Event::Recovered { .. } => self.recover(event),
            Event::Called { call, at } => {
                let called = self.conversation.call(call, *at);
                called.map_err(|no| self.reject(event, no.0))?;
                Ok(Raised::Nothing)
            }
            Event::Retried { fresh, .. } => {
                let live = self.conversation.has_live_worker();
                match &mut self.state {
                    State::Stuck { .. } => {
                        self.replace_session(event, fresh)?;
                        self.state = State::Ready;
                    }
                    State::Ready if self.resumes_at.is_some() => {}
                    // A wait between two steps is cut short.
                    State::Working(working) if working.due.is_some() && !live => working.due = None,
                    State::Working(_)
                    | State::Preparing
                    | State::Ready
                    | State::WaitingForInput { .. }
                    | State::WaitingForWakeup { .. }
                    | State::WaitingForChildren { .. }
                    | State::Verifying
                    | State::Done => {
                        return no(self, "it is neither stuck nor waiting for its next step");
                    }
                }
                self.conversation.clear_errors();
                (self.recoveries, self.resumes_at) = (0, None);
                Ok(Raised::Nothing)
            }
            Event::TicketEdited => {
                // An agent that has had no prompt yet gets the new text with its first one; and a new text is
                // another input, on which the same failure may be tried again.
                self.edited = self.conversation.runs > 0;
                self.text_edited = self.edited;
                (self.edit_shown, self.conversation.repeats) = (false, 0);
                self.conversation.same_step = None;
                Ok(Raised::Nothing)
            }
            Event::Submitted => {
                if self.conversation.has_live_worker() {
                    return no(self, "a step is running; its end decides");
                }
                match self.state {
                    State::Ready
                    | State::Working(_)
                    | State::WaitingForInput { .. }
                    | State::WaitingForWakeup { .. }
                    | State::Stuck { .. } => {
                        // An agent that waits for a person goes on by what that person does.
                        self.waits_for_target |= self.question().is_some();
                        self.baited = None;
                        self.verify();
                        Ok(Raised::Nothing)
                    }
                    State::Preparing => no(self, "it has no workspace yet"),
                    State::WaitingForChildren { .. } => no(self, "it waits for its children"),
                    State::Verifying | State::Done => no(self, "it is submitted already"),
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
                match prompt {
                    Prompt::MergeConflict { .. } => self.resolutions += 1,
                    // The branch as it resolves the conflict was refused: it is still at that.
                    Prompt::ChecksFailed { which, .. } if which == Prompt::TAKING_OVER => {}
                    Prompt::Init
                    | Prompt::Resume
                    | Prompt::Step
                    | Prompt::ChecksFailed { .. }
                    | Prompt::CommitmentUnmet { .. }
                    | Prompt::NothingCommitted
                    | Prompt::Returned { .. }
                    | Prompt::LastChance
                    | Prompt::Answer { .. }
                    | Prompt::Wakeup { .. }
                    | Prompt::Unify { .. }
                    | Prompt::Unanswered { .. }
                    | Prompt::ChangedAfter { .. } => self.conflict = None,
                }
                self.take_mode(event, super::mode::Event::Returned)?;
                self.returned = prompt.says_why_it_came_back().then(|| Box::new(prompt.clone()));
                self.work(prompt.clone());
                Ok(Raised::Nothing)
            }
            Event::Delegated { children } => self.delegate(event, children, effects),
            Event::ChildrenEndOrdered { then } => self.end_children(event, then),
            Event::ChildrenOver { results } => self.hear_of_children(event, results),
            Event::ModeSet { mode, .. } => self.set_mode(event, *mode),
            Event::ModeAnnounced { mode, number } => self.announce_mode(event, *mode, *number),
            Event::Said { by, text } => self.hear(event, by, text),
            Event::Baited { by } => self.bait(event, by),
            Event::WentQuiet(quiet) => {
                let went = self.conversation.went_quiet(quiet);
                went.map_err(|no| self.reject(event, no.0))?;
                Ok(Raised::Nothing)
            }
            Event::Stirred => {
                let stirred = self.conversation.stirred();
                stirred.map_err(|no| self.reject(event, no.0))?;
                Ok(Raised::Nothing)
            }
        }
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
            | State::WaitingForChildren { .. }
            | State::Verifying
            | State::Done => return Err(self.reject(event, "it is not stuck")),
        }
        if *recoveries_left == 0 {
            return Ok(Raised::Crashed {
                attempts_left: *attempts_left,
                reopen_at: *reopen_at,
            });
        }
        self.recoveries += 1;
        self.conversation.clear_errors();
        self.replace_session(event, fresh)?;
        match workspace {
            Workspace::Missing => {
                return Ok(Raised::WorkspaceLost {
                    attempts_left: *attempts_left,
                    reopen_at: *reopen_at,
                });
            }
            Workspace::Clean => self.state = State::Ready,
            Workspace::Changed => {
                let due = self.resumes_at.take();
                self.state = State::Working(Working {
                    next: Prompt::Resume,
                    due,
                });
            }
        }
        Ok(Raised::Nothing)
    }

    /// Working again, with `next` as the next prompt, in the mode as it was. The last chance goes to an
    /// agent that knows the task: a new session gets the task first, with the story so far, and the step
    /// after that is its last chance. That is one step more for each recovery, of which there are few, each
    /// after as many failures as an agent may have in a row.
    fn work(&mut self, next: Prompt) {
        self.state = State::Working(Working { next, due: None });
    }

    /// Its work is submitted, which answers why it came back before.
    fn verify(&mut self) {
        (self.state, self.returned) = (State::Verifying, None);
    }

    fn replace_session(&mut self, event: &Event, fresh: &SessionId) -> Result<(), Rejected> {
        let replaced = self.conversation.replace_session(fresh);
        replaced.map_err(|no| self.reject(event, no.0))
    }
}
