//! The moments that the driver waits for.

use engine::driver::Event;
use engine::{End, Input};
use model::attempt::Signal;
use model::ticket::Ticket;

use super::shell::{Shell, before, ended};
use crate::scene::{Scene, id, secs};
use crate::states;

fn sleeps_until(shell: &mut Shell, at: model::Time) {
    let why = "the build takes long".to_owned();
    let run = shell.run();
    shell.handle([ended(run, End::Finished(Signal::WakeupSet { at, why }))]);
    assert!(shell.ask([]).facts().contains(&"t-1 step_finished".to_owned()));
}

#[test]
fn the_driver_waits_for_the_next_deadline_of_a_ticket() {
    let (mut shell, _) = Shell::up(states::working());
    let at = shell.scene.now + secs(60);
    sleeps_until(&mut shell, at);
    assert_eq!(shell.driver.next_wake(), Some(at));
    assert_eq!(shell.wake().facts(), ["t-1 woken", "t-1 step_started"]);
}

/// The journal is asked for timers at moments. One that was set since for a moment before the last of them
/// would not be seen until something else happens.
#[test]
fn a_timer_that_is_set_for_a_moment_before_the_last_look_wakes_the_driver_at_once() {
    let (mut shell, _) = Shell::up(states::working());
    shell.look_at_clock();
    let now = shell.scene.now;
    for at in [now, before(now)] {
        let mut shell = shell.clone();
        sleeps_until(&mut shell, at);
        assert_eq!(shell.driver.next_wake(), Some(now), "{at:?}");
        assert_eq!(shell.wake().facts(), ["t-1 woken", "t-1 step_started"]);
        assert_eq!(shell.driver.next_wake(), None);
    }
}

#[test]
fn a_timer_whose_decision_was_refused_is_looked_for_again() {
    let (mut shell, _) = Shell::up(states::asleep());
    let at = shell.driver.next_wake().unwrap();
    shell.scene.now = at + secs(60);
    let due = shell.scene.journal.due(shell.scene.now);
    assert_eq!(due.len(), 1);
    shell.refuse([Event::Woken { due }]);
    assert_eq!(shell.driver.next_wake(), Some(at));
}

#[test]
fn a_moment_of_the_core_is_waited_for_until_it_has_come() {
    let (mut shell, _) = Shell::up(states::debouncing());
    let at = shell.driver.next_wake().unwrap();
    assert!(at > shell.scene.now);
    shell.look_at_clock();
    assert_eq!(shell.driver.next_wake(), Some(at), "it has not come");
    assert_eq!(shell.wake().facts(), ["t-1 claimed"]);
    assert_eq!(shell.driver.next_wake(), None);
}

/// The journal has a timer until a write answers it, and the driver passes all that are due each time.
#[test]
fn a_timer_that_is_passed_again_changes_nothing() {
    for (label, mut scene) in states::all() {
        let Some(deadline) = scene.core.ticket(&id("t-1")).and_then(Ticket::deadline) else {
            continue;
        };
        scene.now = scene.now.max(deadline.at);
        let timer = scene.journal.timer(&id("t-1"), deadline.key.as_str());
        scene.step(Input::TimerDue(timer.clone()));
        let again = scene.step(Input::TimerDue(timer));
        assert_eq!(again.to_string(), "nothing", "{label}");
    }
}

#[test]
fn a_timer_that_came_while_the_clock_was_ahead_is_not_lost_when_it_is_set_back() {
    let (mut shell, _) = Shell::up(states::asleep());
    let at = shell.driver.next_wake().unwrap();
    let timer = shell.scene.journal.timer(&id("t-1"), "wakeup");
    let due = vec![timer];
    assert!(
        shell
            .handle([Event::Woken { due: due.clone() }])
            .facts()
            .is_empty(),
        "too early"
    );
    shell.scene.now = at;
    assert_eq!(
        shell.handle([Event::Woken { due }]).facts(),
        ["t-1 woken", "t-1 step_started"]
    );
}

#[test]
fn new_settings_are_acted_on_at_once() {
    let (mut shell, _) = Shell::up(states::ready());
    let mut settings = shell.driver.core().settings().clone();
    settings.run.max_workers = 2;
    let read = shell.handle([Event::SettingsRead(Some(Box::new(settings)))]);
    assert_eq!(read.facts(), ["t-1 step_started"]);
}

/// Whoever lowers the budget and then adds a ticket means the new budget for it.
#[test]
fn no_paid_work_begins_under_settings_that_were_touched_and_not_read() {
    for (scene, waits, begins) in [
        (states::debouncing(), [].as_slice(), "t-1 claimed"),
        (states::asleep(), &["t-1 woken"], "t-1 step_started"),
    ] {
        let (mut shell, _) = Shell::up(scene);
        assert!(shell.handle([Event::SettingsTouched]).facts().is_empty());
        assert_eq!(shell.wake().facts(), waits);
        assert!(shell.look_at_clock().facts().is_empty());
        assert_eq!(shell.handle([Event::SettingsRead(None)]).facts(), [begins]);
    }
}

#[test]
fn a_driver_without_tickets_waits_for_no_moment() {
    assert_eq!(Shell::up(Scene::new()).0.driver.next_wake(), None);
}
