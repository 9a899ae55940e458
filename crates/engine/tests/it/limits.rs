//! Limits: attempts, steps, recoveries and resolutions are counted, and the last of each is different.

use engine::{End, Report};
use model::attempt::{Class, Failure, Signal, Workspace};
use model::command::Command;

use crate::scene::{Scene, failed, id, secs};
use crate::states;

#[test]
fn the_last_attempt_holds_the_ticket() {
    let mut scene = states::preparing();
    for (left, due) in [(2, 30), (1, 60)] {
        let why = "no disk".to_owned();
        let failed = scene.report("t-1", "prepare_workspace", Report::WorkspaceFailed { why });
        let told = format!("{left} attempts left, due in {due} s");
        assert!(failed.to_string().contains(&told), "{failed}");
        assert_eq!(scene.state("t-1"), "open");
        scene.wait(secs(due));
    }
    let why = "no disk".to_owned();
    scene.report("t-1", "prepare_workspace", Report::WorkspaceFailed { why });
    assert_eq!(scene.state("t-1"), "open (held)");
    scene.ask(Command::Retry { ticket: id("t-1") });
    let why = "no disk".to_owned();
    let failed = scene.report("t-1", "prepare_workspace", Report::WorkspaceFailed { why });
    let anew = "2 attempts left, due in 30 s";
    assert!(failed.to_string().contains(anew), "a retry begins anew: {failed}");
}

#[test]
fn the_last_step_is_the_last_chance_and_then_the_ticket_goes_back() {
    let mut scene = states::working_with(|settings| settings.run.max_steps = 2);
    let steps: Vec<String> = (0..3)
        .map(|_| scene.finishes("t-1", Signal::None).to_string())
        .collect();
    insta::assert_snapshot!(steps.join("\n---\n"));
}

#[test]
fn a_question_without_a_step_left_is_the_last_chance_too() {
    let mut scene = states::working_with(|settings| settings.run.max_steps = 1);
    let asked = scene.run_ends("t-1", crate::scene::asked()).to_string();
    assert!(asked.contains("(last chance, old session)"), "{asked}");
}

#[test]
fn the_last_conflict_holds_the_ticket() {
    let mut scene = states::building_with(|settings| settings.run.conflict_resolutions = 2);
    for (n, tip) in ['b', 'd'].into_iter().enumerate() {
        let conflict = conflict(&mut scene, tip);
        let left = format!("{} resolutions left", 2 - n);
        assert!(conflict.contains(&left), "{conflict}");
        scene.finishes("t-1", Signal::Done);
    }
    conflict(&mut scene, 'f');
    assert_eq!(scene.state("t-1"), "verify/checking (held)");
}

fn conflict(scene: &mut Scene, tip: char) -> String {
    let report = Report::Conflicted {
        paths: vec!["src/lib.rs".to_owned()],
        tip: crate::scene::oid(tip),
        target: crate::scene::oid('a'),
        resolved: false,
    };
    scene.report("t-1", "build_candidate", report).to_string()
}

#[test]
fn the_same_conflict_three_times_is_not_paid_again() {
    let mut scene = states::building();
    for _ in 0..2 {
        conflict(&mut scene, 'b');
        assert_eq!(scene.state("t-1"), "in_progress/working");
        scene.finishes("t-1", Signal::Done);
    }
    let third = conflict(&mut scene, 'b');
    assert!(third.contains("time 3 of the same"), "{third}");
    assert_eq!(scene.state("t-1"), "verify/checking (held)");
}

#[test]
fn a_branch_that_is_refused_three_times_for_the_same_is_not_paid_again() {
    let mut scene = states::building();
    let refuse = |scene: &mut Scene, why: &str| {
        let why = why.to_owned();
        scene.report("t-1", "build_candidate", Report::ImportRefused { why });
        let state = scene.state("t-1");
        if state == "in_progress/working" {
            scene.finishes("t-1", Signal::Done);
        }
        state
    };
    let working = "in_progress/working";
    let states = ["a", "a", "b", "b", "b"].map(|why| refuse(&mut scene, why));
    let held = "verify/checking (held)";
    assert_eq!(states, [working, working, working, working, held]);
}

#[test]
fn a_workspace_that_vanishes_each_time_holds_the_ticket() {
    let mut scene = states::starting();
    for (left, due) in [(2, 30), (1, 60)] {
        let lost = scene.report("t-1", "start_step", Report::WorkspaceMissing);
        let told = format!("{left} attempts left, due in {due} s");
        assert!(lost.to_string().contains(&told), "{lost}");
        assert_eq!(scene.state("t-1"), "open");
        scene.wait(secs(due));
        scene.workspace_ready("t-1");
    }
    let lost = scene.report("t-1", "start_step", Report::WorkspaceMissing);
    assert_eq!(scene.state("t-1"), "open (held)", "{lost}");
    let held = scene.core.ticket(&id("t-1")).unwrap().held.clone().unwrap();
    assert!(held.note.starts_with("its workspace is gone"), "{}", held.note);
}

/// A stuck attempt is recovered from what is in its workspace, so many times.
#[test]
fn the_last_recovery_gives_the_ticket_back() {
    let mut scene = states::working_with(|settings| settings.run.recoveries = 1);
    let get_stuck = |scene: &mut Scene| {
        for _ in 0..5 {
            scene.run_ends("t-1", failed(Class::Transient));
            scene.wait(secs(60));
        }
        assert_eq!(scene.state("t-1"), "in_progress/stuck");
    };
    let workspace = Workspace::Clean;
    get_stuck(&mut scene);
    let first = scene.report("t-1", "inspect_workspace", Report::Inspected { workspace });
    assert_eq!(first.events(), ["recovered", "step_started"], "{first}");
    get_stuck(&mut scene);
    let second = scene.report("t-1", "inspect_workspace", Report::Inspected { workspace });
    assert_eq!(scene.state("t-1"), "open", "{second}");
    assert!(second.to_string().contains("agent-error"), "{second}");
}

#[test]
fn failed_steps_wait_ever_longer_and_the_fifth_is_one_too_many() {
    let mut scene = states::working();
    let mut failures = Vec::new();
    for n in 1..=5 {
        // Each says something else, so that they are not the same failure.
        let failure = Failure::new(Class::Crash, format!("exit {n}"));
        failures.extend(scene.run_ends("t-1", End::Failed(failure)).lines().to_vec());
        scene.wait(secs(60));
    }
    insta::assert_snapshot!(failures.join("\n"));
}

#[test]
fn a_step_that_ends_well_forgets_the_failures_before_it() {
    let mut scene = states::working();
    for _ in 0..3 {
        scene.run_ends("t-1", failed(Class::Lost));
        scene.wait(secs(60));
    }
    scene.finishes("t-1", Signal::None);
    let next = scene.run_ends("t-1", failed(Class::Lost)).to_string();
    assert!(
        next.contains("again in 2 s, 4 errors and 3 repeats left"),
        "{next}"
    );
}

#[test]
fn a_service_that_refuses_again_and_again_is_asked_ever_more_rarely() {
    let mut scene = states::working();
    for seconds in [30, 60, 120, 240] {
        let refused = scene.run_ends("t-1", failed(Class::Overloaded)).to_string();
        let wait = format!("again in {seconds} s, 5 errors");
        assert!(refused.contains(&wait), "{refused}");
        let lines = scene.wait(secs(seconds)).join("\n");
        assert!(lines.contains("step_started"), "after {seconds} s: {lines}");
    }
}

#[test]
fn an_edited_text_is_another_input_and_begins_the_counts_of_the_same_anew() {
    let mut scene = states::building();
    for n in 1..=4 {
        let nothing = scene
            .report("t-1", "build_candidate", Report::NoCommits)
            .to_string();
        let time = if n <= 2 { n } else { n - 2 };
        assert!(nothing.contains(&format!("time {time} of the same")), "{nothing}");
        if n == 2 {
            scene.write("t-1", |file| file.spec.digest = "another".to_owned());
            // Its agent is told first.
            scene.finishes("t-1", Signal::Done);
        }
        scene.finishes("t-1", Signal::Done);
    }
}

#[test]
fn a_question_is_answered_by_nobody_when_its_time_is_over() {
    let mut scene = states::working_with(|settings| settings.run.answer_within = Some(secs(60)));
    let asked = scene.run_ends("t-1", crate::scene::asked()).to_string();
    assert!(asked.contains("to be answered in 60 s"), "{asked}");
    let over = scene.wait(secs(60)).join("\n");
    assert!(over.contains("(unanswered, old session)"), "{over}");
}
