//! One fault of each kind, most of them at landing, where most is at stake. The others of its kind are in
//! `deep`.

use std::fs;

use model::journal::Fact;

use crate::faults::deep::busy::struck_in;
use crate::faults::deep::damage::{at_work, landed_at_once};
use crate::faults::deep::doubt::{Whose, not_there};
use crate::faults::deep::durable::Log;
use crate::faults::deep::full_disk::Full;
use crate::faults::deep::stops::{with_a_killed_git, with_a_stop_in};
use crate::faults::mounts::cells;
use crate::faults::struck::At;
use crate::faults::traced::{strace, whole_calls};
use testkit::world::{DONE, World, path_variable};

cells! {
    fn no_space_while_landing() {
        Full { over: "project/.git", at: At::Checks, holds: |world| !world.is_landed("t-1") }.strike();
    }

    fn a_locked_journal_is_waited_for_as_it_lands() {
        struck_in("update-ref*crew: land");
    }

    fn a_git_is_killed_as_it_lands_and_leaves_its_lock() {
        with_a_killed_git("refs/heads/main", "refs/heads/main.lock");
    }

    fn an_engine_that_stands_still_as_it_lands() {
        with_a_stop_in("update-ref*crew: land", None);
    }
}

#[test]
fn a_landing_whose_commit_failed_and_is_not_there_is_one() {
    not_there((At::Checks, Whose::Its), "\"landed\":{", "landed");
}

#[test]
fn nothing_is_answered_before_it_is_on_the_disk() {
    let world = World::new();
    world.ticket("t-1").agent(DONE).write();
    world.drain_all();
    let (said, trace) = strace(&world, &["spawn"], path_variable());
    assert_eq!(said.code, Some(0), "{said}");
    let name = world
        .rows()
        .into_iter()
        .rev()
        .find_map(|(_, _, fact)| match fact {
            Fact::Project(model::project::Event::AgentSpawned { name }) => Some(name.to_string()),
            Fact::Project(_) | Fact::Ticket(_) => None,
        });
    let name = name.unwrap();
    assert!(said.out.contains(&name), "{said}");
    let event = format!("\\\"agent_spawned\\\":{{\\\"name\\\":\\\"{name}");
    let mut log = Log::default();
    let mut is_answered = false;
    for call in whole_calls(&trace) {
        log.see(&call, |text| text.contains(&event).then(|| name.clone()));
        if call.starts_with("write(1<") && call.contains(&name) {
            assert!(
                log.durable.contains(&name),
                "answered before it is on the disk: {call}"
            );
            is_answered = true;
        }
    }
    assert!(is_answered, "no answer was seen");
}

#[test]
fn a_target_that_is_gone_is_waited_for() {
    let (world, mut engine) = at_work();
    world.open("go");
    world.wait_for("t-1", "verify/checking");
    let tip = world.git(&["rev-parse", "main"]);
    world.git(&["checkout", "-q", "--detach"]);
    world.git(&["branch", "-q", "-D", "main"]);
    fs::write(world.path("home/checked"), "").unwrap();
    world.wait("it says what is missing", || world.says("t-1", "main"));
    assert!(engine.is_up());
    world.git(&["branch", "main", &tip]);
    landed_at_once(&world, &mut engine, "t-1");
}

#[test]
fn a_damaged_journal_is_refused_and_named() {
    let world = World::new();
    world.ticket("t-1").agent(DONE).write();
    world.drain_all();
    let journal = world.project(".crew/journal.db");
    let whole = fs::read(&journal).unwrap();
    let mut flipped = whole.clone();
    for at in (4096..flipped.len()).step_by(4096) {
        flipped[at] ^= 0xff;
    }
    for (damaged, how) in [
        (flipped, "flipped bytes"),
        (whole[..whole.len() / 2].to_vec(), "cut in half"),
    ] {
        fs::write(&journal, damaged).unwrap();
        let said = world.crew(&["run", "--until-idle"]);
        assert_eq!(said.code, Some(1), "{how}: {said}");
        assert!(
            said.all().contains("the journal is damaged") && said.all().contains(".crew/journal.db"),
            "{how}: {said}"
        );
        let doctor = world.crew(&["doctor"]);
        assert_ne!(doctor.code, Some(0), "{how}: {doctor}");
        assert!(doctor.all().contains("damaged"), "{how}: {doctor}");
        assert_eq!(
            doctor.all().matches("keep a copy of").count(),
            1,
            "{how}: {doctor}"
        );
    }
    fs::write(&journal, whole).unwrap();
    world.drain_all();
    world.must(&["doctor", "--deep"]);
}
