//! An engine that is up for one command: the work of others is left to the next engine.

use engine::Duty;
use model::command::{Command, OnStop};
use model::ticket::{CheckOutcome, Loss};

use crate::scene::{Scene, id};
use crate::states;

/// The checks of t-1 were paused with the engine after their first command; t-2 is submitted behind it.
fn paused() -> Scene {
    let mut scene = states::building_with(|settings| {
        settings.checks.commands = vec!["make test".to_owned(), "make lint".to_owned()];
    });
    scene.add("t-2");
    scene.workspace_ready("t-2");
    scene.finishes("t-2", model::attempt::Signal::Done);
    scene.built("t-1", 'b');
    scene.check_ends("t-1", CheckOutcome::Passed);
    scene.ask(Command::Stop {
        running: OnStop::Kill,
    });
    let how = Loss::Stopped;
    scene.check_ends("t-1", CheckOutcome::Lost { how });
    assert_eq!(runs(&scene), [""; 0]);
    scene
}

/// The tickets whose checks run.
fn runs(scene: &Scene) -> Vec<String> {
    let active = scene.core.active_tickets();
    let running = active.filter(|(_, ticket)| ticket.check_run().is_some());
    running.map(|(id, _)| id.to_string()).collect()
}

#[test]
fn the_paused_checks_of_another_ticket_are_neither_run_nor_waited_for() {
    let mut scene = paused();
    let lands = Some(id("t-2"));
    scene.restart_for(Duty::Command { lands });
    scene.tick();
    assert_eq!(runs(&scene), [""; 0]);
    scene.built("t-2", 'c');
    assert_eq!(runs(&scene), ["t-2"]);
    scene.check_ends("t-2", CheckOutcome::Passed);
    scene.check_ends("t-2", CheckOutcome::Passed);
    assert_eq!(scene.state("t-2"), "verify/landing");
    scene.landed("t-2");
    scene.tick();
    assert_eq!(scene.state("t-1"), "verify/checking");
    scene.restart();
    scene.tick();
    assert_eq!(runs(&scene), ["t-1"]);
}

#[test]
fn two_tickets_that_had_one_checkout_use_it_one_after_the_other() {
    let mut scene = paused();
    let lands = Some(id("t-2"));
    scene.restart_for(Duty::Command { lands });
    scene.tick();
    scene.built("t-2", 'c');
    // The engine of the command is killed, and its check runs on.
    scene.restart();
    scene.tick();
    assert_eq!(runs(&scene), ["t-2"]);
    scene.check_ends("t-2", CheckOutcome::Passed);
    scene.check_ends("t-2", CheckOutcome::Passed);
    scene.landed("t-2");
    scene.tick();
    assert_eq!(runs(&scene), ["t-1"]);
}

#[test]
fn a_check_of_another_ticket_that_still_runs_is_the_last_one_of_it() {
    let mut scene = states::building_with(|settings| {
        settings.checks.commands = vec!["make test".to_owned(), "make lint".to_owned()];
    });
    scene.built("t-1", 'b');
    scene.restart_for(Duty::Command { lands: None });
    scene.check_ends("t-1", CheckOutcome::Passed);
    assert_eq!(runs(&scene), [""; 0]);
    scene.restart();
    scene.tick();
    assert_eq!(runs(&scene), ["t-1"]);
}
