//! Frozen shims: suspended by a signal, they hold what they run and see nothing.

mod deep;

use rustix::process::{Pid, Signal};
use testkit::world::{DONE, World};

/// Works, and does not end by itself.
const ENDLESS: &str = "work t x; touch \"$GATES/worked\"; until_there \"$GATES/never\"";

/// Suspends the one shim of the world.
fn freeze(world: &World) {
    let shims: Vec<i32> = world
        .processes()
        .iter()
        .filter_map(|process| process.split_once(": "))
        .filter(|(_, command)| command.contains(" shim ") && command.contains("/.crew/"))
        .map(|(pid, _)| pid.parse().unwrap())
        .collect();
    let [shim] = shims[..] else {
        panic!("{:?}", world.processes())
    };
    rustix::process::kill_process(Pid::from_raw(shim).unwrap(), Signal::STOP).unwrap();
}

#[test]
fn kill_ends_a_step_whose_shim_is_frozen_and_keeps_its_work() {
    let world = World::new();
    world.ticket("t-1").agent(ENDLESS).write();
    let mut engine = world.engine();
    world.wait("it has worked", || world.path("gates/worked").exists());
    freeze(&world);
    world.must(&["kill", &world.agent_of("t-1")]);
    world.wait_for("t-1", "open (held)");
    assert_eq!(world.held("t-1").0, "killed");
    world.wait("the work is kept", || world.kept("t-1", 1).is_some());
    world.must(&["stop"]);
    let said = engine.end();
    assert!(said.all().contains("did not answer, and was killed"), "{said}");
    world.assert_at_rest();
    // Its end is one event.
    assert_eq!(
        (world.count("t-1", "step_failed"), world.count("t-1", "released")),
        (1, 1)
    );
}

#[test]
fn an_engine_that_is_to_stop_with_all_that_runs_ends_though_a_shim_is_frozen() {
    let world = World::new();
    world.ticket("t-1").agent(ENDLESS).write();
    let mut engine = world.engine();
    world.wait("it has worked", || world.path("gates/worked").exists());
    freeze(&world);
    world.must(&["stop", "--kill"]);
    engine.end();
    world.assert_at_rest();
}

#[test]
fn an_engine_that_is_to_stop_with_all_that_runs_ends_though_the_shim_of_a_check_is_frozen() {
    let world = World::with(|s| {
        s.checks = "commands = ['touch \"$HOME/checking\"; exec sleep 1000']".to_owned();
    });
    world.ticket("t-1").agent(DONE).write();
    let mut engine = world.engine();
    world.wait("it is being checked", || world.path("home/checking").exists());
    freeze(&world);
    world.must(&["stop", "--kill"]);
    engine.end();
    world.assert_at_rest();
}

#[test]
fn a_step_that_was_left_with_a_frozen_shim_is_ended_by_kill_without_an_engine() {
    let world = World::new();
    world.ticket("t-1").agent(ENDLESS).write();
    let mut engine = world.engine();
    world.wait("it has worked", || world.path("gates/worked").exists());
    world.must(&["stop", "--leave"]);
    engine.end();
    freeze(&world);
    world.must(&["kill", &world.agent_of("t-1")]);
    world.assert_at_rest();
    assert_eq!(world.held("t-1").0, "killed");
}
