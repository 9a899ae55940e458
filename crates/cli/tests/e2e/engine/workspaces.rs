//! Workspaces that can work: what is set up in them, copied into them and filled, before the first step.

use std::fs;

use testkit::world::{DONE, Settings, World};

/// A world with a table `[workspace]`.
fn world(workspace: &str) -> World {
    World::with(|s| with(s, workspace))
}

fn with(settings: &mut Settings, workspace: &str) {
    settings.land = format!("[workspace]\n{workspace}");
}

/// What the commands of a set-up wrote down.
fn noted(world: &World) -> Vec<String> {
    let text = fs::read_to_string(world.path("home/n")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn a_workspace_is_set_up_once_before_its_first_step_and_what_that_made_does_not_land() {
    let world = world(
        r#"setup = ['''mkdir deps; echo one > deps/a; echo plain > made; echo "$CREW_TICKET_ID $CREW_WORKER ${CANARY_TOKEN:-none} $LOGS" >> "$HOME/n"; echo "it is set up"''', "echo two > deps/b"]"#,
    );
    world.commit(".gitignore", "deps/\n");
    world
        .ticket("t-1")
        .agent("cat deps/a deps/b made\nif [ \"$CREW_STEP\" = 2 ]; then work own x; echo DONE; fi")
        .write();
    world.drain_all();
    assert_eq!(world.landed(), ["t-1"]);
    assert_eq!(world.on_main("own").as_deref(), Some("x\n"));
    assert_eq!((world.on_main("made"), world.on_main("deps/a")), (None, None));
    let logs = world.path("logs").display().to_string();
    assert_eq!(
        noted(&world),
        [format!("t-1 1 none {logs}")],
        "and the environment is an agent's"
    );
    let logs = world.must(&["logs", "ada"]);
    assert!(
        logs.out.contains("set-up") && logs.out.contains("it is set up"),
        "{logs}"
    );
    assert!(logs.out.contains("one\ntwo\nplain"), "{logs}");
    world.assert_at_rest();
}

#[test]
fn a_set_up_that_fails_is_nobodys_attempt_and_its_ticket_waits_with_the_reason() {
    let world = World::with(|s| {
        s.run = "attempts = 1".to_owned();
        with(s, "setup = [\"true\", '''echo 'no network'; exit 3''']");
    });
    world.ticket("t-1").agent(DONE).write();
    let said = world.run_until_held("t-1");
    let (why, note) = world.held("t-1");
    assert_eq!(why, "could_not_run");
    assert!(
        note.contains("exit 3") && note.contains("[workspace] setup"),
        "{note}"
    );
    let held = world.state("t-1").held.unwrap();
    let output = held.output.clone().unwrap_or_default();
    assert!(
        output.contains("no network") && output.contains("exit code 3"),
        "{output}"
    );
    assert!(held.retry_at.is_some());
    assert!(said.tells_of("t-1", "could not be set up"), "{said}");
    for command in [&["inbox"][..], &["explain", "t-1"]] {
        let shown = world.crew(command);
        assert!(shown.out.contains("no network"), "{shown}");
    }
    assert_eq!((world.state("t-1").tries, world.runs("t-1")), (0, 0));
    world.assert_at_rest();
    // Whoever mends the settings need not wait, and has all attempts.
    world.change_settings("exit 3", "exit 0");
    world.drain_all();
    assert_eq!(world.landed(), ["t-1"]);
}

#[test]
fn a_set_up_of_a_killed_engine_begins_again_in_a_new_workspace() {
    let world = world(
        r#"setup = ['''mkdir half; echo ran >> "$HOME/n"; if [ ! -e "$GATES/go" ]; then sleep 1000; fi''']"#,
    );
    world.ticket("t-1").agent(DONE).write();
    let engine = world.engine();
    world.wait("set-up", || noted(&world).len() == 1);
    let shown = world.must(&["ps"]);
    assert!(shown.out.contains("being set up with `mkdir half"), "{shown}");
    engine.signal("KILL");
    drop(engine);
    let doctor = world.crew(&["doctor"]);
    assert!(doctor.out.contains("set-up t-1.1.set-up-0 runs on"), "{doctor}");
    world.open("go");
    world.drain_all();
    assert_eq!(world.landed(), ["t-1"]);
    assert_eq!(noted(&world).len(), 2);
    assert!(world.processes().is_empty(), "{:?}", world.processes());
    world.assert_at_rest();
}

#[test]
fn a_set_up_ends_with_its_ticket_and_with_the_engine_that_is_killed() {
    let world =
        world(r#"setup = ['''echo ran >> "$HOME/n"; if [ ! -e "$GATES/go" ]; then sleep 1000; fi''']"#);
    world.ticket("t-1").agent(DONE).write();
    let mut engine = world.engine();
    world.wait("set-up", || noted(&world).len() == 1);
    world.must(&["drop", "t-1"]);
    world.ticket("t-2").agent(DONE).write();
    world.wait("another set-up", || noted(&world).len() == 2);
    world.must(&["stop", "--kill"]);
    engine.end();
    assert!(world.processes().is_empty(), "{:?}", world.processes());
    world.open("go");
    world.drain_all();
    assert_eq!(world.landed(), ["t-2"]);
    assert_eq!(noted(&world).len(), 3);
    world.assert_at_rest();
}

#[test]
fn ignored_files_that_the_settings_name_are_copied_and_never_land() {
    let world = world(
        "copy = [\".env\", \"conf/**/*.local\", \"cache/**\", \"gone\"]\nsetup = [\"cat .env cache/deep/a > seen\"]",
    );
    world.commit(".gitignore", ".env\n*.local\n/cache/\n/seen\n");
    world.commit("conf/base", "tracked\n");
    for (name, text) in [
        (".env", "SECRET=1\n"),
        ("conf/a/b.local", "local\n"),
        ("cache/deep/a", "cached\n"),
    ] {
        fs::create_dir_all(world.project(name).parent().unwrap()).unwrap();
        world.write(name, text);
    }
    std::os::unix::fs::symlink(world.path("home"), world.project("cache/out")).unwrap();
    world
        .ticket("t-1")
        .agent("cat seen conf/a/b.local > all\n[ -e cache/out ] && echo linked >> all\necho DONE")
        .write();
    let said = world.drain_all();
    for left_out in [
        "\"gone\", which is not there",
        "\"cache/out\", which is no regular file",
    ] {
        assert!(said.all().contains(left_out), "{left_out}: {said}");
    }
    let all = world.on_main("all");
    assert_eq!(all.as_deref(), Some("SECRET=1\ncached\nlocal\n"));
    for name in [".env", "conf/a/b.local", "cache/deep/a"] {
        assert_eq!(world.on_main(name), None, "{name}");
    }
    world.assert_at_rest();
}

#[test]
fn a_file_whose_copy_could_land_or_lead_elsewhere_is_refused() {
    for (name, why) in [
        ("README", "is a file of the repository"),
        ("notes", "git does not ignore"),
        ("link", "is no regular file"),
        ("new/rule", "in the commit that the work starts from"),
        ("folder", "is a folder"),
        ("added", "is a file of the repository"),
    ] {
        let world = world(&format!("copy = [\"{name}\"]"));
        world.write("notes", "mine\n");
        fs::create_dir_all(world.project("new")).unwrap();
        fs::create_dir_all(world.project("folder")).unwrap();
        world.write("folder/.gitignore", "*\n");
        world.write("added", "mine\n");
        fs::write(world.project(".git/info/exclude"), "added\n").unwrap();
        world.git(&["add", "-f", "added"]);
        world.write("new/rule", "mine\n");
        world.write("new/.gitignore", "rule\n");
        std::os::unix::fs::symlink("/etc/passwd", world.project("link")).unwrap();
        world.ticket("t-1").agent(DONE).write();
        world.drain_held();
        let (held, note) = world.held("t-1");
        assert_eq!(held, "could_not_run", "{name}");
        assert!(note.contains(name) && note.contains(why), "{note}");
        assert_eq!((world.runs("t-1"), world.state("t-1").tries), (0, 0));
        world.assert_at_rest();
    }
}

#[test]
fn all_files_whose_copy_is_refused_are_named() {
    let world = world("copy = [\"README\", \"a\", \"b\", \"c\", \"d\", \"e\", \"folder\"]");
    fs::create_dir_all(world.project("folder")).unwrap();
    for name in ["a", "b", "c", "d", "e"] {
        world.write(name, "mine\n");
    }
    world.ticket("t-1").agent(DONE).write();
    world.drain_held();
    let (held, note) = world.held("t-1");
    assert_eq!(held, "could_not_run");
    for part in [
        "names \"README\", which is a file of the repository; \"a\", which git does not ignore",
        "; \"d\", which git does not ignore, so that the copy would land; and 2 more",
        "mend each of them, or take it out of `copy`",
    ] {
        assert!(note.contains(part), "{part}: {note}");
    }
    assert_eq!((world.runs("t-1"), world.state("t-1").tries), (0, 0));
}

#[test]
fn a_file_that_only_the_users_own_rules_ignore_is_copied_and_one_of_a_submodule_is_not() {
    let world = with_submodules(|s| {
        s.land = "[workspace]\ncopy = [\"*.mine\", \"**/.env\"]\nsetup = [\"touch made.mine\"]".to_owned();
    });
    world.write("../home/rules", "*.mine\n.env\n");
    world.git(&["config", "--global", "core.excludesFile", "~/rules"]);
    world.write("a.mine", "a\n");
    fs::create_dir_all(world.project("deep")).unwrap();
    for file in ["deep/.env", "lib/.env"] {
        world.write(file, "SECRET=1\n");
    }
    world
        .ticket("t-1")
        .agent("cat a.mine deep/.env > all; ls -A lib >> all; echo DONE")
        .write();
    let said = world.drain_all();
    assert_eq!(
        world.on_main("all").as_deref(),
        Some("a\nSECRET=1\n.git\n.gitmodules\ndeep\nf\ng\nh\n")
    );
    assert!(
        said.all().contains("\"lib/.env\", which is in a submodule"),
        "{said}"
    );
    for name in ["a.mine", "deep/.env", "made.mine"] {
        assert_eq!(world.on_main(name), None, "{name}");
    }
    world.assert_at_rest();
}

#[test]
fn a_path_to_copy_stays_in_the_repository_and_out_of_crews_folders() {
    let world = world("copy = [\"../x\", \"/etc/passwd\", \".git/config\", \".crew/journal.db\", \"a[b]\"]");
    let said = world.crew(&["config"]);
    assert_eq!(said.code, Some(2), "{said}");
    for why in [
        "leaves the repository",
        "is absolute",
        "git's own folder",
        "crew keeps",
        "pattern",
    ] {
        assert!(said.all().contains(why), "{why}: {said}");
    }
}

/// A world whose repository has a submodule `lib` with one in it, and whose origins are gone.
fn with_submodules(change: impl FnOnce(&mut Settings)) -> World {
    let world = World::with(change);
    let allow = ["-c", "protocol.file.allow=always"];
    let commit = |folder: &std::path::Path, file: &str| {
        fs::write(
            folder.join(file),
            format!("{file} of {}\n", folder.file_name().unwrap().display()),
        )
        .unwrap();
        world.git_at(folder, &["add", "."]);
        world.git_at(folder, &["commit", "-q", "-m", file]);
    };
    for name in ["inner", "outer"] {
        let folder = world.path(name);
        fs::create_dir_all(&folder).unwrap();
        world.git_at(&folder, &["init", "-q", "-b", "main"]);
        world.git_at(&folder, &["config", "user.name", "User"]);
        world.git_at(&folder, &["config", "user.email", "user@example.org"]);
        commit(&folder, "f");
        commit(&folder, "g");
    }
    let add = |folder: &std::path::Path, of: &str, at: &str| {
        let url = world.path(of).display().to_string();
        let add = ["submodule", "add", "-q", &url, at];
        world.git_at(folder, &[&allow[..], &add[..]].concat());
    };
    add(&world.path("outer"), "inner", "deep/in");
    commit(&world.path("outer"), "h");
    add(&world.project(""), "outer", "lib");
    let update = ["submodule", "update", "-q", "--init", "--recursive"];
    world.git_at(&world.project(""), &[&allow[..], &update[..]].concat());
    world.git(&["commit", "-q", "-m", "a submodule"]);
    fs::remove_dir_all(world.path("inner")).unwrap();
    fs::remove_dir_all(world.path("outer")).unwrap();
    world
}

/// The files below a folder, with their lengths.
fn files(folder: &std::path::Path) -> Vec<(String, u64)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let meta = entry.metadata().unwrap();
        if meta.is_dir() {
            found.extend(files(&entry.path()));
        } else {
            found.push((entry.path().display().to_string(), meta.len()));
        }
    }
    found.sort();
    found
}

#[test]
fn submodules_are_filled_from_what_the_user_has_in_workspaces_and_for_checks() {
    let world = with_submodules(|s| {
        s.checks = "commands = ['''cat lib/f lib/h lib/deep/in/g && [ ! -e lib/left ] && touch lib/left''']"
            .to_owned();
    });
    let modules = world.project(".git/modules");
    let before = files(&modules);
    for id in ["t-1", "t-2"] {
        world
            .ticket(id)
            .agent(
                "cat lib/f lib/h lib/deep/in/f > $CREW_TICKET_ID.seen\n\
                 git -C lib log --format=%s >> $CREW_TICKET_ID.seen || exit 1\n\
                 git submodule update -q --init --recursive || exit 1\n\
                 git status --porcelain | grep lib && exit 1\n\
                 git add -A && git commit -q -m work && echo DONE",
            )
            .write();
        world.drain_all();
        assert_eq!(
            world.on_main(&format!("{id}.seen")).as_deref(),
            Some("f of outer\nh of outer\nf of inner\nh\ng\nf\n")
        );
    }
    assert_eq!(files(&modules), before, "the user's objects are as they were");
    assert_eq!(world.git(&["for-each-ref", "refs/crew/rescue"]), "");
    assert!(!world.prompt("t-1", 1).contains("submodules whose files"));
    world.assert_at_rest();
    // They are the user's, and stay so.
    world.git(&["submodule", "status", "--recursive"]);
    assert!(
        world
            .must(&["doctor"])
            .out
            .lines()
            .all(|line| !line.contains("submodule"))
    );
}

#[test]
fn work_in_a_submodule_is_kept_and_no_commit_of_one_lands() {
    let world = with_submodules(|s| s.run = "max_steps = 3\nattempts = 1".to_owned());
    let recorded = world.git(&["rev-parse", "main:lib"]);
    world
        .ticket("t-1")
        .agent(
            "if [ \"$CREW_STEP\" = 1 ]; then echo mine > lib/deep/in/own; git -C lib commit -q --allow-empty -m mine\n\
             git add lib; git commit -q -m bump\n\
             else git checkout -q HEAD~1 -- lib; git commit -q -m back; work own x; fi; echo DONE",
        )
        .write();
    world.drain_all();
    assert_eq!(world.on_main("own").as_deref(), Some("x\n"));
    let told = world.prompt("t-1", 2);
    assert!(told.contains("\"lib\" is a submodule"), "{told}");
    let kept = world.git(&["for-each-ref", "--format=%(refname)", "refs/crew/rescue/t-1"]);
    let kept: Vec<&str> = kept.lines().collect();
    let has = |file: &str| {
        kept.iter()
            .any(|name| world.git(&["ls-tree", "-r", "--name-only", name]).contains(file))
    };
    assert!(has("own"), "{kept:?}");
    assert_eq!(world.git(&["rev-parse", "main:lib"]), recorded);
    world.assert_at_rest();
}

#[test]
fn a_submodule_that_the_user_does_not_have_is_told_to_everybody() {
    let world = with_submodules(|_| {});
    world.git(&["submodule", "deinit", "-q", "-f", "lib"]);
    fs::remove_dir_all(world.project(".git/modules")).unwrap();
    let said = world.crew(&["doctor"]);
    assert!(
        said.out.contains("lib") && said.out.contains("submodule update"),
        "{said}"
    );
    world.ticket("t-1").agent("ls -A lib > seen\necho DONE").write();
    world.drain_all();
    assert_eq!(world.on_main("seen").as_deref(), Some(""));
    let prompt = world.prompt("t-1", 1);
    assert!(prompt.contains("cannot be fetched: lib."), "{prompt}");
    world.git(&["rm", "-q", "crew.toml"]);
    world.git(&["commit", "-q", "-m", "anew"]);
    let said = world.must(&["init", "--yes", "--agent", "true"]);
    assert!(said.out.contains("not here: lib"), "{said}");
}

#[test]
fn a_submodule_that_moved_on_is_seen_by_the_next_check_without_any_set_up() {
    let world = with_submodules(|s| {
        s.checks =
            "commands = [\"cat lib/f >> \\\"$HOME/seen\\\"; ls lib >> \\\"$HOME/seen\\\"\"]".to_owned();
    });
    world.anyway();
    world.ticket("t-1").agent("work a x\necho DONE").write();
    world.drain_all();
    let lib = world.project("lib");
    fs::write(lib.join("f"), "new\n").unwrap();
    world.git_at(&lib, &["config", "user.name", "User"]);
    world.git_at(&lib, &["config", "user.email", "user@example.org"]);
    world.git_at(&lib, &["rm", "-q", "h"]);
    world.git_at(&lib, &["commit", "-q", "-a", "-m", "move on"]);
    world.git(&["commit", "-q", "-m", "move on", "lib"]);
    world.ticket("t-2").agent("work b x\necho DONE").write();
    world.drain_all();
    let seen = fs::read_to_string(world.path("home/seen")).unwrap();
    assert_eq!(seen, "f of outer\ndeep\nf\ng\nh\nnew\ndeep\nf\ng\n");
}

#[test]
fn a_set_up_of_a_killed_engine_ends_when_its_ticket_is_dropped_without_one() {
    let world = world(r#"setup = ['''echo ran >> "$HOME/n"; sleep 1000''']"#);
    world.ticket("t-1").agent(DONE).write();
    let engine = world.engine();
    world.wait("set-up", || noted(&world).len() == 1);
    engine.signal("KILL");
    drop(engine);
    world.must(&["drop", "t-1"]);
    assert!(world.processes().is_empty(), "{:?}", world.processes());
    assert!(world.workspaces().is_empty(), "{:?}", world.workspaces());
    world.drain_all();
    assert_eq!(noted(&world).len(), 1);
    assert_eq!(
        world.git(&["for-each-ref", "refs/crew"]),
        "",
        "there was nothing to keep"
    );
    world.assert_at_rest();
}

/// `git fetch --prune` in a mirror clone deletes every ref that its remote does not have.
#[test]
fn work_whose_base_was_pruned_while_a_step_ran_lands_or_is_kept() {
    let world = World::with(|s| s.agents = "count = 2".to_owned());
    for id in ["t-1", "t-2"] {
        let script = "work \"$CREW_TICKET_ID.txt\" agent\nuntil_there \"$GATES/$CREW_TICKET_ID\"\necho DONE";
        world.ticket(id).agent(script).write();
    }
    let mut engine = world.engine();
    for id in ["t-1", "t-2"] {
        let file = format!("{id}.txt");
        world.wait(&format!("{id} has work"), || {
            world.workspaces().iter().any(|place| place.join(&file).exists())
        });
    }
    for name in world
        .git(&[
            "for-each-ref",
            "--format=%(refname)",
            "refs/crew",
            "refs/heads/agent",
        ])
        .lines()
    {
        world.git(&["update-ref", "-d", name]);
    }
    world.must(&["drop", "t-2"]);
    world.wait("the work of t-2 is kept", || world.kept("t-2", 1).is_some());
    world.open("t-1");
    world.wait("t-1 lands", || world.is_landed("t-1"));
    world.must(&["stop"]);
    engine.end();
    assert_eq!(world.on_main("t-1.txt").as_deref(), Some("agent\n"));
    let kept = world.kept("t-2", 1).unwrap();
    assert_eq!(world.git(&["show", &format!("{kept}:t-2.txt")]), "agent");
    assert_eq!(world.count("t-1", "no_commits"), 0);
}
