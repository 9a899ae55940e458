//! The target at a remote before anybody is paid: one that is red is mended there, and one on which nothing
//! can land starts no agent.

use std::fs;

use crate::engine::push::{at_remote, somebody_at_remote, with_remote};
use crate::engine::target::{NO_RED, checks, stop, verdict};
use testkit::world::{DONE, World};

/// A world with a remote and a check, in which both targets are at the same commit.
fn checked() -> World {
    let world = with_remote();
    world.change_settings("[checks]", &format!("[checks]\n{NO_RED}"));
    world
}

/// Both targets get a commit that fails the check.
fn turn_red(world: &World) {
    world.commit("red", "");
    world.git(&["push", "-q", "origin", "main"]);
}

fn somebody_mends(world: &World) {
    somebody_at_remote(world, |world, clone| {
        world.git_at(clone, &["rm", "-q", "red"]);
    });
}

fn no_agent_was_started(world: &World) {
    assert_eq!(world.runs("t-1"), 0);
    assert_eq!(world.state_name("t-1"), "open");
}

/// The entries of the inbox: each its kind and why.
fn inbox(world: &World) -> Vec<(String, String)> {
    let said = world.crew(&["inbox", "--json"]).out;
    let said: serde_json::Value = serde_json::from_str(&said).unwrap();
    let items = said["items"].as_array().unwrap().iter();
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    items
        .map(|item| (text(&item["kind"]), text(&item["why"])))
        .collect()
}

fn waits_for_the_target_alone(world: &World, why: &str) {
    no_agent_was_started(world);
    let items = inbox(world);
    assert!(
        items.len() == 1 && items[0].0 == "target_red" && items[0].1.contains(why),
        "{items:?}"
    );
}

#[test]
fn a_red_target_that_somebody_mends_at_the_remote_is_seen_when_a_person_asks() {
    let world = checked();
    turn_red(&world);
    world.ticket("t-1").agent(DONE).write();
    let engine = world.engine();
    world.wait("the target is red", || verdict(&world) == "failed");
    let shown = world.crew(&["inbox"]).out;
    assert!(shown.contains("made at origin"), "{shown}");
    let shown = world.must(&["ps"]).out;
    assert!(shown.contains("crew asks origin again in"), "{shown}");
    somebody_mends(&world);
    let said = world.must(&["retry", "t-1"]).out;
    assert!(said.contains("looked at now"), "{said}");
    world.wait("t-1 lands", || world.is_landed("t-1"));
    stop(&world, engine);
    assert_eq!(at_remote(&world), world.git(&["rev-parse", "main"]));
}

#[test]
fn a_fetch_of_the_users_shows_that_the_target_was_mended() {
    let world = checked();
    turn_red(&world);
    world.ticket("t-1").agent(DONE).write();
    let engine = world.engine();
    world.wait("the target is red", || verdict(&world) == "failed");
    somebody_mends(&world);
    world.git(&["fetch", "-q", "origin"]);
    world.wait("t-1 lands", || world.is_landed("t-1"));
    stop(&world, engine);
}

#[test]
fn an_engine_checks_the_target_that_the_remote_has_when_it_starts() {
    let world = checked();
    turn_red(&world);
    somebody_mends(&world);
    world.ticket("t-1").agent(DONE).write();
    world.drain_all();
    // Of the target and of the work; the commit that was red here was never checked.
    assert_eq!((world.landed(), checks(&world)), (vec!["t-1".to_owned()], 2));

    somebody_at_remote(&world, |world, clone| {
        fs::write(clone.join("red"), "").unwrap();
        world.git_at(clone, &["add", "red"]);
    });
    world.ticket("t-2").agent(DONE).write();
    world.drain_held();
    assert_eq!((world.runs("t-2"), verdict(&world).as_str()), (0, "failed"));
}

#[test]
fn a_remote_without_the_branch_starts_no_agent_and_is_one_entry() {
    let world = with_remote();
    world.git(&["--git-dir=../remote.git", "branch", "-m", "main", "trunk"]);
    for id in ["t-1", "t-2", "t-3"] {
        world.ticket(id).agent(DONE).write();
    }
    let said = world.drain_held();
    assert!(said.out.contains("git push origin main"), "{said}");
    waits_for_the_target_alone(&world, "the remote origin has no branch main");
    assert_eq!(verdict(&world), "out_of_reach");
    let shown = world.must(&["queue"]).out;
    assert!(shown.contains("no work can land on the target"), "{shown}");
    world.git(&["push", "-q", "origin", "main"]);
    world.drain_all();
    assert_eq!(world.landed().len(), 3);
}

#[test]
fn a_target_that_has_diverged_starts_no_agent_until_it_is_pushed() {
    let world = with_remote();
    world.commit("mine", "not pushed\n");
    world.ticket("t-1").agent(DONE).write();
    let engine = world.engine();
    world.wait("it is found out", || verdict(&world) == "out_of_reach");
    waits_for_the_target_alone(&world, "main has commits here that origin does not have");
    // A push is seen without being told.
    world.git(&["push", "-q", "origin", "main"]);
    world.wait("t-1 lands", || world.is_landed("t-1"));
    stop(&world, engine);
}

#[test]
fn a_target_that_diverges_under_an_engine_starts_no_further_agent() {
    let world = with_remote();
    let engine = world.engine();
    world.wait("it has asked the remote", || {
        !world.git(&["for-each-ref", "refs/crew/remote"]).is_empty()
    });
    world.commit("mine", "not pushed\n");
    world.wait("it is found out", || verdict(&world) == "out_of_reach");
    world.ticket("t-1").agent(DONE).write();
    world.wait("the ticket is known", || world.try_state("t-1").is_some());
    no_agent_was_started(&world);
    world.git(&["reset", "-q", "--hard", "origin/main"]);
    world.wait("t-1 lands", || world.is_landed("t-1"));
    stop(&world, engine);
}

#[test]
fn a_remote_that_is_away_stops_no_work_once_its_target_is_known() {
    let world = with_remote();
    let nobody_listens = "http://127.0.0.1:1/remote.git";
    world.git(&["remote", "set-url", "origin", nobody_listens]);
    world.ticket("t-1").agent(DONE).write();
    world.run_until_held("t-1");
    let (why, note) = world.held("t-1");
    assert_eq!((world.runs("t-1"), why.as_str()), (1, "could_not_run"), "{note}");

    let world = with_remote();
    world.git(&["remote", "set-url", "origin", nobody_listens]);
    world.git(&["update-ref", "-d", "refs/remotes/origin/main"]);
    world.ticket("t-1").agent(DONE).write();
    let engine = world.engine();
    world.wait("it is found out", || verdict(&world) == "out_of_reach");
    waits_for_the_target_alone(&world, "the remote origin cannot be reached");
    stop(&world, engine);
}
