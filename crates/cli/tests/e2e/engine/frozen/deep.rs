//! The longer of it: crew finds out by itself.

use testkit::world::World;

use super::{ENDLESS, freeze};

#[test]
fn a_step_whose_shim_is_frozen_is_warned_of_and_then_begun_anew() {
    let world = World::with(|s| s.run = "stall_after = \"1s\"".to_owned());
    let once = format!("[ \"$RUN\" = 1 ] || {{ work more x; echo DONE; exit 0; }}\n{ENDLESS}");
    world.ticket("t-1").agent(&once).write();
    let mut engine = world.engine();
    world.wait("it has worked", || world.path("gates/worked").exists());
    freeze(&world);
    world.wait("a person is told", || {
        engine.said().all().contains("lets it go on")
    });
    world.wait("t-1 lands", || world.is_landed("t-1"));
    assert!(world.says("t-1", "step failed (stalled, 1 of 5 in a row"));
    assert_eq!(world.runs("t-1"), 2);
    world.must(&["stop"]);
    engine.end();
    world.assert_at_rest();
}
