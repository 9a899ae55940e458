//! A clock that was ahead.

use model::journal::{Entry, Fact, State, Stream, Write};
use model::machine::Machine as _;
use model::{AgentName, Time, project};
use testkit::world::{DONE, World};

/// Whether the doctor says that the clock was ahead.
fn is_noted(world: &World) -> bool {
    world.crew(&["doctor"]).out.contains("the clock was ahead")
}

#[test]
fn the_doctor_says_that_the_journal_has_times_that_have_not_come() {
    let world = World::new();
    world.ticket("t-1").agent(DONE).write();
    world.drain_all();
    assert!(!is_noted(&world));
    let name = AgentName::new("zoe").unwrap();
    let recorded = world.journal(async |ledger| {
        let streams = ledger.streams().await.unwrap();
        let mut streams = streams.into_iter();
        let of_project = streams.find(|(stream, ..)| *stream == Stream::Project);
        let Some((_, expected, State::Project(project))) = of_project else {
            panic!("the project has a state of its own")
        };
        let event = project::Event::AgentSpawned { name };
        let after = project::Machine::transition(&project, &event).unwrap().state;
        let entry = Entry {
            fact: Fact::Project(event),
            after: State::Project(after),
            effects: Vec::new(),
        };
        let write = Write {
            stream: Stream::Project,
            expected,
            fence: None,
            new_fence: None,
            entries: vec![entry],
            // In 2100.
            at: Time(4_102_444_800_000),
            cause: "a clock that is ahead".to_owned(),
            timers: Vec::new(),
            slots: Vec::new(),
            completes: None,
            fires: None,
            answers: None,
        };
        ledger.record(vec![write]).await.is_ok()
    });
    assert_eq!(recorded, Some(true));
    assert!(is_noted(&world));
    world.ticket("t-2").agent(DONE).write();
    world.drain_all();
    assert!(!is_noted(&world), "the next engine follows the clock");
}
