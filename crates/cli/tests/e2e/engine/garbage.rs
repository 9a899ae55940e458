//! Garbage collections in the user's repository, while a candidate waits for its checks or its landing.

use std::fs;

use testkit::world::{DONE, World, crew};

/// Checks that say that they run, and wait.
fn waiting() -> World {
    let world = World::with(|s| {
        s.checks = format!(
            "commands = ['''touch \"$HOME/checking\"; {}''']",
            World::until_home("go")
        );
    });
    world.anyway();
    world
}

fn collect(world: &World) {
    world.git(&["reflog", "expire", "--expire=now", "--all"]);
    world.git(&["gc", "-q", "--prune=now"]);
}

/// The refs that hold candidates.
fn pins(world: &World) -> Vec<String> {
    let refs = world.git(&["for-each-ref", "--format=%(refname)", "refs/crew/candidate/"]);
    refs.lines().map(str::to_owned).collect()
}

fn unpin(world: &World) {
    for pin in pins(world) {
        world.git(&["update-ref", "-d", &pin]);
    }
}

#[test]
fn a_collection_during_the_checks_leaves_the_candidate() {
    let world = waiting();
    // As an engine leaves it that was killed before it removed it.
    world.git(&["update-ref", "refs/crew/candidate/t-0/3", "HEAD"]);
    world.ticket("t-1").agent(DONE).write();
    let mut engine = world.engine();
    world.wait("it is being checked", || world.path("home/checking").exists());
    assert_eq!(pins(&world), ["refs/crew/candidate/t-1/1"]);
    collect(&world);
    fs::write(world.path("home/go"), "").unwrap();
    world.wait("t-1 lands", || world.is_landed("t-1"));
    world.must(&["stop"]);
    engine.end();
    assert_eq!(world.count("t-1", "target_moved"), 0);
    assert!(pins(&world).is_empty());
    assert_eq!(world.read("t-1.txt"), "done\n");
}

/// The naive version tries to land what is not there, again and again, and everything else waits behind it.
#[test]
fn a_candidate_that_is_gone_after_its_checks_is_built_again() {
    let world = waiting();
    world.ticket("t-1").agent(DONE).write();
    let mut engine = world.engine();
    world.wait("it is being checked", || world.path("home/checking").exists());
    unpin(&world);
    collect(&world);
    fs::write(world.path("home/go"), "").unwrap();
    world.wait("t-1 lands", || world.is_landed("t-1"));
    world.must(&["stop"]);
    engine.end();
    assert_eq!(world.count("t-1", "target_moved"), 1);
    assert!(pins(&world).is_empty());
    assert_eq!(world.read("t-1.txt"), "done\n");
}

/// The engine is killed as the checks are to begin, and meanwhile the candidate goes.
#[test]
fn a_candidate_that_is_gone_before_its_checks_is_built_again() {
    let world = World::with(|s| s.checks = "commands = [\"true\"]".to_owned());
    world.ticket("t-1").agent(DONE).write();
    let died = world
        .program(&crew())
        .current_dir(world.project(""))
        .env("CREW_FAILPOINT_AT", "begun.start_check")
        .args(["run", "--until-idle"])
        .output()
        .unwrap();
    assert!(died.status.code().is_none(), "{died:?}");
    unpin(&world);
    collect(&world);
    world.drain_all();
    assert_eq!(world.landed(), ["t-1"]);
    assert_eq!(world.count("t-1", "target_moved"), 1);
    assert!(pins(&world).is_empty());
}

#[test]
fn a_dropped_ticket_leaves_no_candidate() {
    let world = World::new();
    world
        .ticket("t-1")
        .agent("echo more >> README\necho DONE")
        .write();
    world.write("README", "hello\nmine, not committed\n");
    let mut engine = world.engine();
    world.wait("it waits for the person", || {
        world.count("t-1", "checkout_edited") > 0
    });
    assert_eq!(pins(&world), ["refs/crew/candidate/t-1/1"]);
    world.must(&["drop", "t-1"]);
    world.wait("its candidate goes", || pins(&world).is_empty());
    world.must(&["stop"]);
    engine.end();
}
