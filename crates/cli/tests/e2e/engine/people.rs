//! The person's commands, with an engine and without, and the engine's end.

use model::TicketId;
use model::command::Command;
use testkit::world::{DONE, World};

/// Works, says so, and does not end by itself.
const ENDLESS: &str = "if [ \"$RUN\" = 1 ]; then work t x; touch \"$GATES/worked\"; until_there \"$GATES/never\"; fi\ntest -e t\nwork more x\necho DONE";

#[test]
fn kill_keeps_the_work_and_retry_goes_on_from_it() {
    let world = World::new();
    world.ticket("t-1").agent(ENDLESS).write();
    let mut engine = world.engine();
    world.wait("it has worked", || world.path("gates/worked").exists());
    world.must(&["kill", &world.agent_of("t-1")]);
    world.wait_for("t-1", "open (held)");
    assert_eq!(world.held("t-1").0, "killed");
    world.wait("the work is kept", || world.kept("t-1", 1).is_some());
    world.must(&["retry", "t-1"]);
    world.wait("t-1 lands", || world.is_landed("t-1"));
    world.must(&["stop"]);
    engine.end();
    world.assert_at_rest();
    assert!(
        world.prompt("t-1", 2).contains("Earlier work is in it"),
        "{}",
        world.prompt("t-1", 2)
    );
    assert_eq!(
        (world.read("t"), world.read("more")),
        ("x\n".to_owned(), "x\n".to_owned())
    );
    assert_eq!(world.runs("t-1"), 2);
}

#[test]
fn kill_works_without_an_engine_on_a_step_that_was_left_running() {
    let world = World::new();
    world.ticket("t-1").agent(ENDLESS).write();
    let mut engine = world.engine();
    world.wait("it has worked", || world.path("gates/worked").exists());
    world.must(&["stop", "--leave"]);
    engine.end();
    assert!(!world.processes().is_empty(), "the step runs on");
    world.must(&["kill", &world.agent_of("t-1")]);
    world.assert_at_rest();
    assert_eq!(world.held("t-1").0, "killed");
    assert_eq!(world.git(&["show", "refs/crew/attempts/t-1/1:t"]), "x");
    world.must(&["retry", "t-1"]);
    world.drain_all();
    assert_eq!(world.landed(), ["t-1"]);
}

#[test]
fn an_agent_that_is_killed_twice_is_stopped_once_and_nobody_is_refused() {
    let world = World::new();
    let deaf = format!("trap ': > \"$GATES/asked\"; until_there \"$GATES/go\"; exit 1' TERM\n{ENDLESS}");
    world.ticket("t-1").agent(&deaf).write();
    let mut engine = world.engine();
    world.wait("it has worked", || world.path("gates/worked").exists());
    let agent = world.agent_of("t-1");
    world.must(&["kill", &agent]);
    world.wait("it was asked to end", || world.path("gates/asked").exists());
    world.must(&["kill", &agent]);
    world.open("go");
    world.wait_for("t-1", "open (held)");
    assert_eq!(
        (world.held("t-1").0, world.count("t-1", "stop_ordered")),
        ("killed".to_owned(), 1)
    );
    world.must(&["stop"]);
    engine.end();
}

#[test]
fn a_ticket_that_is_dropped_twice_is_dropped_once_and_nobody_is_refused() {
    let world = World::new();
    let deaf = format!("trap ': > \"$GATES/asked\"; until_there \"$GATES/go\"; exit 1' TERM\n{ENDLESS}");
    world.ticket("t-1").agent(&deaf).write();
    let mut engine = world.engine();
    world.wait("it has worked", || world.path("gates/worked").exists());
    world.must(&["drop", "t-1"]);
    world.wait("it was asked to end", || world.path("gates/asked").exists());
    world.must(&["drop", "t-1"]);
    world.open("go");
    world.wait_for("t-1", "done/dropped");
    assert_eq!(world.count("t-1", "stop_ordered"), 1);
    world.must(&["stop"]);
    engine.end();
}

#[test]
fn drop_keeps_the_work() {
    let world = World::new();
    world
        .ticket("t-1")
        .agent("work t x\necho uncommitted > u\necho 'QUESTION: what now?'")
        .write();
    world.drain_held();
    world.must(&["drop", "t-1", "no", "longer", "needed"]);
    assert_eq!(world.state_name("t-1"), "done/dropped");
    assert_eq!(world.git(&["show", "refs/crew/attempts/t-1/1:t"]), "x");
    assert_eq!(world.git(&["show", "refs/crew/attempts/t-1/1:u"]), "uncommitted");
    assert_eq!(world.front("t-1", "status"), "closed");
    assert!(world.workspaces().is_empty());
    world.drain_all();
    assert!(world.landed().is_empty());
}

#[test]
fn drop_stops_a_running_step() {
    let world = World::new();
    world.ticket("t-1").agent(ENDLESS).write();
    let mut engine = world.engine();
    world.wait("it has worked", || world.path("gates/worked").exists());
    world.must(&["drop", "t-1"]);
    world.wait_for("t-1", "done/dropped");
    world.wait("the work is kept", || world.kept("t-1", 1).is_some());
    world.must(&["stop"]);
    engine.end();
    world.assert_at_rest();
}

/// Asks for a ticket to be dropped, as a frontend does that waits for no answer; whether the journal has it.
fn ask_to_drop(world: &World, id: &str) -> bool {
    let command = Command::Drop {
        ticket: TicketId::new(id).unwrap(),
        reason: "not needed".to_owned(),
    };
    let at = world.state(id).since;
    let asked = world.journal(async |ledger| ledger.submit("drop-it", "somebody", at, &command).await);
    asked.is_some_and(|asked| asked.is_ok())
}

/// The ticket's agent says DONE when the gate opens, and its step is ended for the drop all the same.
fn is_dropped_and_not_submitted(world: &World) {
    world.wait_for("t-1", "done/dropped");
    let counted =
        ["stop_ordered", "step_finished", "submitted", "dropped"].map(|fact| world.count("t-1", fact));
    assert_eq!(counted, [1, 0, 0, 1], "{:?}", world.facts("t-1"));
}

#[test]
fn a_command_that_was_asked_before_a_step_ended_is_carried_out_before_its_end() {
    let world = World::new();
    world
        .ticket("t-1")
        .agent("touch \"$GATES/on\"\nuntil_there \"$GATES/go\"\nwork t x\necho DONE")
        .write();
    let mut engine = world.engine();
    world.wait("it is at work", || world.path("gates/on").exists());
    // The engine hears of both at once, when it goes on. Frozen while it writes, it would keep everybody from
    // writing.
    world.wait("the engine is frozen and the drop is asked for", || {
        engine.signal("STOP");
        let is_asked = ask_to_drop(&world, "t-1");
        if !is_asked {
            engine.signal("CONT");
        }
        is_asked
    });
    world.open("go");
    world.wait("the step has ended", || {
        world.project(".crew/runs/t-1.1.1/exit.json").exists()
    });
    engine.signal("CONT");
    is_dropped_and_not_submitted(&world);
    world.must(&["stop"]);
    engine.end();
    world.assert_at_rest();
}

#[test]
fn an_engine_that_starts_reads_the_inbox_before_the_end_of_a_step_that_ended_without_it() {
    let world = World::new();
    world
        .ticket("t-1")
        .agent("touch \"$GATES/on\"\nuntil_there \"$GATES/go\"\nwork t x\necho DONE")
        .write();
    let mut engine = world.engine();
    world.wait("it is at work", || world.path("gates/on").exists());
    engine.signal("KILL");
    engine.end();
    assert!(ask_to_drop(&world, "t-1"));
    world.open("go");
    world.wait("the step has ended", || world.processes().is_empty());
    world.drain();
    is_dropped_and_not_submitted(&world);
}

#[test]
fn cleanup_removes_the_workspace_and_keeps_the_work() {
    let world = World::new();
    world
        .ticket("t-1")
        .agent("work t x\necho 'QUESTION: what now?'")
        .write();
    world.drain_held();
    let agent = world.agent_of("t-1");
    assert_eq!(world.workspaces().len(), 1);
    world.must(&["cleanup", &agent]);
    assert!(world.workspaces().is_empty());
    assert!(world.kept("t-1", 1).is_some());
    assert_eq!(world.state_name("t-1"), "open (held)");
}

#[test]
fn merge_lands_by_hand_between_two_steps_through_the_gate() {
    let world = World::with(|s| s.checks = "commands = ['''echo checked >> \"$HOME/checked\"''']".to_owned());
    world
        .ticket("t-1")
        .agent("work t x\necho 'QUESTION: is this enough?'")
        .write();
    world.drain_held();
    world.must(&["merge", "t-1"]);
    world.assert_at_rest();
    assert_eq!(world.landed(), ["t-1"]);
    assert!(world.path("home/checked").exists());
    assert_eq!(
        (world.front("t-1", "status"), world.read("t")),
        ("closed".to_owned(), "x\n".to_owned())
    );
}

#[test]
fn merge_carries_on_what_a_killed_engine_began() {
    let world = World::with(|s| {
        s.checks = format!(
            "commands = ['''{}''']",
            "touch \"$HOME/checking\"; n=0; until [ -e \"$HOME/go\" ]; do n=$((n+1)); [ $n -lt 30000 ] || exit 9; sleep 0.02; done"
        );
    });
    world.anyway();
    world.ticket("t-1").agent(DONE).write();
    let mut engine = world.engine();
    world.wait("it is being checked", || world.path("home/checking").exists());
    engine.signal("KILL");
    engine.end();
    std::fs::write(world.path("home/go"), "").unwrap();
    world.must(&["merge", "t-1"]);
    world.assert_at_rest();
    assert_eq!(world.landed(), ["t-1"]);
    assert_eq!(world.front("t-1", "status"), "closed");
}

#[test]
fn drop_ends_what_a_killed_engine_began() {
    let world = World::with(|s| s.agents = "count = 3".to_owned());
    for n in 0..3 {
        world.ticket(&format!("t-{n}")).agent(ENDLESS).write();
    }
    let mut engine = world.engine();
    world.wait("one is given out", || {
        world.state_name("t-0").starts_with("in_progress")
    });
    engine.signal("KILL");
    engine.end();
    for n in 0..3 {
        let id = format!("t-{n}");
        if world.try_state(&id).is_some() {
            world.must(&["drop", &id]);
        }
    }
    world.assert_at_rest();
    for n in 0..3 {
        world.script(&format!("t-{n}"), "exit 1");
    }
    let said = world.drain();
    assert_eq!(said.code, Some(0), "{said}");
    assert_eq!((world.workspaces().len(), world.landed().len()), (0, 0));
}

#[test]
fn drop_ends_a_step_whose_start_a_killed_engine_had_not_recorded() {
    let world = World::new();
    world.ticket("t-1").agent(ENDLESS).write();
    world.around("CREW_FAILPOINT_AT", "decided.worker_spawned");
    let said = world.crew(&["run"]);
    assert_eq!(said.signal, Some(9), "{said}");
    world.around("CREW_FAILPOINT_AT", "");
    assert_eq!(world.count("t-1", "worker_spawned"), 0);
    assert_ne!(world.processes(), [""; 0], "its agent is at work");
    world.must(&["drop", "t-1"]);
    world.wait("its agent has ended", || world.processes().is_empty());
    world.script("t-1", "exit 1");
    let said = world.drain();
    assert_eq!(said.code, Some(0), "{said}");
    assert_eq!(world.runs("t-1"), 1, "nothing is started anew");
    assert_eq!(world.state_name("t-1"), "done/dropped");
    world.assert_at_rest();
}

#[test]
fn assign_gives_a_ticket_out_of_turn() {
    let world = World::new();
    world.ticket("urgent").priority(0).agent(DONE).write();
    world.ticket("low").priority(4).agent(DONE).write();
    world.ticket("waits").deps(&["low"]).agent(DONE).write();
    world.must(&["spawn", "bob"]);
    let said = world.crew(&["assign", "bob", "waits"]);
    assert_eq!(said.code, Some(1), "a dependency is not jumped: {said}");
    world.must(&["assign", "bob", "low"]);
    assert_eq!(
        world.crew(&["assign", "bob", "urgent"]).code,
        Some(1),
        "bob is busy"
    );
    assert_eq!(world.agent_of("low"), "bob");
    world.drain_all();
    assert_eq!(world.variable("low", 1, "CREW_AGENT").as_deref(), Some("bob"));
    assert_eq!(world.landed().len(), 3);
}

#[test]
fn a_second_engine_is_refused_and_told_who_runs() {
    let world = World::new();
    let mut engine = world.engine();
    world.wait("the engine is up", || world.project(".crew/state.json").exists());
    let said = world.crew(&["run", "--until-idle"]);
    assert_eq!(said.code, Some(4), "{said}");
    assert!(said.err.contains(&engine.pid().to_string()), "{said}");
    world.must(&["stop"]);
    assert_eq!(engine.end().code, Some(0));
}

#[test]
fn stop_waits_for_the_running_steps() {
    let world = World::new();
    world
        .ticket("t-1")
        .agent("touch \"$GATES/on\"\nuntil_there \"$GATES/go\"\nwork t x\necho DONE")
        .write();
    world.ticket("t-2").agent(DONE).write();
    let mut engine = world.engine();
    world.wait("it is at work", || world.path("gates/on").exists());
    world.must(&["stop"]);
    assert!(engine.is_up());
    world.open("go");
    assert_eq!(engine.end().code, Some(0));
    world.assert_at_rest();
    assert_eq!((world.runs("t-1"), world.runs("t-2")), (1, 0));
    world.drain_all();
    assert_eq!(
        (world.runs("t-1"), world.landed()),
        (1, vec!["t-1".to_owned(), "t-2".to_owned()])
    );
}

#[test]
fn stop_can_leave_the_steps_to_be_adopted() {
    let world = World::new();
    world
        .ticket("t-1")
        .agent("touch \"$GATES/on\"\nuntil_there \"$GATES/go\"\nwork t x\necho DONE")
        .write();
    let mut engine = world.engine();
    world.wait("it is at work", || world.path("gates/on").exists());
    world.must(&["stop", "--leave"]);
    assert_eq!(engine.end().code, Some(0));
    assert!(!world.processes().is_empty(), "the step runs on");
    let mut engine = world.engine();
    world.open("go");
    world.wait("t-1 lands", || world.is_landed("t-1"));
    world.must(&["stop"]);
    engine.end();
    world.assert_at_rest();
    assert_eq!(world.runs("t-1"), 1, "adopted, not started again");
}

#[test]
fn a_step_that_ended_while_no_engine_ran_is_heard() {
    let world = World::new();
    world
        .ticket("t-1")
        .agent("touch \"$GATES/on\"\nuntil_there \"$GATES/go\"\nwork t x\necho DONE")
        .write();
    let mut engine = world.engine();
    world.wait("it is at work", || world.path("gates/on").exists());
    world.must(&["stop", "--leave"]);
    engine.end();
    world.open("go");
    world.wait("it has ended", || world.processes().is_empty());
    world.drain_all();
    assert_eq!((world.runs("t-1"), world.landed()), (1, vec!["t-1".to_owned()]));
}

#[test]
fn stop_can_kill_the_steps_and_they_are_repeated() {
    let world = World::new();
    world.ticket("t-1").agent(ENDLESS).write();
    let mut engine = world.engine();
    world.wait("it has worked", || world.path("gates/worked").exists());
    world.must(&["stop", "--kill"]);
    assert_eq!(engine.end().code, Some(0));
    world.assert_at_rest();
    assert_eq!(
        world.state("t-1").attempt().unwrap().conversation.errors,
        0,
        "what crew stops is no error"
    );
    world.drain_all();
    assert_eq!((world.runs("t-1"), world.landed()), (2, vec!["t-1".to_owned()]));
}

/// A world whose check notes each of its runs and waits for the file `go` in its HOME.
fn slowly_checked() -> World {
    let world = World::with(|s| {
        let wait = World::until_home("go");
        s.checks = format!("commands = ['''echo x >> \"$HOME/checking\"; {wait}''']");
    });
    world.anyway();
    world
}

fn checks(world: &World) -> usize {
    std::fs::read_to_string(world.path("home/checking")).map_or(0, |text| text.lines().count())
}

#[test]
fn stop_waits_for_a_check_and_what_follows_from_it() {
    let world = slowly_checked();
    world.ticket("t-1").agent(DONE).write();
    let mut engine = world.engine();
    world.wait("it is being checked", || checks(&world) == 1);
    world.must(&["stop"]);
    assert!(engine.is_up());
    std::fs::write(world.path("home/go"), "").unwrap();
    assert_eq!(engine.end().code, Some(0));
    world.assert_at_rest();
    assert_eq!(
        (world.landed(), world.front("t-1", "status")),
        (vec!["t-1".to_owned()], "closed".to_owned())
    );
}

#[test]
fn stop_can_leave_a_check_to_be_adopted() {
    let world = slowly_checked();
    world.ticket("t-1").agent(DONE).write();
    let mut engine = world.engine();
    world.wait("it is being checked", || checks(&world) == 1);
    world.must(&["stop", "--leave"]);
    assert_eq!(engine.end().code, Some(0));
    assert!(!world.processes().is_empty(), "the check runs on");
    std::fs::write(world.path("home/go"), "").unwrap();
    world.drain_all();
    assert_eq!((world.landed(), checks(&world)), (vec!["t-1".to_owned()], 1));
}

#[test]
fn stop_can_kill_a_check_and_it_is_repeated() {
    let world = slowly_checked();
    world.ticket("t-1").agent(DONE).write();
    let mut engine = world.engine();
    world.wait("it is being checked", || checks(&world) == 1);
    world.must(&["stop", "--kill"]);
    assert_eq!(engine.end().code, Some(0));
    world.assert_at_rest();
    assert_eq!(world.state_name("t-1"), "verify/checking");
    std::fs::write(world.path("home/go"), "").unwrap();
    world.drain_all();
    assert_eq!(
        (world.landed(), checks(&world), world.runs("t-1")),
        (vec!["t-1".to_owned()], 2, 1)
    );
}

/// A world whose check of the first ticket's work never ends, and has a process that is nobody's child.
fn endlessly_checked() -> World {
    let world = World::with(|s| {
        s.agents = "count = 2".to_owned();
        let forever = World::until_home("never");
        let endless = format!("setsid sleep 1000 & echo x >> \"$HOME/checking\"; {forever}");
        // Each is checked for itself: else the check of the second would have the first in its tree.
        s.checks = format!("commands = ['''if [ -e t-1.txt ]; then {endless}; fi''']\n[train]\nbatch = 1");
    });
    for id in ["t-1", "t-2"] {
        world.ticket(id).agent(DONE).write();
    }
    world
}

#[test]
fn a_dropped_tickets_check_is_ended_and_the_next_candidate_is_checked() {
    let world = endlessly_checked();
    let mut engine = world.engine();
    world.wait("the first is being checked", || checks(&world) == 1);
    world.must(&["drop", "t-1"]);
    world.wait("the second has landed", || world.is_landed("t-2"));
    assert!(engine.is_up());
    world.must(&["stop"]);
    assert_eq!(engine.end().code, Some(0));
    world.assert_at_rest();
    assert_eq!(checks(&world), 1);
    assert!(world.kept("t-1", 1).is_some());
}

#[test]
fn a_check_that_a_killed_engine_left_is_ended_when_its_ticket_is_dropped() {
    let world = endlessly_checked();
    let mut engine = world.engine();
    world.wait("the first is being checked", || checks(&world) == 1);
    engine.signal("KILL");
    engine.end();
    assert!(!world.processes().is_empty(), "the check runs on");
    world.must(&["drop", "t-1"]);
    assert!(world.processes().is_empty(), "{:#?}", world.processes());
    world.drain();
    assert_eq!((world.landed(), checks(&world)), (vec!["t-2".to_owned()], 1));
}

#[test]
fn ctrl_c_once_waits_and_twice_leaves() {
    let world = World::new();
    world
        .ticket("t-1")
        .agent("touch \"$GATES/on\"\nuntil_there \"$GATES/go\"\nwork t x\necho DONE")
        .write();
    let mut engine = world.engine();
    world.wait("it is at work", || world.path("gates/on").exists());
    engine.signal("INT");
    world.wait("it is told to stop", || world.is_closing());
    assert!(engine.is_up());
    engine.signal("INT");
    let said = engine.end();
    assert!(said.code == Some(130) || said.code == Some(0), "{said}");
    assert!(!world.processes().is_empty(), "the step runs on");
    world.open("go");
    world.drain_all();
    assert_eq!((world.runs("t-1"), world.landed()), (1, vec!["t-1".to_owned()]));
}

#[test]
fn answers_and_approvals_reach_an_engine_that_runs() {
    let world = World::new();
    world
        .ticket("t-1")
        .agent("if [ \"$RUN\" = 1 ]; then echo 'QUESTION: may I?'; else echo '# mine' >> crew.toml; git commit -qam settings; echo DONE; fi")
        .write();
    let mut engine = world.engine();
    world.wait_for("t-1", "in_progress/waiting_for_input");
    world.must(&["answer", &world.agent_of("t-1"), "you", "may"]);
    world.wait("it is held", || {
        world.try_state("t-1").is_some_and(|ticket| ticket.held.is_some())
    });
    assert!(
        world.prompt("t-1", 2).contains("you may"),
        "{}",
        world.prompt("t-1", 2)
    );
    world.must(&["approve", "t-1"]);
    world.wait("t-1 lands", || world.is_landed("t-1"));
    world.must(&["stop"]);
    engine.end();
    world.assert_at_rest();
}

#[test]
fn a_file_closed_by_hand_while_its_agent_waits_for_an_answer_submits_the_work() {
    let world = World::new();
    world
        .ticket("t-1")
        .agent("work t x\necho 'QUESTION: is this enough?'")
        .write();
    world.drain_held();
    world.edit("t-1", |text| {
        text.replace("status: in_progress", "status: closed")
    });
    world.drain_all();
    assert_eq!(world.landed(), ["t-1"]);
    assert_eq!(world.front("t-1", "status"), "closed");
}

#[test]
fn a_held_ticket_whose_file_is_closed_is_over_and_its_work_kept() {
    let world = World::new();
    world
        .ticket("t-1")
        .agent("echo '# mine' >> crew.toml\ngit commit -qam settings\necho DONE")
        .write();
    world.drain_held();
    world.edit("t-1", |text| {
        text.replace("status: in_progress", "status: closed")
    });
    world.drain_all();
    assert_eq!(world.state_name("t-1"), "done/closed_by_person");
    assert!(world.kept("t-1", 1).is_some() && world.landed().is_empty());
}

#[test]
fn an_agent_cannot_start_a_crew_of_its_own() {
    let world = World::new();
    world
        .ticket("t-1")
        .agent(
            "\"$CREW_BINARY\" run --until-idle > \"$LOGS/nested\" 2>&1 && exit 3\n\
             env -u CREW_WORKER \"$CREW_BINARY\" run --until-idle >> \"$LOGS/nested\" 2>&1 && exit 3\n\
             work t x\necho DONE",
        )
        .write();
    let script = std::fs::read_to_string(world.path("scripts/t-1")).unwrap();
    world.script("t-1", &script.replace("$CREW_BINARY", &testkit::world::crew()));
    world.drain_all();
    let said = std::fs::read_to_string(world.path("logs/nested")).unwrap();
    assert!(said.contains("`crew run` is for people"), "{said}");
    assert!(said.contains("is an agent's workspace"), "{said}");
}

#[test]
fn a_command_about_what_is_not_there_is_refused() {
    let world = World::new();
    world.ticket("t-1").agent(DONE).write();
    world.drain_all();
    for args in [
        &["retry", "t-1"][..],
        &["drop", "t-1"],
        &["merge", "t-1"],
        &["approve", "t-1"],
        &["waive", "t-1", "x"],
        &["kill", "nobody"],
        &["assign", "nobody", "t-1"],
        &["answer", "nobody", "x"],
        &["retry", "t-9"],
    ] {
        let said = world.crew(args);
        assert!(said.code == Some(1) || said.code == Some(2), "{args:?}: {said}");
        assert!(!said.err.is_empty(), "{args:?}: {said}");
    }
}

#[test]
fn a_ticket_that_comes_after_an_edit_of_the_settings_is_worked_on_under_the_new_ones() {
    let world = World::new();
    world.ticket("t-0").agent(DONE).write();
    let mut engine = world.engine();
    world.wait("t-0 lands", || world.is_landed("t-0"));
    let said = world.read("crew.toml");
    world.write("crew.toml", &said.replace("env = { ", "env = { SAID = \"new\", "));
    world
        .ticket("t-1")
        .agent("work said \"${SAID-old}\"\necho DONE")
        .write();
    world.wait("t-1 lands", || world.is_landed("t-1"));
    world.must(&["stop"]);
    engine.end();
    assert_eq!(world.git(&["show", "main:said"]), "new");
}

#[test]
fn a_bad_edit_of_the_settings_is_told_and_the_last_good_ones_stand() {
    let world = World::new();
    let mut engine = world.engine();
    world.wait("the engine is up", || {
        world.path("project/.crew/state.json").exists()
    });
    let good = world.read("crew.toml");
    world.write("crew.toml", &format!("{good}\n[nonsense]\n"));
    world.wait("the edit is told", || {
        engine.said().all().contains("the last good settings stand")
    });
    world.ticket("t-1").agent(DONE).write();
    world.wait("it lands all the same", || world.is_landed("t-1"));
    world.must(&["stop"]);
    engine.end();
}

#[test]
fn a_clone_without_a_queue_gets_one() {
    let world = World::new();
    std::fs::remove_dir_all(world.project(".tickets")).unwrap();
    world.drain_all();
    assert!(world.project(".tickets").is_dir());
}

#[test]
fn kill_frees_an_agent_that_waits_for_an_answer() {
    let world = World::with(|s| s.agents = "names = [\"ada\"]".to_owned());
    world
        .ticket("t-1")
        .priority(0)
        .agent("work t x\necho 'QUESTION: what now?'")
        .write();
    world.ticket("t-2").agent(DONE).write();
    let mut engine = world.engine();
    world.wait_for("t-1", "in_progress/waiting_for_input");
    world.must(&["kill", "ada"]);
    world.wait("the other lands", || world.is_landed("t-2"));
    world.must(&["stop"]);
    engine.end();
    assert_eq!(
        (world.state_name("t-1"), world.kept("t-1", 1).is_some()),
        ("open (held)".to_owned(), true)
    );
}

#[test]
fn a_dropped_tickets_work_is_named_by_the_ref_that_it_is_kept_under() {
    let world = World::with(|s| s.agents = "names = [\"ada\"]".to_owned());
    // The first attempt leaves nothing, so the second one's work is the first that is kept.
    let asks = "echo 'QUESTION: what now?'";
    world.ticket("t-1").agent(asks).write();
    world.drain_held();
    world.must(&["kill", "ada"]);
    world.script("t-1", &format!("work t x\n{asks}"));
    world.must(&["retry", "t-1"]);
    world.drain_held();
    assert_eq!(world.state("t-1").attempt().unwrap().claim.number, 2);
    let said = world.must(&["drop", "t-1", "not needed"]);
    let kept = world.git(&["for-each-ref", "--format=%(refname)", "refs/crew/attempts/t-1/"]);
    assert_eq!(kept, "refs/crew/attempts/t-1/1");
    assert!(said.out.contains(&kept), "{said}\n{kept}");
    let summary = world.must(&["summary", "t-1"]).out;
    assert!(summary.contains("work on t"), "{summary}");
}

#[test]
fn words_for_an_agent_that_is_being_killed_are_refused_and_not_lost() {
    let world = World::new();
    let deaf = format!("trap ': > \"$GATES/asked\"; until_there \"$GATES/go\"; exit 1' TERM\n{ENDLESS}");
    world.ticket("t-1").agent(&deaf).write();
    let mut engine = world.engine();
    world.wait("it has worked", || world.path("gates/worked").exists());
    let agent = world.agent_of("t-1");
    world.must(&["kill", &agent]);
    world.wait("it was asked to end", || world.path("gates/asked").exists());
    for order in [&["say", &agent, "look at b"][..], &["bait", &agent]] {
        let said = world.crew(order);
        assert_ne!(said.code, Some(0), "{said}");
        let why = format!("{agent} gets no other step on t-1: the agent was killed by");
        assert!(said.err.contains(&why), "{said}");
    }
    world.open("go");
    world.wait_for("t-1", "open (held)");
    assert_eq!((world.count("t-1", "said"), world.count("t-1", "baited")), (0, 0));
    world.must(&["stop"]);
    engine.end();
}
