//! F24: two engines on one journal, at each operation. The second is turned away, whatever the first is in
//! the middle of, and changes nothing of it.

use model::journal::Fact;

use crate::faults::gate::Gate;
use crate::faults::mounts::cells;
use crate::faults::struck::{self, At, lands_at_once};
use testkit::world::{DONE, Engine, World};

/// How often something happened to the project.
fn count(world: &World, name: &str) -> usize {
    let is = |fact: &Fact| matches!(fact, Fact::Project(_)) && fact.name() == name;
    world.rows().iter().filter(|(_, _, fact)| is(fact)).count()
}

/// Another engine is turned away, told by whom, and writes nothing.
fn turned_away(world: &World, engine: &Engine) {
    let before = count(world, "opened");
    let second = world.crew(&["run", "--until-idle"]);
    assert_eq!(second.code, Some(4), "{second}");
    let by = format!("process {}", engine.pid());
    assert!(second.all().contains(&by), "{second}");
    assert_eq!(count(world, "opened"), before);
}

/// A second engine comes in the middle of an operation: a git of the first one's waits there. `after`: the
/// first carries on what one before it was killed at.
fn two_in(words: &str, after: Option<At>) {
    let at = after.unwrap_or(At::Queue);
    let world = struck::world(at);
    let gate = Gate::at(words);
    let mut first = struck::bring(&world, at);
    if after.is_some() {
        drop(first);
        first = world.engine();
    }
    struck::go_on(&world, at);
    gate.reached(1);
    turned_away(&world, &first);
    gate.open();
    lands_at_once(&world, &mut first, "t-1");
    assert!(world.workspaces().is_empty());
}

cells! {
    fn a_second_engine_comes_as_a_workspace_is_made() {
        two_in("read-tree", None);
    }

    fn a_second_engine_comes_as_the_branch_is_taken_over() {
        two_in("unpack-objects", None);
    }

    fn a_second_engine_comes_as_it_lands() {
        two_in("update-ref*crew: land", None);
    }

    fn a_second_engine_comes_as_the_workspace_goes() {
        two_in("workspace no longer needed", None);
    }

    fn a_second_engine_comes_as_one_carries_on_what_a_dead_one_left() {
        two_in("unpack-objects", Some(At::Work));
    }

    fn an_engine_that_comes_while_a_command_is_carried_out_waits_for_that() {
        let world = struck::world(At::Work);
        let killed = struck::bring(&world, At::Work);
        // A start that is not recorded is the next engine's, and so is its stop.
        world.wait("the start of its run is recorded", || {
            world.count("t-1", "worker_spawned") == 1
        });
        drop(killed);
        let gate = Gate::at("workspace no longer needed");
        let mut dropped = world.start_at(&world.path("project"), &["drop", "t-1"]);
        gate.reached(1);
        let before = count(&world, "opened");
        let mut engine = world.engine();
        world.wait("it says for what it waits", || {
            engine.said().all().contains("waiting for a command that holds this repository")
        });
        assert!(engine.is_up(), "{}", engine.said());
        assert_eq!(count(&world, "opened"), before);
        let said = world.must(&["stop"]);
        assert!(said.all().contains("no engine runs here"), "{said}");
        assert!(dropped.is_up(), "{}", dropped.said());
        gate.open();
        let said = dropped.end();
        assert_eq!(said.code, Some(0), "{said}");
        world.ticket("t-2").agent(DONE).write();
        lands_at_once(&world, &mut engine, "t-2");
    }
}

#[test]
fn a_second_engine_comes_with_a_command_and_a_ticket() {
    let world = struck::world(At::Queue);
    let mut first = struck::bring(&world, At::Queue);
    turned_away(&world, &first);
    let before = count(&world, "agent_spawned");
    world.must(&["spawn"]);
    struck::go_on(&world, At::Queue);
    turned_away(&world, &first);
    lands_at_once(&world, &mut first, "t-1");
    assert_eq!(count(&world, "agent_spawned"), before + 1);
    assert_eq!(
        (world.count("t-1", "created"), world.count("t-1", "claimed")),
        (1, 1)
    );
}
