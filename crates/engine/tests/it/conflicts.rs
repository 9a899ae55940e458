//! Conflicts with the target: of the tickets in conflict in the same path, one resolves at a time.

use engine::{Duty, Report};
use model::attempt::Signal;
use model::settings::Train;

use crate::scene::{Scene, asked, id, name, oid};
use crate::states;

/// A scene in which the work of three tickets is submitted, and the first is being merged. `batch`: the
/// most entries of the train; 1: there is none.
fn submitted(batch: u32) -> Scene {
    let mut scene = Scene::with(|settings| {
        settings.agents.names = ["ann", "bob", "cat"].map(name).to_vec();
        settings.train = Train { batch, slots: 1 };
        settings.run.conflict_resolutions = 2;
    });
    for ticket in ["t-1", "t-2", "t-3"] {
        scene.add(ticket);
        scene.workspace_ready(ticket);
    }
    for ticket in ["t-1", "t-2", "t-3"] {
        scene.finishes(ticket, Signal::Done);
    }
    scene
}

/// The merge of a ticket on the target at this commit fails in a path. `resolved`: it holds the commit with
/// which it was in conflict before.
fn conflicts_with(scene: &mut Scene, ticket: &str, path: &str, target: char, resolved: bool) -> String {
    let report = Report::Conflicted {
        paths: vec![path.to_owned()],
        tip: oid(ticket.chars().last().unwrap()),
        target: oid(target),
        resolved,
    };
    scene.report(ticket, "build_candidate", report).to_string()
}

fn conflicts(scene: &mut Scene, ticket: &str, path: &str) {
    conflicts_with(scene, ticket, path, 'a', false);
}

fn is_merged(scene: &Scene, ticket: &str) -> bool {
    scene.pending(ticket, "build_candidate").is_some()
}

fn lands(scene: &mut Scene, ticket: &str) {
    scene.built(ticket, 'f');
    scene.checks_pass(ticket);
    scene.landed(ticket);
}

#[test]
fn one_resolves_and_the_others_wait_each_for_the_one_before_it() {
    for batch in [1, 4] {
        let mut scene = submitted(batch);
        conflicts(&mut scene, "t-1", "index");
        conflicts(&mut scene, "t-2", "index");
        conflicts(&mut scene, "t-3", "index");
        assert_eq!(scene.state("t-1"), "in_progress/working");
        assert_eq!(
            [scene.state("t-2"), scene.state("t-3")],
            ["verify/checking", "verify/checking"]
        );
        assert!(!is_merged(&scene, "t-2") && !is_merged(&scene, "t-3"));
        scene.finishes("t-1", Signal::Done);
        assert!(is_merged(&scene, "t-1") && !is_merged(&scene, "t-2"));
        lands(&mut scene, "t-1");
        assert!(is_merged(&scene, "t-2") && !is_merged(&scene, "t-3"));
        conflicts_with(&mut scene, "t-2", "index", 'f', false);
        assert_eq!(scene.state("t-2"), "in_progress/working");
        assert!(!is_merged(&scene, "t-3"), "it waits for t-2 now");
    }
}

#[test]
fn conflicts_in_other_paths_are_resolved_at_the_same_time() {
    let mut scene = submitted(4);
    conflicts(&mut scene, "t-1", "index");
    conflicts(&mut scene, "t-2", "lock");
    assert_eq!(
        [scene.state("t-1"), scene.state("t-2")],
        ["in_progress/working"; 2]
    );
}

#[test]
fn nobody_waits_for_one_that_waits_for_a_person_or_is_given_up() {
    let leaves: [fn(&mut Scene); 3] = [
        |scene| drop(scene.run_ends("t-1", asked())),
        |scene| {
            scene.ask(model::command::Command::Drop {
                ticket: id("t-1"),
                reason: "it is not wanted".to_owned(),
            });
            scene.run_ends("t-1", crate::scene::failed(model::attempt::Class::KilledByUs));
        },
        // Its own checks fail: that is no conflict.
        |scene| {
            scene.finishes("t-1", Signal::Done);
            scene.built("t-1", 'f');
            scene.checked("t-1", crate::scene::Verdict::Failed);
        },
    ];
    for leave in leaves {
        let mut scene = submitted(1);
        conflicts(&mut scene, "t-1", "index");
        conflicts(&mut scene, "t-2", "index");
        conflicts(&mut scene, "t-3", "index");
        leave(&mut scene);
        assert!(is_merged(&scene, "t-2"), "{}", scene.state("t-1"));
        conflicts(&mut scene, "t-2", "index");
        assert_eq!(scene.state("t-2"), "in_progress/working");
        assert!(!is_merged(&scene, "t-3"));
    }
}

#[test]
fn an_engine_that_is_up_for_one_command_waits_for_no_other_ticket() {
    let mut scene = submitted(1);
    conflicts(&mut scene, "t-1", "index");
    conflicts(&mut scene, "t-2", "index");
    conflicts(&mut scene, "t-3", "index");
    scene.restart_for(Duty::Command {
        lands: Some(id("t-2")),
    });
    scene.tick();
    assert!(is_merged(&scene, "t-2"));
    conflicts(&mut scene, "t-2", "index");
    assert_eq!(scene.state("t-2"), "in_progress/working");
}

#[test]
fn a_resolution_that_was_right_and_too_late_is_no_failure() {
    let mut scene = states::building_with(|settings| settings.run.conflict_resolutions = 2);
    conflicts_with(&mut scene, "t-1", "index", 'a', false);
    // It may resolve two conflicts, and each three times for nothing.
    for (n, target) in ('1'..='5').enumerate() {
        scene.finishes("t-1", Signal::Done);
        let told = conflicts_with(&mut scene, "t-1", "index", target, true);
        assert!(told.contains("overtaken; 2 resolutions left"), "{n}: {told}");
        assert_eq!(scene.state("t-1"), "in_progress/working");
    }
    scene.finishes("t-1", Signal::Done);
    conflicts_with(&mut scene, "t-1", "index", '7', true);
    let held = scene.core.ticket(&id("t-1")).unwrap().held.clone().unwrap();
    assert_eq!(
        held.note,
        "conflicts in index: resolved 6 times, and each time other work landed first"
    );
}
