//! The bare target: nothing is paid for on one that does not pass its own checks.

use std::fs;

use testkit::world::{DONE, Engine, World};

/// Fails on a tree with a file `red`, saying so; each run leaves a line.
pub(super) const NO_RED: &str =
    "commands = ['''echo ran >> \"$HOME/ran\"; if [ -e red ]; then echo \"red is red\"; exit 1; fi''']";

pub(super) fn red_world() -> World {
    let world = World::with(|s| s.checks = NO_RED.to_owned());
    world.commit("red", "");
    world
}

fn green_world() -> World {
    World::with(|s| s.checks = NO_RED.to_owned())
}

/// How many times the check has run.
pub(super) fn checks(world: &World) -> usize {
    let ran = fs::read_to_string(world.path("home/ran")).unwrap_or_default();
    ran.lines().count()
}

pub(super) fn verdict(world: &World) -> String {
    let said = world.must(&["ps", "--json"]).out;
    let said: serde_json::Value = serde_json::from_str(&said).unwrap();
    said["target"]["verdict"].as_str().unwrap_or_default().to_owned()
}

pub(super) fn mend(world: &World) {
    world.git(&["rm", "-q", "red"]);
    world.git(&["commit", "-q", "-m", "mend"]);
}

pub(super) fn stop(world: &World, mut engine: Engine) {
    world.must(&["stop", "--wait"]);
    engine.end();
}

#[test]
fn a_red_target_costs_nothing_and_every_surface_shows_why() {
    let world = red_world();
    world.ticket("t-1").agent(DONE).write();
    world.ticket("t-2").agent(DONE).write();
    let said = world.drain_held();
    assert_eq!((world.runs("t-1"), world.runs("t-2"), checks(&world)), (0, 0, 1));
    assert!(said.out.contains("does not pass `"), "{said}");
    for args in [
        &["inbox"][..],
        &["explain", "t-1"],
        &["inbox", "--json"],
        &["ps", "--json"],
    ] {
        let shown = world.crew(args).out;
        assert!(shown.contains("red is red"), "{args:?}: {shown}");
    }
    assert!(said.out.contains("│ red is red"), "{said}");
    for command in ["ps", "queue"] {
        let shown = world.must(&[command]).out;
        assert!(
            shown.contains("the target itself does not pass"),
            "{command}: {shown}"
        );
    }
    assert!(world.must(&["queue"]).out.contains("the target is red"));
    assert_eq!(verdict(&world), "failed");
}

#[test]
fn a_set_up_that_passes_does_not_pass_for_the_check() {
    let world = World::with(|s| s.checks = format!("setup = ['echo ready']\n{NO_RED}"));
    world.commit("red", "");
    world.ticket("t-1").agent(DONE).write();
    world.drain_held();
    assert_eq!((world.runs("t-1"), checks(&world)), (0, 1));
    assert_eq!(verdict(&world), "failed");
}

#[test]
fn a_mended_target_lets_the_next_engine_start_agents_at_once() {
    let world = red_world();
    world.ticket("t-1").agent(DONE).write();
    world.drain_held();
    mend(&world);
    world.drain_all();
    assert_eq!(world.landed(), ["t-1"]);
}

#[test]
fn a_target_that_a_person_mends_under_an_engine_starts_its_agents() {
    let world = red_world();
    world.ticket("t-1").agent(DONE).write();
    let engine = world.engine();
    world.wait("the target is red", || verdict(&world) == "failed");
    mend(&world);
    world.wait("t-1 lands", || world.is_landed("t-1"));
    stop(&world, engine);
}

#[test]
fn changed_checks_end_the_hold_at_once() {
    let world = red_world();
    world.ticket("t-1").agent(DONE).write();
    let engine = world.engine();
    world.wait("the target is red", || verdict(&world) == "failed");
    world.change_settings("exit 1", "exit 0");
    world.wait("t-1 lands", || world.is_landed("t-1"));
    stop(&world, engine);
}

#[test]
fn a_target_that_turns_red_by_hand_stops_no_agent_and_starts_none() {
    let world = green_world();
    world
        .ticket("t-1")
        .agent("touch \"$GATES/begun\"; until_there \"$GATES/go\"; work t x; echo DONE")
        .write();
    let engine = world.engine();
    world.wait("t-1 works", || world.path("gates/begun").exists());
    world.commit("red", "");
    world.wait("the target is red", || verdict(&world) == "failed");
    world.ticket("t-2").agent(DONE).write();
    world.wait("t-2 is seen", || {
        world
            .must(&["explain", "t-2"])
            .out
            .contains("no agent is started")
    });
    assert_eq!(world.state_name("t-1"), "in_progress/working");
    world.open("go");
    world.wait("t-1 is held", || {
        let held = world.state("t-1").held;
        held.is_some_and(|held| held.why.name() == "target_red")
    });
    assert_eq!(world.runs("t-2"), 0);
    mend(&world);
    for id in ["t-1", "t-2"] {
        world.wait("it lands", || world.is_landed(id));
    }
    assert_eq!(world.runs("t-1"), 1);
    stop(&world, engine);
}

#[test]
fn a_ticket_that_is_retried_on_a_red_target_waits_for_it_and_costs_nothing() {
    let world = green_world();
    world
        .ticket("t-1")
        .agent("echo 'I could not find what to do.'")
        .write();
    world.drain_held();
    assert_eq!(world.state_name("t-1"), "in_progress/stuck (held)");
    let paid = world.runs("t-1");
    world.script("t-1", DONE);
    world.commit("red", "");
    let engine = world.engine();
    world.wait("the target is red", || verdict(&world) == "failed");
    let before = checks(&world);
    let said = world.must(&["retry", "t-1"]).out;
    assert!(
        said.contains("the next step waits for the target: the target itself does not pass"),
        "{said}"
    );
    // Whoever retries may have mended what the check depends on: it runs once more.
    world.wait("it is red again, and waits", || {
        let shown = world.must(&["ps"]).out;
        checks(&world) == before + 1 && shown.contains("waits for the target: the target itself")
    });
    stop(&world, engine);

    let said = world.drain_held();
    assert!(said.tells_of("t-1", "the target itself does not pass"), "{said}");
    assert_eq!(world.state_name("t-1"), "in_progress/ready");
    assert_eq!(world.runs("t-1"), paid);
    for (args, words) in [
        (&["explain", "t-1"][..], "no agent is started: the target itself"),
        (&["explain", "t-1"], "red is red"),
        (&["inbox"], "target_red"),
        (
            &["ps"],
            "no agent is started before an engine runs again (`crew run`): the target itself",
        ),
        (&["queue"], "the target is red"),
    ] {
        let shown = world.crew(args).out;
        assert!(shown.contains(words), "{args:?}: {shown}");
    }

    mend(&world);
    world.drain_all();
    assert_eq!(
        (world.landed(), world.runs("t-1")),
        (vec!["t-1".to_owned()], paid + 1)
    );
}

#[test]
fn agents_start_on_a_red_target_where_a_person_says_so() {
    let world = red_world();
    world
        .ticket("t-1")
        .agent("git rm -q red; git commit -qm mended; echo DONE")
        .write();
    let said = world.crew(&["run", "--until-idle", "--anyway"]);
    assert_eq!(said.code, Some(0), "{said}");
    assert_eq!(world.landed(), ["t-1"]);
    // The next engine asks again.
    world.commit("red", "");
    world.ticket("t-2").agent(DONE).write();
    world.drain_held();
    assert_eq!(world.runs("t-2"), 0);
}

#[test]
fn a_check_of_the_target_goes_on_under_the_next_engine() {
    let world = World::with(|s| {
        s.checks = format!(
            "commands = ['''echo ran >> \"$HOME/ran\"; {}''']",
            World::until_home("go")
        );
    });
    world.ticket("t-1").agent(DONE).write();
    let mut engine = world.engine();
    world.wait("it is being checked", || checks(&world) == 1);
    engine.signal("KILL");
    engine.end();
    let engine = world.engine();
    world.wait("an engine waits for the check", || verdict(&world) == "checking");
    fs::write(world.path("home/go"), "").unwrap();
    world.wait("t-1 lands", || world.is_landed("t-1"));
    // Of the bare target, and of the candidate.
    assert_eq!(checks(&world), 2);
    stop(&world, engine);
}

#[test]
fn an_engine_that_stops_ends_the_check_of_the_target() {
    let world =
        World::with(|s| s.checks = "commands = ['''touch \"$HOME/ran\"; exec sleep 1000''']".to_owned());
    world.ticket("t-1").agent(DONE).write();
    let mut engine = world.engine();
    world.wait("it is being checked", || world.path("home/ran").exists());
    world.must(&["stop", "--wait"]);
    assert_eq!(engine.end().code, Some(0));
    assert_eq!(world.processes(), Vec::<String>::new());
}

#[test]
fn a_target_that_crew_landed_on_is_not_checked_again() {
    let world = green_world();
    world.ticket("t-1").agent(DONE).write();
    world.drain_all();
    assert_eq!(checks(&world), 2);
    world.ticket("t-2").agent(DONE).write();
    world.drain_all();
    // Of the second candidate only.
    assert_eq!(checks(&world), 3);
}

#[test]
fn a_check_that_cannot_be_run_on_the_target_starts_no_agent() {
    for checks in [
        "commands = ['no-such-program']",
        "setup = ['echo no way; exit 3']\ncommands = ['true']",
    ] {
        let world = World::with(|s| s.checks = checks.to_owned());
        world.ticket("t-1").agent(DONE).write();
        let engine = world.engine();
        world.wait("it could not be checked", || verdict(&world) == "could_not_run");
        stop(&world, engine);
        assert_eq!(world.runs("t-1"), 0);
        let inbox = world.crew(&["inbox"]).out;
        assert!(
            inbox.contains("no-such-program") || inbox.contains("no way"),
            "{inbox}"
        );
    }
}

/// A repository with a source, and a runner of tests that looks for a word in a file.
pub(super) fn tested(looks_at: &str, blind: &str) -> World {
    let world = World::with(|s| s.checks = format!("{blind}\ncommands = ['./pytest', 'test -d .git']"));
    world.write("pytest", &format!("#!/bin/sh\ngrep -q good {looks_at}\n"));
    testkit::world::make_executable(&world.project("pytest"));
    world.git(&["add", "pytest"]);
    world.git(&["commit", "-q", "-m", "a runner"]);
    world.commit("src/lib.py", "good\n");
    fs::write(world.path("home/lib.py"), "good\n").unwrap();
    world.ticket("t-1").agent(DONE).write();
    world
}

#[test]
fn a_check_that_does_not_look_at_the_tree_is_found_and_nobody_is_paid() {
    let world = tested("\"$HOME/lib.py\"", "");
    let said = world.drain_held();
    assert_eq!((world.runs("t-1"), verdict(&world).as_str()), (0, "blind"));
    assert!(said.out.contains("it looks at another tree"), "{said}");
    let inbox = world.crew(&["inbox"]).out;
    assert!(inbox.contains("blind = \"allow\""), "{inbox}");
    world.change_settings("[checks]", "[checks]\nblind = \"allow\"");
    world.drain_all();
    assert_eq!(world.landed(), ["t-1"]);
}

#[test]
fn a_check_that_looks_at_the_tree_gets_it_whole_again() {
    let world = tested("src/lib.py", "");
    let said = world.drain_all();
    assert_eq!(world.landed(), ["t-1"]);
    // The other command is no test of the sources, and only named.
    assert!(
        said.out.contains("with broken sources too: test -d .git"),
        "{said}"
    );
    // What the canaries have shown is known to the next engine.
    world.ticket("t-2").agent(DONE).write();
    let said = world.drain_all();
    assert!(!said.out.contains("tries whether"), "{said}");
}

/// A world whose target was renamed while an agent worked on t-1, which could not be checked.
fn renamed_target(args: &[&str]) -> (World, Engine) {
    let world = World::new();
    world
        .ticket("t-1")
        .agent(&format!("until_there \"$GATES/go\"\n{DONE}"))
        .write();
    let engine = world.start_at(&world.path("project"), args);
    world.wait_for_run("t-1", 1);
    world.git(&["branch", "-m", "main", "trunk"]);
    world.open("go");
    world.wait("it is held", || world.count("t-1", "could_not_run") == 1);
    let (why, note) = world.held("t-1");
    assert_eq!(why, "could_not_run");
    assert!(
        note.contains("If it was renamed") && note.contains("[project] target"),
        "{note}"
    );
    (world, engine)
}

#[test]
fn a_target_that_is_back_ends_the_hold_under_an_engine() {
    let (world, engine) = renamed_target(&["run"]);
    world.git(&["branch", "-m", "trunk", "main"]);
    world.wait("it lands", || world.is_landed("t-1"));
    assert_eq!(world.count("t-1", "could_not_run"), 1);
    stop(&world, engine);
}

#[test]
fn a_target_that_is_back_ends_the_hold_at_the_next_start() {
    let (world, mut engine) = renamed_target(&["run", "--until-idle"]);
    let said = engine.end();
    assert_eq!(said.code, Some(3), "{said}");
    world.git(&["branch", "-m", "trunk", "main"]);
    world.drain_all();
    assert_eq!((world.landed(), world.runs("t-1")), (vec!["t-1".to_owned()], 1));
}

#[test]
fn a_landing_that_changes_a_manifest_has_the_check_tried_on_broken_sources_before_the_next_claim() {
    let world = tested("src/lib.py", "");
    let blinds =
        "sed -i 's#src/lib.py#\"$HOME/lib.py\"#' pytest && echo '[project]' > pyproject.toml\necho DONE";
    world.script("t-1", blinds);
    world.ticket("t-2").deps(&["t-1"]).agent(DONE).write();
    let said = world.drain_held();
    assert_eq!((world.landed(), world.runs("t-2")), (vec!["t-1".to_owned()], 0));
    assert_eq!(verdict(&world), "blind");
    assert!(said.out.contains("it looks at another tree"), "{said}");
}

#[test]
fn a_landing_that_changes_no_manifest_has_no_check_run_anew() {
    let world = tested("src/lib.py", "");
    world.script("t-1", "echo '# more' >> src/lib.py\necho DONE");
    world.ticket("t-2").deps(&["t-1"]).agent(DONE).write();
    let said = world.drain_all();
    assert_eq!(world.landed(), ["t-1", "t-2"]);
    assert_eq!(
        said.out.matches("tries whether").count(),
        2,
        "one for each command: {said}"
    );
}

#[test]
fn of_a_service_that_is_gone_only_the_first_failure_is_blamed_on_work() {
    let checks = "commands = ['''echo ran >> \"$HOME/ran\"; if [ -e \"$HOME/gone\" ]; then echo \"no service\"; exit 1; fi''']";
    let world = World::with(|s| s.checks = checks.to_owned());
    let gated =
        "until_there \"$GATES/go\"\necho more >> t-1.txt\ngit add t-1.txt\ngit commit -qm work\necho DONE";
    world.ticket("t-1").agent(gated).write();
    // Later: two that are submitted at once are checked as one, of which none is blamed.
    let second = format!("until_there \"$GATES/second\"\n{DONE}");
    world.ticket("t-2").agent(&second).write();
    let engine = world.engine();
    world.wait_for_run("t-1", 1);
    fs::write(world.path("home/gone"), "").unwrap();
    world.open("go");
    world.wait("its first failure", || world.count("t-1", "checks_failed") == 1);
    world.open("second");
    // The pass that is remembered proves the first failure. The second one in a row is blamed on nobody.
    world.wait("it is held", || world.count("t-1", "target_red") >= 1);
    assert_eq!(world.count("t-1", "checks_failed"), 1);
    let prompt = world.prompt("t-1", 2);
    assert!(
        prompt.contains("passed it when it ran there last; it was not run there again now"),
        "{prompt}"
    );
    world.wait("the target is red", || verdict(&world) == "failed");
    let shown = world.crew(&["inbox"]).out;
    assert!(shown.contains("no service"), "{shown}");
    let shown = world.must(&["checks"]).out;
    assert!(shown.contains("failed"), "{shown}");
    assert_eq!(world.count("t-2", "checks_failed"), 0, "nobody else is blamed");

    // Whoever has mended it has it checked at once.
    fs::remove_file(world.path("home/gone")).unwrap();
    world.must(&["retry", "t-1"]);
    for id in ["t-1", "t-2"] {
        world.wait("it lands", || world.is_landed(id));
    }
    stop(&world, engine);
}
