//! The advice that a person gets: the cause by its name, what to type, and each problem with its own hint.

use std::fs;

use testkit::world::{DONE, World};

use super::target::verdict;

/// A text on one line, with single blanks.
fn joined(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_program_that_checks_do_not_find_is_named_with_what_to_do() {
    let world = World::with(|s| {
        s.checks = "setup = ['no-such-runner sync']\ncommands = ['no-such-runner test']".to_owned();
    });
    let advice = "install no-such-runner, or set another command in crew.toml under [checks]";
    // Before any engine has run, and without running anything.
    let said = world.crew(&["doctor"]);
    let shown = joined(&said.out);
    assert_eq!(said.code, Some(1), "{said}");
    for part in [
        "they have not been run yet",
        "`no-such-runner sync` needs no-such-runner",
        advice,
    ] {
        assert!(shown.contains(part), "{part}: {said}");
    }
    assert_eq!(
        said.out.matches(advice).count(),
        1,
        "once for both commands: {said}"
    );
    world.ticket("t-1").agent(DONE).write();
    let said = world.drain_held();
    assert!(joined(&said.out).contains(advice), "{said}");
    assert_eq!(
        (world.runs("t-1"), verdict(&world).as_str()),
        (0, "could_not_run")
    );
    for args in [&["inbox"][..], &["explain", "t-1"], &["doctor"]] {
        let shown = joined(&world.crew(args).out);
        assert!(shown.contains(advice), "{args:?}: {shown}");
        assert!(
            shown.contains("since no-such-runner is not found on its PATH"),
            "{args:?}: {shown}"
        );
    }
}

#[test]
fn a_program_that_a_set_up_of_workspaces_does_not_find_is_named_with_what_to_do() {
    let world = World::with(|s| s.land = "[workspace]\nsetup = ['no-such-runner sync']".to_owned());
    world.ticket("t-1").agent(DONE).write();
    world.drain_held();
    let (held, note) = world.held("t-1");
    assert_eq!(held, "could_not_run");
    let advice = "install no-such-runner, or set another command in crew.toml under [workspace]";
    assert!(note.contains(advice), "{note}");
}

/// A world whose set-up reads a file that crew does not know.
fn unknown_input() -> World {
    let world = World::with(|s| {
        s.checks =
            "setup = ['echo ran >> \"$HOME/n\"; sh make.sh']\ncommands = ['cmp source made']".to_owned();
    });
    world.commit(".gitignore", "made\n");
    world.commit("package.json", "{}\n");
    world.commit("make.sh", "cp source made\n");
    world.commit("source", "one\n");
    world
}

fn set_ups(world: &World) -> usize {
    fs::read_to_string(world.path("home/n")).unwrap().lines().count()
}

#[test]
fn a_red_target_whose_set_up_was_kept_says_so_and_a_fresh_one_can_be_had() {
    let world = unknown_input();
    world.ticket("t-1").agent("work t x\necho DONE").write();
    world.drain_all();
    assert_eq!(set_ups(&world), 1);
    world.commit("source", "two\n");
    world.ticket("t-2").agent("work u x\necho DONE").write();
    let said = world.drain_held();
    assert_eq!(
        (set_ups(&world), verdict(&world).as_str()),
        (1, "failed"),
        "{said}"
    );
    assert!(said.out.contains("its set-up was kept"), "{said}");
    for args in [
        &["inbox"][..],
        &["explain", "t-2"],
        &["doctor"],
        &["history"],
        &["logs", "--check"],
    ] {
        let shown = joined(&world.crew(args).out);
        for part in [
            "its set-up was kept",
            "[checks] setup_inputs",
            "`crew clean --checks`",
        ] {
            assert!(shown.contains(part), "{args:?}: {part}: {shown}");
        }
    }
    let said = world.must(&["clean", "--checks"]);
    assert!(said.out.contains("runs its set-up anew"), "{said}");
    world.drain_all();
    assert_eq!(set_ups(&world), 2);
    assert!(world.is_landed("t-2"));
    let again = world.must(&["clean", "--checks", "--json"]);
    assert!(again.out.contains("\"was_kept\": true"), "{again}");
    let again = world.must(&["clean", "--checks"]);
    assert!(again.out.contains("no set-up of checks is kept"), "{again}");
}

#[test]
fn naming_the_input_has_the_set_up_run_anew_by_itself() {
    let world = unknown_input();
    world.ticket("t-1").agent("work t x\necho DONE").write();
    world.drain_all();
    world.commit("source", "two\n");
    world.change_settings("[checks]", "[checks]\nsetup_inputs = [\"source\"]");
    world.ticket("t-2").agent("work u x\necho DONE").write();
    world.drain_all();
    assert!(world.is_landed("t-2") && set_ups(&world) == 2);
}

#[test]
fn a_person_and_no_agent_is_told_that_the_set_up_of_a_failed_check_was_kept() {
    let world = unknown_input();
    world
        .ticket("t-1")
        .agent("[ $RUN = 1 ] || { echo 'BLOCKED: no'; exit; }\nwork source two\necho DONE")
        .write();
    let said = world.drain_held();
    assert!(said.out.contains("its set-up was kept"), "{said}");
    let logs = world.must(&["logs", "--check", "t-1"]);
    assert!(logs.out.contains("its set-up was kept"), "{logs}");
    let prompt = world.prompt("t-1", 2);
    assert!(
        prompt.contains("(exit code 1)") && !prompt.contains("set-up was kept"),
        "{prompt}"
    );
    // The set-up of a failed check that ran for its own commit is not mentioned.
    let world = unknown_input();
    world.commit("source", "one \n");
    world.commit("make.sh", "cp README made\n");
    world.ticket("t-1").agent(DONE).write();
    let said = world.drain_held();
    assert!(!said.out.contains("its set-up was kept"), "{said}");
    let logs = world.must(&["logs", "--check"]);
    assert!(!logs.out.contains("its set-up was kept"), "{logs}");
}

#[test]
fn a_line_that_points_at_the_line_above_it_keeps_its_place_everywhere() {
    let world = World::with(|s| {
        s.checks = "commands = ['''printf \"3 |     x\\n  |     ^^^ here\\n\"; exit 1''']".to_owned();
    });
    world.ticket("t-1").agent(DONE).write();
    let said = world.drain_held();
    let pointed = |text: &str| {
        let lines: Vec<&str> = text
            .lines()
            .filter_map(|line| line.split_once("│ "))
            .map(|it| it.1)
            .collect();
        lines
            .windows(2)
            .any(|two| two == ["3 |     x", "  |     ^^^ here"])
    };
    assert!(pointed(&said.out), "{said}");
    for args in [&["inbox"][..], &["explain", "t-1"], &["doctor"], &["history"]] {
        let shown = world.crew(args);
        assert!(pointed(&shown.out), "{args:?}: {shown}");
    }
}

#[test]
fn a_renamed_file_is_no_ticket_that_a_person_has_taken() {
    let world = World::new();
    world.ticket("t-1").agent("echo 'QUESTION: which?'").write();
    world.drain_held();
    fs::rename(world.ticket_file("t-1"), world.ticket_file("renamed")).unwrap();
    // Before an engine has seen that, and after.
    for _ in 0..2 {
        let queue = world.must(&["queue"]).out;
        assert!(!queue.contains("taken") && queue.contains("t-1"), "{queue}");
        let inbox = world.crew(&["inbox"]).out;
        assert!(inbox.contains("rename renamed.md to t-1.md again"), "{inbox}");
        let explained = world.must(&["explain", "renamed"]).out;
        assert!(
            explained.contains("seems to be the file of t-1 under another name"),
            "{explained}"
        );
        world.drain_held();
    }
    fs::rename(world.ticket_file("renamed"), world.ticket_file("t-1")).unwrap();
    assert!(!world.crew(&["inbox"]).out.contains("rename"));
}

#[test]
fn a_ticket_that_was_closed_before_an_engine_saw_it_is_closed_and_not_unknown() {
    let world = World::new();
    world.ticket("t-1").status("closed").write();
    let explained = world.must(&["explain", "t-1"]).out;
    assert!(
        explained.contains("state: closed") && explained.contains("its file's status is closed"),
        "{explained}"
    );
}

#[test]
fn of_two_problems_of_a_ticket_each_stands_above_its_own_hint() {
    let world = World::new();
    world.ticket("t-1").agent("echo 'BLOCKED: no key'").write();
    world.drain_held();
    fs::rename(world.ticket_file("t-1"), world.ticket_file("renamed")).unwrap();
    let explained = world.must(&["explain", "t-1"]).out;
    let mut rest = explained.as_str();
    for part in [
        "no key",
        "hint: `crew retry t-1`",
        "its file is gone",
        "hint: `crew ticket reopen t-1` or `crew ticket close t-1`",
    ] {
        let at = rest.find(part).unwrap_or_else(|| panic!("{part}: {explained}"));
        rest = &rest[at + part.len()..];
    }
    assert!(!rest.contains("hint:"), "{explained}");
}

#[test]
fn the_steps_at_a_ticket_are_shown_whichever_agent_had_it() {
    let world = World::new();
    world.ticket("t-1").agent("echo one\nwork t x\necho DONE").write();
    world
        .ticket("t-2")
        .agent("echo other\nwork u x\necho DONE")
        .write();
    world.ticket("t-3").kind("epic").write();
    world.drain_all();
    let shown = world.must(&["logs", "t-1"]).out;
    assert!(
        shown.contains("── t-1, step 1 ") && shown.contains("\none\n") && !shown.contains("other"),
        "{shown}"
    );
    let none = world.must(&["logs", "t-3"]).out;
    assert!(none.contains("no agent has been at t-3 yet"), "{none}");
    let said = world.crew(&["logs", "--follow", "t-1"]);
    assert!(
        said.code == Some(1) && said.err.contains("takes an agent"),
        "{said}"
    );
}

#[test]
fn failures_in_a_row_are_counted_beyond_a_retry() {
    let world = World::new();
    world.ticket("t-1").agent("echo $RUN; exit $RUN").write();
    let engine = world.engine();
    world.wait("it has failed twice", || world.count("t-1", "step_failed") == 2);
    world.must(&["retry", "t-1"]);
    world.wait("it has failed again", || world.count("t-1", "step_failed") == 3);
    for args in [&["history", "t-1"][..], &["explain", "t-1"]] {
        let shown = joined(&world.must(args).out);
        assert!(
            shown.contains("3 in a row, 1 of 5 since it was last retried"),
            "{args:?}: {shown}"
        );
    }
    super::target::stop(&world, engine);
}
