//! The harness in the settings changes while agents are at work.

use std::fs;

use testkit::world::{World, make_executable};

/// Puts a client of the kind `claude` into the settings, and has new attempts work with it. The program says
/// its version; any step that is started with it leaves a mark, and fails.
fn choose_claude(world: &World, table: &str) {
    let program = world.path("claude.sh");
    let script = format!(
        "#!/bin/sh\n[ \"$1\" != --version ] || {{ echo '9.9.9 (Claude Code)'; exit 0; }}\ntouch '{}'\nexit 1\n",
        world.path("gates/paid-again").display()
    );
    fs::write(&program, script).unwrap();
    make_executable(&program);
    let table = format!(
        "[harness.{table}]\nkind = \"claude\"\ncommand = [\"{}\"]\n",
        program.display()
    );
    let text = world.read("crew.toml");
    let (above, below) = text.split_once("[harness.scripted]").unwrap();
    let (_, below) = below.split_once("[checks]").unwrap();
    world.write("crew.toml", &format!("{above}{table}[checks]{below}"));
}

/// A step runs while its engine is killed and the settings change; the next engine reads the step's output.
fn a_step_outlives_a_change(change: impl FnOnce(&World)) {
    let world = World::new();
    world
        .ticket("t-1")
        .agent("until_there \"$GATES/go\"\nwork t x\necho DONE")
        .write();
    let mut engine = world.engine();
    world.wait_for_run("t-1", 1);
    engine.signal("KILL");
    engine.end();
    change(&world);
    world.open("go");
    let said = world.drain_all();
    assert_eq!(world.landed(), ["t-1"], "{said}");
    assert_eq!(world.runs("t-1"), 1, "{said}");
    assert_eq!(world.count("t-1", "step_failed"), 0, "{said}");
    assert!(!world.path("gates/paid-again").exists(), "{said}");
}

#[test]
fn a_step_is_not_paid_again_when_its_harness_was_replaced_by_another_one() {
    a_step_outlives_a_change(|world| {
        choose_claude(world, "claude");
        world.change_settings("harness = \"scripted\"", "harness = \"claude\"");
    });
}

#[test]
fn a_step_is_not_paid_again_when_its_harness_was_made_one_of_another_kind() {
    a_step_outlives_a_change(|world| choose_claude(world, "scripted"));
}

#[test]
fn an_attempt_whose_harness_is_gone_goes_on_with_another_one_in_a_new_session() {
    let world = World::new();
    world
        .ticket("t-1")
        .agent("if [ \"$RUN\" = 1 ]; then echo 'QUESTION: go on?'; else work t x; echo DONE; fi")
        .write();
    world.drain_held();
    world.change_settings("scripted", "other");
    world.must(&["answer", &world.agent_of("t-1"), "yes"]);
    world.drain_all();
    assert_eq!((world.landed(), world.runs("t-1")), (vec!["t-1".to_owned()], 2));
    let session = |run| world.variable("t-1", run, "CREW_SESSION_ID").unwrap();
    assert_ne!(session(1), session(2));
    assert_eq!(world.variable("t-1", 2, "CREW_SESSION_NEW").as_deref(), Some("1"));
    assert!(world.says("t-1", "now on other"));
}

#[test]
fn an_attempt_keeps_its_harness_and_session_while_the_settings_name_it() {
    let world = World::new();
    world
        .ticket("t-1")
        .agent("if [ \"$RUN\" = 1 ]; then echo 'QUESTION: go on?'; else work t x; echo DONE; fi")
        .write();
    world.drain_held();
    let text = world.read("crew.toml");
    let other = "[harness.other]\nkind = \"command\"\ncommand = [\"/bin/false\"]\n";
    let text = text.replace("harness = \"scripted\"", "harness = \"other\"");
    world.write("crew.toml", &format!("{text}\n{other}"));
    world.must(&["answer", &world.agent_of("t-1"), "yes"]);
    world.drain_all();
    assert_eq!(world.runs("t-1"), 2);
    assert_eq!(world.variable("t-1", 2, "CREW_SESSION_NEW").as_deref(), Some("0"));
}
