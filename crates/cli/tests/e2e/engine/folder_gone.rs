//! A leader's workspace that somebody deletes: its branch is what counts, and nobody waits without end.

use testkit::world::World;

/// A leader whose first step delegates these tasks, and whose others are to be done.
fn world(tasks: &str, child: &str) -> World {
    let world = World::new();
    world.script("t-1-c1", child);
    let leader = format!(
        "case \"$RUN\" in\n1) work base base; pwd > \"$LOGS/leader\"\n\
         \"$CREW_TOOL\" tool delegate '{{\"tasks\": [{tasks}]}}' ;;\n*) work late late; echo DONE ;;\nesac\n"
    );
    world.ticket("t-1").line("tags: [leader]").agent(&leader).write();
    world
}

const DELETES: &str = "rm -rf \"$(cat \"$LOGS/leader\")\"";

#[test]
fn a_child_whose_folder_is_gone_is_not_done_and_its_leader_begins_anew() {
    let child = format!("work danger danger; {DELETES}; echo DONE");
    let world = world(r#"{"title": "One"}, {"title": "Two"}"#, &child);
    world.script("t-1-c2", "work two two; echo DONE");
    world.drain_all();
    assert_eq!(
        (world.state_name("t-1"), world.state_name("t-1-c1")),
        ("done/landed".to_owned(), "done/dropped".to_owned())
    );
    let says = world.json(&["explain", "t-1-c1"])["says"].to_string();
    assert!(says.contains("the workspace is gone"), "{says}");
    for (file, content) in [
        ("danger", None),
        ("base", Some("base\n")),
        ("late", Some("late\n")),
    ] {
        assert_eq!(world.on_main(file).as_deref(), content, "{file}");
    }
    world.assert_at_rest();
}

#[test]
fn the_work_of_a_child_apart_comes_into_the_branch_of_a_leader_whose_folder_is_gone() {
    let child = format!("work one one; {DELETES}; echo DONE");
    let world = world(r#"{"title": "One", "share": false}"#, &child);
    world.drain_all();
    for id in ["t-1", "t-1-c1"] {
        assert_eq!(world.state_name(id), "done/landed", "{id}");
    }
    for file in ["one", "base", "late"] {
        assert!(world.on_main(file).is_some(), "{file}");
    }
    world.assert_at_rest();
}

#[test]
fn a_child_apart_that_deletes_its_own_folder_is_not_done() {
    let child = "work one one; rm -rf \"$PWD\"; echo DONE";
    let world = world(r#"{"title": "One", "share": false}"#, child);
    world.drain_all();
    assert_eq!(
        (world.state_name("t-1"), world.state_name("t-1-c1")),
        ("done/landed".to_owned(), "done/dropped".to_owned())
    );
    assert_eq!(world.runs("t-1-c1"), 1);
    let prompt = world.prompt("t-1", 2);
    let told = "its workspace is gone, with all that it did there";
    assert!(prompt.contains(told), "{prompt}");
    assert_eq!(world.on_main("one"), None);
    assert_eq!(world.on_main("late").as_deref(), Some("late\n"));
    world.assert_at_rest();
}

#[test]
fn a_leader_whose_folder_is_gone_is_dropped_and_woken_all_the_same() {
    for act in ["drop", "kill", "wake"] {
        for apart in ["", r#", "share": false"#] {
            let child = format!("{DELETES}; touch \"$GATES/gone\"; until_there \"$GATES/never\"");
            let world = world(&format!("{{\"title\": \"One\"{apart}}}"), &child);
            let mut engine = world.engine();
            world.wait("it is gone", || world.path("gates/gone").exists());
            let agent = world.agent_of("t-1");
            let of = if act == "drop" { "t-1" } else { &agent };
            world.must(&[act, of]);
            let (what, so): (_, fn(&str) -> bool) = match act {
                "drop" => ("it is dropped", |state| state == "done/dropped"),
                "kill" => ("it is open", |state| state.starts_with("open")),
                // Its next attempt begins later.
                _ => ("it goes on", |state| state == "open"),
            };
            world.wait(what, || so(&world.state_name("t-1")));
            assert_eq!(world.state_name("t-1-c1"), "done/dropped", "{act}");
            world.must(&["stop"]);
            engine.end();
        }
    }
}
