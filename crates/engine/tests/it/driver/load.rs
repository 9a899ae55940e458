//! Loading: a core that takes over from an earlier one, of this engine or of one that was killed.

use std::collections::BTreeSet;

use engine::driver::{Driver, Event, Performance, Purpose};
use engine::{Duty, Loaded, Report};
use model::attempt::Class;
use model::command::OnStop;
use model::journal::{State, Stream};
use model::project::Project;

use super::shell::{Shell, ended};
use crate::scene::{JOURNAL, failed, id};
use crate::states;
use crate::words::effect_name;

fn command(lands: Option<&str>) -> Duty {
    let lands = lands.map(id);
    Duty::Command { lands }
}

#[test]
fn a_stop_is_asked_of_the_next_core_too() {
    let (mut shell, _) = Shell::up(states::working());
    shell.stop(OnStop::Finish);
    shell.load();
    assert_eq!(shell.driver.core().stopping(), Some(OnStop::Finish));
}

#[test]
fn a_stop_is_not_forgotten_where_loading_has_to_be_begun_again() {
    let (mut shell, _) = Shell::up(states::working());
    shell.stop(OnStop::Finish);
    // The archived tickets could not be restored, so that the core was not opened.
    shell.driver.load(shell.scene.journal.loaded()).unwrap();
    let wrong = (Stream::Ticket(id("t-1")), 1, State::Project(Project::default()));
    let unreadable = Loaded {
        streams: vec![wrong],
        ..Loaded::default()
    };
    assert!(shell.driver.load(unreadable).is_err());
    shell.load();
    assert_eq!(shell.driver.core().stopping(), Some(OnStop::Finish));
}

#[test]
fn an_engine_that_nobody_asked_to_stop_goes_on_after_a_load() {
    let (mut shell, _) = Shell::up(states::working());
    shell.load();
    assert_eq!(shell.driver.core().stopping(), None);
}

#[test]
fn what_an_earlier_engine_left_to_be_done_is_done_once() {
    let (mut shell, opened) = Shell::start(states::preparing(), Duty::Drain);
    assert_eq!(opened.performed(), ["t-1 prepare_workspace", "t-1 write_file"]);
    assert!(shell.look().performed().is_empty());
    let writing = opened.take("write_file");
    assert!(shell.report(writing, Report::Done).performed().is_empty());
}

/// Starts an engine in every state, with everything that an earlier engine left. Returns the names of the
/// effects that were left and not performed.
fn left_alone(duty: &Duty) -> BTreeSet<&'static str> {
    let mut all = BTreeSet::new();
    for (label, scene) in states::all() {
        let left = scene.journal.loaded().pending;
        let (mut shell, opened) = Shell::start(scene, duty.clone());
        let performed = shell.perform_all(&opened.actions);
        let ids: BTreeSet<_> = performed.iter().map(|one| one.ordered.id).collect();
        assert_eq!(ids.len(), performed.len(), "{label}: each is performed once");
        let alone = left.iter().filter(|one| !ids.contains(&one.id));
        all.extend(alone.map(|one| effect_name(&one.effect)));
    }
    all
}

#[test]
fn an_engine_that_drains_the_queue_leaves_nothing_alone() {
    assert!(left_alone(&Duty::Drain).is_empty());
}

#[test]
fn an_engine_for_a_command_that_lands_nothing_begins_no_step_no_check_and_no_landing() {
    let begins = ["build_candidate", "land", "start_check", "start_step"];
    assert_eq!(left_alone(&command(None)), begins.into());
}

#[test]
fn an_engine_for_a_command_that_lands_a_ticket_begins_no_step() {
    assert_eq!(left_alone(&command(Some("t-1"))), ["start_step"].into());
}

/// One landing waits for the other, so that the command would wait for ever.
#[test]
fn a_landing_is_not_left_alone_where_a_command_lands_another_ticket() {
    let (_, opened) = Shell::start(states::landing(), command(Some("t-2")));
    assert!(
        opened.performed().contains(&"t-1 land".to_owned()),
        "{:?}",
        opened.performed()
    );
}

#[test]
fn a_command_ends_the_landing_and_the_check_that_it_makes_unwanted() {
    for (scene, left, ends, purpose) in [
        (states::landing(), "land", "land", Purpose::End),
        (states::checking(), "start_check", "stop_run", Purpose::Perform),
    ] {
        let (mut shell, opened) = Shell::start(scene, command(None));
        let begun = shell.perform_all(&opened.actions);
        assert!(begun.iter().all(|one| effect_name(&one.ordered.effect) != left));
        assert!(shell.look().performed().is_empty());
        let dropped = shell.ask([states::drop_it()]);
        let ended = shell.perform_all(&dropped.actions);
        let is_end = |one: &&Performance| effect_name(&one.ordered.effect) == ends;
        let purposes: Vec<Purpose> = ended.iter().filter(is_end).map(|one| one.purpose).collect();
        assert_eq!(purposes, [purpose], "{left}");
    }
}

#[test]
fn a_driver_that_has_loaded_nothing_waits_for_nothing() {
    let settings = crate::scene::settings();
    let driver = Driver::new(settings, JOURNAL, Duty::Drain).unwrap();
    assert_eq!((driver.next_wake(), driver.inbox()), (None, 0));
    assert!(driver.is_at_rest() && !driver.can_read_inbox() && !driver.is_finished());
}

#[test]
fn a_report_of_an_earlier_cores_effect_does_not_reach_the_core() {
    let (mut shell, opened) = Shell::start(states::preparing(), Duty::Drain);
    let preparing = opened.take("prepare_workspace");
    let loaded = shell.load();
    assert!(loaded.performed().is_empty(), "the executor still has both");
    let why = "no such remote".to_owned();
    let reported = shell.report(preparing, Report::WorkspaceFailed { why });
    assert!(reported.facts().is_empty(), "{:?}", reported.facts());
    assert!(reported.batch.finished.is_empty());
    assert_eq!(
        reported.performed(),
        ["t-1 prepare_workspace"],
        "it is ordered again"
    );
}

#[test]
fn a_look_that_was_begun_for_an_earlier_core_does_not_reach_the_next() {
    let (mut shell, _) = Shell::start(states::preparing(), Duty::Drain);
    let early = shell.observed(shell.driver.look());
    shell.load();
    shell.handle([early]);
    assert!(
        !shell.driver.can_read_inbox(),
        "the folder was not read for this core"
    );
    shell.look();
    assert!(shell.driver.can_read_inbox());
}

#[test]
fn the_inbox_is_read_again_from_its_start_by_the_next_core() {
    let (mut shell, _) = Shell::up(states::working());
    shell.ask([states::drop_it()]);
    assert_eq!(shell.driver.inbox(), 1);
    shell.load();
    assert_eq!(shell.driver.inbox(), 0);
    assert!(shell.look().reads_inbox());
}

#[test]
fn an_action_that_waits_for_a_decision_is_not_asked_for_where_that_was_refused() {
    let (mut shell, _) = Shell::up(states::working());
    let end = ended(shell.run(), failed(Class::Lost));
    assert!(
        !shell.refuse([end]).reads_inbox(),
        "the folder was not read for this core"
    );
}

#[test]
fn an_engine_is_not_finished_by_an_end_of_a_run_that_is_not_durable() {
    let mut scene = states::working();
    scene.files_written("t-1");
    let (mut shell, _) = Shell::up(scene);
    shell.stop(OnStop::Finish);
    let end = ended(shell.run(), failed(Class::Lost));
    let loaded = shell.refuse([end, Event::InboxRead(Vec::new())]);
    assert!(!shell.driver.is_finished());
    assert_eq!(loaded.watched(), [shell.run()]);
}

#[test]
fn a_moment_that_an_earlier_core_waited_for_is_not_waited_for() {
    let (mut shell, _) = Shell::up(states::debouncing());
    assert!(shell.driver.next_wake().is_some());
    shell.load();
    assert_eq!(shell.driver.next_wake(), None, "the folder is to be read again");
}

#[test]
fn the_same_refusal_again_and_again_is_an_error() {
    let (mut shell, _) = Shell::up(states::working());
    let refuse = |shell: &mut Shell| shell.driver.refused("version 7".to_owned());
    for _ in 0..4 {
        refuse(&mut shell).unwrap();
        shell.load();
    }
    assert_eq!(refuse(&mut shell).unwrap_err().times, 5);
}
