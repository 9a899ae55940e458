//! Task modes: announced while a step runs, set by a person, and a ticket that its agent breaks up.

use model::attempt::Mode;
use serde_json::Value;
use testkit::world::{World, crew};

fn mode(world: &World, id: &str) -> Option<Mode> {
    let ticket = world.try_state(id)?;
    Some(ticket.attempt()?.mode)
}

#[test]
fn a_mode_counts_while_its_step_runs_and_is_announced_once_also_to_the_next_engine() {
    let world = World::new();
    let agent = "case $RUN in
        1) echo 'MODE: plan'; until_there \"$GATES/go\"; echo 'MODE: unify' ;;
        2) echo 'QUESTION: shall I?' ;;
        3) echo 'MODE: execute'; work a x; echo DONE ;;
        esac";
    world.ticket("t-1").agent(agent).write();
    let mut engine = world.engine();
    world.wait("the mode is plan", || mode(&world, "t-1") == Some(Mode::Plan));
    assert_eq!(world.runs("t-1"), 1);
    let ps = world.must(&["ps"]);
    assert!(ps.out.contains("working: plan"), "{ps}");
    engine.signal("KILL");
    engine.end();
    // The next engine reads the step's output from its beginning.
    let mut engine = world.engine();
    world.open("go");
    world.wait_for("t-1", "in_progress/waiting_for_input");
    assert_eq!(
        world.count("t-1", "mode_announced"),
        2,
        "{:?}",
        world.facts("t-1")
    );
    let second = world.prompt("t-1", 2);
    assert!(
        second.contains("You are in the mode plan") && second.contains("unify is for what came of the parts"),
        "{second}"
    );
    let explained = world.must(&["explain", "t-1"]);
    assert!(
        explained
            .out
            .contains("mode plan; session 1 of the attempt, suspended"),
        "{explained}"
    );
    world.must(&["answer", "t-1", "yes"]);
    world.wait("t-1 has landed", || world.is_landed("t-1"));
    engine.signal("TERM");
    engine.end();
    let third = world.prompt("t-1", 3);
    assert!(
        third.contains("You are in the mode plan"),
        "it outlives the answer: {third}"
    );
}

#[test]
fn a_person_sets_a_mode_that_the_table_allows() {
    let world = World::new();
    let asks = "if [ \"$RUN\" = 1 ]; then echo 'QUESTION: which?'; else echo 'MODE: execute'; work b x; echo DONE; fi";
    world.ticket("t-1").agent(asks).write();
    world.drain_held();
    let refused = world.crew(&["mode", "t-1", "break_up"]);
    assert!(
        refused.code == Some(1) && refused.err.contains("plan comes first"),
        "{refused}"
    );
    world.must(&["mode", "t-1", "plan"]);
    let ps: Value = world.json(&["ps"]);
    assert_eq!(ps["agents"][0]["mode"], "plan", "{ps}");
    assert_eq!(ps["agents"][0]["session_state"], "suspended", "{ps}");
    world.must(&["answer", "t-1", "the first"]);
    world.drain_all();
    assert!(world.prompt("t-1", 2).contains("You are in the mode plan"));
}

#[test]
fn a_ticket_that_is_broken_up_waits_for_its_parts_and_brings_them_together() {
    let world = World::new();
    // The second part waits for the first one from the start.
    let part = "printf '%s\\n' \"[ -z '$before' ] || [ -e '$before.part' ] || { echo BLOCKED: too early; exit; }\" \
        'work \"$CREW_TICKET_ID.part\" done; echo DONE' > \"$SCRIPTS/$id\"";
    let agent = format!(
        "case $RUN in
        1) echo 'MODE: plan' ;;
        2) echo 'MODE: break_up'; echo DONE ;;
        3) for title in 'The first part' 'The second part'; do
               id=$(\"{crew}\" ticket create \"$title\" -d 'It is small.' ${{before:+--deps \"$before\"}}); {part}
               before=$id
           done
           echo DONE ;;
        *) ls *.part | wc -l > \"$LOGS/parts\"; work whole x; echo DONE ;;
        esac",
        crew = crew()
    );
    world.ticket("t-1").agent(&agent).write();
    world.drain_all();
    // Done without parts is refused, and said.
    let third = world.prompt("t-1", 3);
    assert!(
        third.contains("You are in the mode break_up") && third.contains("done means that there are tickets"),
        "{third}"
    );
    let why = "in break_up, done means that there are tickets for the parts";
    let history = world.must(&["history", "t-1"]).out;
    let history = history.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        history.contains(&format!("step finished: DONE; that does not count: {why}")),
        "{history}"
    );
    let logs = world.must(&["logs", "t-1"]).out;
    assert!(
        logs.contains(&format!("✗ does not count: DONE ({why})")),
        "{logs}"
    );
    assert_eq!(logs.matches("» DONE").count(), 2, "{logs}");
    let unify = world.prompt("t-1", 4);
    assert!(unify.contains("You are in the mode unify"), "{unify}");
    for title in ["The first part: landed as", "The second part: landed as"] {
        assert!(unify.contains(title), "{unify}");
    }
    let dep = world.front(&world.landed()[1], "deps");
    assert_eq!(
        dep,
        format!("[{}]", world.landed()[0]),
        "the second one names the first"
    );
    let parts = std::fs::read_to_string(world.path("logs/parts")).unwrap();
    assert_eq!(parts.trim(), "2", "their work is in its workspace");
    let landed = world.landed();
    assert_eq!(landed.len(), 3, "{landed:?}");
    assert_eq!(landed.last().map(String::as_str), Some("t-1"), "{landed:?}");
    let deps = world.front("t-1", "deps");
    assert_eq!(deps.split(',').count(), 2, "its file names them: {deps}");
    assert_eq!(world.state("t-1").attempts, 2);
}

/// The modes are announced, the parts made and the end said before anybody has read a line of the output.
#[test]
fn parts_that_are_made_in_the_step_that_announces_the_mode_count_and_no_part_is_made_twice() {
    let world = World::new();
    let part = "echo 'work \"$CREW_TICKET_ID.part\" done; echo DONE' > \"$SCRIPTS/$id\"";
    let make = format!(
        "for title in 'The first part' 'The second part'; do
            id=$(\"{crew}\" ticket create \"$title\" 2>> \"$LOGS/said\"); {part}
        done",
        crew = crew()
    );
    let agent = format!(
        "case $RUN in
        1) echo 'MODE: plan'; echo 'MODE: break_up'; {make}; exit 1 ;;
        2) {make}; echo DONE ;;
        *) work whole x; echo DONE ;;
        esac"
    );
    world.ticket("t-1").agent(&agent).write();
    world.drain_all();
    assert_eq!(world.landed().len(), 3, "{:?}", world.landed());
    assert_eq!(world.runs("t-1"), 3);
    assert!(world.prompt("t-1", 3).contains("You are in the mode unify"));
    let said = std::fs::read_to_string(world.path("logs/said")).unwrap();
    assert_eq!(said.matches(" before: it has this title").count(), 2, "{said}");
}

#[test]
fn a_ticket_is_broken_up_in_one_step() {
    let world = World::new();
    let agent = format!(
        "case $RUN in
        1) echo 'MODE: plan'; echo 'MODE: break_up'
           id=$(\"{crew}\" ticket create 'A part'); echo 'work part x; echo DONE' > \"$SCRIPTS/$id\"; echo DONE ;;
        *) work whole x; echo DONE ;;
        esac",
        crew = crew()
    );
    world.ticket("t-1").agent(&agent).write();
    world.drain_all();
    assert_eq!(world.runs("t-1"), 2);
    assert!(world.prompt("t-1", 2).contains("A part: landed as"));
    assert_eq!(world.landed().len(), 2);
}

/// What is printed is read when it is printed, and not at the next look at the step.
#[test]
fn a_mode_that_is_announced_shows_while_the_agent_goes_on_printing() {
    let world = World::new();
    let agent = "echo 'MODE: plan'; until_there \"$GATES/go\"; work a x; echo 'MODE: execute'; echo DONE";
    world.ticket("t-1").agent(agent).write();
    let mut engine = world.engine();
    world.wait("the mode was read", || mode(&world, "t-1") == Some(Mode::Plan));
    world.open("go");
    world.wait("it lands", || world.is_landed("t-1"));
    world.must(&["stop"]);
    engine.end();
    assert_eq!(world.count("t-1", "mode_announced"), 2);
}
