//! Work that its agent has changed after it had submitted it, until its step was stopped.

use model::attempt::{Prompt, Signal, State};
use model::command::Command;
use model::ticket::{Listed, Why};

use crate::delegation::{begins, waiting};
use crate::scene::{Scene, id};
use crate::states;

fn next_prompt(scene: &Scene, ticket: &str) -> Prompt {
    let attempt = scene.core.ticket(&id(ticket)).and_then(|t| t.attempt()).unwrap();
    match &attempt.state {
        State::Working(working) => working.next.clone(),
        other => panic!("{other:?}"),
    }
}

fn changed(path: &str) -> Prompt {
    let paths = Listed::of([path.to_owned()]);
    Prompt::ChangedAfter { paths }
}

#[test]
fn it_goes_back_to_its_agent_with_the_names_of_the_files() {
    let mut scene = states::working();
    scene.run_changes_after("t-1", "app.txt");
    assert_eq!(scene.state("t-1"), "in_progress/working");
    assert_eq!(next_prompt(&scene, "t-1"), changed("app.txt"));
    scene.finishes("t-1", Signal::Done);
    assert_eq!(scene.state("t-1"), "verify/checking");
}

#[test]
fn three_in_a_row_are_no_progress_whichever_files_it_changes() {
    let mut scene = states::working();
    for path in ["a", "b", "c"] {
        assert_eq!(scene.state("t-1"), "in_progress/working");
        scene.run_changes_after("t-1", path);
    }
    let ticket = scene.core.ticket(&id("t-1")).unwrap();
    let held = ticket.held.as_ref().unwrap();
    assert_eq!(held.why, Why::NoProgress);
    assert!(held.note.contains("went on to change files (c)"), "{}", held.note);
}

#[test]
fn a_step_between_them_begins_anew() {
    let mut scene = states::working();
    for _ in 0..3 {
        scene.run_changes_after("t-1", "a");
        scene.finishes("t-1", Signal::None);
    }
    assert_eq!(scene.state("t-1"), "in_progress/working");
}

#[test]
fn in_its_last_step_it_lands_neither() {
    let mut scene = states::working();
    let agent = crate::scene::name("ann");
    scene.ask(Command::Bait { agent });
    scene.finishes("t-1", Signal::None);
    scene.run_changes_after("t-1", "a");
    assert_eq!(scene.state("t-1"), "open");
}

#[test]
fn a_childs_goes_back_to_the_child() {
    let mut scene = waiting(|_| {});
    scene.run_changes_after("t-1-c1", "half");
    assert_eq!(next_prompt(&scene, "t-1-c1"), changed("half"));
    assert_eq!(scene.state("t-1-c2"), "open");
    scene.finishes("t-1-c1", Signal::Done);
    scene.report("t-1-c1", "unify", crate::delegation::unified());
    begins(&mut scene, "t-1-c2");
}
