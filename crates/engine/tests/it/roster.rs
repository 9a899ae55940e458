//! The roster: which agents there are, and how they are named.

use model::command::Command;

use crate::scene::{Scene, id, name};

fn agents(scene: &Scene) -> Vec<String> {
    let agents = &scene.core.project().agents;
    agents.iter().map(ToString::to_string).collect()
}

/// The tickets that agents have, each with its agent.
fn claims(scene: &Scene) -> Vec<String> {
    let active = scene.core.active_tickets();
    let slots = active.flat_map(|(id, ticket)| ticket.slots().map(move |(agent, _)| format!("{id} {agent}")));
    slots.collect()
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
        "crew: agent_spawned zoe\naccepted: spawned zoe; no ticket goes there unless it is assigned: [agents] \
         names in crew.toml has others"
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
fn an_agent_that_is_spawned_beside_names_takes_what_a_person_gives_it() {
    let mut scene = Scene::with(|settings| settings.agents.names = vec![name("ann")]);
    scene.add("t-1");
    scene.add("t-2");
    let spawned = scene.ask(Command::Spawn { name: name("zoe") });
    // zoe is not among the agents that the settings name, so she gets what a person gives her.
    assert_eq!(spawned.events(), ["agent_spawned"], "{spawned}");
    let assign = Command::Assign {
        agent: name("zoe"),
        ticket: id("t-2"),
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

#[test]
fn names_limit_who_gets_tickets_whoever_was_taken_on_before() {
    let mut scene = unnamed(2);
    assert_eq!(agents(&scene), ["ada", "barbara"]);
    scene.add("t-1");
    let mut settings = scene.core.settings().clone();
    settings.agents.names = vec![name("zoe"), name("yan")];
    scene.core.set_settings(settings);
    scene.add("t-2");
    assert_eq!(
        claims(&scene),
        ["t-1 ada", "t-2 yan"],
        "ada goes on, and idle barbara has no part in it"
    );
    assert_eq!(agents(&scene), ["ada", "barbara", "yan", "zoe"]);
    scene.add("t-3");
    assert_eq!(claims(&scene).len(), 2, "as many are at work as are named");
    let reason = "enough".to_owned();
    scene.ask(Command::Drop {
        ticket: id("t-1"),
        reason,
    });
    assert_eq!(claims(&scene), ["t-2 yan", "t-3 zoe"]);

    // A person's word counts for everybody.
    let (agent, ticket) = (name("ada"), id("t-4"));
    scene.add("t-4");
    assert_eq!(claims(&scene).len(), 2);
    let assigned = scene.ask(Command::Assign { agent, ticket });
    assert_eq!(assigned.answer(), "accepted: ada has t-4");
}

#[test]
fn a_ticket_that_is_meant_for_an_agent_outside_of_names_goes_to_it() {
    let mut scene = unnamed(1);
    let mut settings = scene.core.settings().clone();
    settings.agents.names = vec![name("zoe")];
    scene.core.set_settings(settings);
    scene.edit("t-1", |file| file.spec.assignee = Some("ada".to_owned()));
    scene.look_at_all();
    assert_eq!(claims(&scene), ["t-1 ada"]);
}
