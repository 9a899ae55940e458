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
