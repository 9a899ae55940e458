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
            repeat: None,
            unusable: Vec::new(),
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
        brings_nothing: false,
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
