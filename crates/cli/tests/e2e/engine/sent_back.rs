//! Children whose branch or folder crew cannot take: each is sent back with the reason, and what never
//! becomes fit goes out of its leader's folder, whatever it is.

use testkit::world::World;

/// The points of taking half a merge out of a workspace.
const POINTS: [&str; 2] = ["clear.noted", "clear.filled"];

/// Whether a test here kills an engine at this point.
pub(crate) fn has(point: &str) -> bool {
    POINTS.contains(&point)
}

/// A merge that is in conflict, begun and not ended.
const HALF: &str =
    "git checkout -q -b side; work danger a; git checkout -q -; work danger b; git merge -q side || true";

/// A leader with two children, the first of which does this; `task` is more in its task.
fn world(first: &str, task: &str) -> World {
    let world = World::new();
    world.script("t-1-c1", &format!("{first}\necho DONE"));
    world.script("t-1-c2", "work two two\necho DONE");
    let leader = format!(
        "case \"$RUN\" in\n1) work base base; echo mine > mine\n\
         \"$CREW_TOOL\" tool delegate '{{\"tasks\": [{{\"title\": \"One\"{task}}}, {{\"title\": \"Two\"}}]}}' ;;\n\
         *) git status --porcelain > \"$LOGS/status\"; echo DONE ;;\nesac\n"
    );
    world.ticket("t-1").line("tags: [leader]").agent(&leader).write();
    world
}

fn is_sent_back(begun: &str, told: &str, ends: &str, task: &str) {
    let world = world(
        &format!("if [ $RUN = 1 ]; then\n{begun}\nelse\n{ends}\nwork one one\nfi"),
        task,
    );
    world.drain_all();
    for id in ["t-1", "t-1-c1", "t-1-c2"] {
        assert_eq!(world.state_name(id), "done/landed", "{begun}: {id}");
    }
    let prompt = world.prompt("t-1-c1", 2);
    assert!(prompt.contains(told), "{begun}: {prompt}");
    let runs = ["t-1", "t-1-c1", "t-1-c2"].map(|id| world.runs(id));
    assert_eq!(runs, [2, 2, 1], "{begun}");
    for file in ["one", "two"] {
        assert!(world.on_main(file).is_some(), "{begun}: {file}");
    }
    assert_eq!(world.read("../logs/status"), "", "{begun}");
}

#[test]
fn a_child_in_the_middle_of_a_merge_is_sent_back_to_end_it() {
    is_sent_back(HALF, "git merge --abort", "git merge --abort", "");
    let ends = "git checkout -q --ours danger; git commit -qam merged";
    is_sent_back(HALF, "git merge --continue", ends, ", \"share\": false");
}

#[test]
fn a_child_that_leaves_a_repository_is_sent_back_to_remove_it() {
    let nested = "git init -q inner; (cd inner; git config user.name x; git config user.email x@x; work x x)";
    is_sent_back(nested, "inner", "rm -rf inner", "");
    is_sent_back(nested, "inner", "rm -rf inner", ", \"share\": false");
}

#[test]
fn a_child_that_leaves_a_file_that_is_too_large_is_sent_back_to_remove_it() {
    let large = "truncate -s 1200M big";
    is_sent_back(large, "too large to be saved", "rm big", "");
}

/// What stood there before its turn is its leader's, and is not to be rewritten.
#[test]
fn a_child_is_told_to_mend_its_own_turn_alone() {
    let begun = "git rev-parse HEAD > \"$LOGS/start\"; mkdir -p .crew; echo x > .crew/x\n\
                 git add -f .crew/x; git commit -qm x";
    let ends = "git rm -q -r --cached .crew; git commit -qm out; rm -f .crew/x";
    let world = world(
        &format!("if [ $RUN = 1 ]; then\n{begun}\nelse\n{ends}; work one one\nfi"),
        "",
    );
    world.drain_all();
    let start = world.read("../logs/start");
    let prompt = world.prompt("t-1-c1", 2);
    let told = format!("git checkout {} -- ", start.trim());
    assert!(prompt.contains(&told), "{told}: {prompt}");
    assert_eq!(world.state_name("t-1-c1"), "done/landed");
    assert_eq!(world.on_main("mine").as_deref(), Some("mine\n"));
}

#[test]
fn half_a_merge_that_is_never_ended_is_kept_apart_though_the_engine_is_killed() {
    for point in ["", POINTS[0], POINTS[1]] {
        let first = format!("[ $RUN != 1 ] || {{ {HALF}; git init -q inner; (cd inner; work x x); }}");
        let world = world(&first, "");
        if !point.is_empty() {
            world.around("CREW_FAILPOINT_AT", point);
            assert_eq!(world.engine().end().signal, Some(9), "{point}");
            world.around("CREW_FAILPOINT_AT", "");
        }
        world.drain_all();
        let states = ["t-1", "t-1-c1", "t-1-c2"].map(|id| world.state_name(id));
        assert_eq!(states, ["done/landed", "done/dropped", "done/landed"], "{point}");
        assert_eq!(world.runs("t-1-c1"), 3, "{point}");
        for (file, content) in [("danger", None), ("base", Some("base\n")), ("two", Some("two\n"))] {
            assert_eq!(world.on_main(file).as_deref(), content, "{point}: {file}");
        }
        let prompt = world.prompt("t-1", 2);
        assert!(
            prompt.contains("its branch was refused 3 times in a row"),
            "{prompt}"
        );
        assert_eq!(world.read("../logs/status"), "", "{point}");
        let kept = world.git(&["show", "refs/crew/attempts/t-1-c1/1:danger"]);
        assert!(kept.contains("<<<<<<<"), "{point}: {kept}");
    }
}

/// A folder with something that git cannot keep is set aside as it is, and nobody waits for a person.
#[test]
fn a_folder_that_cannot_be_kept_is_set_aside_and_its_leader_begins_anew() {
    let world = world(
        "[ $RUN != 1 ] || { work danger danger; truncate -s 1200M big; }",
        "",
    );
    world.ticket("t-1").line("tags: [leader]").agent(
        "case \"$RUN\" in\n1) work base base\n\
         \"$CREW_TOOL\" tool delegate '{\"tasks\": [{\"title\": \"One\"}]}' ;;\n*) work late late; echo DONE ;;\nesac\n",
    ).write();
    world.drain_all();
    assert_eq!(
        (world.state_name("t-1"), world.state_name("t-1-c1")),
        ("done/landed".to_owned(), "done/dropped".to_owned())
    );
    for (file, content) in [
        ("danger", None),
        ("base", Some("base\n")),
        ("late", Some("late\n")),
    ] {
        assert_eq!(world.on_main(file).as_deref(), content, "{file}");
    }
    let kept = world.json(&["explain", "t-1-c1"])["kept"].to_string();
    assert!(kept.contains('~'), "{kept}");
}

#[test]
fn children_do_not_begin_in_the_middle_of_their_leaders_merge() {
    let world = World::new();
    for child in ["t-1-c1", "t-1-c2"] {
        world.script(child, &format!("work {child} {child}\necho DONE"));
    }
    let leader = format!(
        "delegate() {{ \"$CREW_TOOL\" tool delegate \"{{\\\"tasks\\\": [$1]}}\"; }}\n\
         case \"$RUN\" in\n1) {HALF}; delegate '{{\"title\": \"One\"}}' ;;\n\
         2) git merge --abort; delegate '{{\"title\": \"Two\", \"share\": false}}' ;;\n*) echo DONE ;;\nesac\n"
    );
    world.ticket("t-1").line("tags: [leader]").agent(&leader).write();
    world.drain_all();
    let prompt = world.prompt("t-1", 2);
    for told in ["it did not begin", "git merge --abort"] {
        assert!(prompt.contains(told), "{told}: {prompt}");
    }
    assert_eq!((world.runs("t-1-c1"), world.runs("t-1")), (0, 3));
    assert_eq!(world.on_main("t-1-c2").as_deref(), Some("t-1-c2\n"));
    assert_eq!(world.state_name("t-1-c2"), "done/landed");
}
