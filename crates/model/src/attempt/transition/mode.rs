//! The rows of the task mode: set by a person or a tool, announced by the agent.

use crate::attempt::{Attempt, Event, Mode, Raised, State, mode};
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
        let after = self.mode.after(mode::Event::Chosen { mode: chosen });
        self.change_mode(after.map_err(|no| self.reject(event, no.why))?);
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
        if chosen == Mode::Delegate {
            let why =
                "MODE: delegate, which begins when work is handed to another agent by the tool `delegate`";
            self.refused_modes.push(why.to_owned());
            return Ok(Raised::Nothing);
        }
        match self.mode.after(mode::Event::Chosen { mode: chosen }) {
            Ok(mode) => self.change_mode(mode),
            Err(no) => self.refused_modes.push(format!(
                "MODE: {}, which does not follow {}: {}",
                chosen.name(),
                self.mode.name(),
                no.why
            )),
        }
        Ok(Raised::Nothing)
    }

    pub(in crate::attempt) fn change_mode(&mut self, mode: Mode) {
        self.mode_changed |= mode != self.mode;
        self.mode = mode;
    }
}
