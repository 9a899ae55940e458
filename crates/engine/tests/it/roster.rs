//! The roster: which agents there are, and how they are named.

use model::command::Command;

use crate::scene::{Scene, name};

fn agents(scene: &Scene) -> Vec<String> {
    let agents = &scene.core.project().agents;
    agents.iter().map(ToString::to_string).collect()
}

fn unnamed(count: u32) -> Scene {
    Scene::with(|settings| {
        settings.agents.names = Vec::new();
        settings.agents.count = count;
    })
}

#[test]
fn an_agent_is_spawned_by_a_name_that_nobody_has() {
    let mut scene = Scene::new();
    let spawn = || Command::Spawn { name: name("zoe") };
    let first = scene.ask(spawn());
    assert_eq!(
        first.to_string(),
        "crew: agent_spawned zoe\naccepted: spawned zoe"
    );
    assert_eq!(agents(&scene), ["ann", "bob", "cat", "zoe"]);
    assert_eq!(
        scene.ask(spawn()).to_string(),
        "not possible: there is an agent named zoe: choose another name"
    );
}

#[test]
fn many_agents_get_the_next_names_that_are_free() {
    let mut scene = unnamed(1);
    assert_eq!(agents(&scene), ["ada"]);
    scene.ask(Command::Spawn { name: name("clara") });
    let many = scene.ask(Command::SpawnMany { count: 2 });
    assert_eq!(many.answer(), "accepted: spawned barbara, dennis");
    assert_eq!(many.output.writes.len(), 1, "all of them or none");
}

#[test]
fn the_names_begin_anew_with_a_number_when_all_are_given() {
    let mut scene = unnamed(1);
    let many = scene.ask(Command::SpawnMany { count: 27 });
    assert!(many.answer().ends_with(", zuse, ada-2, barbara-2"), "{many}");
}

#[test]
fn an_agent_that_is_spawned_takes_what_waits() {
    let mut scene = Scene::with(|settings| settings.agents.names = vec![name("ann")]);
    scene.add("t-1");
    scene.add("t-2");
    let spawned = scene.ask(Command::Spawn { name: name("zoe") });
    // `names` says how many are busy at once, and the one more is not among them.
    assert_eq!(spawned.events(), ["agent_spawned"], "{spawned}");
    let assign = Command::Assign {
        agent: name("zoe"),
        ticket: crate::scene::id("t-2"),
    };
    assert_eq!(scene.ask(assign).answer(), "accepted: zoe has t-2");
}

#[test]
fn settings_that_ask_for_more_agents_get_them_at_the_next_start() {
    let mut scene = Scene::new();
    let mut settings = scene.core.settings().clone();
    settings.agents.names.push(name("dan"));
    scene.core.set_settings(settings);
    assert_eq!(
        scene.restart().events(),
        ["opened", "agent_spawned", "initialized"]
    );
    assert_eq!(agents(&scene), ["ann", "bob", "cat", "dan"]);
}

#[test]
fn an_agent_whose_name_the_settings_do_not_have_any_more_stays() {
    let mut scene = Scene::new();
    let mut settings = scene.core.settings().clone();
    settings.agents.names.pop();
    scene.core.set_settings(settings);
    assert_eq!(scene.restart().events(), ["opened", "initialized"]);
    assert_eq!(agents(&scene), ["ann", "bob", "cat"]);
}
