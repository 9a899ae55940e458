//! Silent steps, as people see them.

mod deep;

use serde_json::Value;
use testkit::world::World;

/// The agent of a ticket, as `ps --json` has it; null before the ticket has one.
fn agent(world: &World, ticket: &str) -> Value {
    let ps = world.json(&["ps"]);
    let mut agents = ps["agents"].as_array().unwrap().iter();
    agents
        .find(|agent| agent["ticket"] == ticket)
        .cloned()
        .unwrap_or_default()
}

#[test]
fn what_runs_in_a_step_is_shown_without_its_arguments() {
    let world = World::new();
    let script = "work t x\ncat > wait-for-it <<'END'\n#!/bin/sh\nuntil [ -e \"$1\" ]; do sleep 0.1; done\nEND\n\
        chmod +x wait-for-it\nsh ./wait-for-it \"$GATES/go\" --token secret\nrm wait-for-it\necho DONE";
    world.ticket("t-1").agent(script).write();
    let mut engine = world.engine();
    world.wait("it is seen", || agent(&world, "t-1")["activity"].is_object());
    let shown = world.must(&["ps"]);
    assert!(shown.out.contains("in `"), "{shown}");
    assert!(!shown.out.contains("secret"), "{shown}");
    let name = world.agent_of("t-1");
    for command in [["peek", &name], ["explain", "t-1"]] {
        let said = world.must(&command);
        assert!(
            said.out.contains(" in `") && !said.out.contains("secret"),
            "{said}"
        );
        assert!(world.json(&command)["activity"]["what"].is_string());
    }
    world.open("go");
    world.wait("t-1 lands", || world.is_landed("t-1"));
    world.must(&["stop"]);
    engine.end();
    world.assert_at_rest();
}
