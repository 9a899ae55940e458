//! The checks of a candidate: which command runs next, and what the end of a run means.

use model::policy::{review, stall};
use model::ticket::{
    Candidate, Check, CheckOutcome, CheckPlan, CheckStop, CheckTask, Checks, Event, FewerTests, Fingerprint,
    Hindrance, Proof, State, Ticket,
};
use model::{Oid, RunId, TicketId};

use super::last_runs::Ran;
use super::train::submitted;
use super::{Core, WriteMeta};
use crate::{CheckEnd, Report};

impl Core {
    /// The consequence of a candidate that was built: the first run of its checks, or its landing.
    /// `untouched`: the names of the checks of whose paths it changes none.
    pub(super) fn candidate_built(
        &self,
        id: &TicketId,
        candidate: Candidate,
        untouched: &[String],
    ) -> Vec<Event> {
        let candidate = self.reviewed_as_before(id, candidate);
        if let Some(first) = self.uncoupled_for_own_checks(id, &candidate) {
            return vec![first];
        }
        // A run in the train decides on several branches, so it leaves no check out.
        if self.joins_train(id) {
            return vec![self.joined_train(candidate)];
        }
        let submitted = self.ticket(id).and_then(submitted);
        let commitments_first = submitted.is_some_and(|(ticket, verify)| {
            self.are_commitments_first(ticket, verify, Some(&candidate))
                && (ticket.unmet(&candidate.tip).next().is_some() || ticket.unconfirmed.is_some())
        });
        let plan = CheckPlan {
            commitments_first,
            ..CheckPlan::of(&self.settings).without(untouched)
        };
        self.with_what_follows(id, Event::CandidateBuilt { candidate, plan }, |core, ticket| {
            core.go_on(ticket).filter(|next| core.may_follow(ticket, next))
        })
    }

    /// An event, and what follows from the ticket after it. A machine that refuses the event says so itself
    /// when the event is told.
    fn with_what_follows(
        &self,
        id: &TicketId,
        event: Event,
        follows: impl FnOnce(&Self, &Ticket) -> Option<Event>,
    ) -> Vec<Event> {
        let change = self.ticket(id).map(|ticket| ticket.after(&event, self.now));
        let next = change.and_then(Result::ok);
        let next = next.and_then(|change| follows(self, &change.ticket));
        std::iter::once(event).chain(next).collect()
    }

    /// Orders the next run of the ticket's checks; none is left when all have passed.
    fn go_on(&self, ticket: &Ticket) -> Option<Event> {
        let (State::Verify(verify), Some(checks)) = (&ticket.state, ticket.checks()) else {
            return None;
        };
        if ticket.owes_edit() {
            return Some(self.edit_returned(&ticket.id));
        }
        let task = checks.next();
        let is_entry = self.has_train() && self.has_entry_ahead(ticket);
        let review = review::is_wanted(&self.settings, ticket, Some(&checks.candidate));
        if task.is_none() || checks.are_about_to_begin() {
            if let Some(question) = Self::commitments_question(ticket, checks, review) {
                return Some(question);
            }
            // Somebody has asked for more since it was merged: that is looked at on its own merged result.
            if is_entry
                && (ticket.unmet(&checks.candidate.tip).next().is_some() || ticket.unconfirmed.is_some())
            {
                return Some(Event::Uncoupled {
                    why: self.not_cleared(&checks.candidate),
                    at: self.now,
                });
            }
            if let Some(joins) = self.joins_after_own_checks(ticket, checks) {
                return Some(joins);
            }
        }
        let Some(task) = task else {
            let (tree, passed) = (checks.candidate.tree.clone(), checks.verdicts());
            return Some(match is_entry {
                true => Event::TrialPassed { tree, passed },
                false => Event::ChecksPassed { tree, passed, review },
            });
        };
        Some(Event::CheckOrdered {
            run: RunId::of_check(
                &ticket.id,
                verify.attempt.claim.fence,
                verify.round,
                checks.runs + 1,
            ),
            task,
            slot: self.slot_of(&ticket.id, checks)?,
            anew: task == CheckTask::Target && !self.is_proven_by_memory(checks),
            at: self.now,
        })
    }

    /// Whether the target need not run the check that has failed with the work, where it has passed there
    /// before.
    fn is_proven_by_memory(&self, checks: &Checks) -> bool {
        let failed = checks.failed_command().map(Check::to_string);
        failed.is_none_or(|failed| self.last_runs.is_proven_by_memory(&failed))
    }

    /// Orders a run for the checks of which none is under way: the engine before this one was stopped, or
    /// no checkout was free. An engine that is up for a command on one ticket does so for that ticket alone.
    pub(super) fn resume_checks(&mut self) {
        let paused = |ticket: &Ticket| ticket.checks().is_some_and(|checks| checks.run.is_none());
        let free = self
            .active_tickets()
            .filter(|(id, t)| t.held.is_none() && paused(t) && self.may_land(id));
        let paused: Vec<TicketId> = free.map(|(id, _)| id.clone()).collect();
        for id in paused {
            if let Some(event) = self.ticket(&id).and_then(|ticket| self.go_on(ticket)) {
                self.apply_or_note(&id, event, "its checks go on");
            }
        }
    }

    /// A run of checks has ended. Nobody waits for one whose ticket has left its checks.
    pub(super) fn check_ended(&mut self, end: &CheckEnd) {
        self.watches.ended(&end.run, self.now);
        let Some(id) = self.tickets.of_run(&end.run).cloned() else {
            return;
        };
        let running = self.ticket(&id).and_then(Ticket::checks);
        let running = running.and_then(|checks| Some((checks, checks.run.as_ref()?.task)));
        let outcome = match running {
            Some((checks, task)) => checks.counted(task, end.outcome.clone(), &end.printed),
            None => end.outcome.clone(),
        };
        let ran = running.and_then(|(checks, task)| Ran::of(checks, task, &outcome));
        if let Some(ran) = ran {
            self.last_runs.note(ran);
        }
        let events = self.end_of_check(&id, &end.run, &outcome, end.tests);
        let running = self.ticket(&id).and_then(Ticket::checks);
        let proof = running.and_then(|checks| checks.hindered.as_ref().map(|it| it.proof));
        // What the target cannot run, none of the others can.
        let is_of_target = |event: &&Event| {
            matches!(event, Event::TargetRed { .. })
                || matches!(event, Event::CouldNotRun { .. }) && proof == Some(Proof::Target)
        };
        let red = events.iter().find(is_of_target);
        if events
            .iter()
            .any(|event| matches!(event, Event::TargetRed { .. }))
        {
            self.doubt_target();
        }
        // The commit below a candidate that is checked beside the train may not be the train's.
        let is_beside = self.ticket(&id).is_some_and(|ticket| self.is_beside(ticket));
        let red = red.filter(|_| !(self.has_train() && is_beside)).cloned();
        if let Err(no) = self.apply(&id, events, WriteMeta::because("its check has ended")) {
            self.out.refused.push(format!("{id}: {no}"));
        } else if let Some(red) = red {
            self.hold_train(&red);
        }
    }

    /// The end of a run, and the verdict or the next run that follows from it.
    fn end_of_check(
        &self,
        id: &TicketId,
        run: &RunId,
        outcome: &CheckOutcome,
        tests: Option<u64>,
    ) -> Vec<Event> {
        let task = self
            .ticket(id)
            .and_then(Ticket::check_run)
            .map(|check| check.task);
        let ended = Event::CheckEnded {
            run: run.clone(),
            outcome: outcome.clone(),
            tests,
        };
        self.with_what_follows(id, ended, |core, after| {
            let verdict = core.verdict(id, after.checks()?, task?, outcome);
            verdict.or_else(|| core.go_on(after).filter(|next| core.may_follow(after, next)))
        })
    }

    /// Whether a ticket whose run has ended goes on with this. An engine that ends the run which is under way
    /// begins no other, and one that is up for a command on another ticket leaves the rest to the next
    /// engine. That one knows the train, without which the verdict on an entry would be on itself alone.
    fn may_follow(&self, ticket: &Ticket, next: &Event) -> bool {
        let begins = matches!(next, Event::CheckOrdered { .. });
        match self.may_land(&ticket.id) {
            true => !begins || self.stopping != Some(model::command::OnStop::Kill),
            false => !begins && !self.has_entry_ahead(ticket),
        }
    }

    /// The verdict that the end of a run is; none as long as the checks go on. `checks`: after that end.
    fn verdict(
        &self,
        id: &TicketId,
        checks: &Checks,
        task: CheckTask,
        outcome: &CheckOutcome,
    ) -> Option<Event> {
        if let Some(output) = self.agents_own(id, checks, task, outcome) {
            return self.unmet(id, checks, output);
        }
        if let Some(hindered) = &checks.hindered
            && let Some(event) = self.fault_of_work(id, checks, hindered)
        {
            return Some(event);
        }
        if let Some(why) = checks.cannot_run(task, outcome) {
            let on_target = match checks.hindered {
                Some(_) => " on the target either",
                None => "",
            };
            let what = match (task, checks.owed()) {
                (CheckTask::Commitment, Some(owed)) => format!("the commitment “{}”", owed.says),
                (_, _) => "the checks".to_owned(),
            };
            return Some(Event::CouldNotRun {
                why: format!("{what} could not be run{on_target}: {why}"),
                may_pass: outcome.may_pass(),
                retry_at: self.check_again_at(id),
            });
        }
        match (task, outcome) {
            (
                CheckTask::Target,
                CheckOutcome::Passed | CheckOutcome::Flaky { .. } | CheckOutcome::PassedBefore,
            ) => {
                if !checks.is_target_green() {
                    return None;
                }
                let command = checks.failed_command().map(Check::to_string).unwrap_or_default();
                let output = checks.failed.clone().unwrap_or_default();
                let tip = Some(checks.candidate.tip.clone());
                Some(self.checks_failed(id, command, output, tip))
            }
            // The fault may be that of an entry ahead: the train finds out which. A failure that is to be
            // repeated does not count yet.
            (CheckTask::Candidate, CheckOutcome::Failed { output })
                if checks.failed.is_some()
                    && self.has_train()
                    && self.ticket(id).is_some_and(|it| self.has_entry_ahead(it)) =>
            {
                Some(Event::TrialFailed {
                    which: checks.failed_command().map(Check::to_string).unwrap_or_default(),
                    output: output.clone(),
                    fewer: None,
                })
            }
            (CheckTask::Candidate, CheckOutcome::FewerTests { tests, output }) => {
                let which = checks.failed_command().map(Check::to_string).unwrap_or_default();
                let has_entry_ahead = self.ticket(id).is_some_and(|it| self.has_entry_ahead(it));
                Some(Self::fewer_tests(
                    which,
                    *tests,
                    output,
                    self.has_train() && has_entry_ahead,
                ))
            }
            (CheckTask::Target, CheckOutcome::Failed { output }) => Some(Event::TargetRed {
                which: checks.command(task).map(Check::to_string).unwrap_or_default(),
                output: output.clone(),
                retry_at: self.check_again_at(id),
            }),
            (CheckTask::Commitment, CheckOutcome::Failed { output }) => self.unmet(id, checks, output),
            (CheckTask::SetUp | CheckTask::Candidate | CheckTask::Commitment, _)
            | (CheckTask::Target, CheckOutcome::FewerTests { .. })
            | (_, CheckOutcome::Lost { .. } | CheckOutcome::NotSetUp | CheckOutcome::CouldNotRun { .. }) => {
                None
            }
        }
    }

    /// The event of a check or a set-up that cannot be run with the work and can with the target, or that may
    /// be hindered by an entry ahead: the train finds out which. None as long as that is to be proven.
    fn fault_of_work(&self, id: &TicketId, checks: &Checks, hindered: &Hindrance) -> Option<Event> {
        let (which, output) = (hindered.name(), hindered.output.clone());
        let ticket = self.ticket(id)?;
        match hindered.proof {
            Proof::Work => {
                let tip = Some(checks.candidate.tip.clone());
                Some(self.checks_failed(id, which, output, tip))
            }
            Proof::Target if self.has_train() && self.has_entry_ahead(ticket) => Some(Event::TrialFailed {
                which,
                output,
                fewer: None,
            }),
            Proof::Target | Proof::Again | Proof::Neither => None,
        }
    }

    /// The event of a check that ran far fewer tests than on the target. `in_train`: the fault may be that of
    /// an entry ahead, and the train finds out which.
    pub(super) fn fewer_tests(which: String, tests: FewerTests, output: &str, in_train: bool) -> Event {
        let output = output.to_owned();
        match in_train {
            true => Event::TrialFailed {
                which,
                output,
                fewer: Some(tests),
            },
            false => Event::TestsHeld { which, tests, output },
        }
    }

    /// The work of a ticket fails a check that the commit below it passes.
    pub(super) fn checks_failed(
        &self,
        id: &TicketId,
        which: String,
        output: String,
        tip: Option<Oid>,
    ) -> Event {
        let same = tip.map(|tip| Fingerprint::Check {
            which: which.clone(),
            tip,
        });
        Event::ChecksFailed {
            which,
            output,
            steps_left: self.steps_left(id),
            reopen_at: self.reopen_at(id),
            repeat: same.and_then(|same| self.repeat(id, same)),
        }
    }

    /// The events of a report that says that no process of a check was started: the check has ended with
    /// that. Another report gives none: after a failure in the middle nobody knows whether a process lives,
    /// so the ticket leaves its checks as if one did.
    pub(super) fn check_reported(&self, id: &TicketId, run: &RunId, report: &Report) -> Option<Vec<Event>> {
        let outcome = report.check_outcome()?;
        Some(self.end_of_check(id, run, &outcome, None))
    }

    /// Takes a look at a check that runs; gives whether anything was decided. A check may be silent for as
    /// long as it likes: only its shim is watched, and the shim ends it at its time limit.
    pub(super) fn check_sampled(&mut self, id: &TicketId, run: &RunId, sample: &stall::Sample) -> bool {
        let stall_after = self.settings.run.stall_after;
        let verdict = self.watches.look_at_shim(run, sample, stall_after);
        let check = self.ticket(id).and_then(Ticket::check_run);
        if check.is_none_or(|check| check.stopping.is_some()) {
            return false;
        }
        match verdict {
            stall::Verdict::Frozen { silent } => {
                let (shim, silent) = (sample.shim, model::view::span(silent));
                self.out.warnings.push(format!(
                    "the check of {id} waits: process {shim}, which holds it, has not run for {silent}: is it suspended?\n  \
                     `kill -CONT {shim}` lets it go on; otherwise crew runs the check anew after as long again"
                ));
                false
            }
            stall::Verdict::Stalled => {
                let why = CheckStop::Frozen;
                self.apply_or_note(id, Event::CheckStopOrdered { why }, "its check's shim is frozen");
                true
            }
            stall::Verdict::Alive
            | stall::Verdict::Stuck { .. }
            | stall::Verdict::TimedOut
            | stall::Verdict::Overstayed => false,
        }
    }

    /// Ends the check that runs with the engine, unless it is being ended.
    pub(super) fn pause_check(&mut self, id: &TicketId) {
        let check = self.ticket(id).and_then(Ticket::check_run);
        if check.is_some_and(|check| check.stopping.is_none()) {
            let why = CheckStop::Pause;
            self.apply_or_note(id, Event::CheckStopOrdered { why }, "the engine is being stopped");
        }
    }
}

#[cfg(test)]
mod tests;
