//! The rows of what people tell an agent at work: words for its next prompt, and that its next step is the
//! last.

use crate::Actor;
use crate::attempt::{Attempt, Event, MOST_MESSAGES, Message, Prompt, Raised, State};
use crate::machine::Rejected;

impl Attempt {
    pub(super) fn hear(&mut self, event: &Event, by: &Actor, text: &str) -> Result<Raised, Rejected> {
        match self.state {
            State::Preparing
            | State::Ready
            | State::Working(_)
            | State::WaitingForInput { .. }
            | State::WaitingForWakeup { .. }
            | State::WaitingForChildren { .. }
            | State::Stuck { .. } => {}
            State::Verifying | State::Done => return Err(self.reject(event, "its work is submitted")),
        }
        self.expect_another_step(event)?;
        // Those in the prompt of the running step do not wait any more.
        let waiting = self.messages.len().saturating_sub(self.messages_shown as usize);
        if waiting >= MOST_MESSAGES {
            return Err(self.reject(
                event,
                "so much waits for its next step already that no more is taken",
            ));
        }
        self.messages.push(Message {
            by: by.clone(),
            text: text.to_owned(),
        });
        Ok(Raised::Nothing)
    }

    /// What is said to an agent that is being taken from its ticket would reach nobody.
    fn expect_another_step(&self, event: &Event) -> Result<(), Rejected> {
        match self.being_ended() {
            Some(then) => Err(self.reject(event, then.words())),
            None => Ok(()),
        }
    }

    /// Its next step is the last one. An agent that waits goes on at once; whatever else its next prompt has
    /// to say is said too.
    pub(super) fn bait(&mut self, event: &Event, by: &Actor) -> Result<Raised, Rejected> {
        self.expect_another_step(event)?;
        let no = |why: &str| Err(self.reject(event, why));
        match &self.state {
            State::Preparing => return no("its workspace is being made"),
            State::Ready if self.conversation.runs == 0 => return no("it has not begun"),
            State::Stuck { .. } => return no("it is stuck"),
            State::WaitingForChildren { .. } => {
                return no("it waits for those to whom it handed its work: wake it first");
            }
            State::Verifying | State::Done => return no("its work is submitted"),
            State::Working(working) if working.next == Prompt::LastChance => {
                return no("its last step comes anyway");
            }
            State::Ready
            | State::Working(_)
            | State::WaitingForInput { .. }
            | State::WaitingForWakeup { .. } => {}
        }
        if self.baited.is_some() {
            return no("it was told so already");
        }
        self.baited = Some(by.clone());
        let asks = self.question().is_some();
        match self.state {
            State::WaitingForInput { .. } | State::WaitingForWakeup { .. } => {
                self.waits_for_target |= asks;
                self.work(Prompt::Step);
            }
            State::Preparing
            | State::Ready
            | State::Working(_)
            | State::WaitingForChildren { .. }
            | State::Verifying
            | State::Done
            | State::Stuck { .. } => {}
        }
        Ok(Raised::Nothing)
    }
}
