//! Runs: what a look at a step's process means, and what its end means.

use std::time::Duration;

use model::attempt::{self, AfterStop, Class, Failure, Quiet, Signal, Silence};
use model::machine::Rejected;
use model::policy::{no_progress, stall};
use model::project;
use model::ticket::{Event, PART_PROMISES_NOTHING, Released, Repeat, ReviewEvent, Ticket, Why};
use model::{Actor, RunId, TicketId, Time};

use super::{Core, WriteMeta};
use crate::{End, RunEnd};

impl Core {
    pub(super) fn run_ended(&mut self, ended: RunEnd) {
        self.watches.ended(&ended.run, self.now);
        let Some(id) = self.tickets.of_run(&ended.run).cloned() else {
            self.out
                .refused
                .push(format!("run {} ended, and no attempt waits for it", ended.run));
            return;
        };
        let of_review = self
            .ticket(&id)
            .and_then(|ticket| ticket.review_of_run(&ended.run));
        let told = match of_review {
            Some(_) => self.review_ended(&id, ended, WriteMeta::because("its review ended")),
            None => self.step_ended(&id, ended, WriteMeta::because("its step ended")),
        };
        if let Err(no) = told {
            self.out.refused.push(format!("{id}: {no}"));
        }
    }

    /// The step that the ticket's attempt waits for is over, however that was learnt.
    pub(super) fn step_ended(
        &mut self,
        id: &TicketId,
        ended: RunEnd,
        answering: WriteMeta,
    ) -> Result<(), Rejected> {
        let mut ended = self.settled(id, ended);
        let stopping = self
            .ticket(id)
            .and_then(Ticket::attempt)
            .and_then(|a| a.conversation.stopping.clone());
        let finished = matches!(ended.end, End::Finished(_));
        let usage = (ended.usage, ended.total_micro_usd);
        let mut unusable = ended.unusable;
        let conversation = self.ticket(id).and_then(Ticket::attempt).map(|a| &a.conversation);
        let before = conversation.and_then(|c| c.same_step.as_ref());
        let repeat = ended.left.map(|left| no_progress::again(before, left));
        let stopped = |class: Class, message: &str| Failure::new(class, message);
        let mut events = Vec::new();
        let announced = self.announced(id, &ended.modes);
        let promised = std::mem::take(&mut ended.commitments);
        let is_part = self.ticket(id).is_some_and(|ticket| ticket.delegated().is_some());
        if is_part && let Some(first) = promised.first() {
            unusable.push(format!("the commitment “{first}”: {PART_PROMISES_NOTHING}"));
        }
        let made = self.commitments_made(id, promised);
        let end = match (&stopping, ended.stated) {
            // It stated its result, and crew only ended a process that had nothing to add.
            (Some(AfterStop::Conclude), Some(stated)) => stated,
            (_, _) => ended.end,
        };
        match (stopping, end) {
            // It ended well before the stop reached it: what it did counts, unless a person wanted it gone.
            (
                None
                | Some(
                    AfterStop::Pause | AfterStop::Conclude | AfterStop::Retry { .. } | AfterStop::Fail { .. },
                ),
                End::Finished(signal),
            ) => {
                let signal = self.with_parts(id, &announced, signal, std::mem::take(&mut ended.made));
                events.push(self.finished_step(id, usage, (ended.summary, unusable, repeat), signal));
            }
            (None | Some(AfterStop::Conclude), End::Failed(failure)) => {
                events.push(self.failed_step(id, usage, failure));
            }
            (Some(AfterStop::Pause), End::Failed(_)) => {
                let failure = stopped(Class::KilledByUs, "the engine was stopped");
                events.push(self.failed_step(id, usage, failure));
            }
            (Some(AfterStop::Retry { class }), End::Failed(_)) => {
                let message = if class == Class::Timeout {
                    "the step took longer than `step_timeout`"
                } else {
                    "no sign of life for longer than `stall_after`"
                };
                events.push(self.failed_step(id, usage, stopped(class, message)));
            }
            // Its client was ended before it could say so itself.
            (Some(AfterStop::Fail { failure }), End::Failed(_)) => {
                events.push(self.failed_step(id, usage, failure));
            }
            (Some(AfterStop::Release { .. } | AfterStop::Reap { .. } | AfterStop::Drop { .. }), _) => {
                let message = if finished {
                    "it was stopped as it ended"
                } else {
                    "it was stopped"
                };
                events.push(self.failed_step(id, usage, stopped(Class::KilledByUs, message)));
            }
        }
        // They stand before the end of the step: a `DONE` is verified with them.
        let events: Vec<Event> = announced
            .into_iter()
            .chain(made)
            .chain(events.into_iter().map(Event::Attempt))
            .chain(self.stopped_for(id))
            .collect();
        let agent = self
            .ticket(id)
            .and_then(Ticket::attempt)
            .map(|a| a.claim.agent.clone());
        let pause = events.iter().find_map(|event| self.pause_after(id, event));
        self.apply(id, events, answering)?;
        if let Some((harness, pause)) = pause {
            self.pause_harness(harness, pause);
        }
        let reaped = self
            .ticket(id)
            .and_then(|t| t.held.as_ref())
            .is_some_and(|held| held.why == Why::Reaped);
        if let Some(name) = agent.filter(|_| reaped) {
            self.apply_to_project([project::Event::AgentRetired { name }], "it was given up");
        }
        Ok(())
    }

    /// The event for which a person, or a limit, has stopped the ticket's step: it follows when the step is
    /// over.
    pub(super) fn stopped_for(&self, id: &TicketId) -> Option<Event> {
        let attempt = self.ticket(id).and_then(Ticket::attempt)?;
        self.follows(id, attempt.conversation.stopping.clone()?)
    }

    /// The event that follows once nothing of the ticket is at work any more.
    pub(super) fn follows(&self, id: &TicketId, then: AfterStop) -> Option<Event> {
        match then {
            AfterStop::Release { by } => Some(Event::Released {
                why: Released::Killed { by },
            }),
            AfterStop::Reap { why } => Some(Event::Released {
                why: Released::Reaped { why },
            }),
            // The file that was gone is there again, or git has it: its ticket goes on, and the step is
            // repeated.
            AfterStop::Drop { by: Actor::File, .. } if !self.folder.is_deleted(id) => None,
            AfterStop::Drop { by, reason } => Some(Event::Dropped { by, reason }),
            AfterStop::Pause | AfterStop::Conclude | AfterStop::Retry { .. } | AfterStop::Fail { .. } => None,
        }
    }

    fn finished_step(
        &self,
        id: &TicketId,
        (usage, total_micro_usd): (attempt::Usage, Option<u64>),
        (summary, unusable, repeat): (Option<String>, Vec<String>, Option<Repeat>),
        signal: Signal,
    ) -> attempt::Event {
        attempt::Event::StepFinished {
            usage,
            total_micro_usd,
            unusable,
            repeat: repeat.filter(|repeat| match signal {
                Signal::None => repeat.of.changed_after().is_none(),
                Signal::Done => repeat.of.changed_after().is_some(),
                Signal::Blocked { .. }
                | Signal::Asked { .. }
                | Signal::WakeupSet { .. }
                | Signal::BrokenUp { .. } => false,
            }),
            signal,
            summary,
            steps_left: self.steps_left(id).saturating_sub(1),
            attempts_left: self.attempts_left(id),
            reopen_at: self.reopen_at(id),
            answer_by: self.answer_by(),
        }
    }

    /// Takes a look at a run; returns whether anything was decided.
    pub(super) fn sampled(&mut self, run: &RunId, sample: &stall::Sample) -> bool {
        let Some(id) = self.tickets.of_run(run).cloned() else {
            return false;
        };
        if run.is_check() {
            return self.check_sampled(&id, run, sample);
        }
        let conversation = self.ticket(&id).and_then(|ticket| ticket.conversation_of(run));
        let stopping = conversation.is_some_and(|conversation| conversation.stopping.is_some());
        let called = conversation.and_then(|conversation| conversation.result.as_ref());
        // A client that goes on after its agent has called for the end of the step has time to end by itself.
        if let Some(called) = called.filter(|_| !stopping)
            && self.now.since(called.at) >= self.settings.run.exit_within
        {
            let event = self.stop_ordered(&id, run, AfterStop::Conclude);
            self.apply_or_note(&id, event, "its agent has called its result, and it did not exit");
            return true;
        }
        // It has its result: its silence is only that of a process that does not end.
        let has_called = called.is_some();
        let sample = &stall::Sample {
            stated: sample.stated.or(has_called.then_some(0)),
            ..sample.clone()
        };
        let limits = stall::Limits {
            stall_after: self.settings.run.stall_after,
            exit_within: self.settings.run.exit_within,
            step_timeout: self.settings.run.step_timeout,
            quiet_children: self.settings.run.quiet_children,
        };
        let (shim, child) = (sample.shim, sample.child.clone());
        let was_quiet = conversation.and_then(|conversation| conversation.quiet.clone());
        let verdict = self.watches.look(run, sample, limits);
        let (then, cause) = match verdict {
            stall::Verdict::Alive => return self.stirs(&id, run, was_quiet.filter(|_| !stopping).as_deref()),
            // A step that is being stopped is warned of by the executor, which waits for its end.
            stall::Verdict::Stuck { .. } | stall::Verdict::Frozen { .. } if stopping => return false,
            // A silence is recorded once, however long it lasts.
            stall::Verdict::Stuck { .. } | stall::Verdict::Frozen { .. } if was_quiet.is_some() => {
                return false;
            }
            stall::Verdict::Stuck { silent } => {
                return self.went_quiet(&id, run, silent, Silence::Idle { child });
            }
            stall::Verdict::Frozen { silent } => {
                return self.went_quiet(&id, run, silent, Silence::Frozen { shim });
            }
            stall::Verdict::Stalled => retry(Class::Stalled),
            stall::Verdict::TimedOut => retry(Class::Timeout),
            stall::Verdict::Overstayed => (AfterStop::Conclude, "it has its result, and did not exit"),
        };
        if !stopping {
            let event = self.stop_ordered(&id, run, then);
            self.apply_or_note(&id, event, cause);
        }
        !stopping
    }

    /// The step shows no sign of life; gives that this was recorded.
    fn went_quiet(&mut self, id: &TicketId, run: &RunId, silent: Duration, how: Silence) -> bool {
        let silent = i64::try_from(silent.as_millis()).unwrap_or(i64::MAX);
        let since = Time(self.now.0.saturating_sub(silent));
        let quiet = Quiet { since, how };
        let event = match self.ticket(id).and_then(|ticket| ticket.review_of_run(run)) {
            Some(review) => Event::Review {
                fence: review.fence,
                event: ReviewEvent::WentQuiet(quiet),
            },
            None => Event::Attempt(attempt::Event::WentQuiet(quiet)),
        };
        self.apply_or_note(id, event, "it is ended after as long again");
        true
    }

    /// The step shows signs of life again, where it was silent; gives whether that was recorded.
    fn stirs(&mut self, id: &TicketId, run: &RunId, was: Option<&Quiet>) -> bool {
        if !was.is_some_and(|quiet| self.watches.has_stirred(run, &quiet.how)) {
            return false;
        }
        let event = match self.ticket(id).and_then(|ticket| ticket.review_of_run(run)) {
            Some(review) => Event::Review {
                fence: review.fence,
                event: ReviewEvent::Stirred,
            },
            None => Event::Attempt(attempt::Event::Stirred),
        };
        self.apply_or_note(id, event, "it was looked at");
        true
    }

    /// The step has failed, only its client does not know: it is stopped, unless it is being stopped for
    /// another reason.
    pub(super) fn given_up(&mut self, run: &RunId, failure: Failure) {
        let Some(id) = self.tickets.of_run(run).cloned() else {
            return;
        };
        let conversation = self.ticket(&id).and_then(|ticket| ticket.conversation_of(run));
        if conversation.is_some_and(|conversation| conversation.stopping.is_none()) {
            let cause = failure.class.name();
            let event = self.stop_ordered(&id, run, AfterStop::Fail { failure });
            self.apply_or_note(&id, event, cause);
        }
    }
}

/// A step that did not end in time is stopped and repeated; with the cause, for the journal.
fn retry(class: Class) -> (AfterStop, &'static str) {
    (AfterStop::Retry { class }, class.name())
}
