//! Children with workspaces of their own: side by side, merged into their parent's, through conflicts and
//! kills.

use testkit::world::World;

/// The points of a merge into a parent's workspace.
const POINTS: [&str; 3] = ["move.noted", "move.filled", "move.moved"];

/// Whether a test here kills an engine at this point.
pub(crate) fn has(point: &str) -> bool {
    POINTS.contains(&point)
}

/// A leader with uncommitted work that delegates to two with workspaces of their own, then to one that shares
/// its, and says what it finds.
const LEADER: &str = r#"case "$RUN" in
1) echo begun > begun
   "$CREW_TOOL" tool delegate '{"tasks": [{"title": "One", "share": false}, {"title": "Two", "share": false}, {"title": "Three"}]}' \
    >> "$LOGS/answers" 2>&1 ;;
*) git status --porcelain > "$LOGS/status"; git log --format=%s > "$LOGS/log"; cat one two three > whole
   git add -A && git commit -qm whole && echo DONE ;;
esac
"#;

/// A child that begins with its parent's files, meets `other` at work, and leaves a file uncommitted.
fn beside(name: &str, other: &str) -> String {
    format!(
        "test -f begun || exit 1\ntouch \"$GATES/{name}\"\nuntil_there \"$GATES/{other}\"\nwork {name} {name}\necho left > {name}.left\n\
         echo 'SUMMARY: wrote {name}'\necho DONE"
    )
}

fn world() -> World {
    let world = World::with(|s| s.agents = "count = 3".to_owned());
    world.script("t-1-c1", &beside("one", "two"));
    world.script("t-1-c2", &beside("two", "one"));
    world.script(
        "t-1-c3",
        "cat one.left two.left || exit 1\nwork three three\necho DONE",
    );
    world.ticket("t-1").line("tags: [leader]").agent(LEADER).write();
    world
}

fn assert_landed(world: &World, when: &str) {
    for id in ["t-1", "t-1-c1", "t-1-c2", "t-1-c3"] {
        assert_eq!(world.state_name(id), "done/landed", "{when}");
        assert_eq!(world.front(id, "status"), "closed", "{when}");
    }
    let whole = world.on_main("whole");
    assert_eq!(whole.as_deref(), Some("one\ntwo\nthree\n"), "{when}");
    for file in ["one.left", "two.left"] {
        assert_eq!(world.on_main(file).as_deref(), Some("left\n"), "{when}");
    }
    let status = world.read("../logs/status");
    assert_eq!(status, "", "{when}: a merge leaves nothing uncommitted");
    assert_eq!(world.workspaces(), Vec::<std::path::PathBuf>::new(), "{when}");
    let runs = ["t-1", "t-1-c1", "t-1-c2", "t-1-c3"].map(|id| world.runs(id));
    assert_eq!(runs, [2, 1, 1, 1], "{when}");
}

#[test]
fn children_with_workspaces_of_their_own_work_side_by_side_and_are_merged() {
    let world = world();
    world.drain_all();
    assert_landed(&world, "");
    let folders = ["t-1", "t-1-c1", "t-1-c2", "t-1-c3"].map(|id| world.variable(id, 1, "PWD"));
    assert_ne!(folders[1], folders[0]);
    assert_ne!(folders[1], folders[2]);
    assert_eq!(folders[3], folders[0], "it shares its parent's");
    let log = world.read("../logs/log");
    assert!(
        log.contains("Merge t-1-c1: One") && log.contains("Merge t-1-c2: Two"),
        "{log}"
    );
    let prompt = world.prompt("t-1", 2);
    for told in ["t-1-c1: One", "It is done: 1 commit, 1 file", "> wrote two"] {
        assert!(prompt.contains(told), "{told}: {prompt}");
    }
    world.assert_at_rest();
}

#[test]
fn an_engine_that_is_killed_while_a_child_is_merged_comes_to_the_same() {
    // The kill test of a team dies before and after the merge.
    for point in POINTS {
        let world = world();
        world.around("CREW_FAILPOINT_AT", point);
        let mut engine = world.engine();
        assert_eq!(engine.end().signal, Some(9), "{point}");
        world.around("CREW_FAILPOINT_AT", "");
        world.drain_all();
        assert_landed(&world, point);
    }
}

/// Two children change the same file side by side, so that the second one does not merge; `then` is what
/// their leader does.
fn in_conflict(then: &str) -> World {
    let world = World::with(|s| s.agents = "count = 3".to_owned());
    world.script("t-1-c1", "work same mine\necho DONE");
    world.script(
        "t-1-c2",
        "until_there \"$GATES/merged\"\nwork same yours\necho DONE",
    );
    let delegates = r#""$CREW_TOOL" tool delegate '{"tasks": [{"title": "One", "share": false}, {"title": "Two", "share": false}]}'"#;
    let leader = format!("case \"$RUN\" in\n1) {delegates} ;;\n*) {then} ;;\nesac\n");
    world.ticket("t-1").line("tags: [leader]").agent(&leader).write();
    let mut engine = world.engine();
    world.wait("the first one is merged", || {
        world.state_name("t-1-c1") == "verify/unified"
    });
    world.open("merged");
    world.wait("its leader has landed", || {
        world.state_name("t-1") == "done/landed"
    });
    world.must(&["stop"]);
    engine.end();
    let prompt = world.prompt("t-1", 2);
    for told in [
        "It is done, but its work is not in this folder",
        "> its work is in conflict with that of t-1, in same",
    ] {
        assert!(prompt.contains(told), "{told}: {prompt}");
    }
    assert!(
        !prompt.contains("crew explain"),
        "no command of a person's: {prompt}"
    );
    world
}

/// The leader does what its prompt says: the objects of the child are in its workspace.
#[test]
fn a_child_in_conflict_lands_with_the_leader_that_merges_it() {
    let merges = r#"show=$(grep -o 'git log HEAD\.\.[0-9a-f]*' "$LOGS/t-1.2.prompt" | head -n 1)
   merge=$(grep -o 'git merge [0-9a-f]*' "$LOGS/t-1.2.prompt" | head -n 1)
   $show --format=%s > "$LOGS/shown"; $merge || true; printf 'mine\nyours\n' > same
   git add -A && git commit -qm resolved && echo DONE"#;
    let world = in_conflict(merges);
    assert_eq!(world.on_main("same").as_deref(), Some("mine\nyours\n"));
    assert_eq!(world.read("../logs/shown").lines().count(), 1);
    for id in ["t-1-c1", "t-1-c2"] {
        assert_eq!(world.state_name(id), "done/landed", "{id}");
    }
}

#[test]
fn a_child_in_conflict_that_its_leader_does_without_is_dropped_and_kept() {
    let world = in_conflict("work whole whole; echo DONE");
    assert_eq!(world.on_main("same").as_deref(), Some("mine\n"));
    assert_eq!(
        (world.state_name("t-1-c1"), world.state_name("t-1-c2")),
        ("done/landed".to_owned(), "done/dropped".to_owned())
    );
    let kept = world.json(&["explain", "t-1-c2"])["kept"].clone();
    assert_eq!(kept[0]["place"], "refs/crew/attempts/t-1-c2/1", "{kept}");
    let message = world.git(&["log", "-1", "--format=%B", "main"]);
    assert!(!message.contains("t-1-c2"), "{message}");
}

/// A leader that leaves its folder on a branch of its own, with a file that is not committed: what is saved
/// there is on no branch.
fn elsewhere(delegates: &str) -> World {
    let world = World::with(|s| s.agents = "count = 3".to_owned());
    world.script("t-1-c1", "work one one\necho left > one.left\necho DONE");
    world.script("t-1-c2", "work two two\necho DONE");
    let leader = format!(
        "case \"$RUN\" in\n1) work base base; git checkout -q -b elsewhere; echo mine > mine\n\
         \"$CREW_TOOL\" tool delegate '{{\"tasks\": [{delegates}]}}' ;;\n*) echo DONE ;;\nesac"
    );
    world.ticket("t-1").line("tags: [leader]").agent(&leader).write();
    world.drain_all();
    assert_eq!(world.state_name("t-1"), "done/landed");
    assert_eq!(world.on_main("mine").as_deref(), Some("mine\n"));
    let rescued = world.git(&["for-each-ref", "--format=%(refname)", "refs/crew/rescue"]);
    assert!(rescued.lines().count() <= 6, "{rescued}");
    world
}

#[test]
fn children_bring_a_folder_that_shows_another_branch_back_to_its_own() {
    for (delegates, files) in [
        (r#"{"title": "Only", "share": false}"#, ["one.left", "base"]),
        (
            r#"{"title": "One"}, {"title": "Two", "share": false}"#,
            ["one.left", "two"],
        ),
    ] {
        let world = elsewhere(delegates);
        assert_eq!(world.state_name("t-1-c1"), "done/landed", "{delegates}");
        for file in files {
            assert!(world.on_main(file).is_some(), "{delegates}: {file}");
        }
    }
}

/// The merge has its commit, and nothing of what it did.
#[test]
fn a_child_in_conflict_whose_work_its_leaders_merge_leaves_out_is_dropped() {
    let merges = r#"$(grep -o 'git merge [0-9a-f]*' "$LOGS/t-1.2.prompt" | head -n 1) -q -s ours -m merged
   work whole whole; echo DONE"#;
    let world = in_conflict(merges);
    assert_eq!(world.on_main("same").as_deref(), Some("mine\n"));
    assert_eq!(
        (world.state_name("t-1-c1"), world.state_name("t-1-c2")),
        ("done/landed".to_owned(), "done/dropped".to_owned())
    );
    let kept = world.json(&["explain", "t-1-c2"])["kept"].clone();
    assert_eq!(kept[0]["place"], "refs/crew/attempts/t-1-c2/1", "{kept}");
}
