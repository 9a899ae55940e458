//! A check is a clean room: it finds the tree that it is given, and nothing of the user's checkout or of the
//! check before it.

use std::fs;

use testkit::world::{DONE, World};

/// Says in the file `n` of HOME that set-up ran.
const COUNT: &str = "echo ran >> \"$HOME/n\"";

/// One attempt of one step: what fails is held at once.
fn once(settings: &mut testkit::world::Settings) {
    settings.run = "max_steps = 1\nattempts = 1".to_owned();
}

/// How often the set-up ran.
fn set_ups(world: &World) -> usize {
    let text = fs::read_to_string(world.path("home/n")).unwrap_or_default();
    text.lines().count()
}

#[test]
fn a_check_does_not_climb_into_the_users_checkout() {
    // As node does for `require('foo')`.
    let climbs = "d=$PWD; while [ \"$d\" != / ]; do [ -e \"$d/node_modules/foo\" ] && exit 0; d=$(dirname \"$d\"); done; exit 1";
    let world = World::with(|s| {
        once(s);
        s.checks = format!("commands = ['''{climbs}''']");
    });
    world.anyway();
    world.commit(".gitignore", "node_modules\n");
    world.write("node_modules/foo/index.js", "the user's\n");
    world.ticket("t-1").agent(DONE).write();
    world.drain_held();
    assert_eq!(world.held("t-1").0, "target_red");
    assert!(world.landed().is_empty());
    // Its folder is made anew when somebody removed it.
    let slots = fs::read_dir(world.path("home/.local/state/crew")).unwrap();
    let slot = slots
        .flatten()
        .map(|entry| entry.path())
        .find(|path| path.to_string_lossy().ends_with(".checks"))
        .unwrap();
    fs::remove_dir_all(&slot).unwrap();
    world.change_settings(climbs, "true");
    world.must(&["retry", "t-1"]);
    world.drain_all();
    assert!(slot.exists());
}

#[test]
fn path_leads_a_check_to_nothing_of_the_users_checkout() {
    let world = World::with(|s| {
        s.checks =
            "commands = ['''if command -v users-tool; then exit 1; fi; command -v good-tool''']".to_owned();
    });
    let tool = |folder: &str, name: &str| {
        let path = world.path(folder).join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "#!/bin/sh\n").unwrap();
        testkit::world::make_executable(&path);
        path.parent().unwrap().to_owned()
    };
    let venv = tool("venv/bin", "users-tool");
    fs::write(world.path("venv/pyvenv.cfg"), "").unwrap();
    let packages = world.path("venv/lib/python3.12/site-packages");
    fs::create_dir_all(&packages).unwrap();
    fs::write(
        packages.join("it.pth"),
        world.project("src").display().to_string(),
    )
    .unwrap();
    let entries = [
        tool("project/node_modules/.bin", "users-tool"),
        venv,
        tool("good", "good-tool"),
    ];
    let usual = testkit::world::path_variable();
    let path = std::env::join_paths(entries.iter().cloned().chain(std::env::split_paths(&usual))).unwrap();
    world.around("PATH", &path);
    world.commit(".gitignore", "node_modules\n");
    world.ticket("t-1").agent(DONE).write();
    let said = world.drain_all();
    for entry in &entries[..2] {
        let told = said.all().matches(&entry.display().to_string()).count();
        assert_eq!(told, 1, "{said}");
    }
}

#[test]
fn set_up_runs_for_every_commit_where_nothing_says_what_it_depends_on() {
    let world = World::with(|s| {
        once(s);
        s.checks = format!("setup = ['''cp lock .deps; {COUNT}''']\ncommands = [\"cmp lock .deps\"]");
    });
    world.anyway();
    world.commit(".gitignore", ".deps\n");
    world.commit("lock", "v1\n");
    world.ticket("t-1").agent("work a x\necho DONE").write();
    world.drain_all();
    world.ticket("t-2").agent("work lock v2\necho DONE").write();
    world.drain_all();
    assert_eq!((world.landed().len(), set_ups(&world)), (2, 2));
}

#[test]
fn a_dependency_that_is_taken_out_of_the_lock_file_is_gone() {
    let uses = "for d in $(cat uses); do [ -e \".deps/$d\" ] || { echo \"no $d\"; exit 1; }; done";
    for lock in ["lock", "package-lock.json"] {
        let world = World::with(|s| {
            once(s);
            s.checks = format!(
                "setup = ['''mkdir -p .deps; for d in $(cat {lock}); do : > \".deps/$d\"; done; {COUNT}''']\n\
                 keep = [\".deps\"]\ncommands = ['''{uses}''']"
            );
        });
        world.anyway();
        world.commit(".gitignore", ".deps\n");
        world.commit(lock, "foo bar\n");
        world.commit("uses", "foo bar\n");
        for id in ["t-1", "t-2"] {
            world
                .ticket(id)
                .agent("work \"$CREW_TICKET_ID\" x\necho DONE")
                .write();
            world.drain_all();
        }
        let expected = if lock == "lock" { 2 } else { 1 };
        assert_eq!(set_ups(&world), expected, "{lock}");
        world
            .ticket("t-3")
            .agent(&format!("work {lock} foo\necho DONE"))
            .write();
        world.drain_held();
        assert_eq!(world.held("t-3").0, "failed", "{lock}");
        assert_eq!(world.landed(), ["t-1", "t-2"]);
    }
}

#[test]
fn what_a_check_changes_of_the_set_up_is_not_there_for_the_next_work() {
    let world = World::with(|s| {
        s.checks = format!(
            "setup = ['''mkdir -p mods; echo one > mods/dep; {COUNT}''']\ncommands = [\"sh test.sh\"]"
        );
    });
    world.commit(".gitignore", "mods/\n");
    world.commit("package.json", "{}\n");
    world.commit("test.sh", "true\n");
    let once = |script: &str| {
        format!("[ $RUN = 1 ] || {{ echo 'BLOCKED: no'; exit; }}\nwork test.sh '{script}'\necho DONE")
    };
    // Its check changes a dependency, and fails.
    world
        .ticket("t-1")
        .agent(&once("echo two > mods/dep; exit 1"))
        .write();
    world.drain_held();
    assert!(!world.is_landed("t-1"));
    // The check of the next one passes on the changed dependency alone.
    world.ticket("t-2").agent(&once("grep -q two mods/dep")).write();
    let said = world.drain_held();
    assert!(!world.is_landed("t-2"), "{said}");
    let before = set_ups(&world);
    world.ticket("t-3").agent("work t-3 x\necho DONE").write();
    world.drain_held();
    assert!(world.is_landed("t-3"));
    assert_eq!(set_ups(&world), before, "nothing has changed it since");
}

#[test]
fn an_input_that_the_settings_name_is_one() {
    let world = World::with(|s| {
        s.checks = format!(
            "setup = ['''cp -r pins .deps; {COUNT}''']\nsetup_inputs = [\"pins\"]\ncommands = [\"cmp pins/a .deps/a\"]"
        );
    });
    world.anyway();
    world.commit(".gitignore", ".deps\n");
    world.commit("pins/a", "v1\n");
    for (id, script, so_far) in [
        ("t-1", "work x x", 1),
        ("t-2", "work y y", 1),
        ("t-3", "work pins/a v2", 2),
    ] {
        world.ticket(id).agent(&format!("{script}\necho DONE")).write();
        world.drain_all();
        assert_eq!(set_ups(&world), so_far, "{id}");
    }
    // Other commands are another set-up.
    world.change_settings("cp -r pins", "cp -R pins");
    world.ticket("t-4").agent("work z z\necho DONE").write();
    world.drain_all();
    assert_eq!((set_ups(&world), world.landed().len()), (3, 4));
}

#[test]
fn a_submodule_that_moved_on_is_seen_by_the_next_check() {
    let world = World::with(|s| {
        s.checks = "setup = [\"git -c protocol.file.allow=always submodule update --init -q\"]\n\
                    commands = ['''git status && cat lib/f >> \"$HOME/seen\"''']"
            .to_owned();
    });
    let lib = world.path("lib");
    fs::create_dir_all(&lib).unwrap();
    let at = |args: &[&str]| world.git_at(&lib, args);
    at(&["init", "-q", "-b", "main"]);
    at(&["config", "user.name", "User"]);
    at(&["config", "user.email", "user@example.org"]);
    let move_on = |text: &str| {
        fs::write(lib.join("f"), text).unwrap();
        at(&["add", "f"]);
        at(&["commit", "-q", "-m", text.trim()]);
    };
    move_on("old\n");
    let url = lib.display().to_string();
    world.git(&[
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "add",
        "-q",
        &url,
        "lib",
    ]);
    world.git(&["commit", "-q", "-m", "a submodule"]);
    world.git(&["config", "submodule.recurse", "true"]);
    // A manifest, so that the submodule alone is what has changed.
    world.commit("package.json", "{}\n");
    world.ticket("t-1").agent("work a x\necho DONE").write();
    world.drain_all();
    move_on("new\n");
    world.git_at(
        &world.project("lib"),
        &["-c", "protocol.file.allow=always", "pull", "-q"],
    );
    world.git(&["commit", "-q", "-a", "-m", "move on"]);
    world.ticket("t-2").agent("work b x\necho DONE").write();
    world.drain_all();
    let seen = fs::read_to_string(world.path("home/seen")).unwrap();
    // The bare target and the candidate, each time.
    assert_eq!(seen, "old\nold\nnew\nnew\n");
}

#[test]
fn a_build_output_of_an_earlier_check_does_not_hide_a_broken_build() {
    let world = World::with(|s| {
        once(s);
        s.checks =
            "keep = [\"target\"]\ncommands = [\"[ -e out/app ] || sh build.sh\", \"test -e out/app\", \
                    '''mkdir -p target; echo x >> target/n; cp target/n \"$HOME/kept\"''']"
                .to_owned();
    });
    world.anyway();
    world.commit(".gitignore", "out\ntarget\n");
    world.commit("build.sh", "mkdir -p out; touch out/app\n");
    world.ticket("t-1").agent("work a x\necho DONE").write();
    world.drain_all();
    world.ticket("t-2").agent("work b x\necho DONE").write();
    world.drain_all();
    assert_eq!(fs::read_to_string(world.path("home/kept")).unwrap(), "x\nx\n");
    // The first command passes; the target, which is built anew for the proof, passes the second one too.
    world.ticket("t-3").agent("work build.sh true\necho DONE").write();
    world.drain_held();
    assert_eq!(world.held("t-3").0, "failed");
    assert_eq!(world.landed(), ["t-1", "t-2"]);
}

#[test]
fn the_proof_on_the_target_runs_the_commands_before_the_failed_one_too() {
    let world = World::with(|s| {
        once(s);
        s.checks =
            "commands = [\"mkdir out && touch out/app\", \"test -e out/app && test ! -e bad\"]".to_owned();
    });
    world.commit(".gitignore", "out\n");
    world.ticket("t-1").agent("work bad x\necho DONE").write();
    world.drain_held();
    assert_eq!(world.held("t-1").0, "failed", "the agent's work is at fault");
    assert_eq!(world.count("t-1", "target_red"), 0);
}

#[test]
fn a_check_gets_the_variables_of_toolchains_and_those_that_the_settings_name() {
    let world = World::with(|s| {
        s.checks = "env = { LEVEL = \"3\" }\npass_env = [\"MINE\"]\n\
                    commands = ['''env > \"$HOME/env\"''']"
            .to_owned();
    });
    world.around("CARGO_HOME", "/opt/cargo");
    world.around("LC_ALL", "C.UTF-8");
    world.around("VIRTUAL_ENV", "/somewhere");
    world.around("MINE", "mine");
    world.around("GOPATH", world.project("go"));
    world.ticket("t-1").agent(DONE).write();
    let said = world.drain_all();
    let env = fs::read_to_string(world.path("home/env")).unwrap();
    let has = |line: &str| env.lines().any(|is| is == line);
    for line in ["CARGO_HOME=/opt/cargo", "LC_ALL=C.UTF-8", "LEVEL=3", "MINE=mine"] {
        assert!(has(line), "{line}: {env}");
    }
    for name in ["VIRTUAL_ENV=", "CANARY_TOKEN=", "GOPATH=", "CREW_TICKET_ID="] {
        assert!(!env.lines().any(|line| line.starts_with(name)), "{name}: {env}");
    }
    assert!(said.all().contains("GOPATH"), "{said}");
}

#[test]
fn a_check_that_hangs_is_shown_with_its_output_wherever_it_is_shown() {
    let world = World::with(|s| {
        s.checks =
            "timeout = \"1s\"\ncommands = [\"printf 'waiting for the %s' moon; sleep 1000\"]".to_owned();
    });
    world.anyway();
    world.ticket("t-1").agent(DONE).write();
    let said = world.drain_held();
    assert_eq!(world.held("t-1").0, "target_red");
    let after = "timed out after 1 s";
    for command in [
        &["inbox"][..],
        &["explain", "t-1"],
        &["history", "t-1"],
        &["--json", "inbox"],
        &["--json", "explain", "t-1"],
        &["--json", "history", "t-1"],
    ] {
        let shown = world.crew(command).out;
        let has = [after, "waiting for the moon"].map(|text| shown.contains(text));
        assert_eq!(has, [true, true], "{command:?}: {shown}");
    }
    assert!(
        said.out.contains(after) && said.out.contains("│ waiting for the moon"),
        "{said}"
    );
}
