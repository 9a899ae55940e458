//! Edits of tickets while agents are at work: nobody knows who made them.

use std::fs;

use testkit::world::World;

/// The worker does `work`; the gatekeeper does `review`, then approves.
fn script(work: &str, review: &str) -> String {
    format!(
        "if [ \"$CREW_ROLE\" = gatekeeper ]; then\n{review}\n\
         printf '{{\"crew\":\"verdict\",\"run_id\":\"%s\",\"verdict\":\"approve\",\"acceptance_test\":\"read it\"}}\\n' \
         \"$CREW_RUN_ID\"\nelse\n{work}\necho DONE\nfi\n"
    )
}

fn reviewed() -> World {
    World::with(|s| s.top = "[review]\nwhen = \"always\"\n".to_owned())
}

#[test]
fn a_gatekeeper_gets_the_text_as_it_was_given_out_where_an_agent_has_rewritten_its_task() {
    let world = reviewed();
    let work = "sed -i 's/It limits the rate/There is a file/' \"$TICKETS_DIR/t-1.md\"\nwork \"it.$RUN\" yes";
    world
        .ticket("t-1")
        .body("Let nobody in twice.\n\n## Acceptance Criteria\n\n- It limits the rate.\n")
        .agent(&script(work, ""))
        .write();
    world.drain_all();
    assert!(world.is_landed("t-1"));
    // The agent is told of the new text once, also where it is its own.
    assert_eq!(world.runs("t-1"), 3, "{:?}", world.facts("t-1"));
    assert!(world.prompt("t-1", 2).contains("There is a file"));
    let prompt = world.prompt("t-1", 3);
    let (before, now) = prompt.split_once("file of the ticket says now").unwrap();
    assert!(
        before.contains("It limits the rate") && !before.contains("There is a file"),
        "{prompt}"
    );
    assert!(
        now.contains("There is a file") && now.contains("Nobody knows whether a person"),
        "{prompt}"
    );
}

#[test]
fn a_demand_that_is_added_while_a_ticket_is_in_review_reaches_its_agent_before_it_lands() {
    let world = reviewed();
    let work =
        "grep -q 'also do X' \"$LOGS/$CREW_TICKET_ID.$RUN.prompt\" && work x.txt yes\nwork \"it.$RUN\" yes";
    let review = "[ -e x.txt ] || until_there \"$GATES/never\"";
    world.ticket("t-1").agent(&script(work, review)).write();
    let mut engine = world.engine();
    world.wait("the review", || world.count("t-1", "review_spawned") == 1);
    world.edit("t-1", |text| format!("{text}\nNew demand: also do X.\n"));
    world.wait("the landing", || world.is_landed("t-1"));
    world.must(&["stop", "--wait"]);
    engine.end();
    assert_eq!(world.on_main("x.txt").as_deref(), Some("yes\n"));
    assert_eq!(
        (
            world.count("t-1", "edit_returned"),
            world.count("t-1", "review_claimed")
        ),
        (1, 2)
    );
}

#[test]
fn a_ticket_that_an_agent_closes_by_its_file_waits_for_a_person_with_what_depends_on_it() {
    let world = World::with(|s| s.run = "max_workers = 1".to_owned());
    let close = "sed -i 's/^status: open/status: closed/' \"$TICKETS_DIR/t-2.md\"";
    world
        .ticket("t-1")
        .priority(0)
        .agent(&format!(
            "work one.txt yes\n{close}\nuntil_there \"$GATES/seen\"\necho DONE"
        ))
        .write();
    world.ticket("t-2").agent("work two.txt yes\necho DONE").write();
    world
        .ticket("t-3")
        .deps(&["t-2"])
        .agent("work three.txt yes\necho DONE")
        .write();
    let mut engine = world.engine();
    world.wait("the question", || world.count("t-2", "file_unheeded") == 1);
    world.open("seen");
    world.wait("the first landing", || world.is_landed("t-1"));
    world.must(&["stop", "--wait"]);
    engine.end();
    let left = world.drain_held();
    assert_eq!(world.landed(), ["t-1"], "{}", left.all());
    let inbox = world.crew(&["inbox"]).all();
    assert!(
        inbox.contains("agents were at work") && inbox.contains("crew ticket close t-2"),
        "{inbox}"
    );
    world.must(&["ticket", "close", "t-2"]);
    world.drain_all();
    assert_eq!(world.landed(), ["t-1", "t-3"]);
    let history = world.must(&["history", "t-2"]).all();
    assert!(!history.contains("closed by an edit"), "{history}");
    assert!(
        fs::read_to_string(world.ticket_file("t-2"))
            .unwrap()
            .contains("status: closed")
    );
}
