//! Checks with a name and limits of their own.

use testkit::world::World;

/// The document of the check with this name.
fn check(world: &World, name: &str) -> serde_json::Value {
    let document = world.json(&["checks"]);
    let checks = document["checks"].as_array().unwrap();
    let named = checks.iter().find(|check| check["name"] == name);
    named.unwrap_or_else(|| panic!("{document}")).clone()
}

/// The tickets that its last verdicts are about.
fn judged(check: &serde_json::Value) -> Vec<&str> {
    let verdicts = check["verdicts"].as_array().unwrap();
    verdicts
        .iter()
        .filter_map(|verdict| verdict["ticket"].as_str())
        .collect()
}

#[test]
fn a_named_check_is_skipped_for_work_that_changes_none_of_its_paths() {
    let world = World::with(|s| {
        s.checks =
            "[[check]]\nname = \"docs\"\ncommand = \"[ ! -e docs/bad ]\"\npaths = [\"docs\"]\n".to_owned();
    });
    world.commit("docs/index", "x\n");
    world.ticket("t-1").agent("work src x\necho DONE").write();
    world.drain_all();
    let docs = check(&world, "docs");
    assert_eq!(
        (docs["skipped"].as_u64(), judged(&docs)),
        (Some(1), Vec::new()),
        "{docs}"
    );
    let told = world.must(&["history", "t-1"]).out;
    assert!(told.contains("none of their paths: all checks, docs"), "{told}");
    assert!(told.contains("checks passed: docs (skipped)"), "{told}");

    world
        .ticket("t-2")
        .agent("if [ \"$RUN\" = 1 ]; then work docs/bad x; else git rm -q docs/bad; work docs/good x; fi\necho DONE")
        .write();
    world.drain_all();
    let docs = check(&world, "docs");
    assert_eq!(
        judged(&docs),
        ["t-2", "t-2", "t-2"],
        "it fails, the target passes it, it passes: {docs}"
    );
    assert_eq!(world.on_main("docs/bad"), None);
    let shown = world.must(&["checks"]).out;
    assert!(shown.contains("docs") && shown.contains("1 skipped"), "{shown}");
    let forgotten = world.json(&["checks", "--forget"]);
    assert!(forgotten["forgotten"].as_u64() > Some(0), "{forgotten}");
    assert_eq!(world.json(&["checks", "--forget"])["forgotten"], 0);
}

#[test]
fn a_check_that_passes_when_it_is_repeated_lands_the_work_and_is_recorded_as_flaky() {
    let outside = tempfile::tempdir().unwrap();
    let failed = outside.path().join("failed");
    let failed = failed.display();
    let world = World::with(|s| {
        s.checks = format!(
            "[[check]]\nname = \"test\"\nretry = 1\ncommand = '''\
             if [ -e good ] && [ ! -e {failed} ]; then : > {failed}; echo the first try; exit 1; fi; \
             echo the second try'''\n"
        );
    });
    world.ticket("t-1").agent("work good x\necho DONE").write();
    world.drain_all();
    assert_eq!((world.runs("t-1"), world.count("t-1", "checks_failed")), (1, 0));
    let test = check(&world, "test");
    assert_eq!(
        (test["flaky"].as_u64(), test["failed"].as_u64()),
        (Some(1), Some(1)),
        "{test}"
    );
    let told = world.must(&["history", "t-1"]).out;
    assert!(told.contains("checks passed: test (flaky)"), "{told}");
    let recorded = world.json(&["history", "t-1"]).to_string();
    for output in ["the first try", "the second try"] {
        assert!(recorded.contains(output), "{recorded}");
    }
}

#[test]
fn a_branch_that_deletes_the_tests_goes_back_to_its_agent() {
    // The summary of a runner: as many tests as there are files.
    let runner =
        "n=$(ls tests 2>/dev/null | wc -l); echo \"test result: ok. $n passed; 0 failed; 0 ignored\"";
    let world = World::with(|s| {
        s.checks = format!("[[check]]\nname = \"test\"\ncommand = '''{runner}'''\n");
    });
    world.commit("tests/one", "x\n");
    world.commit("tests/two", "x\n");
    world
        .ticket("t-1")
        .agent(
            "if [ \"$RUN\" = 1 ]; then git rm -q -r tests; git commit -q -m less; else git revert --no-edit HEAD >&2; work good x; fi\necho DONE",
        )
        .write();
    world.drain_all();
    assert_eq!((world.runs("t-1"), world.count("t-1", "checks_failed")), (2, 1));
    let told = world.prompt("t-1", 2);
    assert!(
        told.contains("ran no tests, and on the target it ran 2 tests"),
        "{told}"
    );
    assert_eq!(world.on_main("tests/one").as_deref(), Some("x\n"));

    // Where nobody counts, such work lands.
    world.change_settings("name = \"test\"", "name = \"test\"\ntests = \"none\"");
    world
        .ticket("t-2")
        .agent("git rm -q -r tests; git commit -q -m less\necho DONE")
        .write();
    world.drain_all();
    assert_eq!(world.on_main("tests/one"), None);
}

/// A check whose tests are the files of a folder, as a runner sums them up, and ten of them on the target.
fn ten_tests(settings: &str) -> World {
    let runner =
        "n=$(ls tests 2>/dev/null | wc -l); echo \"test result: ok. $n passed; 0 failed; 0 ignored\"";
    let world = World::with(|s| {
        s.checks = format!("[[check]]\nname = \"test\"\ncommand = '''{runner}'''\n{settings}");
    });
    for n in 0..10 {
        world.commit(&format!("tests/{n}"), "x\n");
    }
    world
}

#[test]
fn work_with_less_than_half_of_the_tests_waits_for_a_person() {
    let world = ten_tests("");
    world
        .ticket("t-1")
        .agent("git rm -q tests/[0-6]; git commit -q -m less\necho DONE")
        .write();
    world.drain_held();
    assert_eq!(world.held("t-1").0, "tests");
    let asked = world.crew(&["inbox"]).out;
    assert!(asked.contains("ran 3 tests, and on the target 10"), "{asked}");
    let told = world.must(&["explain", "t-1"]).out;
    for says in [
        "ran 3 tests, and on the target 10",
        "crew approve t-1",
        "crew reject t-1",
    ] {
        assert!(told.contains(says), "{says}: {told}");
    }
    assert!(world.on_main("tests/0").is_some(), "nothing has landed");
    let shown = world.must(&["checks"]).out;
    assert!(shown.contains("fewer tests"), "{shown}");

    world.must(&["approve", "t-1"]);
    world.drain_all();
    assert_eq!(world.on_main("tests/0"), None);
    assert_eq!(world.runs("t-1"), 1, "no agent was asked again");

    // The next work is compared with what landed.
    world.ticket("t-2").agent("work good x\necho DONE").write();
    world.drain_all();
    assert_eq!(world.on_main("good").as_deref(), Some("x\n"));
    assert_eq!(
        check(&world, "test")["verdicts"]
            .as_array()
            .unwrap()
            .last()
            .unwrap()["tests"],
        3
    );
}

#[test]
fn a_person_sends_work_with_fewer_tests_back_to_its_agent() {
    let world = ten_tests("");
    world
        .ticket("t-1")
        .agent(
            "if [ \"$RUN\" = 1 ]; then git rm -q tests/[0-6]; git commit -q -m less; else git revert --no-edit HEAD >&2; work good x; fi\necho DONE",
        )
        .write();
    world.drain_held();
    world.must(&["reject", "t-1", "bring the tests back"]);
    world.drain_all();
    assert!(world.prompt("t-1", 2).contains("bring the tests back"));
    assert_eq!(world.on_main("tests/0").as_deref(), Some("x\n"));
    assert_eq!(world.on_main("good").as_deref(), Some("x\n"));
}

#[test]
fn the_train_finds_the_entry_with_fewer_tests_and_lands_the_others() {
    let world = ten_tests("[train]\nbatch = 4\n");
    for n in 1..=4 {
        let less = if n == 2 {
            "git rm -q tests/[0-6]; git commit -q -m less; "
        } else {
            ""
        };
        world
            .ticket(&format!("t-{n}"))
            .agent(&format!("{less}work good-{n} x\necho DONE"))
            .write();
    }
    world.drain_held();
    let landed = |n: u32| world.on_main(&format!("good-{n}")).is_some();
    assert_eq!([1, 2, 3, 4].map(landed), [true, false, true, true]);
    let told = world.must(&["explain", "t-2"]).out;
    assert!(told.contains("ran 3 tests, and on the target 10"), "{told}");
    world.must(&["approve", "t-2"]);
    world.drain_all();
    assert!(landed(2) && world.on_main("tests/0").is_none());
}

#[test]
fn checks_run_again_when_a_program_of_the_toolchain_answers_otherwise() {
    let outside = tempfile::tempdir().unwrap();
    let version = outside.path().join("version");
    std::fs::write(&version, "1.0\n").unwrap();
    let world = World::with(|s| {
        s.checks = format!(
            "toolchain = [[\"cat\", {:?}]]\n[[check]]\nname = \"test\"\ncommand = \"true\"\n",
            version.display().to_string()
        );
    });
    let passed = |id: &str| {
        let before = check(&world, "test")["passed"].as_u64().unwrap_or(0);
        world.ticket(id).agent(&format!("work {id} x\necho DONE")).write();
        world.drain_all();
        check(&world, "test")["passed"].as_u64().unwrap() - before
    };
    assert_eq!(passed("t-1"), 2, "the target, and the work");
    let shown = world.must(&["checks"]).out;
    assert!(shown.contains("1.0"), "{shown}");
    assert_eq!(passed("t-2"), 1, "the target has passed as the work before");
    std::fs::write(&version, "2.0\n").unwrap();
    assert_eq!(passed("t-3"), 2, "the target too is checked anew");
    assert_eq!(world.json(&["checks"])["toolchain"][0]["answer"], "2.0");

    std::fs::remove_file(&version).unwrap();
    let refused = world.crew(&["run", "--until-idle"]);
    assert!(
        refused.err.contains("[checks] toolchain") && refused.err.contains("exit code 1"),
        "{}",
        refused.err
    );
}
