//! Commits that somebody but crew makes on the target are named in the history, once.

use testkit::world::{DONE, World};

use super::push::{somebody_pushes, with_remote};

/// The lines of the history about moves of the target.
fn told(world: &World) -> Vec<String> {
    let events = world.json(&["history"])["events"].as_array().unwrap().clone();
    let moves = events.iter().filter(|event| event["kind"] == "branch_moved");
    moves
        .map(|event| event["says"].as_str().unwrap().to_owned())
        .collect()
}

fn head(world: &World) -> String {
    world.git(&["rev-parse", "HEAD"])[..8].to_owned()
}

/// The one line that a commit by hand gets.
fn one(world: &World, file: &str) -> String {
    let name = world.git(&["log", "-1", "--format=%an", "HEAD"]);
    let head = head(world);
    format!("main was moved by hand: 1 commit ({head} by hand: {file}) by {name}")
}

#[test]
fn commits_under_an_engine_are_named_once_and_a_landing_between_them_is_none() {
    let world = World::new();
    let mut engine = world.engine();
    world.wait("it has seen the target", || {
        world.must(&["history"]).out.contains("main is at ")
    });
    world.commit("a.txt", "a");
    let mut wanted = vec![one(&world, "a.txt")];
    world.wait("the first is named", || told(&world) == wanted);
    world.ticket("t-1").agent(DONE).write();
    world.wait("it has landed", || world.is_landed("t-1"));
    world.commit("b.txt", "b");
    wanted.push(one(&world, "b.txt"));
    world.wait("the second is named", || told(&world).len() > 1);
    world.must(&["stop", "--wait"]);
    let said = engine.end();
    assert!(said.all().contains(&wanted[1]), "{said}");
    world.ticket("t-2").agent(DONE).write();
    world.drain_all();
    assert_eq!(told(&world), wanted);
}

#[test]
fn commits_while_no_engine_runs_are_named_by_the_next_one() {
    let world = World::new();
    world.ticket("t-1").agent(DONE).write();
    world.drain_all();
    assert_eq!(told(&world), [] as [String; 0]);
    world.commit("a.txt", "a");
    let first = head(&world);
    world.commit("b.txt", "b");
    let name = world.git(&["log", "-1", "--format=%an", "HEAD"]);
    let wanted = format!(
        "main was moved by hand: 2 commits ({} by hand: b.txt, {first} by hand: a.txt) by {name}",
        head(&world)
    );
    world.ticket("t-2").agent(DONE).write();
    world.drain_all();
    world.drain_all();
    assert_eq!(told(&world), [wanted]);
}

#[test]
fn a_history_that_was_rewritten_is_named_with_what_is_gone() {
    let world = World::new();
    world.ticket("t-1").agent(DONE).write();
    world.drain_all();
    let landed = head(&world);
    world.git(&["reset", "-q", "--hard", "HEAD~1"]);
    world.drain();
    let gone = format!("main was rewritten: {landed} is no longer in it");
    assert_eq!(told(&world), [gone.as_str()]);
    world.commit("a.txt", "a");
    world.drain();
    let before = head(&world);
    world.git(&["commit", "-q", "--amend", "-m", "amended"]);
    world.drain();
    let last = told(&world).pop().unwrap();
    let wanted = format!(
        "main was rewritten: {before} is no longer in it; it has now 1 commit ({} amended)",
        head(&world)
    );
    assert!(last.starts_with(&wanted), "{last}");
    world.drain();
    assert_eq!(told(&world).len(), 3, "{:?}", told(&world));
}

#[test]
fn commits_that_come_from_the_remote_are_not_by_hand() {
    let world = with_remote();
    world.ticket("t-1").agent(DONE).write();
    world.drain_all();
    assert_eq!(told(&world), [] as [String; 0]);
    somebody_pushes(&world, "theirs.txt");
    world.ticket("t-2").agent(DONE).write();
    world.drain_all();
    let theirs = world.git(&["log", "-1", "--format=%h", "--author=Eve", "--abbrev=8", "main"]);
    assert_eq!(
        told(&world),
        [format!(
            "main has got from origin: 1 commit ({theirs} theirs) by Eve"
        )]
    );
}
