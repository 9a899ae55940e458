//! Work of attempts that did not land, named where a person looks for it.

use testkit::world::World;

#[test]
fn the_work_of_a_ticket_that_is_dropped_after_its_last_attempt_is_named() {
    let world = World::with(|s| s.run = "max_steps = 1\nattempts = 1".to_owned());
    world.ticket("t-1").agent("work \"t.$RUN\" x").write();
    world.drain_held();
    world.must(&["retry", "t-1"]);
    world.drain_held();
    assert_eq!(world.held("t-1").0, "failed");
    let last = "git log refs/crew/attempts/t-1/2 --not --branches";
    let shown = |args: &[&str]| world.crew(args).out;
    for shows in [&["explain", "t-1"][..], &["inbox"]] {
        let shown = shown(shows);
        assert!(
            shown.contains(last) && !shown.contains("attempts/t-1/1"),
            "{shown}"
        );
    }
    world.git(&["add", "-f", ".tickets/t-1.md"]);
    std::fs::remove_file(world.ticket_file("t-1")).unwrap();
    world.drain_all();
    assert_eq!(world.state_name("t-1"), "done/dropped");
    let explained = shown(&["explain", "t-1"]);
    assert!(explained.contains(last), "{explained}");
    let history = shown(&["history", "t-1"]);
    for number in [1, 2] {
        let command = format!("git log refs/crew/attempts/t-1/{number} --not --branches");
        assert!(history.contains(&command), "{history}");
    }
    assert_eq!(world.git(&["show", "refs/crew/attempts/t-1/2:t.1"]), "x");
    // Once it has landed after all, nothing is left apart.
    world
        .ticket("t-2")
        .agent("work mine \"$RUN\"\n[ \"$RUN\" -lt 3 ] || echo DONE")
        .write();
    world.drain_held();
    world.must(&["retry", "t-2"]);
    world.drain_all();
    assert_eq!(world.landed(), ["t-2"]);
    assert_eq!(world.json(&["explain", "t-2"])["kept"], serde_json::json!([]));
}

#[test]
fn the_work_of_a_dropped_ticket_is_named_though_the_engine_was_killed_as_it_was_kept() {
    for point in [
        "keep.kept",
        "remove.removed",
        "performed.keep_work",
        "decided.work_kept",
        "durable.work_kept",
    ] {
        let world = World::new();
        world
            .ticket("t-1")
            .agent("work t x\ntouch \"$GATES/worked\"\nuntil_there \"$GATES/never\"")
            .write();
        world.around("CREW_FAILPOINT_AT", point);
        let mut engine = world.engine();
        world.wait("it has worked", || world.path("gates/worked").exists());
        world.crew(&["drop", "t-1"]);
        assert_eq!(engine.end().signal, Some(9), "{point}");
        world.around("CREW_FAILPOINT_AT", "");
        world.drain_all();
        assert_eq!(world.state_name("t-1"), "done/dropped", "{point}");
        let work = world.json(&["explain", "t-1"])["kept"].clone();
        assert_eq!(work[0]["place"], "refs/crew/attempts/t-1/1", "{point}: {work}");
        assert_eq!(world.count("t-1", "work_kept"), 1, "{point}");
    }
}
