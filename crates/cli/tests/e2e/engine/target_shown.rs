//! The bare target on every surface: its last verdict, the output of its checks, the time of the next try.

use std::fs;

use testkit::world::{DONE, World};

use super::target::{NO_RED, checks, mend, red_world, stop, tested, verdict};

/// The findings of the doctor about the checks, with their levels.
fn found(world: &World) -> Vec<(String, String)> {
    let said = world.crew(&["doctor", "--json"]);
    let said: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    let found = said["findings"].as_array().unwrap().iter();
    let text = |finding: &serde_json::Value, key: &str| finding[key].as_str().unwrap_or_default().to_owned();
    let of_checks = found.filter(|finding| finding["area"] == "checks");
    of_checks
        .map(|finding| (text(finding, "level"), text(finding, "says")))
        .collect()
}

#[test]
fn doctor_shows_the_last_verdict_on_the_target_and_runs_nothing() {
    let world = red_world();
    world.ticket("t-1").agent(DONE).write();
    world.must(&["spawn"]);
    let (level, says) = found(&world).remove(0);
    assert_eq!(level, "fine", "{says}");
    assert!(says.contains("they have not been run yet"), "{says}");
    world.drain_held();
    let said = world.crew(&["doctor"]);
    assert_eq!(said.code, Some(1), "{said}");
    for shown in [
        "the target itself does not pass",
        "│ red is red",
        "crew logs --check",
    ] {
        assert!(said.out.contains(shown), "{shown}: {said}");
    }
    let (level, says) = found(&world).remove(0);
    assert!(level == "wrong" && says.contains("red is red"), "{level}: {says}");
    mend(&world);
    let (level, says) = found(&world).remove(0);
    assert!(
        level == "note" && says.contains("; the branch is at "),
        "{level}: {says}"
    );
    assert_eq!(checks(&world), 1);
    world.drain_all();
    let ran = checks(&world);
    let (level, says) = found(&world).remove(0);
    assert!(level == "fine" && says.contains("they passed"), "{level}: {says}");
    assert_eq!(checks(&world), ran);
}

#[test]
fn doctor_shows_which_commands_look_at_the_tree() {
    let world = tested("src/lib.py", "");
    world.drain_all();
    let found = found(&world);
    let is_there = |level: &str, says: &str| found.contains(&(level.to_owned(), says.to_owned()));
    assert!(
        is_there("fine", "`./pytest` fails with broken sources, as it should"),
        "{found:?}"
    );
    assert!(
        is_there("note", "`test -d .git` passes with broken sources too"),
        "{found:?}"
    );
    world.change_settings("[checks]", "[checks]\nblind = \"allow\"");
    let shown = world.crew(&["doctor"]).out;
    assert!(
        shown.contains("nobody tries whether they look at the tree"),
        "{shown}"
    );
}

#[test]
fn doctor_and_explain_say_how_a_blind_check_is_mended() {
    let world = tested("\"$HOME/lib.py\"", "");
    world.drain_held();
    for args in [&["doctor"][..], &["explain", "t-1"], &["inbox"]] {
        let shown = world.crew(args).out;
        let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(shown.contains("blind = \"allow\""), "{args:?}: {shown}");
    }
    assert!(
        !found(&world)
            .iter()
            .any(|(_, says)| says.contains("`./pytest` fails"))
    );
}

#[test]
fn a_running_engine_heeds_that_a_blind_check_is_allowed() {
    let world = tested("\"$HOME/lib.py\"", "");
    let engine = world.engine();
    world.wait("the check is blind", || verdict(&world) == "blind");
    world.change_settings("[checks]", "[checks]\nblind = \"allow\"");
    world.wait("t-1 lands", || world.is_landed("t-1"));
    stop(&world, engine);
}

#[test]
fn the_history_of_the_project_has_what_the_checks_of_the_target_printed() {
    let world = red_world();
    world.ticket("t-1").agent(DONE).write();
    world.drain_held();
    let shown = world.must(&["history"]).out;
    for part in [
        "runs on the bare target",
        "does not pass",
        "│ red is red",
        "the engine stopped",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let json = world.json(&["history"]);
    assert!(json["of"].is_null(), "{json}");
    let events = json["events"].as_array().unwrap();
    let failed = events
        .iter()
        .find(|event| event["kind"] == "target_failed")
        .unwrap();
    assert!(failed.to_string().contains("red is red"), "{failed}");
    let at = failed["seq"].to_string();
    assert!(world.must(&["history", "--at", &at]).out.contains("state"));
}

#[test]
fn logs_show_the_whole_output_of_the_last_checks() {
    let world = World::with(|s| {
        s.checks = "commands = ['seq 1 500', 'echo of the second; echo oh >&2; test ! -e red']".to_owned();
    });
    let none = world.must(&["logs", "--check"]).out;
    assert!(
        none.contains("no output of a check of the bare target is kept"),
        "{none}"
    );
    world.commit("red", "");
    world
        .ticket("t-1")
        .agent("git rm -q red; work t x; echo DONE")
        .write();
    let said = world.drain_held();
    assert!(said.out.contains("crew logs --check"), "{said}");
    let shown = world.must(&["logs", "--check"]).out;
    for part in [
        "the target, check",
        ": seq 1 500",
        "\n123\n",
        "of the second",
        "stderr: oh",
        "(exit code 1, ",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let said = world.must(&["logs", "--check", "--json"]).out;
    let first: serde_json::Value = serde_json::from_str(said.lines().next().unwrap()).unwrap();
    assert!(
        first["ticket"].is_null() && first["step"].is_null() && first["line"] == "1",
        "{first}"
    );
    world.crew(&["run", "--until-idle", "--anyway"]);
    assert_eq!(world.landed(), ["t-1"]);
    let shown = world.must(&["logs", "--check", "t-1"]).out;
    assert!(
        shown.contains("t-1, check") && shown.contains("(exit code 0, "),
        "{shown}"
    );
    // The agent has no ticket any more.
    let said = world.crew(&["logs", "--check", "ada"]);
    assert!(
        said.code == Some(1) && said.err.contains("has no ticket"),
        "{said}"
    );
    let said = world.crew(&["logs"]);
    assert_eq!(said.code, Some(2), "{said}");
}

#[test]
fn a_canary_is_shown_as_one() {
    let world = tested("src/lib.py", "");
    world.drain_all();
    let shown = world.must(&["logs", "--check"]).out;
    assert!(
        shown.contains("the target, check (run target.0.check-1-1): ./pytest"),
        "{shown}"
    );
    assert!(shown.contains("check, with broken sources (run "), "{shown}");
}

#[test]
fn a_check_of_the_target_that_runs_is_shown_with_its_output_so_far() {
    let world = World::with(|s| {
        s.checks = format!("commands = ['''echo begun; {}''']", World::until_home("go"));
    });
    world.ticket("t-1").agent(DONE).write();
    let engine = world.engine();
    world.wait("its output is shown", || {
        let shown = world.must(&["logs", "--check"]).out;
        shown.contains("begun") && shown.contains("(it goes on)")
    });
    world.wait("ps shows since when", || {
        let shown = world.must(&["ps"]).out;
        shown.contains("no agent is started (for ") && shown.contains("run on the bare target first")
    });
    world.wait("the doctor shows that it runs", || {
        found(&world)
            .iter()
            .any(|(level, says)| level == "fine" && says.contains("they run, begun on main"))
    });
    fs::write(world.path("home/go"), "").unwrap();
    world.wait("t-1 lands", || world.is_landed("t-1"));
    let shown = world.must(&["ps"]).out;
    assert!(shown.contains("it passed its checks"), "{shown}");
    assert!(
        shown.contains("; since then t-1 has landed there, as "),
        "{shown}"
    );
    stop(&world, engine);
    world.commit("more", "more\n");
    let shown = world.must(&["ps"]).out;
    let at = &world.git(&["rev-parse", "main"])[..8];
    let says = format!("the branch has moved to {at} since, where its checks have not run yet");
    assert!(shown.contains(&says), "{shown}");
}

#[test]
fn a_check_that_a_stopped_engine_left_is_not_said_to_run() {
    let world = World::with(|s| {
        s.checks = format!(
            "commands = ['''touch \"$HOME/ran\"; {}''']",
            World::until_home("go")
        );
    });
    world.ticket("t-1").agent(DONE).write();
    let engine = world.engine();
    world.wait("it is being checked", || world.path("home/ran").exists());
    stop(&world, engine);
    let shown = world.must(&["ps"]).out;
    assert!(
        shown.contains("no agent is started before an engine runs again"),
        "{shown}"
    );
    let shown = world.crew(&["doctor"]).out;
    assert!(shown.contains("they did not end"), "{shown}");
}

#[test]
fn a_target_that_nobody_checks_is_not_said_to_be_checked() {
    let world = World::with(|s| s.checks = NO_RED.to_owned());
    world
        .ticket("t-1")
        .agent("until_there \"$GATES/go\"; work t x; echo DONE")
        .write();
    let mut engine = world.start_at(&world.path("project"), &["run", "--until-idle", "--anyway"]);
    world.wait("the engine has seen the target", || {
        verdict(&world) == "unchecked"
    });
    let shown = world.must(&["ps"]).out;
    assert!(
        shown.contains("its checks are not run, because of --anyway"),
        "{shown}"
    );
    let (level, says) = found(&world).remove(0);
    assert!(
        level == "note" && says.contains("with --anyway"),
        "{level}: {says}"
    );
    world.open("go");
    assert_eq!(engine.end().code, Some(0));
    // Of the candidate only.
    assert_eq!(checks(&world), 1);
}

#[test]
fn anyway_keeps_the_verdict_that_a_red_target_had() {
    let world = red_world();
    world.ticket("t-1").agent(DONE).write();
    world.drain_held();
    world.crew(&["run", "--until-idle", "--anyway"]);
    assert_eq!(verdict(&world), "failed");
    assert_eq!(world.runs("t-1"), 1);
    let (level, says) = found(&world).remove(0);
    assert!(
        level == "note" && says.contains("started all the same, with --anyway"),
        "{level}: {says}"
    );
}

#[test]
fn a_time_out_of_the_target_is_shown_as_one() {
    let world = World::with(|s| s.checks = "timeout = \"1s\"\ncommands = ['exec sleep 1000']".to_owned());
    world.ticket("t-1").agent(DONE).write();
    let said = world.drain_held();
    assert!(said.out.contains("timed out after 1 s"), "{said}");
    for args in [
        &["ps"][..],
        &["queue"],
        &["inbox"],
        &["explain", "t-1"],
        &["history"],
        &["doctor"],
        &["ps", "--json"],
    ] {
        let shown = world.crew(args).out;
        let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(shown.contains("timed out after 1 s"), "{args:?}: {shown}");
    }
    let shown = world.must(&["logs", "--check"]).out;
    assert!(shown.contains("(timed out, "), "{shown}");
}

#[test]
fn a_set_up_that_fails_says_when_it_is_tried_next() {
    let world = World::with(|s| s.checks = "setup = ['echo no way; exit 3']\ncommands = ['true']".to_owned());
    world.ticket("t-1").agent(DONE).write();
    let engine = world.engine();
    world.wait("the checks could not be run", || {
        verdict(&world) == "could_not_run"
    });
    for args in [&["ps"][..], &["inbox"], &["explain", "t-1"]] {
        let shown = world.crew(args).out;
        assert!(shown.contains("tried again by itself"), "{args:?}: {shown}");
    }
    assert!(world.must(&["logs", "--check"]).out.contains("no way"));
    stop(&world, engine);
}
