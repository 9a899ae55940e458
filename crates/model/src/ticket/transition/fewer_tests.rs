//! The rows of a check that passes with far fewer tests than on the target.

use super::{Draft, Taken};
use crate::ticket::{FewerTests, Stage, State, Why};

impl Draft<'_> {
    /// A person is asked. The merged result stays, so that its check can be waived.
    pub(super) fn hold_for_tests(&mut self, which: &str, tests: FewerTests, output: &str) -> Taken {
        let (failed, tip) = match &self.verify()?.stage {
            Stage::Checking(checks) if checks.run.is_none() => (
                checks.failed_command().map(ToString::to_string),
                checks.candidate.tip.clone(),
            ),
            Stage::Queued
            | Stage::InTrain(_)
            | Stage::Building
            | Stage::Checking(_)
            | Stage::Reviewing(_)
            | Stage::Landing { .. }
            | Stage::Unified { .. }
            | Stage::Proposed(_) => return self.no("its checks have not run"),
        };
        if failed.as_deref() != Some(which) {
            return self.no("this check has not run fewer tests");
        }
        let note = format!("`{which}` passes, but {tests}");
        let check = which.to_owned();
        self.free_slot();
        self.hold(Why::Tests { check, tests, tip }, note, None);
        self.held_for(output);
        Ok(())
    }

    /// A person lets the work pass with fewer tests, at this tip: it is merged and checked anew, and lands
    /// alone, since a run that decides on others has to be compared.
    pub(super) fn approve_tests(&mut self) -> Taken {
        let held = self.ticket.held.as_ref().map(|held| &held.why);
        let Some(Why::Tests { tip, .. }) = held else {
            return self.no("no number of tests of it waits for a person's word");
        };
        let tip = tip.clone();
        let State::Verify(verify) = &mut self.ticket.state else {
            return self.no("nothing of it is submitted");
        };
        verify.fewer_tests = Some(tip);
        verify.stage = Stage::Queued;
        self.ticket.held = None;
        Ok(())
    }
}
