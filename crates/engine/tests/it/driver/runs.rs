//! Runs: which are watched, and when their ends are handled.

use engine::driver::{Action, Event};
use engine::{Duty, End, Report};
use model::attempt::{Class, Signal};
use model::command::{Command, OnStop};

use super::shell::{Shell, ended, take, watched};
use crate::scene::{failed, id, name};
use crate::states;

#[test]
fn a_run_is_watched_from_the_report_of_its_start_on() {
    let (mut shell, opened) = Shell::start(states::starting(), Duty::Drain);
    assert!(opened.watched().is_empty(), "it is not started");
    let started = shell.report(opened.take("start_step"), Report::StepSpawned);
    assert_eq!(started.watched(), [shell.run()]);
}

#[test]
fn a_run_that_was_asked_to_stop_is_looked_at_again() {
    let (mut shell, _) = Shell::up(states::working());
    let stopping = shell.stop(OnStop::Kill);
    let stopped = shell.report(stopping.take("stop_run"), Report::Stopped);
    assert_eq!(stopped.watched(), [shell.run()]);
}

#[test]
fn a_start_that_failed_leaves_nothing_to_watch() {
    let (mut shell, actions) = Shell::up(states::starting());
    let failure = model::attempt::Failure::new(Class::Crash, "no such program");
    let report = Report::StepNotSpawned { failure };
    let reported = shell.report(take(&actions, "start_step"), report);
    assert!(reported.watched().is_empty());
}

#[test]
fn runs_that_live_are_watched_after_each_load() {
    let (mut shell, opened) = Shell::start(states::working(), Duty::Drain);
    assert_eq!(opened.watched(), [shell.run()]);
    assert_eq!(shell.load().watched(), [shell.run()]);
}

#[test]
fn a_run_that_is_still_to_be_stopped_is_watched_once_it_was_asked() {
    let (mut shell, opened) = Shell::start(states::being_killed(), Duty::Drain);
    assert!(opened.watched().is_empty());
    let stopped = shell.report(opened.take("stop_run"), Report::Stopped);
    assert_eq!(stopped.watched(), [shell.run()]);
}

#[test]
fn a_check_that_was_stopped_and_that_nobody_waits_for_is_not_watched_again() {
    let (mut shell, opened) = Shell::start(states::checking(), Duty::Drain);
    let started = shell.report(opened.take("start_check"), Report::CheckSpawned);
    assert_eq!(started.watched().len(), 1);
    let dropped = shell.ask([states::drop_it()]);
    let stopped = shell.report(dropped.take("stop_run"), Report::Stopped);
    assert!(stopped.watched().is_empty());
}

#[test]
fn an_engine_for_a_command_watches_only_the_runs_that_it_stops() {
    let (mut shell, opened) = Shell::start(states::working(), Duty::Command { lands: None });
    assert!(opened.watched().is_empty());
    assert!(watched(&shell.look().actions).is_empty());
}

#[test]
fn a_command_that_was_submitted_before_a_run_ended_is_carried_out_before_that_end() {
    let (mut shell, _) = Shell::up(states::working());
    let end = ended(shell.run(), End::Finished(Signal::Done));
    let came = shell.handle([end]);
    assert!(came.facts().is_empty(), "{:?}", came.facts());
    assert!(came.reads_inbox());
    assert!(!shell.driver.is_at_rest(), "an end waits");
    let read = shell.ask([states::drop_it()]);
    assert_eq!(
        read.facts()[..3],
        ["t-1 stop_ordered", "t-1 step_failed", "t-1 dropped"]
    );
    assert_eq!(shell.state("t-1"), "done/dropped");
}

#[test]
fn the_inbox_is_asked_for_while_an_end_waits_and_not_otherwise() {
    let (mut shell, _) = Shell::start(states::working(), Duty::Drain);
    let run = shell.run();
    let came = shell.handle([ended(run, End::Finished(Signal::Done))]);
    assert!(
        !came.reads_inbox(),
        "no command can be carried out before the files were read"
    );
    assert!(shell.look().reads_inbox());
    assert!(shell.look().reads_inbox(), "the answer has not come");
    let read = shell.ask([]);
    assert_eq!(read.facts()[0], "t-1 step_finished");
    assert!(!read.reads_inbox() && !shell.look().reads_inbox());
}

/// The inbox is not read where the engine stops before it has read the files.
#[test]
fn ends_are_handled_without_the_inbox_by_an_engine_that_stops_before_it_has_read_the_files() {
    let (mut shell, _) = Shell::start(states::working(), Duty::Drain);
    let run = shell.run();
    shell.handle([ended(run, End::Finished(Signal::None))]);
    let stopped = shell.stop(OnStop::Finish);
    assert_eq!(stopped.facts(), ["t-1 step_finished"]);
    assert!(!stopped.reads_inbox());
}

#[test]
fn an_engine_that_is_stopping_still_reads_the_inbox_before_an_end() {
    let (mut shell, _) = Shell::up(states::working());
    shell.stop(OnStop::Finish);
    let run = shell.run();
    let came = shell.handle([ended(run, End::Finished(Signal::None))]);
    assert!(came.facts().is_empty() && came.reads_inbox());
    let kill = Command::Kill { agent: name("ann") };
    assert_eq!(shell.ask([kill]).facts()[0], "t-1 stop_ordered");
}

#[test]
fn ends_that_waited_are_not_for_the_next_core_whose_watcher_sees_them_again() {
    let (mut shell, _) = Shell::up(states::working());
    let run = shell.run();
    shell.handle([ended(run.clone(), End::Finished(Signal::Done))]);
    assert_eq!(shell.load().watched(), [run]);
    shell.look();
    assert!(shell.ask([]).facts().is_empty());
}

#[test]
fn a_command_is_carried_out_when_the_run_that_it_stops_has_ended() {
    let mut scene = states::working();
    scene.files_written("t-1");
    let (mut shell, _) = Shell::start(scene, Duty::Command { lands: None });
    shell.look();
    assert!(shell.driver.is_carried_out());
    let kill = Command::Kill { agent: name("ann") };
    let stopping = shell.ask([kill]).take("stop_run");
    assert!(!shell.driver.is_carried_out(), "the stop is under way");
    shell.report(stopping, Report::Stopped);
    assert!(shell.driver.is_at_rest());
    assert!(!shell.driver.is_carried_out(), "the run is watched");
    let run = shell.run();
    shell.handle([ended(run, failed(Class::Lost))]);
    assert!(!shell.driver.is_carried_out(), "the end waits for the inbox");
    let asked = shell.ask([]);
    assert!(!shell.driver.is_carried_out(), "the ticket is given back");
    shell.perform_all(&asked.actions);
    assert!(shell.driver.is_carried_out());
    assert!(shell.driver.core().ticket(&id("t-1")).unwrap().held.is_some());
}

#[test]
fn a_run_whose_start_is_left_to_the_next_engine_is_asked_to_stop_all_the_same() {
    let (mut shell, _) = Shell::start(states::starting(), Duty::Command { lands: None });
    shell.look();
    let asked = shell.ask([Command::Kill { agent: name("ann") }]);
    assert_eq!(asked.facts(), ["t-1 stop_ordered"]);
    assert!(asked.performed().is_empty(), "{:?}", asked.performed());
    let stop = Action::StopIfBegun(shell.run());
    assert!(asked.actions.contains(&stop), "{:?}", asked.actions);
}

#[test]
fn an_input_of_the_core_is_passed_on_as_it_is() {
    let (mut shell, _) = Shell::up(states::working());
    let failure = model::attempt::Failure::new(Class::RateLimited, "too many requests");
    let run = shell.run();
    let given_up = Event::Input(engine::Input::GivenUp { run, failure });
    assert_eq!(shell.handle([given_up]).facts(), ["t-1 stop_ordered"]);
}
