//! What the designs that crew grew out of got wrong (each lost somebody's work, or money), and what must not
//! happen here.

use std::fs;

use testkit::world::{DONE, World, make_executable};

#[test]
fn uncommitted_work_outlives_a_crash_of_everything() {
    let world = World::new();
    world
        .ticket("t-1")
        .agent("if [ \"$RUN\" = 1 ]; then echo precious > notes; touch \"$GATES/worked\"; until_there \"$GATES/never\"; fi\ntest -e notes\nwork t x\necho DONE")
        .write();
    let mut engine = world.engine();
    world.wait("it has worked", || world.path("gates/worked").exists());
    world.kill_everything();
    engine.end();
    world.drain_all();
    assert_eq!((world.landed(), world.runs("t-1")), (vec!["t-1".to_owned()], 2));
    assert_eq!(world.read("notes"), "precious\n");
}

#[test]
fn a_workspace_stands_until_its_work_has_landed() {
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
    assert_eq!(world.workspaces().len(), 1);
    world.kill_everything();
    engine.end();
    assert_eq!((world.workspaces().len(), world.landed().len()), (1, 0));
    fs::write(world.path("home/go"), "").unwrap();
    world.drain_all();
    assert_eq!(
        (world.workspaces().len(), world.landed(), world.runs("t-1")),
        (0, vec!["t-1".to_owned()], 1)
    );
}

#[test]
fn a_workspace_that_vanished_is_made_anew() {
    let world = World::new();
    world
        .ticket("t-1")
        .agent("if [ \"$RUN\" = 1 ]; then work first x; echo 'QUESTION: go on?'; else work second x; echo DONE; fi")
        .write();
    world.drain_held();
    let workspace = world.workspaces().remove(0);
    fs::remove_dir_all(&workspace).unwrap();
    world.must(&["answer", &world.agent_of("t-1"), "yes"]);
    world.drain_all();
    assert_eq!(world.read("second"), "x\n");
}

#[test]
fn verified_work_lands_although_its_workspace_is_gone() {
    let world = World::with(|s| s.land = "hold_paths = [\"held\"]".to_owned());
    world.ticket("t-1").agent("work held x\necho DONE").write();
    world.drain_held();
    fs::remove_dir_all(world.workspaces().remove(0)).unwrap();
    world.must(&["approve", "t-1"]);
    world.drain_all();
    assert_eq!(
        (world.landed(), world.read("held")),
        (vec!["t-1".to_owned()], "x\n".to_owned())
    );
}

#[test]
fn wherever_an_agent_commits_its_work_lands() {
    let world = World::new();
    world.commit("base", "x\n");
    world
        .ticket("detached")
        .agent("git checkout -q --detach\nwork detached x\necho DONE")
        .write();
    world
        .ticket("elsewhere")
        .agent("git checkout -q -b some/other\nwork elsewhere x\necho DONE")
        .write();
    world.ticket("rewritten").agent("work tmp x\ngit reset -q --hard HEAD~1\nwork rewritten x\ngit commit -q --amend -m again\necho DONE").write();
    world.ticket("merged").agent("git checkout -q -b side\nwork side x\ngit checkout -q -\nwork merged x\ngit merge -q --no-ff -m merge side\necho DONE").write();
    world.drain_all();
    for id in ["detached", "elsewhere", "rewritten", "merged", "side"] {
        assert_eq!(world.read(id), "x\n", "{id}");
    }
    assert_eq!(world.on_main("tmp"), None);
}

#[test]
fn work_without_the_targets_history_does_not_land() {
    let world = World::with(|s| s.run = "max_steps = 2\nattempts = 1".to_owned());
    world
        .ticket("t-1")
        .agent("git checkout -q --orphan \"nowhere-$RUN\"\nwork t x\necho DONE")
        .write();
    world.ticket("t-2").agent(DONE).write();
    let said = world.drain_held();
    assert_eq!(world.landed(), ["t-2"], "{said}");
    assert_eq!(world.on_main("t"), None);
    assert_eq!(world.held("t-1").0, "failed");
    assert!(
        world.prompt("t-1", 2).contains("no common ancestor"),
        "{}",
        world.prompt("t-1", 2)
    );
}

#[test]
fn a_branch_that_may_not_be_taken_over_goes_back_to_its_agent() {
    let world = World::new();
    world
        .ticket("t-1")
        .agent(
            "if [ \"$RUN\" = 1 ]; then\nmkdir .crew\necho x > .crew/journal.db\ngit add -f .crew\ngit commit -qm crew\n\
             else\ngit reset -q --hard HEAD~1\nwork t x\nfi\necho DONE",
        )
        .write();
    world.drain_all();
    assert!(
        world.prompt("t-1", 2).contains(".crew"),
        "{}",
        world.prompt("t-1", 2)
    );
    assert_eq!(
        (world.on_main(".crew/journal.db"), world.read("t")),
        (None, "x\n".to_owned())
    );
}

#[test]
fn what_an_agent_plants_in_its_repository_is_not_run() {
    let world = World::new();
    // A git of the agent's own may run what the agent has planted.
    let touch = format!(
        "[ \"$CREW_WORKER\" = 1 ] || touch {}",
        world.path("gates/pwned").display()
    );
    let script = r#"if [ "$RUN" = 1 ]; then
for hook in pre-commit post-commit post-checkout post-merge reference-transaction pre-auto-gc fsmonitor-watchman; do
    mkdir -p .git/hooks
    printf '%s\n' '#!/bin/sh' 'TOUCH' > .git/hooks/$hook
    chmod +x .git/hooks/$hook
done
work t x
printf '* filter=evil diff=evil merge=evil\n' > .gitattributes
git config core.fsmonitor 'TOUCH; false'
git config filter.evil.clean 'TOUCH; cat'
git config filter.evil.smudge 'TOUCH; cat'
git config diff.external 'TOUCH'
git config core.sshCommand 'TOUCH'
git config merge.evil.driver 'TOUCH'
else git add .gitattributes; git commit -qm planted; fi
echo DONE"#;
    world
        .ticket("t-1")
        .agent(&script.replace("TOUCH", &touch))
        .write();
    world.drain_all();
    assert!(!world.path("gates/pwned").exists());
    assert_eq!(world.read("t"), "x\n");
    assert_eq!(world.runs("t-1"), 2);
    assert!(world.prompt("t-1", 2).contains("the filter \"evil\""));
}

#[test]
fn a_step_that_takes_too_long_is_ended_and_tried_in_a_new_session() {
    let world = World::with(|s| s.run = "step_timeout = \"9s\"".to_owned());
    world
        .ticket("t-1")
        .agent("if [ \"$RUN\" = 1 ]; then until_there \"$GATES/never\"; fi\nwork t x\necho DONE")
        .write();
    world.drain_all();
    assert_eq!((world.runs("t-1"), world.count("t-1", "step_failed")), (2, 1));
    assert_ne!(
        world.variable("t-1", 1, "CREW_SESSION_ID"),
        world.variable("t-1", 2, "CREW_SESSION_ID")
    );
    assert!(
        world.prompt("t-1", 2).contains("You go on with ticket t-1"),
        "{}",
        world.prompt("t-1", 2)
    );
}

#[test]
fn the_state_file_is_whole_at_every_moment() {
    let world = World::with(|s| s.agents = "count = 2".to_owned());
    for n in 0..6 {
        world
            .ticket(&format!("t-{n}"))
            .agent("work \"$CREW_TICKET_ID.$CREW_STEP\" x\n[ \"$CREW_STEP\" = 1 ] || echo DONE")
            .write();
    }
    let mut engine = world.engine();
    world.wait("all land", || {
        world.assert_state_file();
        (0..6).all(|n| world.is_landed(&format!("t-{n}")))
    });
    world.must(&["stop"]);
    engine.end();
    world.assert_state_file();
    let state = fs::read_to_string(world.project(".crew/state.json")).unwrap();
    assert!(
        state.contains("\"idle\"") && !state.contains("\"working\""),
        "{state}"
    );
}

#[test]
fn another_gits_lock_is_waited_for() {
    let world = World::new();
    fs::write(world.project(".git/index.lock"), "").unwrap();
    world.ticket("t-1").agent(DONE).write();
    let mut engine = world.engine();
    // Another git may be at work: whether its lock was left behind is for a person to know.
    world.wait("it waits", || world.count("t-1", "checkout_edited") > 0);
    assert_eq!(world.state_name("t-1"), "verify/landing");
    assert!(!world.project("t-1.txt").exists());
    fs::remove_file(world.project(".git/index.lock")).unwrap();
    world.wait("t-1 lands", || world.is_landed("t-1"));
    world.must(&["stop"]);
    engine.end();
    assert_eq!(world.git(&["status", "--porcelain", "-uno"]), "");
}

/// The naive version asks the client on the loop itself, which hears nothing until it has answered or its
/// time is over.
#[test]
fn a_client_that_does_not_say_what_it_is_holds_nothing_up() {
    let world = World::new();
    let mut engine = world.engine();
    world.wait("the engine is up", || world.project(".crew/state.json").exists());
    let (client, asked) = (world.path("slow.sh"), world.path("asked"));
    let script = format!(
        "#!/bin/sh\necho $$ >{0}.new && mv {0}.new {0}\nwhile [ -e {0} ]; do sleep 0.1; done\nexit 1\n",
        asked.display()
    );
    fs::write(&client, script).unwrap();
    make_executable(&client);
    let toml = world.read("crew.toml").replace("\"command\"", "\"claude\"");
    let agent = world.path("agent.sh").display().to_string();
    let toml = toml.replace(&agent, &client.display().to_string());
    world.write("crew.toml", &toml);
    world.wait("the client is asked", || asked.exists());
    world.ticket("t-1").agent(DONE).write();
    world.wait("t-1 is seen", || world.count("t-1", "created") > 0);
    let pid = fs::read_to_string(&asked).unwrap();
    assert!(
        fs::exists(format!("/proc/{}", pid.trim())).unwrap(),
        "the client was waited for"
    );
    world.wait("t-1 lands", || world.is_landed("t-1"));
    fs::remove_file(&asked).unwrap();
    world.wait("it is told", || {
        engine.said().all().contains("the last good settings stand")
    });
    world.must(&["stop"]);
    engine.end();
}

#[test]
fn a_bad_edit_of_the_settings_keeps_the_good_ones_and_a_good_one_counts() {
    let world = World::with(|s| s.checks = "commands = [\"test ! -e bad\"]".to_owned());
    let mut engine = world.engine();
    world.wait("the engine is up", || world.project(".crew/state.json").exists());
    let good = world.read("crew.toml");
    world.write("crew.toml", "[checks\ncommands = [");
    world
        .ticket("t-1")
        .agent("if [ \"$RUN\" = 1 ]; then work bad x; else git rm -q bad; work t x; fi\necho DONE")
        .write();
    world.wait("t-1 lands", || world.is_landed("t-1"));
    assert_eq!(
        world.count("t-1", "checks_failed"),
        1,
        "the last good gate still stands"
    );
    world.write("crew.toml", &good.replace("test ! -e bad", "test ! -e worse"));
    world.wait("the guard that is gone is told", || {
        engine
            .said()
            .all()
            .contains("does not name the check `test ! -e bad` any more")
    });
    world
        .ticket("t-2")
        .agent("if [ \"$RUN\" = 1 ]; then work worse x; else git rm -q worse; work u x; fi\necho DONE")
        .write();
    world.wait("t-2 lands", || world.is_landed("t-2"));
    assert_eq!(world.count("t-2", "checks_failed"), 1, "the new gate counts");
    world.must(&["stop"]);
    engine.end();
}

/// Merging needs it; found out only then, a step would be paid for nothing.
#[test]
fn nothing_is_paid_without_a_folder_for_temporary_files() {
    let world = World::new();
    world.ticket("t-1").agent(DONE).write();
    world.around("TMPDIR", world.path("nowhere"));
    let said = world.crew(&["run", "--until-idle"]);
    assert_eq!(said.code, Some(1), "{said}");
    assert!(said.err.contains("set TMPDIR to a folder"), "{said}");
    assert_eq!(world.runs("t-1"), 0);
}

/// The settings decide about what lands on the target, and a person only looks at another branch.
#[test]
fn the_settings_of_a_branch_that_is_looked_at_do_not_count() {
    let world = World::with(|s| s.checks = "commands = [\"test ! -e bad\"]".to_owned());
    let good = world.read("crew.toml");
    world.git(&["checkout", "-q", "-b", "old"]);
    world.commit("crew.toml", &good.replace("\"test ! -e bad\"", ""));
    world.git(&["checkout", "-q", "main"]);
    let mut engine = world.engine();
    world.wait("the engine is up", || world.project(".crew/state.json").exists());
    world.git(&["checkout", "-q", "old"]);
    world.wait("the other branch is told", || {
        let said = engine.said().all();
        said.contains("the checkout shows `old`, and crew started on `main`")
    });
    world
        .ticket("t-1")
        .agent("if [ \"$RUN\" = 1 ]; then work bad x; else git rm -q bad; work t x; fi\necho DONE")
        .write();
    world.wait("t-1 lands", || world.is_landed("t-1"));
    assert_eq!(world.count("t-1", "checks_failed"), 1, "the checks of main stand");
    world.must(&["stop"]);
    engine.end();
}

#[test]
fn repositories_that_cannot_be_worked_on_are_refused() {
    let world = World::new();
    world.ticket("t-1").agent(DONE).write();
    let toml = world.read("crew.toml");
    let place = |name: &str| {
        let path = world.path(name);
        fs::create_dir_all(&path).unwrap();
        path
    };
    let plain = place("plain");
    let bare = place("bare");
    world.git_at(&bare, &["init", "-q", "--bare"]);
    let empty = place("empty");
    world.git_at(&empty, &["init", "-q", "-b", "main"]);
    for (folder, word) in [
        (&plain, "not a git repository"),
        (&bare, "is bare"),
        (&empty, "is empty"),
    ] {
        if *folder != bare {
            fs::write(folder.join("crew.toml"), &toml).unwrap();
        }
        let said = world.crew_at(folder, &["run", "--until-idle"]);
        assert!(said.code == Some(1) || said.code == Some(2), "{said}");
        assert!(said.err.contains(word), "{word}: {said}");
    }
    world.write("crew.toml", &format!("[project]\ntarget = \"release\"\n{toml}"));
    let said = world.crew(&["run", "--until-idle"]);
    assert!(
        said.code.is_some_and(|code| code == 1 || code == 2) && said.err.contains("release"),
        "{said}"
    );
    assert_eq!(world.front("t-1", "status"), "open");
    // A detached checkout is no obstacle: nobody's branch is checked out.
    world.write("crew.toml", &toml);
    world.git(&["checkout", "-q", "--detach"]);
    world.drain_all();
    assert_eq!(
        (world.landed(), world.project("t-1.txt").exists()),
        (vec!["t-1".to_owned()], false)
    );
}

#[test]
fn a_shallow_clone_can_be_worked_on_or_says_why_not() {
    let world = World::new();
    world.commit("more", "x\n");
    let url = format!("file://{}", world.path("project").display());
    world.git(&[
        "clone",
        "-q",
        "--depth",
        "1",
        &url,
        &world.path("shallow").display().to_string(),
    ]);
    let shallow = world.path("shallow");
    fs::create_dir(shallow.join(".tickets")).unwrap();
    world.ticket("t-1").agent(DONE).write();
    fs::rename(world.ticket_file("t-1"), shallow.join(".tickets/t-1.md")).unwrap();
    let said = world.crew_at(&shallow, &["run", "--until-idle"]);
    if said.code == Some(0) {
        assert_eq!(fs::read_to_string(shallow.join("t-1.txt")).unwrap(), "done\n");
    } else {
        assert!(said.all().contains("shallow"), "{said}");
    }
}

#[test]
fn many_agents_at_once_land_everything_and_leave_nothing() {
    let world = World::with(|s| {
        s.agents = "count = 6".to_owned();
        s.checks = "commands = [\"test -e README\"]".to_owned();
    });
    for n in 0..12 {
        let script = "work \"$CREW_TICKET_ID.$CREW_STEP\" x\necho shared >> \"all-$CREW_TICKET_ID\"\n[ \"$CREW_STEP\" = 1 ] || echo DONE";
        world.ticket(&format!("t-{n:02}")).agent(script).write();
    }
    world.drain_all();
    let mut landed = world.landed();
    landed.sort();
    assert_eq!(landed, (0..12).map(|n| format!("t-{n:02}")).collect::<Vec<_>>());
    assert!(world.workspaces().is_empty());
    assert_eq!(
        world.git(&["for-each-ref", "--format=%(refname)", "refs/crew", "refs/heads"]),
        "refs/heads/main"
    );
    assert_eq!(world.git(&["status", "--porcelain", "-uno"]), "");
}

#[test]
fn an_engine_whose_folder_became_a_link_can_be_stopped() {
    let world = World::new();
    let mut engine = world.engine();
    world.wait("the engine is up", || !world.rows().is_empty());
    let (crew, moved) = (world.project(".crew"), world.path("moved"));
    // In one step: an engine that finds no folder for a moment takes its journal for lost.
    std::os::unix::fs::symlink(&moved, &moved).unwrap();
    let at = rustix::fs::CWD;
    rustix::fs::renameat_with(at, &moved, at, &crew, rustix::fs::RenameFlags::EXCHANGE).unwrap();
    let said = world.crew(&["ps"]);
    assert!(
        said.code == Some(1) && said.err.contains("`crew stop` ends"),
        "{said}"
    );
    let said = world.crew(&["stop", "--kill"]);
    assert!(
        said.code == Some(1) && said.err.contains("without more"),
        "{said}"
    );
    assert!(engine.is_up());
    let said = world.must(&["stop", "--wait"]);
    assert!(said.out.contains(&format!("process {}", engine.pid())), "{said}");
    assert_eq!(engine.end().code, Some(130));
    assert!(world.must(&["stop"]).out.contains("no engine runs here"));
    fs::remove_file(&crew).unwrap();
    fs::rename(&moved, &crew).unwrap();
    world.ticket("t-1").agent(DONE).write();
    world.drain_all();
}
