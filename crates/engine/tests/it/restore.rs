//! Restoring: tickets that ended long ago are forgotten, and restored when something asks for them.

use std::collections::BTreeSet;

use engine::{Input, Observation};
use model::TicketId;
use model::command::Command;
use model::journal::{EffectId, TimerRef};
use model::ticket::FileStatus;

use crate::scene::{Scene, id, name, someone};
use crate::states;

fn ids(of: &[&str]) -> BTreeSet<TicketId> {
    of.iter().map(|ticket| id(ticket)).collect()
}

fn restore(scene: &mut Scene, ticket: &str) {
    let (version, state) = scene.journal.ticket(&id(ticket)).unwrap();
    scene.core.restore(id(ticket), version, state);
}

#[test]
fn only_what_is_over_is_forgotten() {
    for (label, mut scene) in states::all() {
        let state = scene.state("t-1");
        scene.core.forget(&ids(&["t-1"]));
        let after = scene.state("t-1");
        if state.starts_with("done/") {
            assert_eq!(after, "unknown", "{label}");
        } else {
            assert_eq!(after, state, "{label}");
        }
    }
}

#[test]
fn a_ticket_that_is_restored_goes_on_from_its_version() {
    let mut scene = states::landed();
    scene.files_written("t-1");
    scene.core.forget(&ids(&["t-1"]));
    restore(&mut scene, "t-1");
    assert_eq!(scene.state("t-1"), "done/landed");
    // The journal of the scene refuses a write on another version.
    let opened = scene.set_status("t-1", FileStatus::Open);
    assert_eq!(
        opened.events(),
        ["reopened", "claimed", "agents_busy"],
        "{opened}"
    );
}

#[test]
fn a_ticket_that_is_known_is_not_replaced_by_an_older_one() {
    let mut scene = states::preparing();
    let (version, old) = scene.journal.ticket(&id("t-1")).unwrap();
    scene.workspace_ready("t-1");
    scene.core.restore(id("t-1"), version, old);
    assert_eq!(scene.state("t-1"), "in_progress/working");
}

#[test]
fn a_forgotten_dependency_is_missing_until_it_is_restored() {
    let mut scene = states::landed();
    scene.files_written("t-1");
    scene.core.forget(&ids(&["t-1"]));
    scene.delete("t-1");
    scene.write("t-2", |file| drop(file.spec.deps.replace(id("t-1"))));
    assert_eq!(scene.state("t-2"), "open");
    assert_eq!(scene.core.unknown_links(), ids(&["t-1"]));
    restore(&mut scene, "t-1");
    assert_eq!(scene.core.unknown_links(), ids(&[]));
    assert_eq!(scene.tick().events(), ["claimed", "agents_busy"]);
}

#[test]
fn a_ticket_that_recovers_a_forgotten_one_asks_for_it() {
    let mut scene = Scene::new();
    scene.write("t-2", |file| file.spec.recovers = Some(id("t-1")));
    assert_eq!(scene.core.unknown_links(), ids(&["t-1"]));
    scene.ask(Command::Drop {
        ticket: id("t-2"),
        reason: "not wanted".to_owned(),
    });
    assert_eq!(
        scene.core.unknown_links(),
        ids(&[]),
        "what is over asks for nothing"
    );
}

#[test]
fn an_input_names_the_tickets_that_must_be_known_before_it() {
    let mut scene = states::working();
    scene.edit("t-5", |file| drop(file.spec.deps.replace(id("t-6"))));
    scene.edit("t-7", |file| {
        file.spec.recovers = Some(id("t-8"));
        file.status = Some(FileStatus::InProgress);
    });
    scene.edit("t-9", |file| file.status = Some(FileStatus::Closed));
    let seen = |ticket: &str| scene.observation(&id(ticket));
    let observed = |seen: Vec<Observation>| Input::Observed { seen, whole: true };
    let commanded = |command| Input::Commanded {
        id: "command".to_owned(),
        by: someone(),
        command,
    };
    let unreadable = |ticket: &str| Observation::Unreadable {
        ticket: id(ticket),
        at: scene.now,
    };
    let (effect, ordered) = scene.pending("t-1", "write_file").unwrap();
    let reported = Input::Reported {
        id: EffectId {
            seq: effect.seq,
            index: 0,
        },
        ticket: id("t-4"),
        effect: ordered,
        report: engine::Report::Done,
    };
    let timer = TimerRef {
        stream: model::journal::Stream::Ticket(id("t-4")),
        key: "due".to_owned(),
        generation: 1,
    };
    let cases: [(&str, Input, &[&str]); 9] = [
        ("open", observed(vec![seen("t-5")]), &["t-5", "t-6"]),
        ("taken", observed(vec![seen("t-7")]), &["t-7", "t-8"]),
        ("closed", observed(vec![seen("t-9")]), &[]),
        ("gone", observed(vec![seen("t-3")]), &[]),
        (
            "unreadable",
            observed(vec![unreadable("t-4"), unreadable("t-1")]),
            &["t-4"],
        ),
        (
            "a command about a ticket",
            commanded(Command::Retry { ticket: id("t-4") }),
            &["t-4"],
        ),
        (
            "a command about an agent",
            commanded(Command::Kill { agent: name("ann") }),
            &[],
        ),
        ("a report", reported, &[]),
        ("a timer", Input::TimerDue(timer), &[]),
    ];
    for (label, input, expected) in cases {
        assert_eq!(scene.core.unknown(&input), ids(expected), "{label}");
    }
}

#[test]
fn nothing_of_a_forgotten_ticket_is_waited_for() {
    let mut scene = states::killed();
    scene.ask(states::drop_it());
    for _ in 0..2 {
        let why = "no disk".to_owned();
        scene.report("t-1", "keep_work", engine::Report::CouldNotRun { why });
    }
    assert!(scene.core.is_stuck(&id("t-1")));
    scene.core.forget(&ids(&["t-1"]));
    assert!(!scene.core.is_stuck(&id("t-1")));
    assert_eq!(scene.core.rest().waits, []);
}

#[test]
fn the_cost_of_a_forgotten_ticket_is_forgotten_with_it() {
    let usd = |text: &str| model::money::Usd::parse(text).ok();
    let mut scene = states::working_with(|settings| settings.budget.day_usd = usd("10"));
    scene.run_ends_for(
        "t-1",
        crate::scene::failed(model::attempt::Class::Crash),
        states::cost(10),
    );
    scene.ask(states::drop_it());
    assert!(scene.core.project().pause.is_some());
    // The runtime forgets only tickets that were quiet for long, whose cost is of no day that counts.
    scene.core.forget(&ids(&["t-1"]));
    assert_eq!(scene.tick().events(), ["day_budget_free"]);
}

#[test]
fn a_ticket_that_is_restored_remembers_nothing_of_its_file() {
    // The engine was to close its file, and the file was away.
    let mut scene = states::landed();
    scene.delete("t-1");
    scene.core.forget(&ids(&["t-1"]));
    restore(&mut scene, "t-1");
    let taken = scene.write("t-1", |file| file.status = Some(FileStatus::InProgress));
    assert!(taken.events().is_empty(), "a person has taken it: {taken}");
    let opened = scene.set_status("t-1", FileStatus::Open);
    assert_eq!(
        opened.events(),
        ["reopened", "claimed", "agents_busy"],
        "{opened}"
    );
}
