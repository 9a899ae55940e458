//! 50,000 tickets: what they cost in memory, and how soon one of them is done.

use std::fmt::Write as _;
use std::fs;

use crate::bounds::memory::{MOST, assert_bounded, bounded};
use testkit::world::{DONE, World};

const TICKETS: usize = 50_000;

/// Tickets behind one that a person works on.
fn write(world: &World) {
    world.ticket("gate").status("in_progress").write();
    let mut text = String::new();
    for n in 0..TICKETS {
        let id = format!("t-{n}");
        text.clear();
        writeln!(
            text,
            "---\nid: {id}\nstatus: open\ndeps: [gate]\nlinks: []\ncreated: 2026-01-01T00:00:00Z\ntype: task\npriority: 3\n---\n\
             # Write the {n}th of all the things\n\nAs the others, but for its number."
        )
        .unwrap();
        fs::write(world.ticket_file(&id), &text).unwrap();
    }
}

#[test]
fn fifty_thousand_tickets_are_imported_and_one_of_them_is_done() {
    let world = World::new();
    write(&world);
    world.ticket("work").priority(0).agent(DONE).write();
    let mut engine = world.engine();
    // What a look at the journal costs grows with the queue: the engine has the processor, and its file tells
    // as well.
    world.wait("the ticket landed", || world.front("work", "status") == "closed");
    assert_bounded(&mut engine, MOST);
    engine.signal("INT");
    engine.end();
    // Taken up again from the journal, and looked at.
    let mut engine = world.engine();
    world.ticket("again").priority(0).agent(DONE).write();
    world.wait("another landed", || world.front("again", "status") == "closed");
    assert_bounded(&mut engine, MOST);
    let commands = [
        &["ps"][..],
        &["queue"],
        &["queue", "--json"],
        &["inbox"],
        &["explain", "t-7"],
        &["events", "--all", "--json"],
    ];
    for command in commands {
        bounded(&world, command);
    }
    engine.signal("INT");
    engine.end();
}
