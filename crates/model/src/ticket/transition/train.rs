//! The rows of the merge train: coupling, trials, landing in a batch.

use super::{Draft, Taken};
use crate::attempt;
use crate::machine::Rejected;
use crate::ticket::{
    AfterLanding, Batch, Candidate, CheckPlan, Checks, Coupling, Effect, Entry, FewerTests, Stage, Trial,
    Uncoupled, WhyUncoupled,
};
use crate::{Oid, TicketId, Time};

impl Draft<'_> {
    /// It is merged on the entry ahead of it.
    pub(super) fn couple(&mut self, coupling: &Coupling) -> Taken {
        self.build(Some(coupling.clone()))
    }

    /// The merged result waits in the train for its trial.
    pub(super) fn join_train(&mut self, candidate: &Candidate, plan: &CheckPlan, at: Time) -> Taken {
        let verify = self.building()?;
        verify.train.joined_at = Some(at);
        verify.stage = Stage::InTrain(Box::new(Entry {
            candidate: candidate.clone(),
            plan: plan.clone(),
            trial: Trial::Untried,
        }));
        Ok(())
    }

    /// An entry whose first run is ordered is at its checks: one that is untried, or that failed with others.
    pub(super) fn begin_trial(&mut self) -> Taken {
        let verify = self.verify()?;
        if let Stage::InTrain(entry) = &verify.stage
            && !matches!(entry.trial, Trial::Passed { .. })
        {
            let mut checks = Checks::new(entry.candidate.clone(), entry.plan.clone());
            checks.runs = verify.train.runs;
            verify.stage = Stage::Checking(Box::new(checks));
        }
        Ok(())
    }

    pub(super) fn pass_trial(&mut self, tree: &Oid, by: &[String]) -> Taken {
        let checks = self.checks()?;
        if checks.candidate.tree != *tree {
            return self.no("the verdict is of another tree");
        }
        if checks.run.is_some() || !checks.are_passed() {
            return self.no("not every check has passed");
        }
        self.end_trial(Trial::Passed { by: by.to_vec() })
    }

    pub(super) fn fail_trial(&mut self, which: &str, output: &str, fewer: Option<FewerTests>) -> Taken {
        let checks = self.checks()?;
        let (failed, hindered) = (checks.failed_name(), checks.hindered.is_some());
        if checks.run.is_some() || failed.as_deref() != Some(which) {
            return self.no("this check has not failed");
        }
        self.end_trial(Trial::Failed {
            which: which.to_owned(),
            output: output.to_owned(),
            fewer,
            hindered,
        })
    }

    /// The verdict is not needed any more: the entry can be tried again.
    pub(super) fn cancel_trial(&mut self) -> Taken {
        self.end_trial(Trial::Untried)
    }

    fn end_trial(&mut self, trial: Trial) -> Taken {
        let checks = self.checks()?;
        let entry = Entry {
            candidate: checks.candidate.clone(),
            plan: checks.plan.clone(),
            trial,
        };
        let runs = checks.runs;
        let verify = self.verify()?;
        verify.train.runs = runs;
        verify.stage = Stage::InTrain(Box::new(entry));
        Ok(())
    }

    pub(super) fn uncouple(&mut self, why: &WhyUncoupled, at: Time) -> Taken {
        let in_train = |stage: &Stage| match stage {
            Stage::Building | Stage::InTrain(_) | Stage::Checking(_) => true,
            Stage::Landing { waiting, then, .. } => {
                let is_for_batch = matches!(then, None | Some(AfterLanding::Uncouple));
                waiting.is_none() && is_for_batch
            }
            Stage::Queued | Stage::Reviewing { .. } | Stage::Proposed(_) | Stage::Unified { .. } => false,
        };
        let verify = self.stage(in_train, "it is not in the train")?;
        let is_conflict = matches!(why, WhyUncoupled::Conflict { .. });
        let lands_with = verify.train.lands_with.take();
        if matches!(verify.stage, Stage::Landing { .. }) && lands_with.is_none() {
            return self.no("it is landing by itself");
        }
        let verify = self.verify()?;
        verify.train.conflicts += u32::from(is_conflict);
        verify.train.uncoupled = Some(Uncoupled { why: why.clone(), at });
        verify.stage = Stage::Queued;
        Ok(())
    }

    fn entry(&mut self) -> Result<Entry, Rejected> {
        match &self.verify()?.stage {
            Stage::InTrain(entry) => Ok(Entry::clone(entry)),
            Stage::Queued
            | Stage::Building
            | Stage::Checking(_)
            | Stage::Reviewing(_)
            | Stage::Landing { .. }
            | Stage::Unified { .. }
            | Stage::Proposed(_) => self.no("it does not wait in the train"),
        }
    }

    /// It lands with the batch of this tip. The tip's own ticket orders the one move of the target.
    pub(super) fn land_in_batch(&mut self, tip: &TicketId, batch: &Batch, passed: &[String]) -> Taken {
        let is_tip = self.ticket.id == *tip;
        let entry = self.entry()?;
        let commit = &entry.candidate.commit;
        if !batch.entries.iter().any(|entry| entry.commit == *commit) {
            return self.no("the batch does not hold its merged result");
        }
        if is_tip && !matches!(entry.trial, Trial::Passed { .. }) {
            return self.no("its checks have not passed");
        }
        if self.ticket.unmet(&entry.candidate.tip).next().is_some() || self.ticket.unconfirmed.is_some() {
            return self.no("not every commitment is met");
        }
        let verify = self.verify()?;
        let candidate = Candidate {
            passed: passed.to_vec(),
            ..entry.candidate
        };
        verify.attempt = verify.attempt.after(&attempt::Event::ChecksPassed)?.0;
        verify.train.lands_with = Some(tip.clone());
        let agent = verify.attempt.claim.agent.clone();
        verify.stage = Stage::Landing {
            candidate: candidate.clone(),
            waiting: None,
            then: None,
        };
        self.ticket.repeat = None;
        if is_tip {
            self.effects.push(Effect::Land {
                agent,
                candidate,
                batch: Some(batch.clone()),
            });
        }
        Ok(())
    }

    /// Another entry of its batch cannot land: it goes on in the train with the entries ahead of that one.
    pub(super) fn put_off_landing(&mut self, plan: &CheckPlan) -> Taken {
        let verify = self.landing()?;
        let Stage::Landing {
            candidate,
            waiting: None,
            then: None,
        } = &verify.stage
        else {
            return self.no("it is not landing at this moment");
        };
        let candidate = Candidate {
            passed: Vec::new(),
            ..candidate.clone()
        };
        if verify.train.lands_with.take().is_none() {
            return self.no("it is landing by itself");
        }
        let verify = self.verify()?;
        verify.stage = Stage::InTrain(Box::new(Entry {
            candidate,
            plan: plan.clone(),
            trial: Trial::Untried,
        }));
        Ok(())
    }
}
