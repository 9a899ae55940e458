//! The set-up of a workspace, as a person sees it while it runs and when it fails, and how it ends with the
//! engine.

use std::fs;

use testkit::pty::Pty;
use testkit::world::{DONE, World};

/// A world whose set-up counts its starts, and waits for a gate.
fn waiting() -> World {
    let world = World::with(|s| {
        s.land = r#"[workspace]
setup = ["true", '''echo begun | tee -a "$HOME/n"; [ -e "$GATES/go" ] || exec sleep 1000''']"#
            .to_owned();
    });
    world.ticket("t-1").agent(DONE).write();
    world
}

fn begun(world: &World) -> usize {
    let noted = fs::read_to_string(world.path("home/n")).unwrap_or_default();
    noted.lines().count()
}

#[test]
fn a_set_up_that_runs_is_seen_with_its_command_and_since_when() {
    let world = waiting();
    let mut command = world.program(&testkit::world::crew());
    command.args(["run"]).current_dir(world.path("project"));
    let mut terminal = Pty::start(command.env("TERM", "xterm-256color"), (150, 24));
    terminal.until("its workspace is being set up with `echo begun");
    terminal.until("› begun");
    let seen = world.must(&["ps"]);
    let says = "its workspace is being set up with `echo begun";
    assert!(seen.out.contains(says), "{seen}");
    let all = world.json(&["ps"]);
    let agent = &all["agents"][0];
    assert_eq!(agent["state"], "preparing", "{agent}");
    let set_up = &agent["setting_up"];
    assert_eq!(set_up["run"], "t-1.1.set-up-1", "{agent}");
    let command = set_up["command"].as_str().unwrap_or_default();
    assert!(command.starts_with("echo begun"), "{agent}");
    assert!(set_up["since"].is_string(), "{agent}");
    let logs = world.must(&["logs", "ada"]);
    assert!(
        logs.out.contains("set-up-1") && logs.out.contains("\nbegun\n"),
        "{logs}"
    );
    world.must(&["stop", "--wait"]);
    assert_eq!(terminal.left(), (0, true), "{}", terminal.screen());
    world.open("go");
    world.drain_all();
    assert_eq!(world.landed(), ["t-1"]);
}

#[test]
fn a_set_up_that_failed_is_seen_with_its_output_by_everybody() {
    let world = World::with(|s| {
        s.land = r#"[workspace]
setup = ["echo 'no network' >&2; exit 3"]"#
            .to_owned();
    });
    world.ticket("t-1").agent(DONE).write();
    let said = world.run_until_held("t-1");
    assert!(said.out.contains("│ no network"), "{said}");
    let seen = world.must(&["ps"]);
    let says = "t-1 is held: its workspace could not be set up";
    assert!(seen.out.contains(says), "{seen}");
    let all = world.json(&["ps"]);
    let failed = &all["failed_set_ups"][0];
    assert_eq!(failed["ticket"], "t-1", "{all}");
    assert_eq!(failed["output"], "no network\n(exit code 3)", "{all}");
    assert!(
        failed["since"].is_string() && failed["retry_at"].is_string(),
        "{all}"
    );
    let logs = world.must(&["logs", "ada"]);
    assert!(logs.out.contains("no network"), "{logs}");
}

#[test]
fn an_engine_that_stops_ends_a_set_up_at_once_and_the_next_one_begins_it_again() {
    for how in [&["stop"][..], &["stop", "--leave"]] {
        let world = waiting();
        let mut engine = world.engine();
        world.wait("the set-up", || begun(&world) == 1);
        let said = world.must(how);
        assert!(said.out.contains("the set-up of a workspace is ended"), "{said}");
        let said = engine.end();
        assert_eq!(said.code, Some(0), "{said}");
        assert!(world.processes().is_empty(), "{:?}", world.processes());
        assert!(world.workspaces().is_empty(), "{:?}", world.workspaces());
        assert_eq!(begun(&world), 1, "{how:?}");
        world.open("go");
        world.drain_all();
        assert_eq!((world.landed(), begun(&world)), (vec!["t-1".to_owned()], 2));
        assert_eq!((world.runs("t-1"), world.state("t-1").tries), (1, 1));
        world.assert_at_rest();
    }
}

/// The naive version holds each ticket for it, one entry each, and names none of the folders.
#[test]
fn a_set_up_that_leaves_too_many_files_is_one_entry_and_all_goes_on_once_git_ignores_them() {
    let world = World::with(|s| {
        s.land = r#"[workspace]
setup = ["mkdir -p .venv/lib; cd .venv/lib; seq 1 1200 | while read n; do : > $n.py; done"]"#
            .to_owned();
    });
    for id in ["t-1", "t-2", "t-3", "t-4", "t-5"] {
        world.ticket(id).agent(DONE).write();
    }
    let said = world.drain_held();
    let inbox = world.crew(&["inbox", "--json"]);
    let inbox: serde_json::Value = serde_json::from_str(&inbox.out).unwrap();
    let items = inbox["items"].as_array().unwrap();
    assert_eq!(items.len(), 1, "{inbox}\n{said}");
    let why = items[0]["why"].as_str().unwrap_or_default();
    for part in [
        "leaves 1200 files",
        "1200 of them are in \".venv\"",
        "add `.venv/` to .gitignore",
    ] {
        assert!(why.contains(part), "{part}: {why}");
    }
    // One workspace after the other shows it, and only as many as agents were free at first.
    assert_eq!(world.count("t-5", "claimed"), 0);
    let explained = world.must(&["explain", "t-5"]);
    assert!(
        explained.out.contains("no workspace can be set up"),
        "{explained}"
    );
    let before = world.count("t-1", "released");
    let mut engine = world.engine();
    world.wait("it is tried again", || world.count("t-1", "released") > before);
    world.commit(".gitignore", ".venv/\n");
    for id in ["t-1", "t-2", "t-3", "t-4", "t-5"] {
        world.wait("it lands", || world.is_landed(id));
    }
    world.must(&["stop"]);
    engine.end();
    assert_eq!(world.state("t-1").tries, 1);
    assert_eq!(world.on_main(".venv/lib/1.py"), None);
}
