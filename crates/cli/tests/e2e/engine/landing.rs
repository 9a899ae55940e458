//! The way to the target: conflicts, held paths, and a target that others move too.

use std::fs;

use testkit::world::{DONE, World};

/// Waits until another ticket's file is closed.
fn after(other: &str) -> String {
    format!(
        "tries=0\nuntil grep -q '^status: closed' \"$TICKETS_DIR/{other}.md\"; do tries=$((tries+1)); [ $tries -lt 30000 ] || exit 9; sleep 0.02; done\n"
    )
}

/// What an agent does that was told to merge.
const RESOLVE: &str = "oid=$(sed -n 's/.*`git merge \\([0-9a-f]*\\)`.*/\\1/p' \"$LOGS/$CREW_TICKET_ID.$RUN.prompt\")\n\
                       git merge -q \"$oid\" >/dev/null 2>&1 || true\n";

#[test]
fn a_ticket_whose_landing_fails_each_time_can_be_dropped() {
    let world = World::new();
    world.ticket("t-1").agent(DONE).write();
    // A folder stands where git's lock of the branch should, and is not crew's to remove.
    let lock = world.project(".git/refs/heads/main.lock");
    fs::create_dir(&lock).unwrap();
    fs::write(lock.join("theirs"), "").unwrap();
    let mut engine = world.engine();
    world.wait("its landing has failed more than once", || {
        world.must(&["queue"]).out.contains("it could not be landed")
    });
    world.must(&["drop", "t-1"]);
    world.wait_for("t-1", "done/dropped");
    assert_eq!(world.count("t-1", "not_landed"), 1);
    world.must(&["stop"]);
    assert_eq!(engine.end().code, Some(0));
    fs::remove_dir_all(lock).unwrap();
    world.drain_all();
    assert!(world.landed().is_empty());
    assert!(world.kept("t-1", 1).is_some());
}

#[test]
fn a_ticket_that_has_landed_when_it_is_dropped_is_landed() {
    let world = World::new();
    world.ticket("t-1").agent(DONE).write();
    world.around("CREW_FAILPOINT_AT", "land.moved");
    let said = world.crew(&["run", "--until-idle"]);
    assert_eq!(said.signal, Some(9), "{said}");
    world.around("CREW_FAILPOINT_AT", "");
    assert_eq!(world.state_name("t-1"), "verify/landing");
    world.must(&["drop", "t-1"]);
    assert_eq!(world.state_name("t-1"), "done/landed");
    assert_eq!(world.landed(), ["t-1"]);
    world.drain_all();
    assert_eq!(
        (world.count("t-1", "landed"), world.count("t-1", "dropped")),
        (1, 0)
    );
}

#[test]
fn a_conflict_goes_to_its_agent_who_resolves_it() {
    let world = World::with(|s| s.agents = "count = 2".to_owned());
    world
        .ticket("first")
        .agent("touch \"$GATES/f\"\nuntil_there \"$GATES/s\"\nwork same first\necho DONE")
        .write();
    world
        .ticket("second")
        .agent(&format!(
            "if [ \"$RUN\" = 1 ]; then\ntouch \"$GATES/s\"\nuntil_there \"$GATES/f\"\n{}work same second\nelse\n{RESOLVE}printf 'first\\nsecond\\n' > same\ngit add same\ngit commit -q -m resolve\nfi\necho DONE",
            after("first")
        ))
        .write();
    world.drain_all();
    assert_eq!(world.landed(), ["first", "second"]);
    let told = world.prompt("second", 2);
    assert!(
        told.contains("does not merge") && told.contains("- same"),
        "{told}"
    );
    assert_eq!(
        world.variable("second", 2, "CREW_ROLE").as_deref(),
        Some("resolver")
    );
    assert_eq!(
        world.variable("second", 1, "CREW_SESSION_ID"),
        world.variable("second", 2, "CREW_SESSION_ID")
    );
    assert_eq!(world.read("same"), "first\nsecond\n");
}

#[test]
fn a_conflict_outlives_a_crash_of_everything_while_its_agent_resolves_it() {
    let world = World::with(|s| s.agents = "count = 2".to_owned());
    world
        .ticket("first")
        .agent("touch \"$GATES/f\"\nuntil_there \"$GATES/s\"\nwork same first\necho DONE")
        .write();
    world
        .ticket("second")
        .agent(&format!(
            "case $RUN in\n\
             1) touch \"$GATES/s\"; until_there \"$GATES/f\"\n{}work same second ;;\n\
             2) {RESOLVE}touch \"$GATES/resolving\"; until_there \"$GATES/never\" ;;\n\
             *) printf 'first\\nsecond\\n' > same; git add same; git commit -q -m resolve ;;\n\
             esac\necho DONE",
            after("first")
        ))
        .write();
    let mut engine = world.engine();
    world.wait("it is being resolved", || world.path("gates/resolving").exists());
    world.kill_everything();
    engine.end();
    world.drain_all();
    assert_eq!(world.landed(), ["first", "second"]);
    assert_eq!(
        (world.runs("second"), world.count("second", "conflicted")),
        (3, 1)
    );
    assert_eq!(world.read("same"), "first\nsecond\n");
}

#[test]
fn a_conflict_that_is_not_resolved_is_held() {
    let world = World::with(|s| {
        s.agents = "count = 2".to_owned();
        s.run = "conflict_resolutions = 1".to_owned();
    });
    world
        .ticket("first")
        .agent("touch \"$GATES/f\"\nuntil_there \"$GATES/s\"\nwork same first\necho DONE")
        .write();
    let second = format!(
        "if [ \"$RUN\" = 1 ]; then\ntouch \"$GATES/s\"\nuntil_there \"$GATES/f\"\n{}work same second\nfi\necho DONE",
        after("first")
    );
    world.ticket("second").agent(&second).write();
    let said = world.drain_held();
    assert_eq!(world.landed(), ["first"]);
    assert_eq!(world.held("second").0, "conflict");
    assert!(said.tells_of("second", "same"), "{said}");
    assert_eq!(world.read("same"), "first\n");
    // A person helps: resolves it in the workspace, and tries again.
    let workspace = world
        .workspaces()
        .into_iter()
        .find(|path| path.display().to_string().ends_with("-second"))
        .unwrap();
    world.git_at(
        &workspace,
        &["merge", "-q", "-X", "ours", &world.git(&["rev-parse", "main"])],
    );
    world.must(&["retry", "second"]);
    world.drain_all();
    assert_eq!(world.read("same"), "second\n");
}

#[test]
fn what_is_green_alone_and_red_together_never_lands() {
    let world = World::with(|s| {
        s.agents = "count = 2".to_owned();
        s.checks = "commands = ['''if [ -e one ] && [ -e two ]; then echo together they fail; exit 1; fi''']"
            .to_owned();
    });
    world
        .ticket("first")
        .agent("touch \"$GATES/f\"\nuntil_there \"$GATES/s\"\nwork one x\necho DONE")
        .write();
    world
        .ticket("second")
        .agent("if [ \"$RUN\" = 1 ]; then touch \"$GATES/s\"; until_there \"$GATES/f\"; work two x; echo DONE; else echo 'BLOCKED: cannot be'; fi")
        .write();
    // Whoever is first in the line lands; the other is told.
    world.script("first", "if [ \"$RUN\" = 1 ]; then touch \"$GATES/f\"; until_there \"$GATES/s\"; work one x; echo DONE; else echo 'BLOCKED: cannot be'; fi");
    world.drain_held();
    let landed = world.landed();
    assert_eq!(landed.len(), 1);
    let other = if landed == ["first"] { "second" } else { "first" };
    assert!(
        world.prompt(other, 2).contains("together they fail"),
        "{}",
        world.prompt(other, 2)
    );
    assert_eq!(world.held(other).0, "blocked");
    for commit in world.git(&["rev-list", "main"]).lines() {
        let tree = world.git(&["ls-tree", "--name-only", commit]);
        assert!(
            !(tree.contains("one") && tree.contains("two")),
            "{commit}: {tree}"
        );
    }
}

#[test]
fn what_steers_crew_waits_for_a_person() {
    let world = World::with(|s| {
        s.top = "prompts_dir = \"prompts\"".to_owned();
        s.land = "hold_paths = [\"deploy\"]".to_owned();
    });
    world.commit("prompts/init.md", "Do {{ ticket }}. DONE");
    world
        .ticket("settings")
        .agent("echo '# mine' >> crew.toml\ngit commit -qam settings\necho DONE")
        .write();
    world
        .ticket("prompts")
        .agent("work prompts/step.md 'obey me, DONE'\necho DONE")
        .write();
    world.ticket("queue").agent("mkdir -p .tickets\necho x > .tickets/evil.md\ngit add -f .tickets\ngit commit -qm queue\necho DONE").write();
    world
        .ticket("deploys")
        .agent("work deploy/key x\necho DONE")
        .write();
    world
        .ticket("harmless")
        .agent("work deployment x\necho DONE")
        .write();
    let said = world.drain_held();
    let warning = "[land] hold_paths match no file on main: deploy";
    assert!(said.all().contains(warning), "{said}");
    assert_eq!(world.landed(), ["harmless"]);
    for (id, path) in [
        ("settings", "crew.toml"),
        ("prompts", "prompts/step.md"),
        ("queue", ".tickets/evil.md"),
        ("deploys", "deploy/key"),
    ] {
        assert_eq!(world.held(id).0, "paths", "{id}");
        assert!(said.tells_of(id, path), "{id}: {said}");
        assert_eq!(world.on_main(path).is_some(), path == "crew.toml");
    }
    assert!(!world.read("crew.toml").contains("mine"));
    for id in ["settings", "deploys"] {
        world.must(&["approve", id]);
    }
    assert_eq!(world.crew(&["approve", "harmless"]).code, Some(1));
    world.drain_held();
    assert!(world.is_landed("settings") && world.is_landed("deploys"));
    assert!(world.read("crew.toml").ends_with("# mine\n"));
    assert!(!world.is_landed("prompts") && !world.is_landed("queue"));
}

#[test]
fn an_approval_counts_for_what_was_seen() {
    let world = World::new();
    world
        .ticket("t-1")
        .agent("echo '# mine' >> crew.toml\ngit commit -qam settings\necho DONE")
        .write();
    world.drain_held();
    world.must(&["approve", "t-1"]);
    // Between the approval and the landing the branch changes.
    let workspace = world.workspaces().remove(0);
    fs::write(workspace.join("crew.toml"), "[checks]\ncommands = [\"true\"]\n").unwrap();
    world.drain_held();
    assert_eq!(world.held("t-1").0, "paths");
    assert!(world.landed().is_empty());
    world.must(&["approve", "t-1"]);
    world.drain_all();
    assert_eq!(world.landed(), ["t-1"]);
}

#[test]
fn a_commit_by_hand_during_the_checks_is_built_upon() {
    let world = World::with(|s| {
        s.checks = format!(
            "commands = ['''touch \"$HOME/checking\"; {}''']",
            World::until_home("go")
        );
    });
    world.anyway();
    world.ticket("t-1").agent(DONE).write();
    let mut engine = world.engine();
    world.wait("it is being checked", || world.path("home/checking").exists());
    world.commit("by-hand", "x\n");
    let by_hand = world.git(&["rev-parse", "main"]);
    fs::write(world.path("home/go"), "").unwrap();
    world.wait("t-1 lands", || world.is_landed("t-1"));
    world.must(&["stop"]);
    engine.end();
    assert_eq!(world.git(&["rev-parse", "main^1"]), by_hand);
    assert_eq!(world.count("t-1", "target_moved"), 1);
    assert_eq!(
        (world.read("by-hand"), world.read("t-1.txt")),
        ("x\n".to_owned(), "done\n".to_owned())
    );
}

#[test]
fn a_landing_is_a_merge_with_trailers() {
    let world = World::with(|s| s.checks = "commands = [\"true\"]".to_owned());
    world
        .ticket("t-1")
        .title("Paint it")
        .agent("work a x 'first'\nwork b x 'second'\necho 'SUMMARY: painted it'\necho DONE")
        .write();
    world.drain_all();
    let agent = world.variable("t-1", 1, "CREW_AGENT").unwrap();
    assert_eq!(
        world.git(&["log", "-1", "--format=%s", "main"]),
        "Merge t-1: Paint it"
    );
    assert_eq!(
        world.git(&["log", "-1", "--format=%(trailers:only)", "main"]),
        format!("Ticket: t-1\nAgent: {agent}\nAttempt: 1")
    );
    assert!(
        world
            .git(&["log", "-1", "--format=%b", "main"])
            .contains("painted it")
    );
    assert_eq!(
        world.git(&["log", "--format=%s|%an", "main^1..main^2"]),
        format!("second|{agent}\nfirst|{agent}")
    );
    // What is done leaves nothing but its merge.
    assert_eq!(
        world.git(&["for-each-ref", "refs/crew", "--format=%(refname)"]),
        ""
    );
}

#[test]
fn what_another_journal_landed_while_the_first_attempt_was_at_work_is_told() {
    let world = World::new();
    world
        .ticket("t-1")
        .agent("until_there \"$GATES/go\"\nwork one x\necho DONE\n")
        .write();
    let mut engine = world.engine();
    world.wait_for_run("t-1", 1);
    let tree = world.git(&["rev-parse", "main^{tree}"]);
    let side = world.git(&["commit-tree", "-p", "main", "-m", "work", &tree]);
    let message = "Land t-9\n\nTicket: t-9\nAgent: bob\nAttempt: 1";
    let merge = world.git(&["commit-tree", "-p", "main", "-p", &side, "-m", message, &tree]);
    world.git(&["merge", "-q", "--ff-only", &merge]);
    world.open("go");
    world.wait_for("t-1", "done/landed");
    world.must(&["stop", "--wait"]);
    engine.end();
    let said = world.crew(&["doctor"]);
    assert!(
        said.all()
            .contains("of t-9 is in main, and this journal has not landed it"),
        "{said}"
    );
}
