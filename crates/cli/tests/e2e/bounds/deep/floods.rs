//! One agent floods, another works meanwhile: the flood goes on until the other's ticket has landed.

use std::fs;

use crate::bounds::memory::{MOST, assert_bounded, assert_shim_bounded, bounded};
use testkit::world::{Engine, World};

/// What crew keeps of a stream at most: its beginning, a notice, its end.
pub(crate) const KEPT: u64 = 33 * 1024 * 1024;

/// The other agent: at work only once the flood has begun, and in two steps, the second after a wait whose
/// end is a deadline.
const NEIGHBOUR: &str = "until_there \"$GATES/flooding\"\nif [ $RUN = 1 ]; then echo 'WAKEUP: 1s a moment'; exit; fi\nwork neighbour.txt done\necho DONE\n";

/// Two agents, and a flood as this script makes it: it says `: > $GATES/flooding` and goes on until `landed`
/// is there. `meanwhile` looks at it before that.
pub(crate) fn flood(script: &str, meanwhile: impl FnOnce(&World)) -> (World, Engine) {
    let world = World::with(|settings| settings.agents = "count = 2".to_owned());
    world.ticket("flood").priority(0).agent(script).write();
    world.ticket("neighbour").priority(1).agent(NEIGHBOUR).write();
    let engine = world.engine();
    world.wait("the neighbour's ticket landed", || world.is_landed("neighbour"));
    // It was not starved, then: the flood still runs.
    assert!(!world.facts("flood").iter().any(|fact| fact == "step_finished"));
    assert_eq!(world.count("neighbour", "woken"), 1);
    meanwhile(&world);
    world.open("landed");
    (world, engine)
}

/// What a flood's agent does when all of it is out: its shim, which has read it, is looked at before it may
/// end.
pub(crate) const FLOODED: &str =
    ": > \"$GATES/flooded\"\nuntil_there \"$GATES/measured\"\nwork flood.txt done\necho\necho DONE\n";

/// Waits for the flood's end, asserts that it was bounded, and that nothing of it is left.
pub(crate) fn ends(world: &World, mut engine: Engine) {
    world.wait("all of the flood is out", || world.path("gates/flooded").exists());
    assert_shim_bounded(world, "flood");
    world.open("measured");
    world.wait("the flood's ticket landed", || world.is_landed("flood"));
    assert_bounded(&mut engine, MOST);
    engine.signal("INT");
    engine.end();
    world.assert_at_rest();
    assert_eq!((world.runs("flood"), world.runs("neighbour")), (1, 2));
}

/// Bytes in the files of the flood's run.
pub(crate) fn kept(world: &World) -> u64 {
    let runs = fs::read_dir(world.project(".crew/runs")).unwrap();
    let of_flood = runs
        .flatten()
        .filter(|run| run.file_name().to_string_lossy().starts_with("flood."));
    let files = of_flood.flat_map(|run| fs::read_dir(run.path()).unwrap().flatten());
    files.map(|file| file.metadata().unwrap().len()).sum()
}

#[test]
fn a_gigabyte_of_short_lines_is_cut_and_starves_nobody() {
    // Far more than 100,000 lines a second, for as long as it takes.
    let (world, engine) = flood(
        &format!(
            ": > \"$GATES/flooding\"\nn=0\nwhile [ $n -lt 10 ] || [ ! -e \"$GATES/landed\" ]; do\n\
         [ $n -lt 1000 ] || exit 9\nyes 'a line of the flood' | head -c 107374182\nn=$((n+1))\ndone\n{FLOODED}"
        ),
        |_| {},
    );
    ends(&world, engine);
    assert!(kept(&world) < KEPT, "{} bytes are kept", kept(&world));
    // What is kept of it can be looked at, by a program and by a person.
    let agent = world.variable("flood", 1, "CREW_AGENT").unwrap();
    bounded(&world, &["logs", &agent]);
    bounded(&world, &["logs", &agent, "--json"]);
}

#[test]
fn a_check_that_prints_a_gigabyte_is_cut_and_starves_nobody() {
    let world = World::with(|settings| {
        settings.agents = "count = 2".to_owned();
        let flood = "touch \"$HOME/flooding\"; n=0; while [ $n -lt 10 ] || [ ! -e \"$HOME/landed\" ]; do [ $n -lt 1000 ] || exit 9; \
                     yes \"a line of the flood\" | head -c 107374182; n=$((n+1)); done";
        settings.checks = format!("commands = ['''[ ! -e flood.txt ] || {{ {flood}; }}''']");
    });
    world
        .ticket("flood")
        .priority(0)
        .agent("work flood.txt done\necho DONE\n")
        .write();
    let neighbour = "until_there \"$HOME/flooding\"\n[ $RUN != 1 ] || { echo 'WAKEUP: 1s a moment'; exit; }\n\
                     work neighbour.txt done\necho DONE\n";
    world.ticket("neighbour").priority(1).agent(neighbour).write();
    let mut engine = world.engine();
    world.wait("the neighbour is done", || {
        world.count("neighbour", "step_finished") == 2
    });
    assert_eq!(
        (
            world.count("flood", "checks_passed"),
            world.count("neighbour", "woken")
        ),
        (0, 1)
    );
    fs::write(world.path("home/landed"), "").unwrap();
    world.wait("both have landed", || {
        world.is_landed("flood") && world.is_landed("neighbour")
    });
    assert_bounded(&mut engine, MOST);
    engine.signal("INT");
    engine.end();
    world.assert_at_rest();
    bounded(&world, &["summary", "flood"]);
}

#[test]
fn an_agent_with_5000_children_leaves_none_and_starves_nobody() {
    let (world, engine) = flood(
        &format!(
            "n=0\nwhile [ $n -lt 5000 ]; do sleep 600 & n=$((n+1)); done\n: > \"$GATES/flooding\"\n\
         until_there \"$GATES/landed\"\n{FLOODED}"
        ),
        // Who is just becoming `sleep` has no environment to be known by.
        |world| world.wait("they all live", || world.processes().len() > 5000),
    );
    ends(&world, engine);
}
