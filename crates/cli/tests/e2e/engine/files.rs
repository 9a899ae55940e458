//! Files that are not there when crew would write into them, and what a status says that crew did not write.

use std::fs;

use testkit::world::World;

/// Work that waits for a gate.
const WAITS: &str = "touch \"$GATES/begun\"\nuntil_there \"$GATES/go\"\nwork \"t.$RUN\" x\necho DONE";

/// A world whose ticket folder is moved away while the only ticket is worked on, and comes back when that has
/// landed.
fn landed_without_its_folder(kill: bool) -> World {
    let world = World::new();
    world.ticket("t-1").agent(WAITS).write();
    let (folder, away) = (world.project(".tickets"), world.path("away"));
    let mut engine = world.engine();
    world.wait("it has begun", || world.path("gates/begun").exists());
    // Crew's own `in_progress` is what comes back.
    world.wait("it is taken", || world.front("t-1", "status") == "in_progress");
    fs::rename(&folder, &away).unwrap();
    world.open("go");
    let says = |what: &str| world.crew(&["inbox"]).out.contains(what);
    world.wait("it lands, and a person is told", || {
        world.is_landed("t-1") && says("the ticket folder") && says("is not there")
    });
    assert_eq!(world.landed(), ["t-1"]);
    if kill {
        engine.signal("KILL");
        engine.end();
        fs::rename(&away, &folder).unwrap();
    } else {
        fs::rename(&away, &folder).unwrap();
        world.wait("its file is closed", || world.front("t-1", "status") == "closed");
        world.must(&["stop"]);
        engine.end();
    }
    world
}

#[test]
fn what_lands_while_the_ticket_folder_is_away_is_closed_when_that_is_back() {
    for kill in [false, true] {
        let world = landed_without_its_folder(kill);
        world.drain_all();
        assert_eq!(world.front("t-1", "status"), "closed");
        assert_eq!((world.runs("t-1"), world.count("t-1", "reopened")), (1, 0));
        assert_eq!(world.landed(), ["t-1"]);
        world.assert_at_rest();
    }
}

#[test]
fn a_done_ticket_that_a_person_takes_up_is_left_alone_until_it_is_opened() {
    let world = World::new();
    world.ticket("t-1").agent("work \"t.$RUN\" x\necho DONE").write();
    world.drain_all();
    world.edit("t-1", |text| {
        text.replace("status: closed", "status: in_progress")
    });
    world.drain_all();
    assert_eq!(
        (world.runs("t-1"), world.front("t-1", "status").as_str()),
        (1, "in_progress")
    );
    world.edit("t-1", |text| text.replace("status: in_progress", "status: open"));
    world.drain_all();
    assert_eq!(world.landed(), ["t-1", "t-1"]);
    assert_eq!(
        (world.runs("t-1"), world.front("t-1", "status").as_str()),
        (2, "closed")
    );
}
