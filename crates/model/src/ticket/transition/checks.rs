//! The rows of a candidate that is being checked: one run of a command after the other.

use super::{Draft, Taken};
use crate::attempt;
use crate::machine::Rejected;
use crate::ticket::{
    Candidate, CheckOutcome, CheckPlan, CheckSlot, CheckStop, CheckTask, Checks, Clearance, Effect, Stage,
    State, Ticket,
};
use crate::{RunId, Time};

impl Draft<'_> {
    pub(super) fn checks(&mut self) -> Result<&mut Checks, Rejected> {
        let is_checking = |stage: &Stage| matches!(stage, Stage::Checking(_));
        let verify = self.stage(is_checking, "its checks do not run")?;
        let Stage::Checking(checks) = &mut verify.stage else {
            unreachable!("asked above")
        };
        Ok(checks)
    }

    /// The branch is merged. A tip that a person let pass lands as it is.
    pub(super) fn built(&mut self, candidate: &Candidate, plan: &CheckPlan) -> Taken {
        let verify = self.building()?;
        if let Some(Clearance::Waived { words }) = verify.clearance(&candidate.tip) {
            let passed = vec![words.clone()];
            verify.attempt.state = attempt::State::Done;
            return self.land(Candidate {
                passed,
                ..candidate.clone()
            });
        }
        let mut checks = Checks::new(candidate.clone(), plan.clone());
        checks.commitments = self.owed(&candidate.tip, plan.commitment_timeout_ms)?;
        self.verify()?.stage = Stage::Checking(Box::new(checks));
        Ok(())
    }

    pub(super) fn order_check(
        &mut self,
        run: &RunId,
        task: CheckTask,
        (slot, anew): (CheckSlot, bool),
        at: Time,
    ) -> Taken {
        self.begin_trial()?;
        let checks = self.checks()?;
        if checks.run.is_some() {
            return self.no("a run of its checks is under way");
        }
        if (task == CheckTask::Target) != checks.failed.is_some() && task != CheckTask::SetUp {
            return self.no("the target proves a failure of the candidate, and nothing else does");
        }
        let Some(command) = checks.command(task) else {
            return self.no("nothing is left to run");
        };
        let effect = Effect::StartCheck {
            run: run.clone(),
            task,
            slot,
            commit: checks.commit(task).clone(),
            command: command.clone(),
            plan: checks.plan.clone(),
            set_up: checks.set_up.unwrap_or(0),
            passed: checks.passed_before(task),
            anew: anew || checks.runs_anew(task),
        };
        let owed = checks.owed().map(|owed| owed.id);
        checks.order(run.clone(), task, slot, at);
        self.effects.push(effect);
        match owed.filter(|_| task == CheckTask::Commitment) {
            Some(id) => self.start_commitment(id),
            None => Ok(()),
        }
    }

    pub(super) fn stop_check(&mut self, why: CheckStop) -> Taken {
        let Some(run) = &mut self.checks()?.run else {
            return self.no("no run of its checks is under way");
        };
        if run.stopping.is_some() {
            return self.no("it is being stopped already");
        }
        run.stopping = Some(why);
        let run = run.run.clone();
        self.effects
            .push(Effect::Attempt(attempt::Effect::StopRun { run }));
        Ok(())
    }

    pub(super) fn check_ended(&mut self, run: &RunId, outcome: &CheckOutcome) -> Taken {
        let checks = self.checks()?;
        let Some(ended) = checks.run.clone().filter(|ended| ended.run == *run) else {
            return self.no("it does not wait for this run");
        };
        let owed = checks.owed().map(|owed| owed.id);
        let tip = checks.candidate.tip.clone();
        checks.ended(&ended, outcome);
        match owed.filter(|_| ended.task == CheckTask::Commitment) {
            Some(id) => self.end_commitment(id, &tip, outcome),
            None => Ok(()),
        }
    }

    /// A ticket that leaves its checks, or is held in them, waits for no run of them any more: the run is
    /// ended. This follows from the states before and after, so no row can forget it.
    pub(super) fn end_left_check(&mut self, before: &Ticket) {
        if let (State::Verify(verify), true) = (&mut self.ticket.state, self.ticket.held.is_some())
            && let Stage::Checking(checks) = &mut verify.stage
        {
            checks.run = None;
        }
        let Some(run) = before.check_run().map(|check| &check.run) else {
            return;
        };
        let has_ended = matches!(self.event, super::Event::CheckEnded { .. });
        if !has_ended && !self.ticket.waits_for(run) {
            let run = run.clone();
            self.effects
                .push(Effect::Attempt(attempt::Effect::StopRun { run }));
        }
    }
}
