//! Stopping the engine: what becomes of what runs, and when the engine may end.

use engine::{Duty, Report};
use model::attempt::{Class, Signal};
use model::command::{Command, OnStop};
use model::project;

use crate::matrix::matrix;
use crate::scene::{Scene, failed, id};
use crate::states;

fn stop(running: OnStop) -> Command {
    Command::Stop { running }
}

/// The decisions about a stop in every state; then the step of t-1 ends, where one runs.
fn in_every_state(running: OnStop) -> String {
    matrix(states::all(), |scene| {
        let stopped = scene.ask(stop(running));
        assert_eq!(scene.core.stopping(), Some(running));
        let runs = scene.core.ticket(&id("t-1")).and_then(|t| t.live_run()).is_some();
        if !runs || stopped.output.ended {
            return stopped.to_string();
        }
        let ended = scene.run_ends("t-1", failed(Class::Transient));
        format!("{stopped}\nthen its step ends\n{ended}")
    })
}

#[test]
fn an_engine_that_is_stopped_waits_for_the_steps_that_run() {
    insta::assert_snapshot!(in_every_state(OnStop::Finish));
}

#[test]
fn an_engine_that_is_stopped_leaves_the_steps_that_run() {
    insta::assert_snapshot!(in_every_state(OnStop::Leave));
}

#[test]
fn an_engine_that_is_stopped_ends_the_steps_that_run() {
    insta::assert_snapshot!(in_every_state(OnStop::Kill));
}

#[test]
fn a_second_stop_overrides_the_first() {
    let mut scene = states::working();
    let first = scene.ask(stop(OnStop::Finish));
    assert!(!first.output.ended);
    let second = scene.ask(stop(OnStop::Kill));
    assert!(second.events().contains(&"stop_ordered"), "{second}");
    let third = scene.ask(stop(OnStop::Leave));
    assert!(third.output.ended, "{third}");
}

#[test]
fn an_engine_that_is_being_stopped_begins_nothing() {
    let mut scene = states::working();
    scene.add("t-2");
    scene.workspace_ready("t-2");
    scene.ask(stop(OnStop::Finish));
    scene.add("t-3");
    assert_eq!(scene.state("t-3"), "open", "not given out");
    let ended = scene.finishes("t-1", Signal::Done);
    assert_eq!(ended.events(), ["step_finished"], "no check is begun: {ended}");
    let ended = scene.finishes("t-2", Signal::None);
    assert_eq!(
        ended.events(),
        ["step_finished", "closed"],
        "no step is started: {ended}"
    );
    assert!(ended.output.ended);
}

#[test]
fn an_engine_that_has_ended_says_so_at_every_input_and_closes_once() {
    let mut scene = states::waits_for_another();
    let stopped = scene.ask(stop(OnStop::Finish));
    assert_eq!(stopped.events(), ["closing", "closed"], "{stopped}");
    assert!(stopped.output.ended);
    let tick = scene.tick();
    assert_eq!(tick.to_string(), "the engine may end");
    assert_eq!(scene.core.project().state, project::State::Closed);
}

#[test]
fn the_next_engine_adopts_what_was_left_running() {
    let mut scene = states::working();
    scene.ask(stop(OnStop::Leave));
    let opened = scene.restart();
    assert_eq!(opened.events(), ["opened", "initialized"], "{opened}");
    assert_eq!(scene.core.live_runs().count(), 1);
    assert_eq!(scene.core.stopping(), None);
    let ended = scene.finishes("t-1", Signal::Done);
    assert_eq!(
        ended.events(),
        ["step_finished", "check_started", "agents_busy"],
        "{ended}"
    );
}

#[test]
fn a_step_that_was_stopped_with_the_engine_is_said_again_by_the_next_one() {
    let mut scene = states::working();
    scene.ask(stop(OnStop::Kill));
    let ended = scene.run_ends("t-1", failed(Class::Lost));
    assert!(ended.output.ended, "{ended}");
    scene.restart();
    let read = scene.look_at_all();
    assert_eq!(read.events(), ["step_started", "agents_busy"], "{read}");
}

#[test]
fn an_engine_that_is_up_for_a_command_begins_nothing_of_its_own() {
    let mut scene = states::waits_to_step();
    let opened = scene.restart_for(Duty::Command { lands: None });
    assert_eq!(opened.to_string(), "nothing");
    scene.write("t-2", |_| {});
    let looked = scene.look_at_all();
    assert!(looked.events().is_empty(), "{looked}");
    scene.later(crate::scene::secs(60));
    assert!(scene.tick().events().is_empty(), "no step is started");
    assert_eq!(scene.state("t-2"), "open", "not given out");
}

#[test]
fn an_engine_that_is_up_to_merge_a_ticket_lands_that_one_alone() {
    let mut scene = states::waits_to_step();
    scene.add("t-2");
    scene.workspace_ready("t-2");
    scene.finishes("t-2", Signal::Done);
    scene.report("t-2", "build_candidate", Report::NoCommits);
    scene.finishes("t-2", Signal::Done);
    scene.ask(Command::Stop {
        running: OnStop::Leave,
    });
    let lands = |ticket: &str| Duty::Command {
        lands: Some(id(ticket)),
    };
    scene.restart_for(lands("t-1"));
    scene.look_at_all();
    let merge = scene.ask(Command::Merge { ticket: id("t-1") });
    // The other one is being merged, and its checks are the next engine's.
    assert_eq!(merge.events(), ["submitted"], "{merge}");
    let built = scene.built("t-2", 'd');
    assert_eq!(built.events(), ["candidate_built", "check_started"], "{built}");
    assert!(scene.pending("t-2", "start_check").is_none());
    assert!(scene.pending("t-1", "build_candidate").is_some());
}

/// The engine was killed while the other submission was first in the queue, and nothing was begun.
#[test]
fn an_engine_that_is_up_to_merge_one_ticket_leaves_another_submission_in_the_queue() {
    let mut scene = states::working();
    scene.add("t-2");
    scene.workspace_ready("t-2");
    scene.ask(stop(OnStop::Finish));
    scene.finishes("t-2", Signal::Done);
    scene.finishes("t-1", Signal::None);
    let lands = Some(id("t-1"));
    scene.restart_for(Duty::Command { lands });
    scene.look_at_all();
    assert_eq!(scene.state("t-2"), "verify/checking");
    assert!(scene.pending("t-2", "build_candidate").is_none());
    let merge = scene.ask(Command::Merge { ticket: id("t-1") });
    assert_eq!(merge.events(), ["submitted", "check_started"], "{merge}");
    assert!(scene.pending("t-1", "build_candidate").is_some());
}

#[test]
fn an_engine_that_is_stopped_does_not_wait_for_a_step_that_cannot_begin() {
    for running in [OnStop::Finish, OnStop::Kill] {
        let mut scene = Scene::new();
        scene.add("t-1");
        scene.workspace_ready("t-1");
        for _ in 0..2 {
            let why = "the ticket's file is not there".to_owned();
            scene.report("t-1", "start_step", Report::CouldNotRun { why });
        }
        assert!(!scene.core.rest().moving, "a person has to bring the file back");
        let stopped = scene.ask(stop(running));
        assert!(stopped.output.ended, "{running:?}: {stopped}");
        scene.restart();
        assert!(
            scene.pending("t-1", "start_step").is_some(),
            "the next engine begins it"
        );
    }
}
