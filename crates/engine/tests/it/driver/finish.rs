//! The end of the engine: when nothing is left that it would be waited for.

use engine::{Duty, Report};
use model::attempt::Class;
use model::command::{Command, OnStop};

use super::shell::{Shell, ended, take};
use crate::scene::{Scene, failed, name};
use crate::states;

const ALL: [OnStop; 3] = [OnStop::Finish, OnStop::Kill, OnStop::Leave];

/// Whether an engine is finished that is stopped in each way while the work of the scene is under way.
fn finished_in(scene: &Scene) -> [bool; 3] {
    ALL.map(|running| {
        let (mut shell, _) = Shell::up(scene.clone());
        shell.stop(running);
        shell.driver.is_finished()
    })
}

/// The ticket's file is up to date, so that only its work is under way.
fn without_files(mut scene: Scene) -> Scene {
    scene.files_written("t-1");
    scene
}

#[test]
fn an_engine_that_nobody_has_stopped_is_not_finished() {
    for (label, scene) in states::all_at_rest() {
        assert!(!Shell::up(scene).0.driver.is_finished(), "{label}");
    }
}

#[test]
fn an_engine_without_anything_under_way_is_finished_as_soon_as_it_is_stopped() {
    assert_eq!(finished_in(&Scene::new()), [true; 3]);
    assert_eq!(finished_in(&without_files(states::asleep())), [true; 3]);
}

#[test]
fn work_under_way_is_waited_for_unless_it_is_to_be_left() {
    let scene = without_files(states::preparing());
    assert_eq!(finished_in(&scene), [false, false, true]);
    for running in [OnStop::Finish, OnStop::Kill] {
        let (mut shell, actions) = Shell::up(scene.clone());
        shell.stop(running);
        let why = "no such remote".to_owned();
        let report = Report::WorkspaceFailed { why };
        let failed = shell.report(take(&actions, "prepare_workspace"), report);
        assert!(!shell.driver.is_finished(), "its file is being written");
        shell.perform_all(&failed.actions);
        assert!(shell.driver.is_finished());
    }
}

#[test]
fn a_check_under_way_is_waited_for_unless_it_is_to_be_left() {
    let scene = without_files(states::checking());
    assert_eq!(finished_in(&scene), [false, false, true]);
    assert_eq!(
        finished_in(&without_files(states::building())),
        [false, false, true]
    );
    assert_eq!(
        finished_in(&without_files(states::landing())),
        [false, false, true]
    );
}

#[test]
fn a_step_that_runs_is_waited_for_unless_it_is_to_be_left() {
    assert_eq!(
        finished_in(&without_files(states::working())),
        [false, false, true]
    );
}

/// The end of a run can come before the stop of it is reported.
#[test]
fn a_stop_under_way_is_waited_for_unless_everything_is_to_be_left() {
    for running in ALL {
        let (mut shell, _) = Shell::up(without_files(states::working()));
        let run = shell.run();
        let stopping = if running == OnStop::Kill {
            shell.stop(running).take("stop_run")
        } else {
            let kill = Command::Kill { agent: name("ann") };
            let stopping = shell.ask([kill]).take("stop_run");
            shell.stop(running);
            stopping
        };
        shell.handle([ended(run, failed(Class::Lost))]);
        let given_back = shell.ask([]);
        shell.perform_all(&given_back.actions);
        let is_left = running == OnStop::Leave;
        assert_eq!(
            shell.driver.is_finished(),
            is_left,
            "{running:?}: the stop is under way"
        );
        shell.report(stopping, Report::Stopped);
        assert!(shell.driver.is_finished(), "{running:?}");
    }
}

#[test]
fn nobody_waits_for_an_effect_that_failed_and_is_performed_again_later() {
    let (mut shell, actions) = Shell::up(without_files(states::preparing()));
    shell.stop(OnStop::Finish);
    let why = "no room".to_owned();
    shell.report(take(&actions, "prepare_workspace"), Report::Hindered { why });
    assert!(shell.driver.is_finished());
    assert!(!shell.driver.is_at_rest(), "it is still to be done");
}

#[test]
fn an_engine_that_is_started_again_is_not_finished_because_the_one_before_was() {
    let (mut shell, _) = Shell::up(Scene::new());
    shell.stop(OnStop::Finish);
    assert!(shell.driver.is_finished());
    let (shell, _) = Shell::start(shell.scene, Duty::Drain);
    assert!(!shell.driver.is_finished());
}

#[test]
fn an_engine_is_idle_when_nothing_moves_without_a_person() {
    let is_idle = |scene: Scene| Shell::up(scene).0.driver.is_idle();
    assert!(is_idle(without_files(states::waits_for_another())));
    assert!(!is_idle(without_files(states::working())));
    assert!(!is_idle(without_files(states::asleep())));
    assert!(!is_idle(states::preparing()));
}
