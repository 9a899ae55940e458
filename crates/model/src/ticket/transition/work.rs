//! The rows of an agent at work: claimed, stepped, submitted, given back.

use super::{Draft, Taken};
use crate::attempt::{self, Attempt, Claim, Raised, Slot, Stuck};
use crate::conversation::Conversation;
use crate::machine::Rejected;
use crate::ticket::{Done, Effect, Event, Label, Note, Place, Released, Stage, State, Verify, Why};
use crate::{Actor, Time};

impl Draft<'_> {
    /// In progress, with no process of it alive.
    pub(super) fn working(&self) -> Result<&Attempt, Rejected> {
        let State::InProgress(attempt) = &self.ticket.state else {
            return self.no("no agent is at work on it");
        };
        if attempt.conversation.has_live_worker() {
            return self.no("a worker of it is alive; it is stopped first");
        }
        if attempt.waits_for_children() {
            return self.no("its children are not over; they are ended first");
        }
        Ok(attempt)
    }

    pub(super) fn claim(&mut self) -> Taken {
        let Event::Claimed {
            agent,
            fence,
            harness,
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
        ticket.authors.insert(agent.clone());
        let given: Vec<String> = ticket.tags_to_give().cloned().collect();
        ticket.tags_given.extend(given);
        ticket.given.get_or_insert_with(|| ticket.spec.digest.clone());
        ticket.tries += 1;
        ticket.attempts += 1;
        let (number, mut from) = (ticket.attempts, ticket.from.clone());
        if let (attempt::StartPoint::Target, Some(commit)) = (&from, &ticket.spec.reverts) {
            from = attempt::StartPoint::Revert {
                commit: commit.clone(),
            };
        }
        let mut claim = Claim::new(agent.clone(), *fence, number, from.clone());
        claim.is_part = ticket.delegated.is_some();
        let shared = ticket.delegated.as_ref().filter(|it| !it.is_apart);
        claim.shared = shared.map(|it| Box::new(it.workspace.clone()));
        let conversation = Conversation::new(harness.clone(), session.clone());
        let mut attempt = Attempt::new(claim, conversation, *at);
        // What its parent has begun goes on, whatever became of the target.
        attempt.waits_for_target = ticket.delegated.is_none();
        attempt.mode = attempt::Mode::first(!ticket.parts.is_empty());
        ticket.state = State::InProgress(Box::new(attempt));
        self.effects.push(Effect::PrepareWorkspace {
            agent: agent.clone(),
            fence: *fence,
            number,
            from,
        });
        Ok(())
    }

    // The attempt.

    pub(super) fn attempt(&mut self, event: &attempt::Event) -> Taken {
        match event {
            attempt::Event::TicketEdited
            | attempt::Event::Submitted
            | attempt::Event::ChecksPassed
            | attempt::Event::Returned { .. } => {
                return self.no("only the ticket itself does this");
            }
            attempt::Event::Retried { .. } => {
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
            | attempt::Event::Delegated { .. }
            | attempt::Event::ChildrenEndOrdered { .. }
            | attempt::Event::ChildrenOver { .. }
            | attempt::Event::Recovered { .. }
            | attempt::Event::Called { .. }
            | attempt::Event::ModeSet { .. }
            | attempt::Event::ModeAnnounced { .. }
            | attempt::Event::Said { .. }
            | attempt::Event::Baited { .. }
            | attempt::Event::WentQuiet(_)
            | attempt::Event::Stirred => {}
        }
        let State::InProgress(attempt) = &self.ticket.state else {
            return self.no("no agent is at work on it");
        };
        self.expect_free()?;
        let is_answered = attempt.waiting_answer().is_some();
        let asked_before = attempt.question().is_some();
        let (attempt, effects, raised) = attempt.after(event)?;
        if attempt.question().is_some() && !asked_before {
            self.ticket.count_question();
        }
        if let attempt::Event::Answered { text, question, .. } = event {
            self.ticket.note_answer(question, text, is_answered);
        }
        if let attempt::Event::Delegated { children } = event {
            let numbers = children
                .iter()
                .filter_map(|child| child.id.as_str().rsplit_once("-c")?.1.parse().ok());
            self.ticket.children = numbers.fold(self.ticket.children, u32::max);
        }
        if let attempt::Event::WorkspaceReady {
            earlier_work: false, ..
        } = event
        {
            self.begin_without_children();
        }
        if let attempt::Event::ChildrenOver { results } = event {
            self.count_children(results);
        }
        self.effects.extend(effects.into_iter().map(Effect::Attempt));
        let agent = attempt
            .conversation
            .worker
            .as_ref()
            .map_or(Actor::Engine, |worker| Actor::Agent {
                run: worker.run.clone(),
            });
        let since = attempt.since;
        self.ticket.state = State::InProgress(Box::new(attempt.clone()));
        match raised {
            Raised::Nothing => Ok(()),
            Raised::Submitted => {
                self.submit(attempt, agent, since);
                Ok(())
            }
            Raised::GaveUp {
                without_result,
                unusable,
                attempts_left,
                reopen_at,
            } => {
                self.give_back(Label::AgentIncomplete, attempts_left, reopen_at)?;
                self.tell_without_result(without_result);
                self.tell_unusable(&unusable);
                Ok(())
            }
            Raised::Crashed {
                attempts_left,
                reopen_at,
            } => self.give_back(Label::AgentError, attempts_left, reopen_at),
            Raised::Blocked { why } => self.block(&why),
            Raised::BrokenUp { parts } => self.break_up(&parts),
            Raised::WorkspaceLost {
                attempts_left,
                reopen_at,
            } => self.release(&Released::WorkspaceLost {
                attempts_left,
                reopen_at,
            }),
            Raised::NeedsPerson { why, message } => {
                self.free_slot();
                let (why, note) = match why {
                    Stuck::Auth => (
                        Why::Auth,
                        format!("the agent's credentials are refused: {message}"),
                    ),
                    Stuck::NoProgress | Stuck::Errors => (
                        Why::NoProgress,
                        format!("the same failure came three times in a row on unchanged input: {message}"),
                    ),
                };
                self.hold(why, note, None);
                Ok(())
            }
        }
    }

    /// Into the queue for checks. A person's submission is taken as it is, whatever held the ticket;
    /// submitting is the success that an agent's labels wait for.
    pub(super) fn submit(&mut self, attempt: Attempt, by: Actor, submitted_at: Time) {
        // Whoever submits the work of another takes it as it is, whatever its text says by now.
        let is_agents = matches!(by, Actor::Agent { .. });
        let taken_with = (!is_agents).then(|| self.ticket.spec.digest.clone());
        self.clear_end_of_attempt();
        self.ticket.held = None;
        let round = attempt.rounds;
        let stage = match &self.ticket.delegated {
            None => Stage::Queued,
            Some(_) => {
                let claim = &attempt.claim;
                self.effects.push(Effect::Unify {
                    agent: claim.agent.clone(),
                    fence: claim.fence,
                    number: claim.number,
                });
                Stage::Unified { is_saved: false }
            }
        };
        self.ticket.state = State::Verify(Box::new(Verify {
            attempt,
            by,
            submitted_at,
            round,
            approved: None,
            fewer_tests: None,
            cleared: None,
            taken_with,
            train: Place::default(),
            stage,
        }));
    }

    /// A person closed its file. Work that an agent has is submitted instead; a submitted ticket closes when
    /// it has landed, or when it turns out that nothing was committed.
    pub(super) fn close(&mut self) -> Taken {
        match &self.ticket.state {
            State::New | State::Open => {}
            State::InProgress(_) => return self.no("an agent has it: closing it submits it"),
            State::Verify(verify) if self.ticket.held.is_some() || verify.is_closed_while_built() => {
                self.keep_work();
            }
            State::Verify(_) => return self.no("it is submitted: it is closed when it has landed"),
            State::Done(_) => return self.no("it is done"),
        }
        self.finish(Done::ClosedByPerson);
        Ok(())
    }

    /// Back to the queue; with no attempt left, held until a person looks at it.
    pub(super) fn give_back(
        &mut self,
        label: impl Into<Option<Label>>,
        attempts_left: u32,
        reopen_at: Time,
    ) -> Taken {
        self.back_to_open()?;
        self.clear_end_of_attempt();
        self.ticket.labels.extend(label.into());
        if attempts_left == 0 {
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

    /// A person is told where the last step ended without a word on the work: an agent that never prints one
    /// spends every attempt so.
    fn tell_without_result(&mut self, without_result: bool) {
        if without_result && let Some(held) = &mut self.ticket.held {
            held.note = format!(
                "{}. Its last step printed no result (`DONE`, `BLOCKED: why` … alone on a line, \
                 docs/agents.md): `crew logs {}` shows what it printed",
                held.note, self.ticket.id
            );
        }
    }

    /// The last step of an attempt ended with lines that crew could not use: the next agent is told, and a
    /// person where there is no next one.
    fn tell_unusable(&mut self, lines: &[String]) {
        let Some(words) = attempt::unusable_words(lines) else {
            return;
        };
        self.ticket
            .feedback
            .push(format!("The last step ended without a result, and {words}"));
        if let Some(held) = &mut self.ticket.held {
            held.note = format!("{}. In its last step, {words}", held.note);
        }
    }

    /// Removes the labels that say how the last attempt ended.
    pub(super) fn clear_end_of_attempt(&mut self) {
        let is_of_end = |label: &Label| match label {
            Label::AgentIncomplete
            | Label::AgentError
            | Label::AutoRecovered
            | Label::Rejected
            | Label::Killed
            | Label::Reaped => true,
            Label::EvaluatorError
            | Label::EvaluatorIncomplete
            | Label::Failed
            | Label::Recovery
            | Label::Held => false,
        };
        self.ticket.labels.retain(|label| !is_of_end(label));
    }

    /// Open again, from what the attempt leaves; due at once.
    pub(super) fn back_to_open(&mut self) -> Taken {
        let Some(attempt) = self.ticket.attempt() else {
            return self.no("no attempt stands behind it");
        };
        let number = attempt.claim.number;
        // What it was not shown is for the next agent.
        let said = attempt.messages.iter();
        let said: Vec<String> = said.map(|one| format!("{} said: {}", one.by, one.text)).collect();
        self.ticket.from = attempt::StartPoint::Kept { number };
        self.ticket.feedback.extend(said);
        self.keep_work();
        self.ticket.state = State::Open;
        (self.ticket.due, self.ticket.held) = (None, None);
        Ok(())
    }

    pub(super) fn keep_work(&mut self) {
        if let Some(attempt) = self.ticket.attempt() {
            self.effects.push(Effect::KeepWork {
                agent: attempt.claim.agent.clone(),
                number: attempt.claim.number,
            });
        }
    }

    pub(super) fn block(&mut self, why: &str) -> Taken {
        self.back_to_open()?;
        self.effects.push(Effect::AddNote {
            text: Note::blocked(why),
            by: None,
        });
        self.hold(Why::Blocked, why.to_owned(), None);
        Ok(())
    }

    pub(super) fn release(&mut self, why: &Released) -> Taken {
        self.working()?;
        match why {
            Released::Killed { by } => {
                self.back_to_open()?;
                self.clear_end_of_attempt();
                self.ticket.labels.insert(Label::Killed);
                self.hold(Why::Killed, format!("its agent was killed by {by}"), None);
            }
            Released::Reaped { why } => {
                self.back_to_open()?;
                self.clear_end_of_attempt();
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
                // Nothing was made, so there is nothing to keep, and the next attempt starts where this one
                // should have.
                let from = self.ticket.from.clone();
                self.give_back(Label::AgentError, *attempts_left, *reopen_at)?;
                self.ticket.from = from;
                if let Some(held) = &mut self.ticket.held {
                    held.note = format!("its workspace could not be made: {why}");
                }
            }
            Released::SetUpFailed {
                why,
                output,
                may_pass,
                for_all,
                retry_at,
            } => {
                if !matches!(self.working()?.state, attempt::State::Preparing) {
                    return self.no("its workspace was made");
                }
                let from = self.ticket.from.clone();
                self.back_to_open()?;
                self.ticket.from = from;
                self.ticket.tries = self.ticket.tries.saturating_sub(1);
                let note = format!("its workspace could not be set up: {why}");
                self.hold(Why::CouldNotRun, note, Some(*retry_at));
                if *may_pass {
                    self.held_until_it_passes();
                }
                if let Some(held) = &mut self.ticket.held {
                    held.for_all = *for_all;
                }
                if !output.is_empty() {
                    self.held_for(output);
                }
            }
            // Starting over is an attempt like any other: a workspace that vanishes each time is looked at by
            // a person in the end.
            Released::WorkspaceLost {
                attempts_left,
                reopen_at,
            } => {
                self.give_back(Label::AutoRecovered, *attempts_left, *reopen_at)?;
                if let Some(held) = &mut self.ticket.held {
                    held.note = format!("its workspace is gone, and {}", held.note);
                }
            }
        }
        Ok(())
    }

    /// A held ticket frees its agent.
    pub(super) fn free_slot(&mut self) {
        if let Some(attempt) = self.ticket.attempt_mut() {
            attempt.claim.slot = Slot::Freed;
        }
    }
}
