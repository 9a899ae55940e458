//! The programs of filters: which of them crew runs, and from where.

use testkit::world::{World, make_executable};

/// A filter that an agent may rewrite, and that says by whom it is run.
fn script(says: &str) -> String {
    format!("#!/bin/sh\n[ -n \"$CREW_TICKET_ID$CI\" ] || echo {says} >> \"$HOME/ran\"\ntr a-z A-Z\n")
}

/// By whom it was run before the last check.
fn ran(world: &World) -> Vec<String> {
    let text = std::fs::read_to_string(world.path("home/before")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn a_filter_that_is_a_script_of_the_repository_is_run_as_the_users_checkout_has_it() {
    for clean in [
        "./tools/up",
        "sh tools/up",
        "\"$(git rev-parse --show-toplevel)/tools/up\"",
    ] {
        let world = World::with(|s| {
            s.checks = r#"commands = ['touch "$HOME/ran" && cp "$HOME/ran" "$HOME/before"']"#.to_owned();
        });
        std::fs::create_dir_all(world.project("tools")).unwrap();
        world.write("tools/up", &script("users"));
        make_executable(&world.project("tools/up"));
        world.write(".gitattributes", "*.txt filter=up\n");
        world.git(&["add", "."]);
        world.git(&["commit", "-qm", "a filter"]);
        world.git(&["config", "filter.up.clean", clean]);
        world.git(&["config", "filter.up.smudge", "cat"]);
        world.git(&["config", "filter.up.required", "true"]);
        let agents = script("agents").replace('"', "\\\"").replace('$', "\\$");
        let work = format!("printf \"{agents}\" > tools/up\necho one > a.txt\necho DONE");
        world.ticket("t-1").agent(&work).write();
        world.drain_all();
        assert_eq!(world.on_main("a.txt").as_deref(), Some("ONE\n"), "{clean}");
        assert!(world.on_main("tools/up").unwrap().contains("agents"));
        let ran = ran(&world);
        assert!(
            !ran.is_empty() && ran.iter().all(|by| by == "users"),
            "{clean}: {ran:?}"
        );
        // What has landed is the user's.
        world.ticket("t-2").agent("echo two > b.txt\necho DONE").write();
        world.drain_all();
        assert_eq!(world.on_main("b.txt").as_deref(), Some("TWO\n"));
        assert!(self::ran(&world).iter().any(|by| by == "agents"), "{clean}");
        world.assert_at_rest();
    }
}

#[test]
fn a_filter_that_the_repository_gets_while_an_engine_runs_is_told_and_counts_from_the_next_start() {
    let world = World::new();
    world.commit(".gitattributes", "*.txt filter=up\n");
    let script = "until_there \"$GATES/go\"\necho new > \"$CREW_TICKET_ID.txt\"\necho DONE";
    world.ticket("t-1").agent(script).write();
    let mut engine = world.engine();
    world.wait("the agent is at work", || world.runs("t-1") == 1);
    world.git(&["config", "filter.up.clean", "tr a-z A-Z"]);
    // The engine looks every half minute, and whenever crew.toml is written.
    world.write("crew.toml", &world.read("crew.toml"));
    let told = "git's settings for files have changed";
    world.wait("the change is told", || engine.said().all().contains(told));
    world.open("go");
    world.wait("it has landed", || world.is_landed("t-1"));
    world.must(&["stop"]);
    assert_eq!(engine.end().code, Some(0));
    assert_eq!(world.on_main("t-1.txt").as_deref(), Some("new\n"));
    world.ticket("t-2").agent(script).write();
    world.drain_all();
    assert_eq!(world.on_main("t-2.txt").as_deref(), Some("NEW\n"));
}
