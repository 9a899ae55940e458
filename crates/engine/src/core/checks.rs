//! The checks of a candidate: which command runs next, and what the end of a run means.

use model::policy::{review, stall};
use model::ticket::{
    Candidate, Check, CheckOutcome, CheckPlan, CheckStop, CheckTask, Checks, Event, FewerTests, Fingerprint,
    Hindrance, Proof, State, Ticket,
};
use model::{Oid, RunId, TicketId};

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
            at: self.now,
        })
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
        self.watches.ended(&end.run);
        let Some(id) = self.tickets.of_run(&end.run).cloned() else {
            return;
        };
        let running = self.ticket(&id).and_then(Ticket::checks);
        let running = running.and_then(|checks| Some((checks, checks.run.as_ref()?.task)));
        let outcome = match running {
            Some((checks, task)) => checks.counted(task, end.outcome.clone(), &end.printed),
            None => end.outcome.clone(),
        };
        let events = self.end_of_check(&id, &end.run, &outcome, end.tests);
        let proof = running.and_then(|(checks, _)| checks.hindered.as_ref().map(|it| it.proof));
        // What the target cannot run, none of the others can.
        let is_of_target = |event: &&Event| {
            matches!(event, Event::TargetRed { .. })
                || matches!(event, Event::CouldNotRun { .. }) && proof == Some(Proof::Target)
        };
        let red = events.iter().find(is_of_target);
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
            return Some(Event::CouldNotRun {
                why: format!("the checks could not be run{on_target}: {why}"),
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
    pub(super) fn check_sampled(&mut self, id: &TicketId, run: &RunId, sample: stall::Sample) -> bool {
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
mod tests {
    use model::attempt::{self, Signal, Usage};
    use model::command::OnStop;
    use model::ticket::{Effect, Loss, Spec};
    use model::{Actor, AgentName, Fence, SessionId, Time};

    use super::*;
    use crate::{Input, Loaded};

    fn oid(digit: &str) -> Oid {
        Oid::new(digit.repeat(40)).unwrap()
    }

    fn id() -> TicketId {
        TicketId::new("t-1").unwrap()
    }

    /// A core whose one ticket is being checked with two commands: its first run is ordered.
    fn checking() -> Core {
        let mut settings = model::samples::settings();
        settings.checks.commands = ["make check", "make lint"].map(str::to_owned).to_vec();
        settings.checks.setup = vec!["make ready".to_owned()];
        let mut core = Core::load(settings, uuid::Uuid::nil(), Loaded::default()).unwrap();
        let (fence, at) = (Fence(1), Time(0));
        let child = Event::Attempt;
        let events = [
            Event::Created {
                spec: Spec::default(),
            },
            Event::Claimed {
                agent: AgentName::new("ann").unwrap(),
                fence,
                harness: model::samples::harness(),
                session: SessionId::of_attempt(uuid::Uuid::nil(), &id(), fence, 1),
                at,
                eligible: true,
            },
            child(attempt::Event::WorkspaceReady {
                base: oid("a"),
                earlier_work: false,
            }),
            child(attempt::Event::StepStarted {
                run: RunId::of_step(&id(), fence, 1),
                budget: None,
                change: None,
            }),
            child(attempt::Event::StepFinished {
                usage: Usage::default(),
                total_micro_usd: None,
                signal: Signal::Done,
                summary: None,
                mode: None,
                repeat: None,
                unusable: None,
                steps_left: 9,
                attempts_left: 2,
                reopen_at: at,
                answer_by: None,
            }),
            Event::CheckStarted,
        ];
        let mut ticket = Ticket::new(id());
        for event in events {
            ticket = ticket.after(&event, at).unwrap().ticket;
        }
        core.restore(id(), 6, ticket.into());
        let candidate = Candidate {
            commit: oid("c"),
            tree: oid("d"),
            target: oid("b"),
            tip: oid("e"),
            passed: Vec::new(),
            review: None,
        };
        let events = core.candidate_built(&id(), candidate, &[]);
        core.apply(&id(), events, WriteMeta::default()).unwrap();
        core.out = crate::Output::default();
        core
    }

    /// The run that is under way ends; gives the events that were told.
    fn end(core: &mut Core, outcome: CheckOutcome) -> Vec<&'static str> {
        let run = core.ticket(&id()).unwrap().check_run().unwrap().run.clone();
        let output = core.step(Input::CheckEnded(CheckEnd::new(run, outcome)), Time(0));
        let write = output.writes.first().unwrap();
        write.entries.iter().map(|entry| entry.fact.name()).collect()
    }

    fn task(core: &Core) -> Option<CheckTask> {
        core.ticket(&id()).unwrap().check_run().map(|check| check.task)
    }

    fn failed() -> CheckOutcome {
        CheckOutcome::Failed {
            output: "1 failed".to_owned(),
        }
    }

    fn lost() -> CheckOutcome {
        CheckOutcome::Lost {
            how: Loss::Signal { signal: 9 },
        }
    }

    #[test]
    fn each_command_runs_and_the_last_one_that_passes_lets_it_land() {
        let mut core = checking();
        assert_eq!(task(&core), Some(CheckTask::Candidate));
        assert_eq!(
            end(&mut core, CheckOutcome::NotSetUp),
            ["check_ended", "check_ordered"]
        );
        assert_eq!(task(&core), Some(CheckTask::SetUp));
        end(&mut core, CheckOutcome::Passed);
        assert_eq!(task(&core), Some(CheckTask::Candidate));
        assert_eq!(
            end(&mut core, CheckOutcome::Passed),
            ["check_ended", "check_ordered"]
        );
        assert_eq!(
            end(&mut core, CheckOutcome::PassedBefore),
            ["check_ended", "checks_passed"]
        );
    }

    #[test]
    fn a_failure_is_proven_on_the_target_before_anybody_is_blamed() {
        for (on_target, verdict) in [(CheckOutcome::Passed, "checks_failed"), (failed(), "target_red")] {
            let mut core = checking();
            assert_eq!(end(&mut core, failed()), ["check_ended", "check_ordered"]);
            assert_eq!(task(&core), Some(CheckTask::Target));
            assert_eq!(end(&mut core, on_target), ["check_ended", verdict]);
        }
    }

    #[test]
    fn the_target_is_red_when_it_fails_any_command_up_to_the_failed_one() {
        let second_fails = |core: &mut Core| {
            end(core, CheckOutcome::Passed);
            assert_eq!(end(core, failed()), ["check_ended", "check_ordered"]);
        };
        let mut core = checking();
        second_fails(&mut core);
        assert_eq!(end(&mut core, failed()), ["check_ended", "target_red"]);
        let mut core = checking();
        second_fails(&mut core);
        assert_eq!(
            end(&mut core, CheckOutcome::Passed),
            ["check_ended", "check_ordered"]
        );
        assert_eq!(task(&core), Some(CheckTask::Target));
        assert_eq!(
            end(&mut core, CheckOutcome::Passed),
            ["check_ended", "checks_failed"]
        );
    }

    #[test]
    fn a_checkout_that_never_lasts_is_not_tried_for_ever() {
        let mut core = checking();
        for _ in 1..3 {
            end(&mut core, CheckOutcome::Passed);
            end(&mut core, CheckOutcome::NotSetUp);
            assert_eq!(task(&core), Some(CheckTask::SetUp));
            end(&mut core, CheckOutcome::Passed);
        }
        end(&mut core, CheckOutcome::Passed);
        assert_eq!(
            end(&mut core, CheckOutcome::NotSetUp),
            ["check_ended", "could_not_run"]
        );
    }

    #[test]
    fn a_run_that_is_ended_is_run_again_so_many_times_and_then_on_the_target() {
        let mut core = checking();
        for _ in 0..3 {
            assert_eq!(task(&core), Some(CheckTask::Candidate));
            end(&mut core, lost());
        }
        for _ in 0..3 {
            assert_eq!(task(&core), Some(CheckTask::Target));
            end(&mut core, lost());
        }
        let held = core.ticket(&id()).unwrap().held.as_ref().unwrap();
        assert!(held.note.contains("signal 9, 3 times"), "{}", held.note);
        assert!(held.note.contains("on the target either"), "{}", held.note);
    }

    #[test]
    fn a_check_that_ends_itself_with_the_work_and_not_with_the_target_is_a_failure_of_the_work() {
        let mut core = checking();
        for _ in 0..3 {
            assert_eq!(end(&mut core, lost()), ["check_ended", "check_ordered"]);
        }
        assert_eq!(task(&core), Some(CheckTask::Target));
        end(&mut core, CheckOutcome::Passed);
        assert_eq!(task(&core), Some(CheckTask::Candidate));
        assert_eq!(end(&mut core, lost()), ["check_ended", "checks_failed"]);
    }

    #[test]
    fn a_run_that_vanishes_again_and_again_is_nobodys_fault() {
        let mut core = checking();
        let vanished = || CheckOutcome::Lost { how: Loss::Vanished };
        for _ in 1..3 {
            assert_eq!(end(&mut core, vanished()), ["check_ended", "check_ordered"]);
        }
        assert_eq!(end(&mut core, vanished()), ["check_ended", "could_not_run"]);
    }

    fn could_not_run() -> CheckOutcome {
        CheckOutcome::CouldNotRun {
            why: "`make lint` cannot be run".to_owned(),
        }
    }

    #[test]
    fn a_command_that_only_the_target_can_run_is_tried_once_more_with_the_work() {
        for again in [could_not_run(), CheckOutcome::Passed] {
            let mut core = checking();
            end(&mut core, CheckOutcome::Passed);
            assert_eq!(end(&mut core, could_not_run()), ["check_ended", "check_ordered"]);
            // Every command up to it runs on the target, whatever passed there before.
            for _ in 0..2 {
                assert_eq!(task(&core), Some(CheckTask::Target));
                end(&mut core, CheckOutcome::Passed);
            }
            assert_eq!(task(&core), Some(CheckTask::Candidate));
            end(&mut core, CheckOutcome::Passed);
            let verdict = match again {
                CheckOutcome::Passed => "checks_passed",
                _ => "checks_failed",
            };
            assert_eq!(end(&mut core, again), ["check_ended", verdict]);
        }
    }

    #[test]
    fn a_command_that_the_target_cannot_run_either_says_nothing_about_the_work() {
        let mut core = checking();
        end(&mut core, could_not_run());
        assert_eq!(end(&mut core, could_not_run()), ["check_ended", "could_not_run"]);
        // A target that can run it and fails it is red.
        let mut core = checking();
        end(&mut core, could_not_run());
        assert_eq!(end(&mut core, failed()), ["check_ended", "target_red"]);
    }

    #[test]
    fn set_up_that_fails_is_proven_on_the_target_and_tried_once_more() {
        let begin = || {
            let mut core = checking();
            end(&mut core, CheckOutcome::NotSetUp);
            assert_eq!(end(&mut core, failed()), ["check_ended", "check_ordered"]);
            assert_eq!(task(&core), Some(CheckTask::SetUp));
            let checks = core.ticket(&id()).unwrap().checks().unwrap();
            assert_eq!(checks.commit(CheckTask::SetUp), &oid("b"));
            core
        };
        let mut core = begin();
        assert_eq!(end(&mut core, failed()), ["check_ended", "could_not_run"]);
        let mut core = begin();
        assert_eq!(
            end(&mut core, CheckOutcome::Passed),
            ["check_ended", "check_ordered"]
        );
        assert_eq!(task(&core), Some(CheckTask::SetUp));
        let checks = core.ticket(&id()).unwrap().checks().unwrap();
        assert_eq!(checks.commit(CheckTask::SetUp), &oid("c"));
        let mut network_is_back =
            Core::load(core.settings().clone(), uuid::Uuid::nil(), Loaded::default()).unwrap();
        network_is_back.restore(id(), 9, core.ticket(&id()).unwrap().clone().into());
        assert_eq!(end(&mut core, failed()), ["check_ended", "checks_failed"]);
        end(&mut network_is_back, CheckOutcome::Passed);
        assert_eq!(task(&network_is_back), Some(CheckTask::Candidate));
        end(&mut network_is_back, CheckOutcome::Passed);
        let verdict = end(&mut network_is_back, CheckOutcome::Passed);
        assert_eq!(verdict, ["check_ended", "checks_passed"]);
    }

    #[test]
    fn a_checkout_that_is_set_up_again_and_again_is_not_set_up_for_ever() {
        let mut core = checking();
        for _ in 0..3 {
            end(&mut core, CheckOutcome::NotSetUp);
            end(&mut core, CheckOutcome::Passed);
        }
        assert_eq!(
            end(&mut core, CheckOutcome::NotSetUp),
            ["check_ended", "could_not_run"]
        );
    }

    #[test]
    fn an_engine_that_ends_its_check_begins_no_other_and_the_next_engine_does() {
        let mut core = checking();
        let stop = Input::Commanded {
            id: "own".to_owned(),
            by: Actor::Engine,
            command: model::command::Command::Stop {
                running: OnStop::Kill,
            },
        };
        drop(core.step(stop, Time(0)));
        let run = core.ticket(&id()).unwrap().check_run().unwrap().clone();
        assert_eq!(run.stopping, Some(CheckStop::Pause));
        assert_eq!(end(&mut core, lost()), ["check_ended"]);
        assert_eq!((task(&core), core.stopping()), (None, Some(OnStop::Kill)));
        let ticket = core.ticket(&id()).unwrap().clone();
        let mut next = Core::load(core.settings().clone(), uuid::Uuid::nil(), Loaded::default()).unwrap();
        next.restore(id(), 9, ticket.into());
        drop(next.step(Input::Ticked, Time(0)));
        assert_eq!(task(&next), Some(CheckTask::Candidate));
        assert_eq!(next.ticket(&id()).unwrap().checks().unwrap().lost, 0);
    }

    #[test]
    fn the_end_of_a_check_that_nobody_waits_for_changes_nothing() {
        let mut core = checking();
        let run = core.ticket(&id()).unwrap().check_run().unwrap().run.clone();
        let command = model::command::Command::Drop {
            ticket: id(),
            reason: "no need".to_owned(),
        };
        let dropped = Input::Commanded {
            id: "c".to_owned(),
            by: Actor::person("pat"),
            command,
        };
        let output = core.step(dropped, Time(0));
        let stop = Effect::Attempt(attempt::Effect::StopRun { run: run.clone() });
        assert!(output.effects().any(|(_, effect)| *effect == stop));
        let outcome = CheckOutcome::Passed;
        let output = core.step(Input::CheckEnded(CheckEnd::new(run, outcome)), Time(0));
        assert!(output.writes.is_empty() && output.refused.is_empty());
    }
}
