//! Turns of delegation: who is at work in a shared workspace, also where people come in between, and what a
//! parent's last steps are for.

use model::attempt::{Class, Signal};
use model::call::{Call, ChosenMode};
use model::command::Command;

use crate::delegation::{begins, leading, task, unifies, waiting};
use crate::scene::{failed, id, secs};

/// The first child of t-1 was given up, and the second one is at work.
fn with_one_given_up() -> crate::scene::Scene {
    let mut scene = waiting(|_| {});
    let why = "no such file".to_owned();
    scene.finishes("t-1-c1", Signal::Blocked { why });
    begins(&mut scene, "t-1-c2");
    scene
}

#[test]
fn a_child_that_is_tried_again_waits_until_the_next_one_is_over() {
    let mut scene = with_one_given_up();
    scene.ask(Command::Retry { ticket: id("t-1-c1") });
    assert_eq!(scene.state("t-1-c1"), "open", "one writer at a time");
    assert!(!scene.all_pending("t-1-c1").contains(&"prepare_workspace"));
    unifies(&mut scene, "t-1-c2");
    assert_eq!(scene.state("t-1"), "in_progress/waiting_for_children");
    begins(&mut scene, "t-1-c1");
    unifies(&mut scene, "t-1-c1");
    assert_eq!(scene.state("t-1"), "in_progress/working");
}

#[test]
fn a_child_whose_agent_was_let_go_has_no_step_beside_the_next_one() {
    let mut scene = waiting(|_| {});
    // Held for a person, with its attempt as it was.
    for _ in 0..3 {
        scene.run_ends("t-1-c1", failed(Class::Crash));
        scene.wait(secs(3600));
    }
    assert_eq!(scene.state("t-1-c1"), "in_progress/stuck (held)");
    begins(&mut scene, "t-1-c2");
    scene.ask(Command::Retry { ticket: id("t-1-c1") });
    assert_eq!(scene.state("t-1-c1"), "open");
    unifies(&mut scene, "t-1-c2");
    begins(&mut scene, "t-1-c1");
}

#[test]
fn what_an_agent_has_delegated_is_no_part_of_a_ticket_that_it_breaks_up() {
    let mut scene = leading(|_| {});
    scene.delegates("t-1", &[task("One")]).unwrap();
    scene.children_written("t-1");
    let now = scene.now;
    scene.write("t-1-c1", |file| {
        file.spec.made_by = Some("ann".to_owned());
        file.spec.created = now;
    });
    scene.finishes("t-1", Signal::None);
    begins(&mut scene, "t-1-c1");
    unifies(&mut scene, "t-1-c1");
    for mode in [ChosenMode::Execute, ChosenMode::Plan, ChosenMode::BreakUp] {
        scene.calls("t-1", Call::SetMode { mode }).unwrap();
    }
    scene.finishes("t-1", Signal::Done);
    assert_eq!(scene.state("t-1"), "in_progress/working", "nothing was split");
    assert_eq!(scene.state("t-1-c1"), "verify/unified");
}
