//! A child whose work crew refuses, or that cannot begin.

use engine::Report;
use model::attempt::Signal;
use model::command::Command;

use crate::delegation::{begins, unifies, waiting};
use crate::scene::{Scene, id, secs};

fn refuses(scene: &mut Scene, why: &str) {
    scene.finishes("t-1-c1", Signal::Done);
    let why = why.to_owned();
    scene.report("t-1-c1", "unify", Report::ImportRefused { why });
}

fn told(scene: &Scene, ticket: &str) -> String {
    let (_, effect) = scene.pending(ticket, "start_step").unwrap();
    format!("{effect:?}")
}

#[test]
fn a_child_whose_branch_is_refused_goes_back_to_its_agent_in_its_turn() {
    let mut scene = waiting(|_| {});
    refuses(&mut scene, "half a merge");
    assert_eq!(scene.state("t-1-c1"), "in_progress/working");
    assert_eq!(scene.state("t-1-c2"), "open", "nobody else is at work there");
    assert!(told(&scene, "t-1-c1").contains("half a merge"));
    unifies(&mut scene, "t-1-c1");
    begins(&mut scene, "t-1-c2");
}

#[test]
fn a_child_whose_branch_is_refused_three_times_is_given_up_and_its_parent_hears_why() {
    let mut scene = waiting(|_| {});
    for _ in 0..3 {
        refuses(&mut scene, "half a merge");
    }
    assert_eq!(scene.state("t-1-c1"), "open (held)");
    assert!(scene.all_pending("t-1-c1").contains(&"keep_work"));
    begins(&mut scene, "t-1-c2");
    unifies(&mut scene, "t-1-c2");
    assert_eq!(scene.state("t-1-c1"), "done/dropped");
    let told = told(&scene, "t-1");
    assert!(
        told.contains("refused 3 times in a row:\\nhalf a merge"),
        "{told}"
    );
}

#[test]
fn a_child_that_cannot_begin_is_its_parents_to_mend_at_once() {
    let mut scene = waiting(|_| {});
    unifies(&mut scene, "t-1-c1");
    let why = "it did not begin".to_owned();
    scene.report("t-1-c2", "prepare_workspace", Report::NotUnified { why });
    assert_eq!(scene.state("t-1"), "in_progress/working");
    let told = told(&scene, "t-1");
    assert!(told.contains("GivenUp { why: \"it did not begin\" }"), "{told}");
}

#[test]
fn a_parent_does_not_wait_for_work_that_cannot_come_into_its_own_once_it_is_ended() {
    let mut scene = waiting(|_| {});
    scene.finishes("t-1-c1", Signal::Done);
    scene.ask(Command::Drop {
        ticket: id("t-1"),
        reason: "not wanted".to_owned(),
    });
    assert_eq!(
        scene.state("t-1"),
        "in_progress/waiting_for_children",
        "it is done"
    );
    for _ in 0..2 {
        let why = "no such branch".to_owned();
        scene.report("t-1-c1", "unify", Report::CouldNotRun { why });
        scene.later(secs(60));
    }
    assert_eq!(scene.state("t-1"), "done/dropped");
    assert_eq!(scene.state("t-1-c1"), "done/dropped");
}
