//! The bare target: what the core wants checked, what stands of an earlier verdict, and when it tries again.

use engine::{Input, TargetFound, TargetSeen};
use model::target::{Canary, Shown, Target, Verdict};

use crate::scene::{Scene, oid, secs};

pub(crate) fn look(scene: &mut Scene, tree: char, anyway: bool, anew: bool) {
    scene.step(Input::TargetSeen(TargetSeen {
        commit: oid('1'),
        tree: oid(tree),
        environment: "0".to_owned(),
        canary_due: false,
        is_back: false,
        anyway,
        anew,
    }));
}

pub(crate) fn find(scene: &mut Scene, verdict: Verdict) {
    find_with(scene, verdict, Vec::new());
}

fn find_with(scene: &mut Scene, verdict: Verdict, canaries: Vec<Canary>) {
    let round = target(scene).round;
    let found = TargetFound {
        verdict,
        canaries,
        flaky: Vec::new(),
        run: None,
    };
    scene.step(Input::TargetChecked { round, found });
}

fn target(scene: &Scene) -> Target {
    let target = scene.core.project().target.as_deref();
    target.unwrap().clone()
}

pub(crate) fn red() -> Verdict {
    Verdict::Failed {
        which: "make test".to_owned(),
        output: "no".to_owned(),
    }
}

fn hindered() -> Verdict {
    Verdict::CouldNotRun {
        why: "no network".to_owned(),
        missing: None,
        may_pass: true,
    }
}

/// The seconds until the checks are tried again.
fn wait(scene: &Scene) -> Option<u64> {
    let at = target(scene).retry_at?;
    Some(at.since(scene.now).as_secs())
}

#[test]
fn a_target_that_nobody_waits_for_is_not_said_to_be_checked() {
    let mut scene = Scene::new();
    look(&mut scene, '2', true, true);
    assert_eq!(target(&scene).verdict, Verdict::Unchecked);
    assert_eq!(scene.core.target_to_check(), None);
    assert!(target(&scene).lets_agents_start());
    // The next engine checks it.
    look(&mut scene, '2', false, true);
    assert!(scene.core.target_to_check().is_some());
}

#[test]
fn a_check_that_was_under_way_is_not_said_to_go_on_where_nobody_waits_for_it() {
    let mut scene = Scene::new();
    look(&mut scene, '2', false, true);
    assert!(scene.core.target_to_check().is_some());
    look(&mut scene, '2', true, true);
    assert_eq!(target(&scene).verdict, Verdict::Unchecked);
    assert_eq!(scene.core.target_to_check(), None);
}

#[test]
fn the_verdict_on_a_red_target_stands_where_agents_start_all_the_same() {
    let mut scene = Scene::new();
    look(&mut scene, '2', false, true);
    find(&mut scene, red());
    look(&mut scene, '2', true, true);
    assert_eq!(target(&scene).verdict, red());
    assert!(target(&scene).lets_agents_start());
    look(&mut scene, '2', false, true);
    assert!(scene.core.target_to_check().is_some(), "a new engine looks again");
}

#[test]
fn checks_that_cannot_be_run_are_tried_again_ever_more_seldom() {
    let mut scene = Scene::new();
    look(&mut scene, '2', false, true);
    for seconds in [60, 120, 240, 480, 960, 960] {
        find(&mut scene, hindered());
        assert_eq!(wait(&scene), Some(seconds));
        scene.later(secs(seconds - 1));
        scene.tick();
        assert_eq!(scene.core.target_to_check(), None);
        scene.later(secs(1));
        scene.tick();
        assert!(scene.core.target_to_check().is_some());
        assert_eq!(wait(&scene), None);
    }
    // A verdict, or another target, begins the count anew.
    find(&mut scene, red());
    look(&mut scene, '3', false, false);
    find(&mut scene, hindered());
    assert_eq!(wait(&scene), Some(60));
}

#[test]
fn checks_that_cannot_be_run_are_not_tried_again_where_nobody_waits_for_them() {
    let mut scene = Scene::new();
    look(&mut scene, '2', false, true);
    find(&mut scene, hindered());
    look(&mut scene, '2', true, true);
    assert_eq!(target(&scene).verdict, hindered());
    scene.later(secs(3600));
    scene.tick();
    assert_eq!(target(&scene).verdict, hindered());
}

#[test]
fn what_canaries_have_shown_is_known_until_the_commands_change() {
    let mut scene = Scene::new();
    look(&mut scene, '2', false, true);
    let canaries = vec![Canary {
        command: "make test".to_owned(),
        shown: Shown::Looks,
    }];
    find_with(&mut scene, Verdict::Passed, canaries.clone());
    look(&mut scene, '3', false, false);
    assert_eq!(target(&scene).canaries, canaries);
    find(&mut scene, red());
    assert_eq!(target(&scene).canaries, canaries);
    let mut settings = scene.core.settings().clone();
    settings.checks.commands.push("make docs".to_owned());
    scene.core.set_settings(settings);
    look(&mut scene, '3', false, false);
    assert_eq!(target(&scene).canaries, []);
}
