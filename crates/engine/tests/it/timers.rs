//! Timers: what happens when the time of one has come, and that no other one is heeded.

use engine::Input;
use model::ticket::{Ticket, TimerKey};

use crate::matrix::matrix;
use crate::scene::{Scene, id};
use crate::states;

const KEYS: [TimerKey; 8] = [
    TimerKey::Due,
    TimerKey::Step,
    TimerKey::Retry,
    TimerKey::Wakeup,
    TimerKey::Answer,
    TimerKey::Land,
    TimerKey::Proposal,
    TimerKey::Review,
];

/// The states that wait for a time, at that time.
fn states_with_a_deadline() -> Vec<(&'static str, Scene)> {
    let mut states = states::all();
    states.push((
        "its agent has asked, and is not waited for long",
        asked_with_a_limit(),
    ));
    states.retain(|(_, scene)| deadline(scene).is_some());
    states
}

fn asked_with_a_limit() -> Scene {
    let mut scene = states::working_with(|s| s.run.answer_within = Some(crate::scene::secs(60)));
    scene.run_ends("t-1", crate::scene::asked());
    scene
}

fn deadline(scene: &Scene) -> Option<model::ticket::Deadline> {
    scene.core.ticket(&id("t-1")).and_then(Ticket::deadline)
}

#[test]
fn a_timer_moves_its_ticket_when_its_time_has_come() {
    insta::assert_snapshot!(matrix(states_with_a_deadline(), |scene| {
        let deadline = deadline(scene).unwrap();
        assert_eq!(scene.core.next_deadline(scene.now), Some(deadline.at));
        scene.now = deadline.at;
        assert_eq!(
            scene.core.next_deadline(scene.now),
            None,
            "it is not ahead any more"
        );
        let timer = scene.journal.timer(&id("t-1"), deadline.key.as_str());
        scene.step(Input::TimerDue(timer))
    }));
}

#[test]
fn a_timer_before_its_time_or_of_another_key_changes_nothing() {
    for (label, scene) in states_with_a_deadline() {
        let deadline = deadline(&scene).unwrap();
        for key in KEYS {
            let mut scene = scene.clone();
            let timer = scene.journal.timer(&id("t-1"), key.as_str());
            scene.now = model::Time(deadline.at.0 - 1);
            let early = scene.step(Input::TimerDue(timer.clone()));
            assert!(early.events().is_empty(), "{label}, {}:\n{early}", key.as_str());
            if key == deadline.key {
                continue;
            }
            scene.now = deadline.at;
            let other = scene.step(Input::TimerDue(timer));
            let fired = other.output.writes.iter().any(|write| write.fires.is_some());
            assert!(!fired, "{label}, {}:\n{other}", key.as_str());
        }
    }
}

/// Most timers are answered by the write that they lead to; one that only opens a door is not.
#[test]
fn the_write_that_a_timer_leads_to_answers_it() {
    let mut scene = states::asleep();
    scene.now = deadline(&scene).unwrap().at;
    let timer = scene.journal.timer(&id("t-1"), "wakeup");
    let decided = scene.step(Input::TimerDue(timer.clone()));
    assert_eq!(decided.events(), ["woken", "step_started"], "{decided}");
    assert_eq!(decided.output.writes[0].fires, Some(timer));
}

#[test]
fn the_next_deadline_is_the_earliest_of_all_tickets_that_lies_ahead() {
    let mut scene = states::asleep();
    let asleep = deadline(&scene).unwrap().at;
    scene.add("t-2");
    let why = "no disk".to_owned();
    scene.report(
        "t-2",
        "prepare_workspace",
        engine::Report::WorkspaceFailed { why },
    );
    let due = scene
        .core
        .ticket(&id("t-2"))
        .and_then(Ticket::deadline)
        .unwrap()
        .at;
    assert!(due < asleep);
    assert_eq!(scene.core.next_deadline(scene.now), Some(due));
    assert_eq!(scene.core.next_deadline(due), Some(asleep));
    assert_eq!(scene.core.next_deadline(asleep), None);
    scene.ask(model::command::Command::Wake {
        agent: crate::scene::name("ann"),
    });
    assert_eq!(scene.core.next_deadline(due), None, "nobody sleeps any more");
}
