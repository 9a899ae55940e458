//! The rows of the task mode: set by a person or a tool, announced by the agent.

use crate::attempt::{Attempt, Event, Mode, Raised, Refused, State, mode};
use crate::machine::Rejected;

impl Attempt {
    pub(super) fn set_mode(&mut self, event: &Event, chosen: Mode) -> Result<Raised, Rejected> {
        match self.state {
            State::Preparing
            | State::Ready
            | State::Working(_)
            | State::WaitingForInput { .. }
            | State::WaitingForWakeup { .. }
            | State::Stuck { .. } => {}
            State::WaitingForChildren { .. } => return Err(self.reject(event, "it waits for its children")),
            State::Verifying | State::Done => return Err(self.reject(event, "its work is submitted")),
        }
        self.take_mode(event, mode::Event::Chosen { mode: chosen })?;
        Ok(Raised::Nothing)
    }

    /// An agent that takes up its output from the beginning, as the reader of an adopted step does, announces
    /// the same again: each announcement counts once.
    pub(super) fn announce_mode(
        &mut self,
        event: &Event,
        chosen: Mode,
        number: u32,
    ) -> Result<Raised, Rejected> {
        if !self.conversation.has_live_worker() {
            return Err(self.reject(event, "no step of it is running"));
        }
        if number <= self.announced {
            return Err(self.reject(event, "it was announced before"));
        }
        self.announced = number;
        if chosen == self.mode {
            return Ok(Raised::Nothing);
        }
        if let Err(no) = self.take_mode(event, mode::Event::Chosen { mode: chosen }) {
            self.refused_modes.push(Refused {
                word: format!("MODE: {}", chosen.name()),
                why: format!("it does not follow {}: {}", self.mode.name(), no.why),
            });
        }
        Ok(Raised::Nothing)
    }

    /// Goes to the mode after `of`, by the table of task modes: nothing else changes the mode.
    pub(in crate::attempt) fn take_mode(&mut self, event: &Event, of: mode::Event) -> Result<(), Rejected> {
        if self.claim.is_part && of == (mode::Event::Chosen { mode: Mode::BreakUp }) {
            // Tickets for its parts would begin on the target, which does not have its leader's work.
            return Err(self.reject(
                event,
                "its ticket is a part of another one, and is not broken up: its agent does it all",
            ));
        }
        let mode = self.mode.after(of).map_err(|no| self.reject(event, no.why))?;
        self.mode_changed |= mode != self.mode;
        self.mode = mode;
        Ok(())
    }
}
