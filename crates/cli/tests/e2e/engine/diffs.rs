//! A look before it lands: `crew diff`, `crew path`, and a person who looks at all work.

use std::fs;

use serde_json::Value;
use testkit::world::World;

/// A world in which a person looks at all work.
fn held_world() -> World {
    World::with(|s| s.land = "hold = \"all\"".to_owned())
}

/// The diff of a ticket or an agent.
fn diff(world: &World, of: &str) -> Value {
    world.json(&["diff", of])
}

/// The paths that differ.
fn paths(diff: &Value) -> Vec<&str> {
    let files = diff["files"].as_array().unwrap().iter();
    files.map(|file| file["path"].as_str().unwrap()).collect()
}

#[test]
fn work_is_shown_wherever_it_stands() {
    let world = held_world();
    world.commit("old", "one\ntwo\nthree\n");
    world
        .ticket("t-1")
        .agent(
            "work new x\ngit mv old moved\nprintf 'y\\033[31m\\n' > left\n: > \"$GATES/ready\"\n\
             until_there \"$GATES/go\"\necho DONE",
        )
        .write();
    assert!(world.crew(&["diff", "t-1"]).err.contains("no engine has seen it"));
    let mut engine = world.engine();
    world.wait("it works", || world.path("gates/ready").exists());

    // At work: all of the workspace, by the ticket or its agent.
    let (ticket, agent) = (diff(&world, "t-1"), diff(&world, &world.agent_of("t-1")));
    assert_eq!(ticket, agent);
    assert_eq!(paths(&ticket), ["left", "moved", "new"]);
    assert_eq!(
        (&ticket["of"], &ticket["has_uncommitted"], &ticket["new"]),
        (&"workspace".into(), &true.into(), &Value::Null)
    );
    let said = world.must(&["diff", "t-1"]);
    let first = said.out.lines().next().unwrap();
    assert!(
        first.contains("as they are now, some of them not committed"),
        "{said}"
    );
    assert!(
        said.out.contains("rename from old") && said.out.contains("+y<U+001B>[31m"),
        "{said}"
    );
    assert!(!said.out.contains('\u{1b}'), "{said}");
    let path = world.must(&["path", "t-1"]).out;
    assert_eq!(
        fs::read_to_string(format!("{}/new", path.trim_end())).unwrap(),
        "x\n"
    );
    assert_eq!(world.must(&["path", &world.agent_of("t-1")]).out, path);

    // Held for a person: the merge that is to land.
    world.open("go");
    world.wait("it is held", || {
        world.try_state("t-1").is_some_and(|ticket| ticket.held.is_some())
    });
    world.must(&["stop"]);
    engine.end();
    assert_eq!(world.held("t-1").0, "hold");
    assert_eq!(world.state_name("t-1"), "verify/reviewing (held)");
    let held = diff(&world, "t-1");
    assert_eq!(
        (&held["of"], paths(&held)),
        (&"candidate".into(), vec!["left", "moved", "new"])
    );
    let stat = world.must(&["diff", "t-1", "--stat"]).out;
    assert!(
        stat.contains("old → moved") && stat.ends_with("3 files, +2 -0\n"),
        "{stat}"
    );

    // Landed: its merge.
    world.must(&["approve", "t-1"]);
    world.drain_all();
    let landed = diff(&world, "t-1");
    assert_eq!((&landed["of"], paths(&landed)), (&"landed".into(), paths(&held)));
    let raw = world.must(&["diff", "t-1", "--raw"]).out;
    assert!(
        raw.starts_with("diff --git ") && raw.contains("+y\u{1b}[31m"),
        "{raw}"
    );
    let said = world.crew(&["path", "t-1"]);
    assert!(
        said.code == Some(1) && said.err.contains("has no workspace now"),
        "{said}"
    );

    // Dropped: what is kept.
    world.ticket("t-2").agent("work two x\necho DONE").write();
    world.drain_held();
    world.must(&["drop", "t-2", "not wanted"]);
    world.drain_all();
    let kept = diff(&world, "t-2");
    assert_eq!((&kept["of"], paths(&kept)), (&"kept".into(), vec!["two"]));
    assert_eq!(kept["reference"], "refs/crew/attempts/t-2/1");
}

#[test]
fn a_person_looks_at_all_work_and_approves_of_what_they_saw() {
    let world = held_world();
    world.ticket("t-1").agent("work one x\necho DONE").write();
    world.ticket("t-2").agent("work two \"$RUN\"\necho DONE").write();
    let said = world.drain_held();
    assert!(
        world.landed().is_empty() && said.tells_of("t-1", "crew diff t-1"),
        "{said}"
    );
    let inbox = world.crew(&["inbox"]).out;
    assert!(
        inbox.contains("held, hold") && inbox.contains("crew reject t-2"),
        "{inbox}"
    );
    let said = world.crew(&["explain", "t-1"]).out;
    assert!(said.contains("a person looks at all work"), "{said}");

    let tip = |id: &str| world.state(id).candidate().unwrap().tip.as_str().to_owned();
    let said = world.crew(&["approve", "t-1", "--tip", &tip("t-2")]);
    assert!(said.code == Some(1) && said.err.contains("has the tip"), "{said}");
    world.must(&["reject", "t-2", "say two"]);
    let before = tip("t-1");
    world.must(&["approve", "t-1", "--tip", &before]);
    // The target moves: the same tip is merged anew, and lands without another look.
    world.commit("theirs", "x\n");
    world.drain_held();
    assert_eq!(world.landed(), ["t-1"]);
    assert_eq!(world.on_main("one").as_deref(), Some("x\n"));
    // Another tip waits again.
    assert_eq!(world.held("t-2").0, "hold");
    assert_eq!(diff(&world, "t-2")["added"], 1);
    world.change_settings("hold = \"all\"", "hold = \"paths\"");
    world.must(&["retry", "t-2"]);
    world.drain_all();
    assert_eq!(world.on_main("two").as_deref(), Some("2\n"));
}

#[test]
fn no_merge_by_hand_passes_by_the_person_who_looks() {
    let world = held_world();
    world.ticket("t-1").agent("work one x\necho DONE").write();
    world.drain_held();
    let said = world.crew(&["merge", "t-1"]);
    assert!(
        said.code == Some(1) && said.err.contains("crew approve t-1"),
        "{said}"
    );
    assert_eq!(world.held("t-1").0, "hold");
    // Nor where the hold is off: no engine is there to put it back.
    world.must(&["retry", "t-1"]);
    let said = world.crew(&["merge", "t-1"]);
    assert_eq!(said.code, Some(3), "{said}");
    assert_eq!(world.held("t-1").0, "hold");
    assert_eq!(world.landed(), [""; 0]);
    let says = |what: &str| {
        let said = world.crew(&["diff", "t-1"]);
        assert!(said.out.contains(what), "{said}");
    };
    says("which lands on main as it is");
    world.commit("theirs", "x\n");
    says("main has moved, and it is merged anew");
}

#[test]
fn a_person_looks_after_the_gatekeeper() {
    let world = World::with(|s| {
        s.top = "[review]\nwhen = \"always\"".to_owned();
        s.land = "hold = \"all\"".to_owned();
    });
    let verdict = r#"printf '{"crew":"verdict","run_id":"%s","verdict":"approve","acceptance_test":"read it"}\n' "$CREW_RUN_ID""#;
    let script =
        format!("if [ \"$CREW_ROLE\" = gatekeeper ]; then\n{verdict}\nelse\nwork one x\necho DONE\nfi");
    world.ticket("t-1").agent(&script).write();
    world.drain_held();
    assert_eq!(world.held("t-1").0, "hold");
    assert_eq!(
        (
            world.count("t-1", "verdict_noted"),
            world.count("t-1", "approved")
        ),
        (1, 0)
    );
    world.must(&["approve", "t-1"]);
    world.drain_all();
    assert_eq!(world.landed(), ["t-1"]);
    assert_eq!(world.count("t-1", "review_claimed"), 1, "it is reviewed once");
}

#[test]
fn blanks_carriage_returns_and_modes_are_seen_in_a_diff() {
    let world = held_world();
    world.commit("run", "one\ntwo\n");
    world
        .ticket("t-1")
        .agent("printf 'one  \\ntwo\\r\\n' > run\nchmod +x run\ngit add run\ngit commit -qm run\necho DONE")
        .write();
    world.drain_held();
    let said = world.must(&["diff", "t-1"]).out;
    assert!(said.contains("+one  \n") && said.contains("+two^M\n"), "{said}");
    let raw = world.must(&["diff", "t-1", "--raw"]).out;
    assert!(raw.contains("+two\r\n") && !raw.contains("^M"), "{raw}");
    let stat = world.must(&["diff", "t-1", "--stat"]).out;
    assert!(stat.ends_with(" mode change 100644 => 100755 run\n"), "{stat}");
    let change = &diff(&world, "t-1")["files"][0]["mode_change"];
    assert_eq!(
        (&change["old"], &change["new"]),
        (&"100644".into(), &"100755".into())
    );
}

#[test]
fn the_commits_that_land_are_named_and_what_only_the_history_keeps() {
    let world = held_world();
    world
        .ticket("t-1")
        .agent(
            "work big.bin x\ngit rm -q big.bin\ngit commit -qm 'Take \u{1b}[31mit away'\nwork own x\necho DONE",
        )
        .write();
    world.drain_held();
    for said in [
        world.must(&["diff", "t-1"]).out,
        world.must(&["diff", "t-1", "--stat"]).out,
    ] {
        let lines: Vec<&str> = said.lines().skip(1).take(2).collect();
        assert!(lines[0].starts_with("3 commits of its own: "), "{said}");
        assert!(
            lines[0].contains("it away") && !lines[0].contains('\u{1b}'),
            "{said}"
        );
        assert!(lines[1].ends_with("it stays in the history: big.bin"), "{said}");
    }
    let held = diff(&world, "t-1");
    assert_eq!(held["commits"].as_array().unwrap().len(), 3);
    assert_eq!(held["passing"], serde_json::json!(["big.bin"]));
    world.must(&["approve", "t-1"]);
    world.drain_all();
    let landed = diff(&world, "t-1");
    assert_eq!(
        (&landed["commits"], &landed["passing"]),
        (&held["commits"], &held["passing"])
    );
    // A single commit has nothing that its diff does not show.
    world.ticket("t-2").agent("work other x\necho DONE").write();
    world.drain_held();
    let said = world.must(&["diff", "t-2", "--stat"]).out;
    assert!(!said.contains("of its own"), "{said}");
    assert_eq!(diff(&world, "t-2")["commits"].as_array().unwrap().len(), 1);
}
