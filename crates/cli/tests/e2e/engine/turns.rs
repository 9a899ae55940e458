//! Turns in a shared workspace: what a child does that is not done goes out of it again, and is kept.

use testkit::world::World;

const LEADER: &str = r#"case "$RUN" in
1) work base base; echo mine > mine
   "$CREW_TOOL" tool delegate '{"tasks": [{"title": "One"}, {"title": "Two"}]}' ;;
*) git status --porcelain > "$LOGS/status"; echo DONE ;;
esac
"#;

/// The first child does what is not wanted, and is at work still; the second one wants to find nothing of it.
fn world() -> World {
    let world = World::new();
    world.script(
        "t-1-c1",
        "work danger danger\necho left > danger.left\necho changed > base\ntouch \"$GATES/worked\"\nuntil_there \"$GATES/never\"",
    );
    world.script(
        "t-1-c2",
        "test ! -e danger -a ! -e danger.left || exit 1\nwork two two\necho DONE",
    );
    world.ticket("t-1").line("tags: [leader]").agent(LEADER).write();
    world
}

fn assert_put_back(world: &World, when: &str) {
    assert_eq!(world.state_name("t-1"), "done/landed", "{when}");
    assert_eq!(world.state_name("t-1-c1"), "done/dropped", "{when}");
    assert_eq!(world.on_main("danger"), None, "{when}");
    assert_eq!(world.on_main("danger.left"), None, "{when}");
    for (file, content) in [("base", "base\n"), ("mine", "mine\n"), ("two", "two\n")] {
        assert_eq!(world.on_main(file).as_deref(), Some(content), "{when}: {file}");
    }
    assert_eq!(world.read("../logs/status"), "", "{when}");
    let kept = world.json(&["explain", "t-1-c1"])["kept"].clone();
    assert_eq!(kept[0]["place"], "refs/crew/attempts/t-1-c1/1", "{when}: {kept}");
    let left = world.git(&["show", "refs/crew/attempts/t-1-c1/1:danger.left"]);
    assert_eq!(left.trim(), "left", "{when}");
}

#[test]
fn what_a_dropped_child_did_is_kept_and_does_not_land_though_the_engine_is_killed() {
    for point in [
        "",
        "begun.keep_work",
        "keep.kept",
        "move.noted",
        "move.filled",
        "move.moved",
        "performed.keep_work",
    ] {
        let world = world();
        world.around("CREW_FAILPOINT_AT", point);
        let mut engine = world.engine();
        world.wait("it has worked", || world.path("gates/worked").exists());
        world.crew(&["drop", "t-1-c1", "dangerous, not wanted"]);
        if point.is_empty() {
            world.wait("it has landed", || world.state_name("t-1") == "done/landed");
            world.must(&["stop"]);
            engine.end();
        } else {
            assert_eq!(engine.end().signal, Some(9), "{point}");
            world.around("CREW_FAILPOINT_AT", "");
            world.drain_all();
        }
        assert_put_back(&world, point);
        let prompt = world.prompt("t-1", 2);
        assert!(
            prompt.contains("What its agent did is not in this folder"),
            "{prompt}"
        );
    }
}

#[test]
fn a_child_cannot_take_away_what_was_there_before_it() {
    let world = world();
    world.script("t-1-c1", "work danger danger\necho DONE");
    world.script("t-1-c2", "git reset -q --hard HEAD~2\nwork two two\necho DONE");
    world.drain_all();
    assert_eq!(world.state_name("t-1-c1"), "done/landed");
    assert_eq!(world.state_name("t-1-c2"), "done/dropped");
    assert_eq!(world.on_main("danger").as_deref(), Some("danger\n"));
    assert_eq!(world.on_main("base").as_deref(), Some("base\n"));
    assert_eq!(world.on_main("two"), None);
    let prompt = world.prompt("t-1", 2);
    assert!(
        prompt.contains("it has taken commits of others out of the branch"),
        "{prompt}"
    );
}
