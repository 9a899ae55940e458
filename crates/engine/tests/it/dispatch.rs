//! Dispatch: which ticket goes to which agent, in which order, and why the others wait.

use model::attempt::{Class, Signal};
use model::command::Command;
use model::ticket::FileStatus;

use crate::scene::{File, Scene, asked, failed, id, name, secs};

/// A person's change of a new file.
type Change<'a> = &'a dyn Fn(&mut File);

/// A ticket's id, and the change of its file.
type Written<'a> = (&'a str, Change<'a>);

/// A scene of these agents, whose queue is seen at once; no file waits to be still.
fn queue(agents: &[&str], files: &[Written<'_>]) -> Scene {
    let mut scene = Scene::with(|settings| {
        settings.agents.names = agents.iter().map(|agent| name(agent)).collect();
    });
    for (ticket, change) in files {
        scene.edit(ticket, change);
    }
    scene.look_at_all();
    scene
}

/// The tickets that agents have, each with its agent.
fn claims(scene: &Scene) -> Vec<String> {
    let active = scene.core.active_tickets();
    let slots = active.flat_map(|(id, ticket)| ticket.slots().map(move |(agent, _)| format!("{id} {agent}")));
    slots.collect()
}

/// The order in which one agent gets the tickets, each of which it gives up when it has it.
fn order(mut scene: Scene) -> Vec<String> {
    let mut order = Vec::new();
    loop {
        let first = scene.core.active_tickets().next();
        let Some(ticket) = first.map(|(ticket, _)| ticket.clone()) else {
            return order;
        };
        order.push(ticket.to_string());
        let reason = "next".to_owned();
        scene.ask(Command::Drop { ticket, reason });
    }
}

/// Has the agent of a ticket do it, and lands it.
fn land(scene: &mut Scene, ticket: &str) {
    scene.workspace_ready(ticket);
    scene.finishes(ticket, Signal::Done);
    scene.built(ticket, 'b');
    scene.checks_pass(ticket);
    scene.landed(ticket);
}

fn plain(_: &mut File) {}

fn priority(priority: u8) -> impl Fn(&mut File) {
    move |file| file.spec.priority = priority
}

fn created(at: i64) -> impl Fn(&mut File) {
    move |file| file.spec.created = model::Time(at)
}

fn needs(other: &'static str) -> impl Fn(&mut File) {
    move |file| drop(file.spec.deps.replace(id(other)))
}

fn meant_for(agent: &'static str) -> impl Fn(&mut File) {
    move |file| file.spec.assignee = Some(agent.to_owned())
}

#[test]
fn priority_comes_before_age_and_age_before_the_id() {
    let old_and_unimportant = |file: &mut File| {
        priority(4)(file);
        created(1)(file);
    };
    let files: &[Written<'_>] = &[
        ("t-1", &old_and_unimportant),
        ("t-2", &created(30)),
        ("t-3", &created(20)),
        ("t-5", &created(20)),
        ("t-4", &created(20)),
        ("t-6", &priority(1)),
    ];
    // The default priority is 0 here, as in an empty spec.
    assert_eq!(
        order(queue(&["ann"], files)),
        ["t-3", "t-4", "t-5", "t-2", "t-6", "t-1"]
    );
}

#[test]
fn a_ticket_waits_for_those_it_depends_on_to_be_done() {
    let files: &[Written<'_>] = &[
        ("t-1", &needs("t-2")),
        ("t-2", &needs("t-3")),
        ("t-3", &priority(4)),
        ("t-4", &plain),
    ];
    let mut scene = queue(&["ann"], files);
    for ticket in ["t-4", "t-3", "t-2", "t-1"] {
        assert_eq!(claims(&scene), [format!("{ticket} ann")]);
        land(&mut scene, ticket);
    }
}

#[test]
fn a_dropped_dependency_keeps_a_ticket_waiting_until_it_is_opened_again_or_taken_away() {
    let files: &[Written<'_>] = &[("t-1", &needs("t-2")), ("t-2", &plain), ("t-3", &plain)];
    let mut scene = queue(&["ann"], files);
    let (ticket, reason) = (id("t-2"), "next".to_owned());
    scene.ask(Command::Drop { ticket, reason });
    assert_eq!(claims(&scene), ["t-3 ann"]);
    land(&mut scene, "t-3");
    assert_eq!(claims(&scene), Vec::<String>::new());
    let mut without = scene.clone();
    without.write("t-1", |file| file.spec.deps.clear());
    assert_eq!(claims(&without), ["t-1 ann"]);
    scene.files_written("t-2");
    scene.set_status("t-2", FileStatus::Open);
    assert_eq!(claims(&scene), ["t-2 ann"]);
}

/// `t-1` has spent its attempts, and `t-2`, which recovers it, is done by the agent.
fn recovered(replaces: bool) -> Scene {
    let recovers = move |file: &mut File| {
        file.spec.recovers = Some(id("t-1"));
        file.spec.replaces = replaces;
    };
    let files: &[Written<'_>] = &[("t-1", &plain), ("t-2", &recovers), ("t-3", &needs("t-1"))];
    let mut scene = queue(&["ann"], files);
    fail(&mut scene, "t-1");
    assert_eq!(claims(&scene), ["t-2 ann"]);
    scene
}

fn fail(scene: &mut Scene, ticket: &str) {
    for _ in 0..3 {
        let why = "no disk".to_owned();
        scene.report(
            ticket,
            "prepare_workspace",
            engine::Report::WorkspaceFailed { why },
        );
        scene.wait(secs(600));
    }
    assert_eq!(scene.state(ticket), "open (held)");
}

#[test]
fn a_recovery_that_lands_opens_the_failed_ticket_again_and_only_once() {
    let mut scene = recovered(false);
    land(&mut scene, "t-2");
    assert_eq!(claims(&scene), ["t-1 ann"]);
    let ticket = scene.core.ticket(&id("t-1")).unwrap();
    assert_eq!((ticket.tries, ticket.feedback.len()), (1, 1));
    fail(&mut scene, "t-1");
    scene.files_written("t-2");
    scene.set_status("t-2", FileStatus::InProgress);
    scene.wait(secs(60));
    assert_eq!(
        scene.state("t-1"),
        "open (held)",
        "t-2 landed before that failure"
    );
}

#[test]
fn the_landing_of_a_recovery_and_its_consequence_are_one_batch() {
    let mut scene = recovered(false);
    scene.workspace_ready("t-2");
    scene.finishes("t-2", Signal::Done);
    scene.built("t-2", 'b');
    scene.checks_pass("t-2");
    let landed = scene.landed("t-2");
    assert_eq!(landed.events()[..2], ["landed", "recovery_landed"], "{landed}");
}

#[test]
fn a_recovery_that_replaces_closes_the_failed_ticket_and_frees_those_behind_it() {
    let mut scene = recovered(true);
    land(&mut scene, "t-2");
    assert_eq!(scene.state("t-1"), "done/replaced");
    assert_eq!(claims(&scene), ["t-3 ann"]);
}

#[test]
fn a_ticket_that_a_person_has_retried_goes_on_when_its_recovery_lands() {
    let mut scene = recovered(true);
    scene.workspace_ready("t-2");
    scene.finishes("t-2", Signal::Done);
    scene.ask(Command::Retry { ticket: id("t-1") });
    scene.built("t-2", 'b');
    scene.checks_pass("t-2");
    let landed = scene.landed("t-2");
    assert!(!landed.events().contains(&"recovery_landed"), "{landed}");
    assert_eq!(scene.state("t-1"), "in_progress/preparing");
}

#[test]
fn a_held_dependency_is_not_done() {
    let files: &[Written<'_>] = &[("t-1", &needs("t-2")), ("t-2", &plain)];
    let mut scene = queue(&["ann"], files);
    scene.workspace_ready("t-2");
    let why = "no key".to_owned();
    scene.finishes("t-2", Signal::Blocked { why });
    assert_eq!(scene.state("t-2"), "open (held)");
    assert_eq!(claims(&scene), Vec::<String>::new());
}

#[test]
fn a_missing_dependency_and_a_cycle_are_waited_for_until_a_person_mends_them() {
    let files: &[Written<'_>] = &[
        ("t-1", &needs("t-9")),
        ("t-2", &needs("t-3")),
        ("t-3", &needs("t-2")),
    ];
    let mut scene = queue(&["ann", "bob"], files);
    assert_eq!(claims(&scene), Vec::<String>::new());
    scene.write("t-1", |file| file.spec.deps.clear());
    scene.write("t-3", |file| file.spec.deps.clear());
    assert_eq!(claims(&scene), ["t-1 ann", "t-3 bob"]);
}

#[test]
fn a_dependency_whose_closed_file_alone_is_known_is_missing_in_the_journal() {
    let mut scene = Scene::new();
    scene.set_status("t-2", FileStatus::Closed);
    scene.write("t-1", needs("t-2"));
    assert_eq!(claims(&scene), ["t-1 ann"], "its file says that it is done");
}

#[test]
fn a_ticket_goes_to_the_agent_that_it_is_meant_for_or_waits_for_it() {
    let files: &[Written<'_>] = &[
        ("t-1", &meant_for("bob")),
        ("t-2", &meant_for("bob")),
        ("t-3", &plain),
        ("t-4", &meant_for("somebody else")),
    ];
    let mut scene = queue(&["ann", "bob", "cat"], files);
    assert_eq!(claims(&scene), ["t-1 bob", "t-3 ann", "t-4 cat"]);
    let (ticket, reason) = (id("t-1"), "next".to_owned());
    scene.ask(Command::Drop { ticket, reason });
    assert_eq!(claims(&scene), ["t-2 bob", "t-3 ann", "t-4 cat"]);
}

#[test]
fn a_ticket_for_anyone_leaves_the_agent_alone_that_another_one_is_meant_for() {
    let files: &[Written<'_>] = &[("t-1", &plain), ("t-2", &meant_for("ann"))];
    assert_eq!(claims(&queue(&["ann", "bob"], files)), ["t-1 bob", "t-2 ann"]);
}

#[test]
fn epics_and_what_a_person_has_taken_or_closed_are_not_given_out() {
    let epic = |file: &mut File| file.spec.kind = "epic".to_owned();
    let taken = |file: &mut File| file.status = Some(FileStatus::InProgress);
    let closed = |file: &mut File| file.status = Some(FileStatus::Closed);
    let files: &[Written<'_>] = &[("t-1", &epic), ("t-2", &taken), ("t-3", &closed), ("t-4", &plain)];
    assert_eq!(claims(&queue(&["ann", "bob"], files)), ["t-4 ann"]);
}

#[test]
fn a_recovery_is_given_out_when_its_ticket_has_failed_and_ends_when_it_is_done() {
    let recovers = |file: &mut File| file.spec.recovers = Some(id("t-1"));
    let files: &[Written<'_>] = &[("t-1", &plain), ("t-2", &recovers)];
    let mut scene = queue(&["ann"], files);
    let mut other = scene.clone();
    for n in 0..3 {
        assert_eq!(claims(&scene), ["t-1 ann"], "attempt {n}");
        let why = "no disk".to_owned();
        scene.report(
            "t-1",
            "prepare_workspace",
            engine::Report::WorkspaceFailed { why },
        );
        scene.wait(secs(600));
    }
    assert_eq!(scene.state("t-1"), "open (held)");
    assert_eq!(claims(&scene), ["t-2 ann"]);

    let (ticket, reason) = (id("t-1"), "next".to_owned());
    let dropped = other.ask(Command::Drop { ticket, reason });
    assert!(dropped.events().contains(&"recovery_not_needed"), "{dropped}");
    assert_eq!(other.state("t-2"), "done/not_needed");
}

#[test]
fn nothing_is_given_out_before_the_folder_was_read() {
    let mut scene = Scene::loaded(|_| {});
    scene.open(engine::Duty::Drain);
    assert!(!scene.core.has_read());
    scene.add("t-1");
    assert_eq!(claims(&scene), Vec::<String>::new());
    scene.look_at_all();
    assert!(scene.core.has_read());
    assert_eq!(claims(&scene), ["t-1 ann"]);
}

#[test]
fn nothing_is_claimed_without_a_harness() {
    let mut scene = Scene::with(|settings| settings.agents.harness = None);
    let decided = scene.add("t-1");
    assert_eq!(decided.events(), ["created"]);
    assert_eq!(
        decided.output.refused,
        ["t-1: claimed is not possible in open: crew.toml names no harness for it: [agents] harness"]
    );
    let mut settings = scene.core.settings().clone();
    settings.agents.harness = Some("scripted".to_owned());
    scene.core.set_settings(settings);
    assert_eq!(scene.tick().events(), ["claimed", "agents_busy"]);
}

#[test]
fn no_more_agents_are_busy_than_there_may_be() {
    let ids = ["t-1", "t-2", "t-3", "t-4", "t-5"];
    let files = ids.map(|ticket| (ticket, &plain as Change<'_>));
    let scene = queue(&["ann", "bob", "cat"], &files);
    assert_eq!(claims(&scene), ["t-1 ann", "t-2 bob", "t-3 cat"]);
}

#[test]
fn an_agent_without_a_fixed_name_is_named_for_the_work_there_is() {
    let mut scene = Scene::with(|settings| {
        settings.agents.names = Vec::new();
        settings.agents.count = 2;
    });
    let agents = |scene: &Scene| -> Vec<String> {
        scene
            .core
            .project()
            .agents
            .iter()
            .map(ToString::to_string)
            .collect()
    };
    assert_eq!(agents(&scene), ["ada", "barbara"]);
    for n in 1..=4 {
        scene.add(&format!("t-{n}"));
    }
    assert_eq!(claims(&scene), ["t-1 ada", "t-2 barbara"], "two are busy at once");
    assert_eq!(agents(&scene), ["ada", "barbara"]);
    // One that waits for an answer is not busy, and another one takes its place.
    scene.workspace_ready("t-1");
    let ended = scene.run_ends("t-1", asked());
    assert_eq!(
        ended.events(),
        ["step_finished", "agent_spawned", "claimed"],
        "{ended}"
    );
    assert_eq!(claims(&scene), ["t-1 ada", "t-2 barbara", "t-3 clara"]);
}

#[test]
fn an_agent_with_a_fixed_name_has_no_substitute() {
    let files: &[Written<'_>] = &[("t-1", &plain), ("t-2", &plain)];
    let mut scene = queue(&["ann"], files);
    scene.workspace_ready("t-1");
    scene.run_ends("t-1", asked());
    assert_eq!(claims(&scene), ["t-1 ann"]);
}

#[test]
fn no_more_steps_run_than_there_may_and_the_agent_that_began_first_is_next() {
    let mut scene = Scene::with(|settings| settings.run.max_workers = 2);
    for ticket in ["t-1", "t-2", "t-3"] {
        scene.add(ticket);
    }
    // t-3 is ready first, and goes on before t-2, which is not begun while as many others are at work.
    for ticket in ["t-3", "t-1", "t-2"] {
        scene.later(secs(1));
        scene.workspace_ready(ticket);
    }
    let running = |scene: &Scene| -> Vec<String> {
        scene
            .core
            .live_runs()
            .map(|(ticket, _)| ticket.to_string())
            .collect()
    };
    assert_eq!(running(&scene), ["t-1", "t-3"]);
    scene.later(secs(1));
    scene.finishes("t-3", Signal::None);
    assert_eq!(running(&scene), ["t-1", "t-3"]);
    scene.run_ends("t-3", failed(Class::Transient));
    assert_eq!(running(&scene), ["t-1", "t-2"], "the next step of t-3 waits");
    scene.later(secs(2));
    scene.tick();
    assert_eq!(running(&scene), ["t-1", "t-2"], "no worker is free");
    scene.finishes("t-2", Signal::None);
    assert_eq!(running(&scene), ["t-1", "t-3"], "t-3 began before t-2");
}

#[test]
fn submissions_are_built_one_at_a_time_in_the_order_of_their_submission() {
    let mut scene = Scene::new();
    for ticket in ["t-1", "t-2", "t-3"] {
        scene.add(ticket);
        scene.workspace_ready(ticket);
    }
    for ticket in ["t-3", "t-2", "t-1"] {
        scene.later(secs(1));
        scene.finishes(ticket, Signal::Done);
    }
    let built = |scene: &Scene| -> Vec<&'static str> {
        let tickets = ["t-1", "t-2", "t-3"].into_iter();
        tickets
            .filter(|ticket| scene.pending(ticket, "build_candidate").is_some())
            .collect()
    };
    assert_eq!(built(&scene), ["t-3"]);
    scene.built("t-3", 'b');
    assert_eq!(built(&scene), Vec::<&str>::new(), "t-3 is checked");
    scene.checks_pass("t-3");
    assert_eq!(built(&scene), Vec::<&str>::new(), "t-3 is landing");
    scene.landed("t-3");
    assert_eq!(built(&scene), ["t-2"]);
    // A submission that waits for a person is in nobody's way.
    let why = "no disk".to_owned();
    scene.report("t-2", "build_candidate", engine::Report::CouldNotRun { why });
    assert_eq!(built(&scene), ["t-1"]);
    scene.built("t-1", 'b');
    scene.checks_pass("t-1");
    scene.report("t-1", "land", crate::states::edited_checkout());
    scene.ask(Command::Retry { ticket: id("t-2") });
    assert_eq!(built(&scene), ["t-2"], "t-1 waits for a person to make way");
}
