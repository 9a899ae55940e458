//! Rest: whether anything moves without a person, and what each ticket waits for.

use engine::Report;
use model::attempt::Signal;
use model::command::Command;
use model::ticket::FileStatus;

use crate::matrix::matrix;
use crate::scene::{Scene, failed, id, name};
use crate::states::{self, Reached};

/// The state of rest of the queue and of t-1, in words.
fn rest(scene: &Scene) -> String {
    let (rest, t1) = (scene.core.rest(), id("t-1"));
    let moving = if rest.moving {
        "something moves"
    } else {
        "nothing moves"
    };
    let mut first = moving.to_owned();
    let told = [
        (scene.core.is_at_work(), "agents are at work"),
        (scene.core.moves(&t1), "it moves"),
        (scene.core.is_stuck(&t1), "it is stuck"),
        (scene.core.is_kept(&t1), "it is kept"),
        (scene.core.is_unwritten(&t1), "its file is not written"),
    ];
    for (_, words) in told.iter().filter(|(is_so, _)| *is_so) {
        first = format!("{first}, {words}");
    }
    let mut text = vec![first];
    let waits = rest
        .waits
        .iter()
        .map(|waits| format!("{} waits: {}", waits.ticket, waits.why));
    text.extend(waits);
    text.extend(scene.core.explain(&t1).map(|why| format!("not given out: {why}")));
    text.join("\n")
}

#[test]
fn every_state_says_whether_it_moves_or_what_it_waits_for() {
    insta::assert_snapshot!(matrix(states::all_at_rest(), |scene| rest(scene)));
}

/// An effect of t-1 fails twice, so that only a person can mend it.
fn fails_twice(scene: &mut Scene, effect: &str) {
    for _ in 0..2 {
        let why = "no disk".to_owned();
        scene.report("t-1", effect, Report::CouldNotRun { why });
    }
}

#[test]
fn an_effect_that_fails_for_the_second_time_waits_for_a_person() {
    let cases: [(Reached, &str); 9] = [
        (("a workspace", states::preparing), "prepare_workspace"),
        (("a step", states::starting), "start_step"),
        (("a stop", states::being_killed), "stop_run"),
        (("a look", states::stuck), "inspect_workspace"),
        (("a landing", states::landing), "land"),
        (("work that is to be kept", states::killed), "keep_work"),
        (("a workspace that is to go", states::landed), "remove_workspace"),
        (("a file", states::preparing), "write_file"),
        (("a note", states::blocked), "add_note"),
    ];
    let mut failing = Vec::new();
    for ((label, reached), effect) in cases {
        let mut scene = reached();
        fails_twice(&mut scene, effect);
        failing.push((label, scene));
    }
    insta::assert_snapshot!(matrix(failing, |scene| rest(scene)));
}

#[test]
fn a_submission_behind_a_landing_that_fails_waits_for_it() {
    let mut scene = states::landing();
    scene.add("t-2");
    scene.workspace_ready("t-2");
    scene.finishes("t-2", Signal::Done);
    assert!(scene.core.moves(&id("t-2")));
    assert!(!scene.core.is_kept(&id("t-2")));
    fails_twice(&mut scene, "land");
    assert!(!scene.core.moves(&id("t-2")));
    assert!(scene.core.is_kept(&id("t-2")));
    let waits = scene.core.rest().waits;
    let t2 = waits.iter().find(|waits| waits.ticket == id("t-2")).unwrap();
    assert_eq!(t2.why, "it waits for t-1, which lands first and cannot go on");
    assert!(!scene.core.rest().moving);
    scene.landed("t-1");
    assert!(scene.core.moves(&id("t-2")) && !scene.core.is_kept(&id("t-2")));
}

#[test]
fn an_eligible_ticket_waits_for_an_agent_when_all_wait_for_a_person() {
    let mut scene = Scene::with(|settings| settings.agents.names = vec![name("ann")]);
    scene.add("t-1");
    scene.add("t-2");
    scene.write("t-3", |file| file.spec.assignee = Some("ann".to_owned()));
    scene.workspace_ready("t-1");
    assert_eq!(
        rest(&scene).lines().next(),
        Some("something moves, agents are at work, it moves")
    );
    scene.run_ends("t-1", crate::scene::asked());
    insta::assert_snapshot!(rest(&scene));
    assert_eq!(
        scene.core.explain(&id("t-2")).unwrap().to_string(),
        "no agent is free; it is the next"
    );
}

#[test]
fn a_file_that_cannot_be_read_is_a_persons_to_mend_though_nothing_is_known_of_it() {
    let mut scene = Scene::new();
    scene.make_unreadable("t-1");
    insta::assert_snapshot!(rest(&scene));
}

#[test]
fn an_engine_that_has_not_read_the_folder_is_not_at_rest() {
    let mut scene = states::landed();
    scene.files_written("t-1");
    scene.report("t-1", "remove_workspace", Report::Done);
    assert!(!scene.core.rest().moving);
    scene.restart();
    assert!(scene.core.rest().moving);
    scene.look_at_all();
    assert!(!scene.core.rest().moving);
}

#[test]
fn a_file_that_may_come_back_is_waited_for() {
    let mut scene = Scene::with(|settings| settings.run.debounce = crate::scene::secs(1));
    scene.set_status("t-1", FileStatus::InProgress);
    assert!(!scene.core.rest().moving, "a person has taken it");
    scene.delete("t-1");
    assert!(scene.core.rest().moving);
    scene.wait(crate::scene::secs(1));
    assert_eq!(scene.state("t-1"), "done/dropped");
    assert!(!scene.core.rest().moving);
}

#[test]
fn a_kill_that_cannot_reach_its_process_keeps_the_ticket_until_it_does() {
    let mut scene = states::being_killed();
    fails_twice(&mut scene, "stop_run");
    assert!(scene.core.is_stuck(&id("t-1")) && !scene.core.is_at_work());
    scene.run_ends("t-1", failed(model::attempt::Class::Lost));
    assert_eq!(scene.state("t-1"), "open (held)");
    scene.report("t-1", "stop_run", Report::Stopped);
    assert!(!scene.core.is_stuck(&id("t-1")));
    let retry = Command::Retry { ticket: id("t-1") };
    assert_eq!(scene.ask(retry).events(), ["retried", "claimed", "agents_busy"]);
}

#[test]
fn a_ticket_whose_file_cannot_be_read_waits_once() {
    let mut scene = states::waits_for_another();
    scene.make_unreadable("t-1");
    insta::assert_snapshot!(rest(&scene));
}

#[test]
fn the_file_of_a_ticket_that_is_over_is_not_waited_for() {
    let mut scene = states::landed();
    let mut settings = scene.core.settings().clone();
    settings.run.debounce = crate::scene::secs(1);
    scene.core.set_settings(settings);
    scene.delete("t-1");
    assert!(!scene.core.rest().moving);
}

#[test]
fn a_leader_whose_children_work_waits_for_no_person_and_one_whose_child_asks_does() {
    let mut scene = crate::delegation::waiting(|_| ());
    scene.write("t-2", |file| file.spec.deps = [id("t-1")].into());
    let rest = scene.core.rest();
    assert!(rest.moving && rest.waits.is_empty(), "{rest:?}");
    scene.run_ends("t-1-c1", crate::scene::asked());
    let rest = scene.core.rest();
    let waits: Vec<&str> = rest.waits.iter().map(|waits| waits.ticket.as_str()).collect();
    assert!(!rest.moving);
    for id in ["t-1", "t-1-c1", "t-2"] {
        assert!(waits.contains(&id), "{waits:?}");
    }
}
