//! Delegation: agents that give parts of their ticket to others, in one workspace, through crashes and ends.

use testkit::world::World;

/// A leader that delegates two halves, and brings them together when it hears that they are over. It fails
/// where a child is at work while it steps.
const LEADER: &str = r#"case "$RUN" in
1) "$CREW_TOOL" tool delegate '{"tasks": [{"title": "The first half"}, {"title": "The second half", "task": "And all of it."}]}' \
    >> "$LOGS/answers" 2>&1 ;;
*) cat one two > whole && git add -A && git commit -qm whole && echo DONE ;;
esac
"#;

/// A child that writes a file, and leaves another one uncommitted.
fn child(name: &str, gate: &str) -> String {
    format!("{gate}\nwork {name} {name}\necho left > {name}.left\necho 'SUMMARY: wrote {name}'\necho DONE")
}

/// Two children whose scripts are there before they are, and their leader.
fn world(gate: &str) -> World {
    let world = World::new();
    world.script("t-1-c1", &child("one", gate));
    world.script("t-1-c2", &child("two", ""));
    world.ticket("t-1").line("tags: [leader]").agent(LEADER).write();
    world
}

fn assert_landed(world: &World) {
    for id in ["t-1", "t-1-c1", "t-1-c2"] {
        assert_eq!(world.state_name(id), "done/landed");
        assert_eq!(world.front(id, "status"), "closed");
    }
    assert_eq!(world.on_main("whole").as_deref(), Some("one\ntwo\n"));
    for file in ["one.left", "two.left"] {
        assert_eq!(world.on_main(file).as_deref(), Some("left\n"));
    }
    assert_eq!(world.workspaces(), Vec::<std::path::PathBuf>::new());
}

#[test]
fn two_children_work_in_their_parents_workspace_and_land_with_it() {
    let world = world("");
    world.drain_all();
    assert_landed(&world);
    let answers = world.read("../logs/answers");
    assert!(answers.contains("delegated: t-1-c1, t-1-c2"), "{answers}");
    let prompt = world.prompt("t-1", 2);
    for told in [
        "t-1-c1: The first half",
        "It is done: 2 commits, 2 files: one, one.left.",
        "> wrote one",
        "wrote two",
    ] {
        assert!(prompt.contains(told), "{told}: {prompt}");
    }
    assert_eq!(world.front("t-1-c2", "delegated_by"), "t-1");
    assert_eq!(world.variable("t-1", 1, "CREW_HAS_TOOLS").as_deref(), Some("1"));
    assert_eq!(
        world.variable("t-1-c1", 1, "CREW_HAS_TOOLS").as_deref(),
        Some("0")
    );
    let same = |id: &str| world.variable(id, 1, "PWD");
    assert_eq!(same("t-1"), same("t-1-c1"));
    assert_eq!(
        (world.runs("t-1"), world.runs("t-1-c1"), world.runs("t-1-c2")),
        (2, 1, 1)
    );
    world.assert_at_rest();
}

#[test]
fn an_engine_that_is_killed_while_a_child_works_changes_nothing() {
    let world = world("until_there \"$GATES/go\"");
    let mut engine = world.engine();
    world.wait_for_run("t-1-c1", 1);
    engine.signal("KILL");
    engine.end();
    assert_eq!(world.state_name("t-1"), "in_progress/waiting_for_children");
    world.open("go");
    world.drain_all();
    assert_landed(&world);
    assert_eq!(
        (world.runs("t-1"), world.runs("t-1-c1"), world.runs("t-1-c2")),
        (2, 1, 1)
    );
    world.assert_at_rest();
}

#[test]
fn a_parent_that_is_dropped_ends_the_child_that_works_first() {
    let world = world("trap '' TERM\nuntil_there \"$GATES/never\"");
    let mut engine = world.engine();
    world.wait_for_run("t-1-c1", 1);
    let said = world.must(&["drop", "t-1", "not wanted"]).out;
    assert!(
        said.contains("the children of t-1 are ended; then it is dropped"),
        "{said}"
    );
    world.wait("it is dropped", || world.state_name("t-1") == "done/dropped");
    for id in ["t-1-c1", "t-1-c2"] {
        assert_eq!(world.state_name(id), "done/dropped");
    }
    let facts = world.facts("t-1-c1");
    assert!(facts.contains(&"stop_ordered".to_owned()), "{facts:?}");
    world.must(&["stop"]);
    engine.end();
    world.assert_at_rest();
}

#[test]
fn a_child_spends_of_its_parents_budget_and_its_parent_is_held() {
    let world = World::with(|s| {
        s.top = "[budget]\nticket_usd = 1.0".to_owned();
    });
    world.script("t-1-c1", "echo '{\"crew\":\"usage\",\"cost_usd\":1.5}'");
    world.script("t-1-c2", &child("two", ""));
    world.ticket("t-1").line("tags: [leader]").agent(LEADER).write();
    world.drain_held();
    assert_eq!(world.held("t-1").0, "budget");
    assert_eq!(
        (world.runs("t-1"), world.runs("t-1-c1"), world.runs("t-1-c2")),
        (1, 1, 0)
    );
}

#[test]
fn ps_and_queue_show_children_below_their_parent_and_a_person_wakes_it() {
    let world = world("until_there \"$GATES/never\"");
    let mut engine = world.engine();
    world.wait_for_run("t-1-c1", 1);
    let queue = world.must(&["queue"]).out;
    assert!(
        queue.contains("└ t-1-c1") && queue.contains("└ t-1-c2"),
        "{queue}"
    );
    let ps = world.must(&["ps"]).out;
    assert!(ps.contains("└ "), "{ps}");
    let agent = world.agent_of("t-1");
    world.must(&["wake", &agent]);
    world.wait_for_run("t-1", 2);
    let prompt = world.prompt("t-1", 2);
    assert!(prompt.contains("It was ended, and is not done"), "{prompt}");
    world.must(&["stop", "--kill"]);
    engine.end();
}

#[test]
fn a_person_delegates_to_an_idle_agent_alone() {
    let world = World::new();
    world.must(&["spawn", "zed"]);
    let before = std::fs::read_dir(world.project(".tickets")).unwrap().count();
    let said = world.crew(&["delegate", "nobody", "Look around"]);
    assert_eq!(said.code, Some(1), "{said}");
    assert_eq!(
        std::fs::read_dir(world.project(".tickets")).unwrap().count(),
        before
    );
    let said = world
        .must(&["delegate", "zed", "Look around\n\nIn every corner."])
        .out;
    assert!(said.contains("zed has "), "{said}");
    let queue = world.json(&["queue"]);
    let ticket = &queue["tickets"][0];
    assert_eq!(
        (ticket["title"].as_str(), ticket["agent"].as_str()),
        (Some("Look around"), Some("zed"))
    );
    let again = world.crew(&["delegate", "zed", "And again"]);
    assert_eq!(again.code, Some(1), "{again}");
    assert!(again.err.contains("zed is at work on"), "{again}");
}

/// What a child did stands on what its leader had done, which nobody has submitted yet.
#[test]
fn a_child_that_is_dropped_and_opened_again_brings_nothing_of_its_leaders_along() {
    let world = World::with(|s| s.agents = "count = 2".to_owned());
    world.script(
        "t-1-c1",
        "case \"$RUN\" in\n1) work one one; echo key > .env; touch \"$GATES/worked\"; until_there \"$GATES/never\" ;;\n*) work two two; echo DONE ;;\nesac",
    );
    let delegates = r#"work half half; "$CREW_TOOL" tool delegate '{"tasks": [{"title": "One"}]}'"#;
    let leader = format!(
        "case \"$RUN\" in\n1) {delegates} ;;\n*) until_there \"$GATES/go\"; work whole whole; echo DONE ;;\nesac\n"
    );
    world.ticket("t-1").line("tags: [leader]").agent(&leader).write();
    let mut engine = world.engine();
    world.wait("the child has worked", || world.path("gates/worked").exists());
    let said = world.must(&["drop", "t-1-c1", "later"]).out;
    assert!(
        said.contains("`crew explain t-1-c1` names where its work is kept"),
        "{said}"
    );
    world.wait_for_run("t-1", 2);
    let prompt = world.prompt("t-1", 2);
    assert!(
        prompt.contains("What its agent did is not in this folder, but in commit")
            && prompt.contains("are as it left them: .env may be its doing, too."),
        "{prompt}"
    );
    world.must(&["ticket", "reopen", "t-1-c1"]);
    world.wait("it has landed", || world.state_name("t-1-c1") == "done/landed");
    assert_eq!(world.on_main("two").as_deref(), Some("two\n"));
    assert_eq!((world.on_main("half"), world.on_main("one")), (None, None));
    assert_eq!(
        world.git(&["show", "refs/crew/attempts/t-1-c1/1:one"]).trim(),
        "one"
    );
    world.open("go");
    world.wait("its leader has landed", || {
        world.state_name("t-1") == "done/landed"
    });
    assert_eq!(world.on_main("half").as_deref(), Some("half\n"));
    world.must(&["stop"]);
    engine.end();
}

#[test]
fn a_dependency_that_locks_the_children_is_refused_and_told_where_a_file_brings_it() {
    let world = world("until_there \"$GATES/go\"");
    let mut engine = world.engine();
    world.wait_for_run("t-1-c1", 1);
    for (of, on) in [("t-1-c1", "t-1-c2"), ("t-1-c2", "t-1"), ("t-1", "t-1-c1")] {
        let said = world.crew(&["ticket", "dep", of, on]);
        assert_ne!(said.code, Some(0), "{of} {on}");
        assert!(
            said.err.contains(&format!("{of} would wait for itself: {of} → ")),
            "{}",
            said.err
        );
    }
    world.must(&["ticket", "dep", "t-1-c2", "t-1-c1"]);
    world.must(&["ticket", "undep", "t-1-c2", "t-1-c1"]);
    world.edit("t-1-c2", |text| text.replace("deps: []", "deps: [t-1]"));
    world.open("go");
    world.wait("a person is told", || {
        let inbox = world.crew(&["inbox"]).out;
        inbox.contains("t-1-c2 → t-1 → t-1-c2") && inbox.contains("crew ticket undep t-1-c2 t-1")
    });
    world.must(&["ticket", "undep", "t-1-c2", "t-1"]);
    world.wait("all have landed", || world.state_name("t-1-c2") == "done/landed");
    world.must(&["stop"]);
    engine.end();
    assert_landed(&world);
}
