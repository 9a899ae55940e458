//! The rows of submitted work: checking, reviewing, landing.

use super::{Draft, Taken};
use crate::attempt::{self, Prompt};
use crate::machine::Rejected;
use crate::ticket::{
    AfterLanding, Candidate, Clearance, Cleared, Coupling, Done, Effect, Fingerprint, Reviewing, Stage,
    State, Verify, Why,
};
use crate::{Actor, Oid, Time};

/// The beginning of what an agent is told of a conflict.
const CONFLICTS: &str = "the branch conflicts with the target in ";

impl Draft<'_> {
    pub(super) fn verify(&mut self) -> Result<&mut Verify, Rejected> {
        if !matches!(self.ticket.state, State::Verify(_)) {
            return self.no("nothing of it is submitted");
        }
        self.expect_free()?;
        let State::Verify(verify) = &mut self.ticket.state else {
            unreachable!("matched above")
        };
        Ok(verify)
    }

    pub(super) fn stage(&mut self, wanted: fn(&Stage) -> bool, why: &str) -> Result<&mut Verify, Rejected> {
        if !wanted(&self.verify()?.stage) {
            return self.no(why);
        }
        self.verify()
    }

    pub(super) fn building(&mut self) -> Result<&mut Verify, Rejected> {
        self.stage(|s| matches!(s, Stage::Building), "it is not being merged")
    }

    pub(super) fn landing(&mut self) -> Result<&mut Verify, Rejected> {
        self.stage(|s| matches!(s, Stage::Landing { .. }), "it is not landing")
    }

    // Verification.

    pub(super) fn start_check(&mut self) -> Taken {
        self.build(None)
    }

    /// Its work is merged on the target, or on an entry of the train.
    pub(super) fn build(&mut self, coupling: Option<Coupling>) -> Taken {
        let verify = self.stage(
            |s| matches!(s, Stage::Queued),
            "it is not in the queue for checks",
        )?;
        verify.attempt.rounds += 1;
        verify.round = verify.attempt.rounds;
        verify.stage = Stage::Building;
        verify.train.ahead = coupling.as_ref().map(|coupling| coupling.ahead.clone());
        (verify.train.lands_with, verify.train.runs) = (None, 0);
        let claim = verify.attempt.claim.clone();
        let (round, approved) = (verify.round, verify.approved.clone());
        // In the train nobody knows yet whether the work merges with the target.
        let before = self
            .ticket
            .approved_before
            .as_ref()
            .filter(|_| coupling.is_none());
        let asked = self
            .ticket
            .attempt()
            .and_then(|attempt| attempt.conflict.as_ref());
        let asked = asked.filter(|_| coupling.is_none());
        let effect = Effect::BuildCandidate {
            agent: claim.agent,
            fence: claim.fence,
            number: claim.number,
            round,
            approved,
            before_conflict: before.map(|before| before.tip.clone()),
            conflicted_with: asked.map(|conflict| conflict.target.clone()),
            coupling,
        };
        self.effects.push(effect);
        Ok(())
    }

    /// Keeps a verdict for every later merge of the same tip.
    pub(super) fn clear(&mut self, tip: &Oid, by: Clearance) -> Taken {
        self.verify()?.cleared = Some(Cleared { tip: tip.clone(), by });
        Ok(())
    }

    pub(super) fn pass(&mut self, tree: &Oid, passed: &[String], review: bool) -> Taken {
        let checks = self.checks()?;
        if checks.candidate.tree != *tree {
            return self.no("the verdict is of another tree");
        }
        if checks.run.is_some() || !checks.are_passed() {
            return self.no("not every check has passed");
        }
        let tip = checks.candidate.tip.clone();
        let is_named = self.ticket.unnamed(&tip).next().is_none();
        let is_verified = self.ticket.unmet(&tip).all(|one| one.promise.run.is_none());
        // The gatekeeper names those that no command verifies.
        if !is_verified || !(is_named || review) || self.ticket.unconfirmed.is_some() {
            return self.no("not every commitment is met");
        }
        let met = self.ticket.commitments.iter().filter(|one| one.is_met_on(&tip));
        let met = met.map(|one| one.promise.to_string());
        let passed = passed.iter().cloned().chain(met).collect();
        let mut candidate = Candidate {
            passed,
            ..self.checks()?.candidate.clone()
        };
        self.ticket.repeat = None;
        let verify = self.verify()?;
        verify.attempt = verify.attempt.after(&attempt::Event::ChecksPassed)?.0;
        if let (Some(Clearance::Approved { acceptance_test, .. }), true) =
            (verify.clearance(&candidate.tip), is_named)
        {
            candidate.passed.push(acceptance_test.clone());
            return self.land(candidate);
        }
        if review {
            verify.stage = Stage::Reviewing(Box::new(Reviewing::new(candidate)));
            return Ok(());
        }
        self.land(candidate)
    }

    pub(super) fn land(&mut self, candidate: Candidate) -> Taken {
        let verify = self.verify()?;
        let agent = verify.attempt.claim.agent.clone();
        verify.stage = Stage::Landing {
            candidate: candidate.clone(),
            waiting: None,
            then: None,
        };
        verify.train.lands_with = None;
        self.effects.push(Effect::Land {
            agent,
            candidate,
            batch: None,
        });
        Ok(())
    }

    /// Back to its agent, in the same session; to the queue when the agent was freed meanwhile.
    pub(super) fn send_back(
        &mut self,
        prompt: Prompt,
        steps_left: u32,
        reopen_at: Time,
        story: &str,
    ) -> Taken {
        let State::Verify(verify) = &self.ticket.state else {
            return self.no("nothing of it is submitted");
        };
        if steps_left == 0 {
            self.ticket.feedback.push(story.to_owned());
            self.give_back(None, 0, reopen_at)?;
            let first = story.lines().next().unwrap_or_default().trim_end_matches(':');
            let note = format!(
                "{first}, and its steps are spent; `crew retry {}` gives it new ones",
                self.ticket.id
            );
            self.hold(Why::Failed, note, None);
            return Ok(());
        }
        if !verify.attempt.claim.has_slot() {
            self.ticket.feedback.push(story.to_owned());
            return self.back_to_open();
        }
        let attempt = verify.attempt.after(&attempt::Event::Returned { prompt })?.0;
        self.ticket.state = State::InProgress(Box::new(attempt));
        Ok(())
    }

    /// A person has decided on the work, whatever its text says by now.
    pub(super) fn take_as_it_is(&mut self) -> Taken {
        let digest = self.ticket.spec.digest.clone();
        self.verify()?.taken_with = Some(digest);
        Ok(())
    }

    /// Its agent has not seen its present text: the agent is told before the work goes on. What gatekeepers
    /// said about the work was said about another text.
    pub(super) fn give_back_for_edit(&mut self, steps_left: u32, reopen_at: Time) -> Taken {
        self.verify()?;
        if !self.ticket.owes_edit() {
            return self.no("its agent knows its text, or it is too late to tell");
        }
        if self.ticket.reviewing().is_some_and(Reviewing::is_live) {
            return self.no("a gatekeeper is at work on it; its step is ended first");
        }
        self.ticket.approved_before = None;
        let story = "the ticket's text was changed after the work was submitted, and may ask for more now";
        self.send_back(Prompt::Step, steps_left, reopen_at, story)
    }

    pub(super) fn conflict(&mut self, paths: &[String], resolutions_left: u32, overtaken: bool) -> Taken {
        let verify = self.building()?;
        if overtaken {
            verify.attempt.overtaken += 1;
            verify.attempt.resolutions = verify.attempt.resolutions.saturating_sub(1);
        }
        let approved = verify.cleared.clone().filter(Cleared::is_approval);
        // It was asked to merge this one, and has not.
        let conflict = verify.attempt.conflict.as_ref().filter(|_| !overtaken);
        let missing = conflict.map(|conflict| conflict.target.clone());
        if resolutions_left == 0 {
            verify.stage = Stage::Queued;
            let note = unresolved(&verify.attempt, paths, missing.as_ref());
            self.free_slot();
            self.hold(Why::Conflict, note, None);
            return Ok(());
        }
        // One that a conflict has interrupted before holds as long as there is no newer one.
        if let Some(approved) = approved {
            self.ticket.approved_before = Some(Box::new(approved));
        }
        // What it was told of an earlier conflict names a commit that is not the target's any more.
        self.ticket.feedback.retain(|told| !told.starts_with(CONFLICTS));
        let mut story = format!("{CONFLICTS}{}", paths.join(", "));
        let target = match self.ticket.repeat.as_ref().map(|repeat| &repeat.of) {
            Some(Fingerprint::Conflict { target, .. }) => Some(target.clone()),
            Some(_) | None => None,
        };
        if let Some(target) = &target {
            story.push_str(&format!(": `git merge {target}` brings the target in"));
        }
        self.send_back(
            Prompt::MergeConflict {
                paths: paths.to_vec(),
                missing,
            },
            1,
            Time::default(),
            &story,
        )?;
        if let (Some(target), State::InProgress(attempt)) = (target, &mut self.ticket.state) {
            attempt.conflict = Some(Box::new(attempt::Conflict {
                paths: paths.to_vec(),
                target,
            }));
        }
        Ok(())
    }

    pub(super) fn hold_check(&mut self, why: Why, note: String, retry_at: Time) -> Taken {
        self.stage(
            |s| matches!(s, Stage::Building | Stage::Checking(_) | Stage::InTrain(_)),
            "its checks do not run",
        )?;
        self.free_slot();
        self.hold(why, note, Some(retry_at));
        Ok(())
    }

    pub(super) fn landed(&mut self, commit: &Oid) -> Taken {
        let verify = self.verify()?;
        let candidate = match &verify.stage {
            Stage::Landing { candidate, .. } if candidate.commit != *commit => {
                return self.no("another commit was to be landed");
            }
            Stage::Landing { candidate, .. } => candidate,
            // The host has made the commit of the merge.
            Stage::Proposed(proposal) if proposal.is_looked_at() => &proposal.candidate,
            Stage::Queued
            | Stage::Building
            | Stage::Checking(_)
            | Stage::InTrain(_)
            | Stage::Reviewing(_)
            | Stage::Unified { .. }
            | Stage::Proposed(_) => return self.no("it is not landing"),
        };
        let acceptance = match candidate.passed.as_slice() {
            [] => "no checks are configured".to_owned(),
            passed => passed.join("; "),
        };
        let brought_nothing = candidate.brings_nothing;
        let (agent, number) = (verify.attempt.claim.agent.clone(), verify.attempt.claim.number);
        self.effects.push(Effect::RemoveWorkspace {
            agent: agent.clone(),
            number,
        });
        self.finish(Done::Landed {
            commit: commit.clone(),
            acceptance,
            agent,
            brought_nothing,
        });
        Ok(())
    }

    /// The target did not move. A person's request that came while the ticket was landing follows; without
    /// one, the ticket goes on in `otherwise`.
    pub(super) fn end_landing(&mut self, otherwise: Stage) -> Taken {
        let wish = self.wish_after_landing()?.and_then(Option::take);
        match wish {
            None => self.verify()?.stage = otherwise,
            Some(AfterLanding::Uncouple) => self.verify()?.stage = Stage::Queued,
            Some(AfterLanding::Drop { by, reason }) => {
                self.keep_work();
                self.finish(Done::Dropped { by, reason });
            }
            Some(AfterLanding::Hold {
                why,
                may_pass,
                retry_at,
            }) => {
                self.verify()?.stage = Stage::Queued;
                self.free_slot();
                self.hold(
                    Why::Landing,
                    format!("it could not be landed: {why}"),
                    Some(retry_at),
                );
                if may_pass {
                    self.held_until_it_passes();
                }
            }
            Some(AfterLanding::Retry { .. }) => {
                let verify = self.verify()?;
                verify.attempt.forget_conflicts();
                verify.stage = Stage::Queued;
                (self.ticket.tries, self.ticket.review_tries, self.ticket.repeat) = (0, 0, None);
            }
        }
        Ok(())
    }

    /// The place of a person's request that comes while the ticket lands, or its pull request is looked at.
    pub(super) fn wish_after_landing(&mut self) -> Result<Option<&mut Option<AfterLanding>>, Rejected> {
        Ok(match &mut self.verify()?.stage {
            Stage::Landing { then, .. } => Some(then),
            Stage::Proposed(proposal) => Some(&mut proposal.then),
            Stage::Queued
            | Stage::Building
            | Stage::Checking(_)
            | Stage::InTrain(_)
            | Stage::Unified { .. }
            | Stage::Reviewing(_) => None,
        })
    }

    /// The remote's target and the local one have parted, which only a person may mend. The ticket is built
    /// again afterwards.
    pub(super) fn diverge(&mut self, why: &str, retry_at: Time) -> Taken {
        let at_work = |s: &Stage| matches!(s, Stage::Building | Stage::Landing { then: None, .. });
        let verify = self.stage(at_work, "it is neither being merged nor landing")?;
        verify.stage = Stage::Queued;
        self.free_slot();
        self.hold(Why::Diverged, why.to_owned(), Some(retry_at));
        Ok(())
    }

    pub(super) fn waive(&mut self, by: &Actor, reason: &str) -> Taken {
        let Some(held) = &self.ticket.held else {
            return self.no("it is not held");
        };
        if let Why::Paths { .. } | Why::Secrets { .. } = held.why {
            return self.approve_sensitive();
        }
        let Some(candidate) = self.ticket.candidate().cloned() else {
            return self.no("there is no merged result that could go on; retry it, or drop it");
        };
        self.ticket.held = None;
        let verify = self.verify()?;
        verify.attempt.state = attempt::State::Done;
        self.take_as_it_is()?;
        let words = format!("waived by {by}: {reason}");
        let passed = vec![words.clone()];
        self.clear(&candidate.tip, Clearance::Waived { words })?;
        if self.ticket.unmet(&candidate.tip).next().is_some() {
            // The message of its merge says that every commitment is met: it is merged anew.
            self.verify()?.stage = Stage::Queued;
            return Ok(());
        }
        self.land(Candidate { passed, ..candidate })
    }

    pub(super) fn approve_sensitive(&mut self) -> Taken {
        let why = self.ticket.held.as_ref().map(|held| &held.why);
        let Some(Why::Paths { tip, .. } | Why::Secrets { tip, .. }) = why else {
            return self.no("nothing of it waits for approval; `crew explain` says what helps");
        };
        let tip = tip.clone();
        let State::Verify(verify) = &mut self.ticket.state else {
            return self.no("nothing of it is submitted");
        };
        // Work that was sent back, and came back as it was: this is the later word.
        self.ticket.rejected.take_if(|rejected| *rejected == tip);
        verify.approved = Some(tip);
        verify.stage = Stage::Queued;
        self.ticket.held = None;
        Ok(())
    }
}

/// Conflicts that nobody is asked to resolve any more, with what became of those before.
fn unresolved(attempt: &attempt::Attempt, paths: &[String], missing: Option<&Oid>) -> String {
    let paths = paths.join(", ");
    let missing = missing.map(|commit| {
        format!(
            "; commit {commit}, which was to be merged, is not in the branch: was the merge committed as one?"
        )
    });
    let missing = missing.unwrap_or_default();
    let times = match attempt.overtaken {
        1 => "once, and".to_owned(),
        times => format!("{times} times, and each time"),
    };
    match (attempt.resolutions, attempt.overtaken) {
        (_, 0) => format!("conflicts in {paths} could not be resolved{missing}"),
        (0, _) => format!("conflicts in {paths}: resolved {times} other work landed first"),
        (_, _) => {
            format!(
                "conflicts in {paths} could not be resolved; before, resolved {times} other work landed first{missing}"
            )
        }
    }
}
