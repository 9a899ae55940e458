//! Turns in a shared workspace: what a child does that is not done goes out of it again, and is kept.

use testkit::world::World;

use crate::faults::mounts::alone;

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

/// What a child leaves in the folder beside its commits, and what the next one would suffer from.
const LEFT: [(&str, &str); 6] = [
    (
        "a rule that hides files of others",
        "echo 'two' >> .git/info/exclude\necho danger > danger",
    ),
    (
        "a rule in the branch that hides its own",
        "echo danger > .gitignore\ngit add -A\ngit commit -qm rule\necho danger > danger",
    ),
    (
        "a rule in the branch that is not committed",
        "echo danger > .gitignore\necho danger > danger",
    ),
    (
        "a mark by which git does not look at a file",
        "git update-index --skip-worktree base\necho hidden >> base\necho danger > danger",
    ),
    (
        "no branch",
        "b=$(git symbolic-ref --short HEAD)\ngit checkout -q --detach\ngit branch -qD \"$b\"\necho danger > danger",
    ),
    (
        "a name for the commits of others",
        "git config user.name mallory\necho danger > danger",
    ),
];

#[test]
fn what_a_child_that_is_given_up_leaves_in_the_folder_and_in_its_git_hurts_nobody_after_it() {
    for (what, does) in LEFT {
        let world = world();
        world.script("t-1-c1", &format!("{does}\necho 'BLOCKED: no'"));
        world.script(
            "t-1-c2",
            "test ! -e danger || exit 1\necho more >> base\nwork two two\necho DONE",
        );
        world.drain_all();
        assert_eq!(world.state_name("t-1-c1"), "done/dropped", "{what}");
        assert_eq!(world.state_name("t-1"), "done/landed", "{what}");
        assert_eq!(world.on_main("danger"), None, "{what}");
        assert_eq!(world.on_main("two").as_deref(), Some("two\n"), "{what}");
        assert_eq!(world.on_main("base").as_deref(), Some("base\nmore\n"), "{what}");
        assert_eq!(world.git(&["log", "main", "--author=mallory"]), "", "{what}");
        let refs = world.git(&["for-each-ref", "--format=%(refname)", "refs/crew/attempts/t-1-c1"]);
        let is_kept = |name: &str| world.git(&["ls-tree", "--name-only", name]).contains("danger");
        assert!(refs.lines().any(is_kept), "{what}: {refs}");
    }
}

#[test]
fn what_a_child_has_mounted_in_the_folder_stays_whole_and_lands_nowhere() {
    alone(
        module_path!(),
        "what_a_child_has_mounted_in_the_folder_stays_whole_and_lands_nowhere",
        || {
            let world = world();
            let precious = world.path("precious");
            std::fs::create_dir_all(&precious).unwrap();
            std::fs::write(precious.join("a"), "a person's").unwrap();
            world.script(
                "t-1-c1",
                &format!(
                    "mkdir m\nmount --bind '{}' m\necho danger > danger\necho 'BLOCKED: no'",
                    precious.display()
                ),
            );
            world.drain_all();
            assert_eq!(world.state_name("t-1"), "done/landed");
            assert_eq!((world.on_main("danger"), world.on_main("m/a")), (None, None));
            assert_eq!(std::fs::read_to_string(precious.join("a")).unwrap(), "a person's");
        },
    );
}

#[test]
fn a_branch_that_a_person_has_checked_out_is_told_with_what_helps_and_keeps_no_ticket_from_ending() {
    for is_dropped in [false, true] {
        let world = world();
        world.script(
            "t-1-c1",
            "touch \"$GATES/worked\"\nuntil_there \"$GATES/go\"\nwork one one\necho DONE",
        );
        world.script("t-1-c2", "work two two\necho DONE");
        let mut engine = world.engine();
        world.wait("it is at work", || world.path("gates/worked").exists());
        let agent = world.state("t-1").attempt().unwrap().claim.agent.clone();
        let branch = format!("agent/{agent}-t-1");
        world.git(&["switch", "-q", &branch]);
        world.open("go");
        let told = "switch to another branch there (git switch -)";
        world.wait("a person is told", || {
            world.crew(&["--json", "inbox"]).out.contains(told)
        });
        // Others go on meanwhile.
        world.ticket("t-2").agent("work other x\necho DONE").write();
        world.wait("another one lands", || world.is_landed("t-2"));
        if is_dropped {
            world.must(&["drop", "t-1", "not wanted"]);
            for id in ["t-1-c1", "t-1"] {
                world.wait("it ends", || world.state_name(id) == "done/dropped");
            }
            world.wait("its work is kept", || {
                let refs = world.git(&["for-each-ref", "--format=%(refname)", "refs/crew/attempts/t-1-c1"]);
                !refs.is_empty()
            });
            let shown = world.git(&["symbolic-ref", "--short", "HEAD"]);
            assert_eq!(shown.trim(), branch, "a person looks at it still");
        } else {
            world.git(&["switch", "-q", "-"]);
            world.wait("it lands", || world.is_landed("t-1"));
            assert_eq!(world.on_main("one").as_deref(), Some("one\n"));
        }
        world.must(&["stop"]);
        engine.end();
    }
}
