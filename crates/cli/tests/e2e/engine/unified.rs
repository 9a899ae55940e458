//! What crew says of a child's work is true: which commits it has, whether they are in what lands, and whose
//! they are.

use testkit::world::World;

const DELEGATES: &str = r#""$CREW_TOOL" tool delegate '{"tasks": [{"title": "One"}, {"title": "Two"}]}'"#;

/// Two children, the second of which changes nothing; `then` is what the leader does once they are over.
fn world(then: &str) -> World {
    let world = World::new();
    world.script("t-1-c1", "work one 1; work more 1\necho DONE");
    world.script("t-1-c2", "echo DONE");
    let leader = format!("case \"$RUN\" in\n1) work base base; {DELEGATES} ;;\n{then}\nesac\n");
    world.ticket("t-1").line("tags: [leader]").agent(&leader).write();
    world
}

#[test]
fn a_leader_hears_what_each_child_changed_and_the_merge_names_those_that_did() {
    let world = world("*) echo DONE ;;");
    world.drain_all();
    let prompt = world.prompt("t-1", 2);
    assert!(
        prompt.contains("It is done: 2 commits, 2 files: more, one."),
        "{prompt}"
    );
    assert!(
        prompt.contains("It says that it is done; it changed nothing."),
        "{prompt}"
    );
    let explain = world.must(&["explain", "t-1-c2"]).out;
    assert!(explain.contains("has changed nothing itself"), "{explain}");
    let message = world.git(&["log", "-1", "--format=%B", "main"]);
    let part = format!(
        "Part: t-1-c1 by {}",
        world.variable("t-1-c1", 1, "CREW_AGENT").unwrap()
    );
    assert!(
        message.contains(&part) && !message.contains("t-1-c2"),
        "{message}"
    );
}

#[test]
fn the_commits_of_a_child_are_its_own_agents() {
    let world = world("*) echo DONE ;;");
    let leader = format!(
        "case \"$RUN\" in\n1) work base base; echo mine > mine; {DELEGATES} ;;\n*) echo DONE ;;\nesac\n"
    );
    world.script("t-1", &leader);
    world.script("t-1-c2", "work two 2; echo left > left\necho DONE");
    world.drain_all();
    let agent = |id: &str| world.variable(id, 1, "CREW_AGENT").unwrap();
    let author = |file: &str| {
        world
            .git(&["log", "-1", "--format=%an", "main", "--", file])
            .trim()
            .to_owned()
    };
    assert_eq!(author("base"), agent("t-1"));
    assert_eq!(
        author("mine"),
        agent("t-1"),
        "crew committed it before the turn of a child"
    );
    assert_eq!(author("one"), agent("t-1-c1"));
    assert_eq!(author("left"), agent("t-1-c2"), "crew committed it");
}

#[test]
fn a_child_whose_commits_its_leader_takes_away_has_not_landed() {
    let world = world("*) git reset -q --hard HEAD~2; work mine mine; echo DONE ;;");
    world.drain_all();
    assert_eq!(
        (world.state_name("t-1"), world.on_main("one")),
        ("done/landed".to_owned(), None)
    );
    assert_eq!(world.state_name("t-1-c1"), "done/dropped");
    let explain = world.json(&["explain", "t-1-c1"]);
    let says = explain["says"].as_str().unwrap_or_default();
    assert!(says.contains("its commits are not in"), "{explain}");
    assert_eq!(
        explain["kept"][0]["place"], "refs/crew/attempts/t-1-c1/1",
        "{explain}"
    );
    let kept = world.git(&["show", "refs/crew/attempts/t-1-c1/1:one"]);
    assert_eq!(kept.trim(), "1");
    let history = world.must(&["history", "t-1"]).out;
    assert!(
        history.contains("its branch has not the commits of t-1-c1 any more"),
        "{history}"
    );
}

#[test]
fn a_leader_that_squashes_the_branch_lands_its_children_with_it() {
    let world = world("*) git reset -q --soft HEAD~3; git commit -q -m whole; echo DONE ;;");
    world.drain_all();
    assert_eq!(world.on_main("one").as_deref(), Some("1\n"));
    assert_eq!(world.state_name("t-1-c1"), "done/landed");
}

/// What a sibling has made of a file afterwards is not the work of nobody.
#[test]
fn a_squash_lands_a_child_whose_file_a_sibling_has_edited_again() {
    let world = world("*) git reset -q --soft HEAD~4; git commit -q -m whole; echo DONE ;;");
    world.script("t-1-c2", "echo 2 > one; git commit -qam two\necho DONE");
    world.drain_all();
    assert_eq!(world.on_main("one").as_deref(), Some("2\n"));
    for child in ["t-1-c1", "t-1-c2"] {
        assert_eq!(world.state_name(child), "done/landed", "{child}");
    }
}

#[test]
fn only_its_own_commits_are_told_of_a_leader() {
    let world = world("*) work whole whole; echo DONE ;;");
    world.drain_all();
    let agent = |id: &str| world.variable(id, 1, "CREW_AGENT").unwrap();
    let summary = world.json(&["summary", "t-1"])["agents"][0].clone();
    assert_eq!(summary["agent"], agent("t-1"), "{summary}");
    let told = summary["work"][0].to_string();
    assert!(told.contains("whole") && !told.contains("\"one\""), "{told}");
    let summary = world.json(&["summary", "t-1-c1"])["agents"][0].clone();
    let told = summary["work"][0].to_string();
    assert!(told.contains("\"one\"") && !told.contains("\"base\""), "{told}");
}

#[test]
fn a_leaders_next_attempt_hears_of_the_children_that_are_done_and_lands_them() {
    let world = world("2) echo 'BLOCKED: no key' ;;\n*) echo DONE ;;");
    world.drain_held();
    assert_eq!(world.state_name("t-1-c1"), "verify/unified");
    world.must(&["retry", "t-1"]);
    world.drain_all();
    let prompt = world.prompt("t-1", 3);
    for told in [
        "Other agents have done parts of it already",
        "## t-1-c1: One",
        "It is done: 2 commits, 2 files",
    ] {
        assert!(prompt.contains(told), "{told}: {prompt}");
    }
    assert_eq!(world.on_main("one").as_deref(), Some("1\n"));
    for child in ["t-1-c1", "t-1-c2"] {
        assert_eq!(
            (world.state_name(child), world.runs(child)),
            ("done/landed".to_owned(), 1)
        );
    }
}

/// Else it would give the same task to somebody again, who fails at the same.
#[test]
fn a_leaders_next_attempt_hears_of_the_child_that_was_given_up() {
    let world = world("2) echo 'BLOCKED: no key' ;;\n*) echo DONE ;;");
    world.script("t-1-c2", "work danger danger; echo 'BLOCKED: no such service'");
    world.drain_held();
    world.must(&["retry", "t-1"]);
    world.drain_all();
    let prompt = world.prompt("t-1", 3);
    for told in [
        "## t-1-c1: One",
        "## t-1-c2: Two",
        "no such service",
        "What its agent did is not in this folder, but in commit",
    ] {
        assert!(prompt.contains(told), "{told}: {prompt}");
    }
    assert_eq!(
        (world.state_name("t-1-c1"), world.state_name("t-1-c2")),
        ("done/landed".to_owned(), "done/dropped".to_owned())
    );
    assert_eq!(world.on_main("danger"), None);
}

/// Half a merge cannot be in a branch: it is kept as it is, and goes out of the folder.
#[test]
fn what_a_dropped_child_has_left_half_done_is_kept_and_its_leader_goes_on() {
    let world = world("*) git status --porcelain > \"$LOGS/status\"; echo DONE ;;");
    world.script(
        "t-1-c1",
        "git checkout -q -b side; work danger a; git checkout -q -; work danger b; git merge -q side || true\n\
         touch \"$GATES/worked\"; until_there \"$GATES/never\"",
    );
    let mut engine = world.engine();
    world.wait("it is in the middle of a merge", || {
        world.path("gates/worked").exists()
    });
    world.must(&["drop", "t-1-c1", "dangerous"]);
    world.wait("it has landed", || world.state_name("t-1") == "done/landed");
    world.must(&["stop"]);
    engine.end();
    assert_eq!(
        (world.on_main("danger"), world.on_main("base").as_deref()),
        (None, Some("base\n"))
    );
    assert_eq!(world.read("../logs/status"), "");
    let kept = world.git(&["show", "refs/crew/attempts/t-1-c1/1:danger"]);
    assert!(kept.contains("<<<<<<<"), "{kept}");
}
