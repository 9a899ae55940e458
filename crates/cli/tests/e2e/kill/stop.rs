//! The engine dies as it ends a check with itself.

use std::fs;
use std::process::Stdio;

use testkit::world::{DONE, World, crew};

/// Facts that only an engine writes which ends what runs with itself, and no queue of this folder does.
const FACTS: [&str; 1] = ["check_stop_ordered"];

/// Whether nobody passes this point but the engine of this file.
pub(crate) fn has(point: &str) -> bool {
    let fact = point
        .strip_prefix("decided.")
        .or_else(|| point.strip_prefix("durable."));
    fact.is_some_and(|fact| FACTS.contains(&fact))
}

#[test]
fn an_engine_that_dies_as_it_ends_a_check_leaves_it_to_the_next() {
    for when in ["decided", "durable"] {
        let world = World::with(|settings| {
            let wait = World::until_home("go");
            settings.checks = format!("commands = ['''echo x >> \"$HOME/checking\"; {wait}''']");
        });
        world.ticket("t-1").agent(DONE).write();
        let mut engine = world
            .program(&crew())
            .current_dir(world.project(""))
            .env("CREW_FAILPOINT_AT", format!("{when}.{}", FACTS[0]))
            .args(["run", "--anyway"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        world.wait("it is being checked", || world.path("home/checking").exists());
        // Whoever asks may see the engine die, and carry the command out.
        world.crew(&["stop", "--kill"]);
        assert!(!engine.wait().unwrap().success(), "it died at {when}");
        fs::write(world.path("home/go"), "").unwrap();
        world.drain_all();
        assert_eq!(world.landed(), ["t-1"], "{when}");
        assert_eq!(world.runs("t-1"), 1, "its agent was not asked again");
    }
}
