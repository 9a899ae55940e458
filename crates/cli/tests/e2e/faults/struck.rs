//! One shape of fault: a ticket is brought to an operation, something strikes, the ticket goes on under it,
//! it ends. Then the ticket lands, once, in its first attempt and by one step, as if nothing had been.

use std::fs;

use testkit::world::{DONE, Engine, World};

/// An agent that waits in its work, and says that it is done.
pub(crate) const WAITS: &str = "until_there \"$GATES/go\"\nwork \"$CREW_TICKET_ID.txt\" done\necho DONE\n";

/// Where the ticket is when it strikes.
#[derive(Clone, Copy)]
pub(crate) enum At {
    /// There is none yet, and the engine waits for one.
    Queue,
    /// Its agent works, and submits under the fault.
    Work,
    /// Its checks run, and pass under the fault.
    Checks,
}

/// A world in which a ticket can be brought there.
pub(crate) fn world(at: At) -> World {
    let check = match at {
        At::Queue | At::Work => "test -e t-1.txt || test -e README".to_owned(),
        At::Checks => format!(": > \"$HOME/checking\"; {}", World::until_home("checked")),
    };
    let world = World::with(|settings| settings.checks = format!("commands = ['''{check}''']"));
    world.anyway();
    world
}

/// Brings it there. The ticket is `t-1`.
pub(crate) fn bring(world: &World, at: At) -> Engine {
    match at {
        At::Queue => {
            let engine = world.engine();
            world.wait("the engine is up", || !world.rows().is_empty());
            engine
        }
        At::Work => {
            world.ticket("t-1").agent(WAITS).write();
            let engine = world.engine();
            world.wait_for_run("t-1", 1);
            engine
        }
        At::Checks => {
            world.ticket("t-1").agent(DONE).write();
            let engine = world.engine();
            world.wait("its check runs", || world.path("home/checking").exists());
            engine
        }
    }
}

/// Lets it go on.
pub(crate) fn go_on(world: &World, at: At) {
    match at {
        At::Queue => world.ticket("t-1").agent(DONE).write(),
        At::Work => world.open("go"),
        At::Checks => fs::write(world.path("home/checked"), "").unwrap(),
    }
}

/// After the fault: it lands once, in its first attempt, by one step, and everything is in order.
pub(crate) fn lands_at_once(world: &World, engine: &mut Engine, id: &str) {
    world.wait_for(id, "done/landed");
    assert!(engine.is_up(), "{}", engine.said());
    engine.signal("TERM");
    let said = engine.end();
    assert_eq!(said.code, Some(130), "{said}");
    assert_eq!(world.landed(), [id]);
    assert_eq!(world.state(id).attempts, 1, "an attempt was lost");
    assert_eq!(world.runs(id), 1, "a step was lost");
    in_order(world);
}

/// What is left is done, and the doctor finds nothing wrong.
pub(crate) fn in_order(world: &World) {
    world.drain_all();
    world.must(&["doctor", "--deep"]);
}
