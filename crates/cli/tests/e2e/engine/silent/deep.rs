//! The longer of it: a step is silent for as long as the settings allow.

use std::fs;

use rustix::process::{Pid, Signal};
use testkit::world::World;

use super::agent;

#[test]
fn a_silent_agent_shows_as_quiet_and_stirs() {
    let world = World::with(|s| s.run = "stall_after = \"20s\"".to_owned());
    let script = "work t x\nsleep 1000 &\necho $! > \"$GATES/child.part\"\n\
        mv \"$GATES/child.part\" \"$GATES/child\"\nwait || true\necho going on\n\
        until_there \"$GATES/end\"\necho DONE";
    world.ticket("t-1").agent(script).write();
    let mut engine = world.engine();
    world.wait("it is quiet", || world.count("t-1", "went_quiet") > 0);
    let quiet = &agent(&world, "t-1")["quiet"];
    let says = "no output, and `sleep 1000` runs but does nothing";
    assert_eq!(quiet["says"], says);
    let ps = world.must(&["ps"]);
    assert!(ps.out.contains("silent for") && ps.out.contains(says), "{ps}");
    let explained = world.must(&["explain", "t-1"]);
    assert!(explained.out.contains("its step is silent for"), "{explained}");
    let inbox = world.crew(&["inbox"]);
    assert!(
        inbox.out.contains("stuck") && inbox.out.contains("crew kill"),
        "{inbox}"
    );
    let leader = world.must(&["events", "--leader"]);
    assert!(leader.out.contains("! stuck  t-1"), "{leader}");

    let child: i32 = fs::read_to_string(world.path("gates/child"))
        .unwrap()
        .trim()
        .parse()
        .unwrap();
    rustix::process::kill_process(Pid::from_raw(child).unwrap(), Signal::TERM).unwrap();
    world.wait("it has stirred", || world.count("t-1", "stirred") > 0);
    assert!(agent(&world, "t-1")["quiet"].is_null());
    world.open("end");
    world.wait("t-1 lands", || world.is_landed("t-1"));
    assert_eq!(
        (world.count("t-1", "went_quiet"), world.count("t-1", "stirred")),
        (1, 1)
    );
    world.must(&["stop"]);
    let said = engine.end();
    assert!(said.all().contains("shows signs of life again"), "{said}");
    world.assert_at_rest();
}
