//! The rows of a step: started, finished, failed.

use crate::RunId;
use crate::attempt::{
    Attempt, Class, Effect, Event, HarnessChange, Prompt, Raised, Refused, Signal, State, Stuck, Working,
    mode,
};
use crate::machine::Rejected;
use crate::policy::budget::Budget;
use crate::ticket::Repeat;

impl Attempt {
    pub(super) fn start_step(
        &mut self,
        event: &Event,
        run: &RunId,
        budget: Option<Budget>,
        effects: &mut Vec<Effect>,
    ) -> Result<Raised, Rejected> {
        if !self.claim.has_slot() {
            return Err(self.reject(event, "its agent was freed"));
        }
        if self.conversation.has_live_worker() {
            return Err(self.reject(event, "a step of it is running"));
        }
        let (prompt, working) = match &self.state {
            State::Ready => {
                let prompt = if self.conversation.runs > 0 || self.claim.from.has_work() {
                    Prompt::Resume
                } else {
                    Prompt::Init
                };
                (
                    prompt.clone(),
                    Working {
                        next: prompt,
                        due: None,
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
            | State::WaitingForChildren { .. }
            | State::Stuck { .. } => return Err(self.reject(event, "it is neither ready nor working")),
        };
        let started = self.conversation.start(run, budget);
        let new_session = started.map_err(|no| self.reject(event, no.0))?;
        let (claim, conversation) = (&self.claim, &self.conversation);
        effects.push(Effect::StartStep {
            agent: claim.agent.clone(),
            run: run.clone(),
            fence: claim.fence,
            number: claim.number,
            step: conversation.steps + 1,
            harness: conversation.harness.clone(),
            session: conversation.session.id.clone(),
            new_session,
            prompt,
            edited: self.edited,
            budget,
        });
        self.edit_shown = self.edited;
        self.announced = 0;
        self.bait_shown = self.baited.is_some();
        self.messages_shown = u32::try_from(self.messages.len()).unwrap_or(u32::MAX);
        (self.waits_for_target, self.resumes_at) = (false, None);
        self.state = State::Working(working);
        Ok(Raised::Nothing)
    }

    pub(super) fn change_harness(&mut self, event: &Event, change: &HarnessChange) -> Result<(), Rejected> {
        let changed = self.conversation.change_harness(change);
        let talked = changed.map_err(|no| self.reject(event, no.0))?;
        if let (true, State::Working(working)) = (talked, &mut self.state) {
            working.next.fit_new_session();
        }
        Ok(())
    }

    pub(super) fn finish_step(&mut self, event: &Event) -> Result<Raised, Rejected> {
        let Event::StepFinished {
            usage,
            total_micro_usd,
            signal,
            summary,
            unusable,
            repeat,
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
        let finished = self.conversation.finish(*usage, *total_micro_usd);
        let stopping = finished.map_err(|no| self.reject(event, no.0))?;
        // An agent that has not seen the new text may come to something else with it.
        self.conversation.same_step = repeat.clone().filter(|_| !self.edited || self.edit_shown);
        // An edit that came while the step ran is in the prompt of the next one.
        self.edited &= !self.edit_shown;
        self.text_edited &= self.edited;
        self.edit_shown = false;
        if summary.is_some() {
            self.summary.clone_from(summary);
        }
        self.unusable.clone_from(unusable);
        self.refused = std::mem::take(&mut self.refused_modes);
        let is_last_chance = working.next == Prompt::LastChance || self.bait_shown;
        self.bait_shown = false;
        let shown = std::mem::take(&mut self.messages_shown) as usize;
        self.messages.drain(..shown.min(self.messages.len()));
        if stopping.is_some_and(|then| then.is_final()) {
            // A person wanted it gone, and it ended by itself just before: its signal does not count any
            // more.
            self.state = State::Working(working);
            return Ok(Raised::Nothing);
        }
        let changed = repeat.as_ref().and_then(|repeat| repeat.of.changed_after());
        match signal {
            // Its work is done, or goes on, once its children are over.
            Signal::None | Signal::Done if self.has_children() => {
                self.wait_for_children();
                Ok(Raised::Nothing)
            }
            // Its children would not begin before the answer, or the time, has come.
            Signal::Asked { .. } if self.has_children() => Ok(self.put_off("QUESTION")),
            Signal::WakeupSet { .. } if self.has_children() => Ok(self.put_off("WAKEUP")),
            // What stands there is not what it had submitted. Its last chance is spent: nothing of it lands.
            Signal::Done if let Some(paths) = changed => {
                if self.makes_no_progress() {
                    return Ok(self.stands_still(repeat.as_ref()));
                }
                if is_last_chance {
                    return Ok(Raised::GaveUp {
                        unusable: unusable.clone(),
                        without_result: false,
                        attempts_left: *attempts_left,
                        reopen_at: *reopen_at,
                    });
                }
                working.next = Prompt::ChangedAfter { paths: paths.clone() };
                self.state = State::Working(working);
                Ok(Raised::Nothing)
            }
            // It may have done what the ticket does not ask for any more: it is told once of each new text,
            // and of what a person said meanwhile.
            Signal::Done if (self.text_edited || !self.messages.is_empty()) && !is_last_chance => {
                working.next = match steps_left {
                    0 => Prompt::LastChance,
                    _ => Prompt::Step,
                };
                self.state = State::Working(working);
                Ok(Raised::Nothing)
            }
            Signal::Done
                if !is_last_chance
                    && let Err(no) = self.mode.after(mode::Event::SaidDone { has_parts: false }) =>
            {
                self.refused.push(Refused {
                    word: "DONE".to_owned(),
                    why: no.why.to_owned(),
                });
                working.next = match steps_left {
                    0 => Prompt::LastChance,
                    _ => Prompt::Step,
                };
                self.state = State::Working(working);
                Ok(Raised::Nothing)
            }
            Signal::BrokenUp { parts } => Ok(Raised::BrokenUp { parts: parts.clone() }),
            Signal::Done => {
                self.baited = None;
                self.verify();
                Ok(Raised::Submitted)
            }
            Signal::Blocked { why } => Ok(Raised::Blocked { why: why.clone() }),
            Signal::None if self.makes_no_progress() => Ok(self.stands_still(repeat.as_ref())),
            Signal::None | Signal::Asked { .. } | Signal::WakeupSet { .. } if is_last_chance => {
                Ok(Raised::GaveUp {
                    unusable: unusable.clone(),
                    without_result: matches!(signal, Signal::None),
                    attempts_left: *attempts_left,
                    reopen_at: *reopen_at,
                })
            }
            // Its steps are spent: the next one says so, whatever this one asks for. An agent that could
            // still ask and sleep without a step left would never come to an end.
            Signal::None | Signal::Asked { .. } | Signal::WakeupSet { .. }
                if *steps_left == 0 || self.baited.is_some() =>
            {
                working.next = Prompt::LastChance;
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

    /// Waits for children in place of what the agent asked for after it had delegated.
    fn put_off(&mut self, word: &str) -> Raised {
        self.unusable.push(format!(
            "{word}: you had delegated, and your tasks went first; say it again if it still matters"
        ));
        self.wait_for_children();
        Raised::Nothing
    }

    /// Waits for a person: the same came too often.
    fn stands_still(&mut self, repeat: Option<&Repeat>) -> Raised {
        let why = Stuck::NoProgress;
        self.state = State::Stuck { why };
        Raised::NeedsPerson {
            why,
            message: repeat.map(|repeat| repeat.of.sentence()).unwrap_or_default(),
        }
    }

    fn makes_no_progress(&self) -> bool {
        let same = self.conversation.same_step.as_ref();
        same.is_some_and(|repeat| repeat.left == 0)
    }

    pub(super) fn fail_step(&mut self, event: &Event, effects: &mut Vec<Effect>) -> Result<Raised, Rejected> {
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
        let failed = self.conversation.fail(failure, *usage, *total_micro_usd, fresh);
        failed.map_err(|no| self.reject(event, no.0))?;
        self.edit_shown = false;
        (self.bait_shown, self.messages_shown) = (false, 0);
        self.refused.append(&mut self.refused_modes);
        // What it has delegated counts, however its step ended; a step that crew has ended is repeated first.
        // An agent whose steps go on failing would pay for children each time: those of its next failure do
        // not begin, and the failure is answered as any other.
        if self.has_children() && failure.class != Class::KilledByUs {
            if self.conversation.failed_in_a_row() <= 1 {
                self.wait_for_children();
                return Ok(Raised::Nothing);
            }
            self.forget_children(event)?;
        }
        if failure.class.breaks_session() {
            working.next.fit_new_session();
        } else if usage.tokens() > 0
            && let Prompt::Init | Prompt::Resume = working.next
        {
            // The service answered: the session has the task, and the agent is only to go on. Otherwise
            // nobody knows.
            working.next = Prompt::Step;
        }
        let Some(why) = failure.class.stuck(*errors_left, *repeats_left) else {
            working.due = Some(*retry_at);
            self.state = State::Working(working);
            return Ok(Raised::Nothing);
        };
        self.state = State::Stuck { why };
        match why {
            Stuck::Errors => {
                self.resumes_at = Some(*retry_at);
                effects.push(Effect::InspectWorkspace {
                    agent: self.claim.agent.clone(),
                });
                Ok(Raised::Nothing)
            }
            Stuck::Auth | Stuck::NoProgress => Ok(Raised::NeedsPerson {
                why,
                message: failure.message.clone(),
            }),
        }
    }
}
