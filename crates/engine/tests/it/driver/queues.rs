//! The order of effects, as a shell sees it.

use std::collections::BTreeSet;

use engine::driver::Event;
use engine::{Duty, Observation, Report};
use model::command::{Command, OnStop};
use model::journal::EffectId;
use model::ticket::Origin;

use super::shell::{Shell, performed, take};
use crate::scene::{Scene, id, name, secs};
use crate::states;

fn hindered() -> Report {
    let why = "no room".to_owned();
    Report::Hindered { why }
}

#[test]
fn an_effect_that_failed_is_performed_again_when_its_time_has_come() {
    let (mut shell, actions) = Shell::up(states::preparing());
    let failed = shell.report(take(&actions, "prepare_workspace"), hindered());
    assert!(failed.performed().is_empty());
    let at = shell.driver.next_wake().unwrap();
    assert_eq!(failed.batch.postponed[0].at, at);
    shell.scene.now = super::shell::before(at);
    assert!(
        shell.look_at_clock().performed().is_empty(),
        "its time has not come"
    );
    let woken = shell.wake();
    assert_eq!(woken.performed(), ["t-1 prepare_workspace"]);
    assert_eq!(
        shell.driver.next_wake(),
        None,
        "a moment that has passed is not waited for"
    );
    let (base, earlier_work) = (crate::scene::oid('a'), false);
    let report = Report::WorkspaceReady { base, earlier_work };
    let ready = shell.report(woken.take("prepare_workspace"), report);
    assert_eq!(ready.performed(), ["t-1 start_step"]);
}

#[test]
fn a_step_that_could_not_begin_without_its_tickets_file_begins_as_soon_as_that_is_back() {
    let (mut shell, actions) = Shell::up(states::preparing());
    let (base, earlier_work) = (crate::scene::oid('a'), false);
    let ready = Report::WorkspaceReady { base, earlier_work };
    let ready = shell.report(take(&actions, "prepare_workspace"), ready);
    let why = "the ticket's file is not there".to_owned();
    shell.report(ready.take("start_step"), Report::CouldNotRun { why });
    let gone = Observation::Gone {
        ticket: id("t-1"),
        origin: Origin::Unknown,
        is_tracked: false,
    };
    let gone = Event::Observed {
        look: shell.driver.look(),
        seen: vec![gone],
        whole: false,
    };
    assert!(shell.handle([gone]).performed().is_empty());
    assert_eq!(shell.look().performed(), ["t-1 start_step"]);
}

/// Two landings at once: t-1 has waited for a person's edits while t-2 was checked, and its time comes while
/// t-2 lands.
fn two_landings() -> Scene {
    let mut scene = states::edits_in_the_way();
    scene.add("t-2");
    scene.workspace_ready("t-2");
    scene.finishes("t-2", model::attempt::Signal::Done);
    scene.built("t-2", 'd');
    scene.checks_pass("t-2");
    scene.wait(secs(600));
    let lands = |ticket| scene.pending(ticket, "land").unwrap().0;
    assert!(lands("t-2") < lands("t-1"));
    scene
}

#[test]
fn a_landing_waits_for_the_landings_that_were_ordered_before_it() {
    let (mut shell, actions) = Shell::up(two_landings());
    let lands = |words: Vec<String>| -> Vec<String> {
        words.into_iter().filter(|word| word.contains(" land")).collect()
    };
    assert_eq!(lands(performed(&actions)), ["t-2 land"]);
    let delayed = shell.report(take(&actions, "land"), hindered());
    assert!(lands(delayed.performed()).is_empty(), "the first has not ended");
    let again = shell.wake();
    assert_eq!(lands(again.performed()), ["t-2 land"]);
    let commit = crate::scene::oid('c');
    let landed = shell.report(again.take("land"), Report::Landed { commit });
    assert_eq!(lands(landed.performed()), ["t-1 land"]);
}

#[test]
fn a_stop_does_not_wait_behind_other_work_of_its_ticket() {
    let keep = states::blocked().pending("t-1", "keep_work").unwrap().1;
    let (mut shell, _) = Shell::up(states::working());
    let stopping = states::being_killed().pending("t-1", "stop_run").unwrap().1;
    let effects = [keep.clone(), keep, stopping];
    let ordered = (0..).zip(effects).map(|(index, effect)| model::journal::Ordered {
        id: EffectId { seq: 1_000, index },
        ticket: id("t-1"),
        effect,
    });
    let ordered = ordered.collect();
    let actions = shell.driver.recorded(ordered, shell.scene.now);
    assert_eq!(performed(&actions), ["t-1 stop_run", "t-1 keep_work"]);
}

#[test]
fn a_stop_waits_for_the_start_of_the_run_that_it_stops() {
    let (mut shell, actions) = Shell::up(states::starting());
    let starting = take(&actions, "start_step");
    let kill = Command::Kill { agent: name("ann") };
    let asked = shell.ask([kill]);
    assert_eq!(asked.facts(), ["t-1 stop_ordered"]);
    assert!(asked.performed().is_empty(), "{:?}", asked.performed());
    let started = shell.report(starting, Report::StepSpawned);
    assert_eq!(started.performed(), ["t-1 stop_run"]);
}

#[test]
fn a_status_that_is_to_be_overwritten_at_once_is_not_written() {
    let mut scene = states::preparing();
    scene.ask(Command::Kill { agent: name("ann") });
    assert_eq!(
        scene
            .all_pending("t-1")
            .iter()
            .filter(|one| **one == "write_file")
            .count(),
        2
    );
    let (mut shell, opened) = Shell::start(scene, Duty::Drain);
    let first = "t-1 write_file, as done".to_owned();
    assert!(opened.performed().contains(&first), "{:?}", opened.performed());
    let mut words = Vec::new();
    let mut next = opened.take("write_file");
    for _ in 0..3 {
        let done = shell.report(next, Report::Done);
        words.extend(done.performed());
        if let Some(writes) = done.performed().iter().find(|word| word.ends_with("write_file")) {
            assert_eq!(writes, "t-1 write_file");
            return;
        }
        next = take(&done.actions, "add_note");
    }
    panic!("the last status is not written: {words:?}");
}

#[test]
fn a_check_that_failed_and_that_nobody_waits_for_any_more_is_ended_at_once_and_only_once() {
    let (mut shell, actions) = Shell::up(states::landing());
    shell.report(take(&actions, "land"), hindered());
    let at = shell.driver.next_wake().unwrap();
    let dropped = shell.ask([states::drop_it()]);
    let ends = "t-1 land, to its end".to_owned();
    assert!(dropped.performed().contains(&ends), "{:?}", dropped.performed());
    let failed = shell.report(dropped.take("land"), hindered());
    assert!(failed.performed().is_empty(), "{:?}", failed.performed());
    assert!(shell.look().performed().is_empty());
    assert_eq!(shell.driver.next_wake(), Some(at), "it is ended in its own time");
    assert_eq!(shell.wake().performed(), [ends]);
}

#[test]
fn a_delayed_effect_that_is_still_wanted_waits_for_its_time() {
    let (mut shell, actions) = Shell::up(states::landing());
    shell.report(take(&actions, "land"), hindered());
    assert!(shell.look().performed().is_empty());
    assert!(
        shell
            .ask([Command::Spawn { name: name("eve") }])
            .performed()
            .is_empty()
    );
}

#[test]
fn effects_of_one_ticket_do_not_wait_for_those_of_another() {
    let mut scene = states::preparing();
    scene.add("t-2");
    let (_, actions) = Shell::up(scene);
    let all: BTreeSet<String> = performed(&actions).into_iter().collect();
    let both = ["t-1", "t-2"].map(|ticket| format!("{ticket} prepare_workspace"));
    assert!(both.iter().all(|one| all.contains(one)), "{all:?}");
}

#[test]
fn work_is_under_way_while_a_workspace_may_hold_it_or_it_is_being_kept() {
    let under_way = |scene: Scene| Shell::up(scene).0.driver.is_work_under_way();
    assert!(!under_way(states::waits_for_another()));
    assert!(under_way(states::working()));
    assert!(under_way(states::checking()));
    let (mut shell, actions) = Shell::up(states::blocked());
    shell.stop(OnStop::Finish);
    assert!(shell.driver.is_work_under_way(), "its work is to be kept");
    shell.report(take(&actions, "keep_work"), Report::Done);
    assert!(!shell.driver.is_work_under_way());
}
