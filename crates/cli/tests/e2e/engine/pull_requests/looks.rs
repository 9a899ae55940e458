//! What a person asks for while a pull request is being looked at, and what the doctor says of `gh`.

use testkit::world::{DONE, Engine, World};

use super::host::{assert_landed, of_host, somebody_squashes, tell, told, with_host};

/// A world with an open pull request, whose next look waits for the gate `go`.
fn with_a_look_under_way() -> (World, Engine) {
    let world = with_host("");
    world.ticket("t-1").agent(DONE).write();
    world.drain_held();
    let gate = world.path("gates/go");
    tell(
        &world,
        "trouble",
        &format!(
            "touch \"$state/looking\"\nwhile [ ! -e '{}' ] && [ -d \"$state\" ]; do sleep 0.02; done",
            gate.display()
        ),
    );
    let engine = world.engine();
    world.wait("it is being looked at", || of_host(&world, "looking").exists());
    (world, engine)
}

#[test]
fn a_drop_while_the_request_is_looked_at_waits_for_the_look_and_wins() {
    let (world, mut engine) = with_a_look_under_way();
    world.must(&["drop", "t-1"]);
    assert_eq!(world.state_name("t-1"), "verify/proposed");
    world.open("go");
    world.wait_for("t-1", "done/dropped");
    engine.signal("INT");
    engine.end();
    assert_eq!(told(&world, "1/state"), "OPEN");
}

#[test]
fn a_drop_of_what_the_look_finds_merged_comes_too_late() {
    let (world, mut engine) = with_a_look_under_way();
    world.must(&["drop", "t-1"]);
    somebody_squashes(&world, 1);
    world.open("go");
    world.wait_for("t-1", "done/landed");
    engine.signal("INT");
    engine.end();
    assert_landed(&world);
}

#[test]
fn a_retry_while_the_request_is_looked_at_changes_nothing() {
    let (world, mut engine) = with_a_look_under_way();
    let said = world.must(&["retry", "t-1"]);
    assert!(said.all().contains("is looked at now"), "{said}");
    world.open("go");
    world.wait("it was seen", || world.count("t-1", "proposal_seen") == 1);
    engine.signal("INT");
    engine.end();
    assert_eq!(world.state_name("t-1"), "verify/proposed");
    assert_eq!(world.count("t-1", "look_ordered"), 1);
    somebody_squashes(&world, 1);
    world.drain_all();
    assert_landed(&world);
}

#[test]
fn a_host_that_has_no_time_for_crew_holds_nothing() {
    let world = with_host("");
    world.ticket("t-1").agent(DONE).write();
    world.drain_held();
    let limit = "echo 'HTTP 403: API rate limit exceeded for user ID 1. (https://api.github.com/graphql)' >&2; exit 1";
    tell(&world, "trouble", limit);
    world.drain_held();
    assert_eq!(world.state("t-1").held, None);
    let why = world.must(&["explain", "t-1"]).out;
    assert!(
        why.contains("rate limit exceeded") && why.contains("looked at again"),
        "{why}"
    );
    std::fs::remove_file(of_host(&world, "trouble")).unwrap();
    somebody_squashes(&world, 1);
    world.drain_all();
    assert_landed(&world);
}

#[test]
fn the_doctor_says_whether_pull_requests_can_be_made() {
    let world = with_host("");
    let said = world.crew(&["doctor"]).all();
    assert!(said.contains("bin/gh makes pull requests"), "{said}");
    // An account that is not used does not count.
    tell(&world, "stale", "");
    let said = world.crew(&["doctor"]).all();
    assert!(said.contains("bin/gh makes pull requests"), "{said}");
    tell(
        &world,
        "trouble",
        "echo 'You are not logged into any GitHub hosts. To log in, run: gh auth login' >&2; exit 1",
    );
    let said = world.crew(&["doctor"]).all();
    assert!(
        said.contains("no pull request can be made") && said.contains("gh auth status"),
        "{said}"
    );
}

/// The first look of a running engine comes after a minute.
mod deep {
    use super::*;

    #[test]
    fn a_running_engine_finds_a_merge_by_itself() {
        let world = with_host("");
        world.ticket("t-1").agent(DONE).write();
        let mut engine = world.engine();
        world.wait_for("t-1", "verify/proposed");
        somebody_squashes(&world, 1);
        world.wait_for("t-1", "done/landed");
        engine.signal("INT");
        engine.end();
        assert_landed(&world);
        assert_eq!(world.count("t-1", "look_ordered"), 1);
    }
}
