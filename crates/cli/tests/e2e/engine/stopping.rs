//! An engine that was asked to stop says for what it waits, and how that is ended at once.

use testkit::world::World;

const WAITS: &str = "until_there \"$GATES/go\"\nwork \"$CREW_TICKET_ID\" x\necho DONE";

#[test]
fn ps_and_a_second_stop_say_that_an_engine_waits_for_a_step() {
    let world = World::new();
    world.ticket("t-1").agent(WAITS).write();
    let mut engine = world.engine();
    world.wait_for_run("t-1", 1);
    assert!(!world.must(&["ps"]).out.contains("stopping"));
    let first = world.must(&["stop"]).out;
    assert!(
        first.contains("the engine stops when the running step has ended") && !first.contains("--kill"),
        "{first}"
    );
    let says = "stopping: waits for 1 step; `crew stop --kill` ends it at once";
    let shown = world.must(&["ps"]).out;
    assert!(shown.contains(says), "{shown}");
    let second = world.must(&["stop"]).out;
    assert!(second.contains("`crew stop --kill` ends it at once"), "{second}");
    world.open("go");
    engine.end();
    assert!(!world.must(&["ps"]).out.contains("stopping"));
}
