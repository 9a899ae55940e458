//! The rows of a ticket's commitments: added, verified, unmet, put before a person.

use super::{Draft, Taken};
use crate::attempt::{self, Prompt};
use crate::commitment::{self, By, Promise};
use crate::ticket::{
    Check, CheckCommand, CheckOutcome, CheckTask, Owed, Repeat, Stage, State, TestCount, Why,
};
use crate::{Actor, Oid, Time};

impl Draft<'_> {
    /// The commitments that have to be verified on this tip, each within this time: a verdict on another tip
    /// is none.
    pub(super) fn owed(&mut self, tip: &Oid, timeout_ms: u64) -> Result<Vec<Owed>, crate::machine::Rejected> {
        let mut owed = Vec::new();
        for one in &mut self.ticket.commitments {
            one.begin_anew(tip)?;
            let is_due = one.waived.is_none() && !one.is_met_on(tip);
            if let (Some(run), true) = (&one.promise.run, is_due) {
                owed.push(Owed {
                    id: one.id,
                    says: one.promise.says.clone(),
                    check: Check {
                        name: None,
                        command: run.clone(),
                        timeout_ms,
                        tests: TestCount::None,
                        retry: 0,
                    },
                });
            }
        }
        Ok(owed)
    }

    pub(super) fn add_commitment(&mut self, by: &By, promise: &Promise) -> Taken {
        if let Some(why) = self.ticket.cannot_promise() {
            return self.no(why);
        }
        if self.ticket.has_promised(promise) {
            return self.no("it has this commitment already");
        }
        self.ticket.promise(by.clone(), promise.clone());
        // What is being checked is merged anew: its message counts the commitments.
        if let (State::Verify(verify), None) = (&mut self.ticket.state, &self.ticket.held) {
            verify.stage = Stage::Queued;
        }
        Ok(())
    }

    /// A person says that the work need not meet this commitment.
    pub(super) fn waive_commitment(&mut self, id: u32, by: &Actor, reason: &str) -> Taken {
        if let Some(why) = self.ticket.cannot_change_commitments() {
            return self.no(why);
        }
        let Some(one) = self.ticket.commitments.iter_mut().find(|one| one.id == id) else {
            return self.no("it has no such commitment");
        };
        if one.waived.is_some() {
            return self.no("this commitment is waived already");
        }
        one.waived = Some(format!("{by}: {reason}"));
        let held = self.ticket.held.as_ref().map(|held| &held.why);
        match (&mut self.ticket.state, held) {
            // Its agent is told with the rest of the ticket.
            (State::InProgress(attempt), _) => {
                (attempt.edited, attempt.edit_shown) = (attempt.conversation.runs > 0, false);
            }
            // The same failure cannot come again, and the others are looked at anew.
            (State::Verify(verify), Some(Why::NoProgress)) => {
                verify.attempt.state = attempt::State::Done;
                self.release_commitments();
            }
            // What is being checked is merged anew: its message counts the commitments.
            (State::Verify(verify), None) => verify.stage = Stage::Queued,
            (State::Verify(_), Some(_)) | (State::New | State::Open | State::Done(_), _) => {}
        }
        Ok(())
    }

    /// The text of its file has changed. While an agent has the ticket, other commitments in it count only
    /// after a person has said so: the agent may have written them.
    pub(super) fn edit_commitments(&mut self, listed: &[Promise]) -> Taken {
        let is_same = self.ticket.lists(listed);
        self.ticket.unconfirmed = None;
        match &self.ticket.state {
            State::New | State::Done(_) => return Ok(()),
            State::Open => self.ticket.take_from_file(listed),
            State::InProgress(_) | State::Verify(_) if is_same => {}
            State::InProgress(_) | State::Verify(_) => self.ticket.unconfirmed = Some(listed.to_vec()),
        }
        let held = self.ticket.held.as_ref().map(|held| &held.why);
        let Some(Why::Commitments { tip }) = held else {
            return Ok(());
        };
        let tip = tip.clone();
        match self.ticket.commitments_question(&tip) {
            Some(note) => self.hold(Why::Commitments { tip }, note, None),
            None => self.release_commitments(),
        }
        Ok(())
    }

    fn release_commitments(&mut self) {
        self.ticket.held = None;
        if let State::Verify(verify) = &mut self.ticket.state {
            verify.stage = Stage::Queued;
        }
    }

    /// The checks have passed, or are about to begin, and a person is asked about the commitments.
    pub(super) fn hold_for_commitments(&mut self, tip: &Oid) -> Taken {
        let checks = self.checks()?;
        let is_due = checks.are_passed() || checks.are_about_to_begin();
        if checks.run.is_some() || !is_due || checks.candidate.tip != *tip {
            return self.no("not everything before that has passed on this tip");
        }
        let Some(note) = self.ticket.commitments_question(tip) else {
            return self.no("no commitment of it waits for a person's word");
        };
        self.free_slot();
        self.hold(Why::Commitments { tip: tip.clone() }, note, None);
        Ok(())
    }

    pub(super) fn approve_commitments(&mut self) -> Taken {
        if !self.ticket.asks_about_commitments() {
            return self.no("no commitments of it wait for a person's word");
        }
        let is_mended = self.ticket.has_unusable_promise();
        let held = self.ticket.held.as_ref().map(|held| &held.why);
        let tip = match held {
            Some(Why::Commitments { tip }) => Some(tip.clone()),
            Some(_) | None => None,
        };
        if let Some(listed) = self.ticket.unconfirmed.take() {
            self.ticket.take_listed(&listed);
        } else if let Some(tip) = &tip {
            // The person has seen the work in a gatekeeper's place.
            self.name_as_met(tip)?;
        }
        if tip.is_some() {
            self.release_commitments();
        }
        if is_mended {
            // The approval is of the text with the mended command: it asks its agent for nothing more.
            self.go_on_submitted()?;
            return self.take_as_it_is();
        }
        Ok(())
    }

    /// Somebody who has looked at the work at this tip says that it meets what no command verifies.
    pub(super) fn name_as_met(&mut self, tip: &Oid) -> Taken {
        for one in &mut self.ticket.commitments {
            if one.promise.run.is_none() && one.waived.is_none() && !one.is_met_on(tip) {
                one.begin_anew(tip)?;
                one.apply(commitment::Event::Started)?;
                one.apply(commitment::Event::Passed)?;
                one.tip = Some(tip.clone());
            }
        }
        Ok(())
    }

    /// A run of this commitment is ordered.
    pub(super) fn start_commitment(&mut self, id: u32) -> Taken {
        let found = self.ticket.commitments.iter_mut().find(|one| one.id == id);
        let Some(one) = found else {
            return self.no("it has no such commitment");
        };
        one.apply(commitment::Event::Started)
    }

    /// A run of this commitment, on this tip, has ended. A run that came to nothing leaves it as if it had
    /// never begun.
    pub(super) fn end_commitment(&mut self, id: u32, tip: &Oid, outcome: &CheckOutcome) -> Taken {
        let is_agents = matches!(self.ticket.commitment(id), Some(one) if one.is_agents());
        let event = match outcome {
            // A command of its own that cannot be run is the agent's to mend: it is not met.
            CheckOutcome::CouldNotRun { .. } if is_agents => commitment::Event::Failed,
            CheckOutcome::Passed
            | CheckOutcome::Flaky { .. }
            | CheckOutcome::PassedBefore
            | CheckOutcome::FewerTests { .. } => commitment::Event::Passed,
            CheckOutcome::Failed { .. } => commitment::Event::Failed,
            CheckOutcome::NotSetUp | CheckOutcome::CouldNotRun { .. } | CheckOutcome::Lost { .. } => {
                commitment::Event::Interrupted
            }
        };
        let found = self.ticket.commitments.iter_mut().find(|one| one.id == id);
        let Some(one) = found else {
            return self.no("it has no such commitment");
        };
        one.apply(event)?;
        if event != commitment::Event::Interrupted {
            one.tip = Some(tip.clone());
        }
        Ok(())
    }

    pub(super) fn unmet(
        &mut self,
        (id, output): (u32, &str),
        steps_left: u32,
        reopen_at: Time,
        repeat: Option<&Repeat>,
    ) -> Taken {
        self.checks()?;
        let Some(one) = self.ticket.commitment(id) else {
            return self.no("it has no such commitment");
        };
        if one.state != commitment::State::Failed {
            return self.no("the commitment has not failed");
        }
        let says = one.promise.says.clone();
        let command = one.promise.run.as_ref().map(CheckCommand::to_string);
        if self.repeats_too_often(repeat) && steps_left > 0 {
            let stage = self.verify()?.stage.clone();
            self.hold_for_no_progress()?;
            self.held_for(output);
            // A person may waive it, for which the merged result has to be known.
            if let State::Verify(verify) = &mut self.ticket.state {
                verify.stage = stage;
            }
            return Ok(());
        }
        let story = format!("the commitment “{says}” is not met:\n{output}");
        let prompt = Prompt::CommitmentUnmet {
            says,
            command: command.unwrap_or_default(),
            output: output.to_owned(),
        };
        self.send_back(prompt, steps_left, reopen_at, &story)?;
        self.held_for(output);
        Ok(())
    }

    /// A commitment of which no run is under way is not being verified. This follows from the state after, so
    /// no row can forget it.
    pub(super) fn end_left_commitment(&mut self) -> Taken {
        let run = self.ticket.check_run().map(|run| run.task);
        if run == Some(CheckTask::Commitment) {
            return Ok(());
        }
        for one in &mut self.ticket.commitments {
            if one.state == commitment::State::Verifying {
                one.apply(commitment::Event::Interrupted)?;
            }
        }
        Ok(())
    }
}
