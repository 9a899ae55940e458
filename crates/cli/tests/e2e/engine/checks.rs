//! The gate: the merged result, in a clean checkout.

use std::fs;

use testkit::world::{DONE, World};

/// Fails on a tree with a file `bad`, saying so.
const NO_BAD: &str = "commands = ['''if [ -e bad ]; then echo \"bad is bad\"; exit 1; fi''']";

#[test]
fn a_failed_check_goes_back_to_its_agent_with_the_output() {
    let world = World::with(|s| s.checks = NO_BAD.to_owned());
    world
        .ticket("t-1")
        .agent("if [ \"$RUN\" = 1 ]; then work bad x; else git rm -q bad; work good x; fi\necho DONE")
        .write();
    world.drain_all();
    let told = world.prompt("t-1", 2);
    assert!(
        told.contains("bad is bad") && told.contains("does not pass"),
        "{told}"
    );
    assert_eq!(
        world.variable("t-1", 1, "CREW_SESSION_ID"),
        world.variable("t-1", 2, "CREW_SESSION_ID")
    );
    assert_eq!(
        (world.on_main("bad"), world.read("good")),
        (None, "x\n".to_owned())
    );
    assert_eq!(world.count("t-1", "checks_failed"), 1);
    // Every commit that crew put on the target passed.
    for commit in world.git(&["rev-list", "--first-parent", "main"]).lines() {
        assert_eq!(world.git(&["ls-tree", commit, "bad"]), "");
    }
}

#[test]
fn work_that_never_passes_never_lands() {
    let world = World::with(|s| {
        s.checks = NO_BAD.to_owned();
        s.run = "max_steps = 2\nattempts = 1".to_owned();
    });
    world.ticket("t-1").agent("work bad \"$RUN\"\necho DONE").write();
    let said = world.drain_held();
    assert_eq!(world.held("t-1").0, "failed");
    assert!(said.tells_of("t-1", "its steps are spent"), "{said}");
    for command in ["explain", "history"] {
        let shown = world.must(&[command, "t-1"]).out;
        let lines: Vec<&str> = shown.lines().map(str::trim_start).collect();
        let printed = ["│ bad is bad", "│ (exit code 1)"];
        assert!(lines.windows(2).any(|two| two == printed), "{command}: {shown}");
    }
    assert!(world.landed().is_empty());
    assert!(world.kept("t-1", 1).is_some());
    assert_eq!(
        world.crew(&["waive", "t-1", "it", "is", "fine"]).code,
        Some(1),
        "there is no merged result to go on with"
    );
}

#[test]
fn a_check_that_aborts_or_is_killed_only_with_the_work_has_failed() {
    for signal in ["ABRT", "KILL"] {
        let world = World::with(|s| {
            s.checks = format!("commands = ['''if [ -e bad ]; then kill -{signal} $$; fi''']");
            s.run = "max_steps = 1\nattempts = 1".to_owned();
        });
        world.ticket("t-1").agent("work bad x\necho DONE").write();
        world.drain_held();
        let counts = ["checks_failed", "could_not_run"].map(|event| world.count("t-1", event));
        assert_eq!(counts, [1, 0], "{signal}");
    }
}

#[test]
fn a_check_that_is_killed_with_the_target_too_has_said_nothing() {
    let outside = tempfile::tempdir().unwrap();
    let short = outside.path().join("no-memory");
    let check = format!(
        "[ ! -e bad ] || : > {0}; [ ! -e {0} ] || kill -KILL $$",
        short.display()
    );
    let world = World::with(|s| s.checks = format!("commands = ['''{check}''']"));
    world.ticket("t-1").agent("work bad x\necho DONE").write();
    let said = world.run_until_held("t-1");
    assert!(said.tells_of("t-1", "signal 9, 3 times"), "{said}");
    assert!(said.tells_of("t-1", "on the target either"), "{said}");
    let counts = ["checks_failed", "could_not_run"].map(|event| world.count("t-1", event));
    assert_eq!(counts, [0, 1]);
}

#[test]
fn an_agent_is_told_of_a_set_up_or_a_check_that_only_its_work_keeps_from_being_run() {
    let cases = [
        (
            "setup = ['test ! -e bad']\ncommands = ['true']",
            "set-up: test ! -e bad",
        ),
        (
            "commands = ['test ! -e bad || exec ./no-such-script']",
            "no-such-script",
        ),
    ];
    for (checks, told) in cases {
        let world = World::with(|s| s.checks = checks.to_owned());
        let agent = "if [ -e bad ]; then git rm -q bad; git commit -q -m mended; work good x\n\
                     else work bad x\nfi\necho DONE";
        world.ticket("t-1").agent(agent).write();
        world.drain_all();
        assert_eq!(world.landed(), ["t-1"], "{checks}");
        let counts = ["checks_failed", "could_not_run"].map(|event| world.count("t-1", event));
        assert_eq!(counts, [1, 0], "{checks}");
        let history = world.must(&["history", "t-1"]);
        assert!(history.out.contains(told), "{history}");
    }
}

#[test]
fn a_check_of_the_bare_target_is_repeated_as_often_as_its_settings_say() {
    let outside = tempfile::tempdir().unwrap();
    let failed = outside.path().join("failed");
    let once = format!("[ -e {0} ] || {{ : > {0}; exit 1; }}", failed.display());
    let world = World::with(|s| {
        s.checks = format!("commands = []\n[[check]]\nname = 'once'\ncommand = '''{once}'''\nretry = 1");
    });
    world.ticket("t-1").agent(DONE).write();
    let said = world.drain_all();
    assert!(said.out.contains("passed only when repeated: once"), "{said}");
    assert_eq!(world.landed(), ["t-1"]);
}

#[test]
fn a_check_that_is_killed_once_is_run_again() {
    let outside = tempfile::tempdir().unwrap();
    let killed = outside.path().join("killed");
    let once = format!("[ -e {0} ] || {{ : > {0}; kill -KILL $$; }}", killed.display());
    let world = World::with(|s| s.checks = format!("commands = ['''{once}''']"));
    world.ticket("t-1").agent(DONE).write();
    world.drain_all();
    assert!(killed.exists());
    assert_eq!(world.count("t-1", "could_not_run"), 0);
}

#[test]
fn a_red_target_is_not_the_agents_fault() {
    let world = World::with(|s| s.checks = NO_BAD.to_owned());
    world.anyway();
    world.commit("bad", "x\n");
    world.ticket("t-1").agent(DONE).write();
    let said = world.drain_held();
    assert_eq!(world.held("t-1").0, "target_red");
    assert!(said.tells_of("t-1", "bad"), "{said}");
    assert_eq!((world.runs("t-1"), world.landed().len()), (1, 0));
    assert!(
        world.state("t-1").held.unwrap().retry_at.is_some(),
        "it is also tried again by a timer"
    );
    world.git(&["rm", "-q", "bad"]);
    world.git(&["commit", "-q", "-m", "mend"]);
    world.must(&["retry", "t-1"]);
    world.drain_all();
    assert_eq!((world.landed(), world.runs("t-1")), (vec!["t-1".to_owned()], 1));
}

#[test]
fn a_check_is_shown_though_the_agent_of_its_ticket_is_free() {
    let outside = tempfile::tempdir().unwrap();
    let gate = outside.path().join("gate");
    let check = format!(
        "test ! -e bad && until [ -e {} ]; do sleep 0.05; done",
        gate.display()
    );
    let world = World::with(|s| s.checks = format!("commands = ['''{check}''']"));
    world.anyway();
    world.commit("bad", "x\n");
    world.ticket("t-1").agent(DONE).write();
    world.drain_held();
    world.git(&["rm", "-q", "bad"]);
    world.git(&["commit", "-q", "-m", "mend"]);
    world.must(&["retry", "t-1"]);
    let mut engine = world.engine();
    world.wait("the check is shown", || {
        let said = world.must(&["ps"]);
        said.out.contains("t-1, whose agent is free, is being checked")
    });
    fs::write(gate, "").unwrap();
    world.wait("t-1 lands", || world.is_landed("t-1"));
    world.must(&["stop"]);
    engine.end();
}

#[test]
fn checks_that_cannot_be_run_fail_closed() {
    let world = World::with(|s| s.checks = "commands = [\"no-such-command --now\"]".to_owned());
    world.anyway();
    world.ticket("t-1").agent(DONE).write();
    let said = world.drain_held();
    assert_eq!(world.held("t-1").0, "could_not_run");
    assert!(said.tells_of("t-1", "no-such-command"), "{said}");
    assert!(world.landed().is_empty());
    let toml = world.read("crew.toml").replace("no-such-command --now", "true");
    world.write("crew.toml", &toml);
    world.must(&["retry", "t-1"]);
    world.drain_all();
    assert_eq!((world.landed(), world.runs("t-1")), (vec!["t-1".to_owned()], 1));
}

#[test]
fn a_set_up_that_fails_fails_closed_and_a_person_may_waive_it() {
    let world =
        World::with(|s| s.checks = "setup = [\"echo no network; exit 1\"]\ncommands = [\"true\"]".to_owned());
    world.anyway();
    world.ticket("t-1").agent(DONE).write();
    world.run_until_held("t-1");
    let (why, note) = world.held("t-1");
    assert_eq!(why, "could_not_run");
    assert!(note.contains("no network"), "{note}");
    world.must(&["waive", "t-1", "the", "network", "is", "down"]);
    world.drain_all();
    assert_eq!(world.landed(), ["t-1"]);
    let how = format!("{:?}", world.state("t-1").state);
    assert!(
        how.contains("waived by") && how.contains("the network is down"),
        "{how}"
    );
}

#[test]
fn a_waiver_stands_when_the_target_moves_before_the_landing() {
    let world = World::with(|s| s.checks = "commands = [\"false\"]".to_owned());
    world.anyway();
    world.ticket("t-1").agent(DONE).write();
    world.drain_held();
    assert_eq!(world.held("t-1").0, "target_red");
    world.commit("by-hand", "x\n");
    world.must(&["waive", "t-1", "the", "check", "is", "wrong"]);
    world.drain_all();
    assert_eq!((world.landed(), world.runs("t-1")), (vec!["t-1".to_owned()], 1));
    assert_eq!(
        (world.count("t-1", "waived"), world.count("t-1", "target_moved")),
        (1, 1)
    );
    let how = format!("{:?}", world.state("t-1").state);
    assert!(
        how.contains("waived by") && how.contains("the check is wrong"),
        "{how}"
    );
}

#[test]
fn a_check_that_takes_too_long_has_failed_and_leaves_nothing() {
    let world = World::with(|s| {
        s.checks = "timeout = \"5s\"\ncommands = ['''if [ -e slow ]; then sleep 1000 & sleep 1000; fi''']"
            .to_owned();
    });
    world
        .ticket("t-1")
        .agent("if [ \"$RUN\" = 1 ]; then work slow x; else git rm -q slow; work fast x; fi\necho DONE")
        .write();
    world.drain_all();
    assert!(
        world.prompt("t-1", 2).contains("timed out after 5 s"),
        "{}",
        world.prompt("t-1", 2)
    );
}

#[test]
fn an_identical_tree_is_not_checked_again() {
    let world = World::with(|s| s.checks = "commands = ['''echo checked >> \"$HOME/checked\"''']".to_owned());
    world.anyway();
    world
        .ticket("t-1")
        .agent("echo more >> README\necho DONE")
        .write();
    world.write("README", "hello\nmine, not committed\n");
    let mut engine = world.engine();
    world.wait("it waits for the person", || {
        world.count("t-1", "checkout_edited") > 0
    });
    // Another parent, the same tree.
    world.git(&["commit", "-q", "--allow-empty", "-m", "empty"]);
    world.git(&["checkout", "-q", "--", "README"]);
    world.wait("t-1 lands", || world.is_landed("t-1"));
    world.must(&["stop"]);
    engine.end();
    assert_eq!(
        fs::read_to_string(world.path("home/checked")).unwrap(),
        "checked\n"
    );
    assert!(world.count("t-1", "target_moved") == 1);
    assert_eq!(world.git(&["log", "-1", "--format=%s", "main^1"]), "empty");
    assert_eq!(world.read("README"), "hello\nmore\n");
}

/// The tree is one that has passed before, and what it changes on the target is not.
#[test]
fn a_check_that_names_the_base_is_run_again_on_another_one() {
    let check = "commands = ['''git diff --quiet $CREW_BASE -- locked''']";
    let world = World::with(|s| s.checks = check.to_owned());
    world.commit("locked", "one\n");
    let before = world.git(&["rev-parse", "main"]);
    world
        .ticket("t-1")
        .line("acceptance_test: git diff --quiet $CREW_BASE README && echo $CREW_BASE > $HOME/base")
        .agent("work one.txt x\necho DONE")
        .write();
    world.drain_all();
    let base = fs::read_to_string(world.path("home/base")).unwrap();
    assert_eq!(base, format!("{before}\n"));

    world.commit("locked", "two\n");
    world
        .ticket("t-2")
        .agent(
            "if [ \"$RUN\" = 1 ]; then work locked one; else work locked two; work two.txt x; fi\necho DONE",
        )
        .write();
    world.drain_all();
    assert_eq!((world.runs("t-2"), world.count("t-2", "checks_failed")), (2, 1));
    assert_eq!(world.on_main("locked").as_deref(), Some("two\n"));
}

#[test]
fn checks_see_the_merged_result_and_nothing_else() {
    let world = World::with(|s| {
        s.checks = "setup = ['''echo set up >> \"$HOME/setups\"; touch installed''']\n\
                    commands = ['''env > \"$HOME/env.$(ls | grep -c txt)\"; ls -a > \"$HOME/seen.$(ls | grep -c txt)\"; test -e installed''', \
                    '''od -c crlf.md | grep -q '\\\\r' ''']"
            .to_owned();
    });
    world.anyway();
    world.commit(".gitignore", "secret\ninstalled\n");
    world.commit(".gitattributes", "*.md text eol=crlf\n");
    world.commit("crlf.md", "one\ntwo\n");
    world.write("secret", "the user's\n");
    world.write("junk", "the user's\n");
    world
        .ticket("a")
        .agent("echo x > secret\nwork a.txt x\necho DONE")
        .write();
    // One after the other: two that are ready at once may be checked as one.
    world.drain_all();
    world.ticket("b").agent("work b.txt x\necho DONE").write();
    world.drain_all();
    assert_eq!(
        fs::read_to_string(world.path("home/setups")).unwrap(),
        "set up\nset up\n",
        "nothing says what the set-up depends on"
    );
    for n in [1, 2] {
        let seen = fs::read_to_string(world.path(&format!("home/seen.{n}"))).unwrap();
        assert!(
            !seen.contains("secret") && !seen.contains("junk") && !seen.contains(".tickets"),
            "{seen}"
        );
        let env = fs::read_to_string(world.path(&format!("home/env.{n}"))).unwrap();
        assert!(!env.contains("canary"), "{env}");
    }
    assert_eq!(world.landed(), ["a", "b"]);
}

#[test]
fn a_branch_cannot_land_through_a_gate_it_brings_itself() {
    let world = World::with(|s| s.checks = NO_BAD.to_owned());
    world.ticket("t-1").agent("work bad x\nsed -i 's/^commands.*/commands = [\"true\"]/' crew.toml\ngit commit -qam 'free'\necho DONE").write();
    world.drain_held();
    assert_eq!(world.held("t-1").0, "paths");
    assert!(world.landed().is_empty());
}

#[test]
fn what_a_killed_engine_left_running_is_ended_before_crew_goes() {
    let pid = "echo $$ > \"$HOME/$1.part\"; mv \"$HOME/$1.part\" \"$HOME/$1\"";
    let forever = World::until_home("never");
    let world = World::with(|s| {
        s.agents = "count = 2".to_owned();
        s.checks = format!("commands = ['''set -- check; {pid}; {forever}''']");
    });
    world.anyway();
    let step = format!(
        "HOME={}; set -- step; {pid}; {forever}",
        world.path("home").display()
    );
    world.ticket("t-1").agent(DONE).write();
    world.ticket("t-2").agent(&step).write();
    let engine = world.engine();
    let at_work = ["home/check", "home/step"];
    world.wait("a check and a step run", || {
        at_work.iter().all(|name| world.path(name).exists())
    });
    drop(engine);
    world.must(&["clean", "--yes"]);
    let left = world.processes();
    assert!(left.is_empty(), "{left:#?}");
    assert!(!world.project(".crew").exists());
}
