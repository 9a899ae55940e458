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
    let said = world.drain_held();
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
    assert!(shown.out.contains("being set up: mkdir half"), "{shown}");
    engine.signal("KILL");
    drop(engine);
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
        "copy = [\".env\", \"conf/**/*.local\", \"cache\", \"gone\"]\nsetup = [\"cat .env cache/deep/a > seen\"]",
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
    assert!(said.all().contains("gone"), "{said}");
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
    ] {
        let world = world(&format!("copy = [\"{name}\"]"));
        world.write("notes", "mine\n");
        fs::create_dir_all(world.project("new")).unwrap();
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
