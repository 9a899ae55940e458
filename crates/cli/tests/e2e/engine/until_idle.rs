//! `crew run --until-idle`: causes that may pass without a person are waited for, and everything that goes on
//! by itself needs an engine.

use testkit::world::{DONE, Engine, World};

use super::target::verdict;

const WITHOUT: &str = "when an engine runs again (`crew run`)";

/// A command that fails until the gate is opened.
fn until(gate: &str) -> String {
    format!("[ -e \"$GATES/{gate}\" ] || {{ echo no network; exit 1; }}")
}

fn set_up_world() -> World {
    let world = World::with(|s| s.land = format!("[workspace]\nsetup = ['''{}''']", until("net")));
    world.ticket("t-1").agent(DONE).write();
    world
}

fn until_idle(world: &World) -> Engine {
    world.start_at(&world.path("project"), &["run", "--until-idle"])
}

fn is_held(world: &World) -> bool {
    world.try_state("t-1").is_some_and(|ticket| ticket.held.is_some())
}

/// The surfaces that say how t-1 goes on, on one line each.
fn surfaces(world: &World) -> [(&'static str, String); 4] {
    ["ps", "inbox", "explain", "queue"].map(|command| {
        let args = match command {
            "explain" => vec![command, "t-1"],
            _ => vec![command],
        };
        let shown = world.crew(&args).out;
        (command, shown.split_whitespace().collect::<Vec<_>>().join(" "))
    })
}

#[test]
fn a_set_up_that_fails_does_not_end_the_run() {
    let world = set_up_world();
    let mut engine = until_idle(&world);
    world.wait("it is held", || is_held(&world));
    for (command, shown) in surfaces(&world) {
        assert!(shown.contains("tried again by itself in"), "{command}: {shown}");
    }
    world.open("net");
    // The run is there to carry that out.
    let said = world.must(&["retry", "t-1"]);
    assert!(!said.all().contains("no engine runs"), "{said}");
    let said = engine.end();
    assert_eq!(said.code, Some(0), "{said}");
    assert_eq!(world.landed(), ["t-1"]);
}

#[test]
fn a_target_whose_set_up_fails_does_not_end_the_run() {
    let set_up = until("net");
    let world = World::with(|s| s.checks = format!("setup = ['''{set_up}''']\ncommands = ['true']"));
    world.ticket("t-1").agent(DONE).write();
    let mut engine = until_idle(&world);
    world.wait("it could not be checked", || verdict(&world) == "could_not_run");
    world.change_settings(&set_up, "true");
    let said = engine.end();
    assert_eq!(said.code, Some(0), "{said}");
    assert_eq!(world.landed(), ["t-1"]);
}

#[test]
fn a_target_that_cannot_be_checked_keeps_no_run_that_has_nothing_to_do() {
    let world = World::with(|s| s.checks = "setup = ['exit 1']\ncommands = ['true']".to_owned());
    world.drain_all();
}

#[test]
fn a_held_ticket_is_said_to_go_on_only_with_an_engine() {
    let world = set_up_world();
    world.run_until_held("t-1");
    for (command, shown) in surfaces(&world) {
        assert!(shown.contains(WITHOUT), "{command}: {shown}");
        assert!(!shown.contains("by itself"), "{command}: {shown}");
    }
}

#[test]
fn agents_are_said_to_start_only_with_an_engine() {
    for checks in [
        "commands = ['echo no; exit 1']",
        "setup = ['echo no way; exit 3']\ncommands = ['true']",
    ] {
        let world = World::with(|s| s.checks = checks.to_owned());
        world.ticket("t-1").agent(DONE).write();
        let mut engine = world.engine();
        world.wait("it is red", || {
            ["failed", "could_not_run"].contains(&verdict(&world).as_str())
        });
        let shown = world.crew(&["inbox"]).out;
        assert!(shown.contains("agents start by themselves"), "{shown}");
        world.must(&["stop", "--wait"]);
        let said = engine.end();
        assert!(!said.out.contains("by themselves"), "{said}");
        for (command, shown) in surfaces(&world) {
            if command != "queue" {
                assert!(
                    shown.contains("an engine runs again (`crew run`)"),
                    "{command}: {shown}"
                );
            }
            for promise in ["by itself", "by themselves"] {
                assert!(!shown.contains(promise), "{command}: {promise}: {shown}");
            }
        }
    }
}
