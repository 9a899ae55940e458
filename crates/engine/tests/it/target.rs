//! The bare target: what the core wants checked, what stands of an earlier verdict, and when it tries again.

use engine::{AtRemote, Input, TargetFound, TargetSeen};
use model::command::Command;
use model::settings::LandMode;
use model::target::{Canary, Shown, Target, Verdict};

use crate::scene::{Scene, id, oid, secs};

pub(crate) fn look(scene: &mut Scene, tree: char, anyway: bool, anew: bool) {
    look_at(scene, tree, AtRemote::Free, (anyway, anew));
}

fn look_at(scene: &mut Scene, tree: char, at_remote: AtRemote, (anyway, anew): (bool, bool)) {
    scene.step(Input::TargetSeen(TargetSeen {
        commit: oid('1'),
        tree: oid(tree),
        environment: "0".to_owned(),
        canary_due: false,
        is_back: false,
        at_remote,
        moved: None,
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

fn no_branch() -> AtRemote {
    AtRemote::OutOfReach {
        why: "no branch main".to_owned(),
        help: None,
        may_pass: false,
    }
}

fn at_a_remote() -> Scene {
    Scene::with(|settings| settings.land.mode = LandMode::Push)
}

fn is_out_of_reach(scene: &Scene) -> bool {
    matches!(target(scene).verdict, Verdict::OutOfReach { .. })
}

#[test]
fn the_remote_of_a_red_target_is_asked_for_another_commit_ever_more_seldom() {
    let mut scene = at_a_remote();
    look(&mut scene, '2', false, true);
    find(&mut scene, red());
    for seconds in [60, 120, 240, 480, 960, 960] {
        assert_eq!(wait(&scene), Some(seconds));
        scene.later(secs(seconds - 1));
        assert!(!scene.tick().output.looks_at_target);
        scene.later(secs(1));
        assert!(scene.tick().output.looks_at_target);
        // It has no other commit.
        look(&mut scene, '2', false, false);
        assert_eq!(
            (target(&scene).verdict, scene.core.target_to_check()),
            (red(), None)
        );
    }
    look(&mut scene, '3', false, false);
    assert!(scene.core.target_to_check().is_some(), "it has another one");
    assert_eq!((wait(&scene), target(&scene).looks), (None, 0));
}

#[test]
fn no_remote_is_asked_where_work_lands_here() {
    let mut scene = Scene::new();
    look(&mut scene, '2', false, true);
    find(&mut scene, red());
    assert_eq!(wait(&scene), None);
    scene.later(secs(3600));
    assert!(!scene.tick().output.looks_at_target);
}

#[test]
fn a_person_who_retries_has_a_red_target_looked_at_and_checked_anew() {
    for mut scene in [Scene::new(), at_a_remote()] {
        scene.add("t-1");
        look(&mut scene, '2', false, true);
        find(&mut scene, red());
        let retry = Command::Retry { ticket: id("t-1") };
        let decided = scene.ask(retry.clone());
        assert!(decided.output.looks_at_target);
        look(&mut scene, '2', false, false);
        assert!(scene.core.target_to_check().is_some());
        // Nothing is left to be mended.
        find(&mut scene, Verdict::Passed);
        assert!(!scene.ask(retry).output.looks_at_target);
    }
}

#[test]
fn nothing_is_given_out_while_nothing_can_land() {
    let mut scene = at_a_remote();
    look_at(&mut scene, '2', no_branch(), (false, true));
    assert!(is_out_of_reach(&scene) && !target(&scene).lets_agents_start());
    assert_eq!((scene.core.target_to_check(), wait(&scene)), (None, Some(60)));
    scene.add("t-1");
    assert_eq!(scene.state("t-1"), "open");
    // A look that does not ask the remote changes nothing.
    look_at(&mut scene, '3', AtRemote::Unasked, (false, false));
    assert!(is_out_of_reach(&scene));
    look(&mut scene, '3', false, false);
    assert!(scene.core.target_to_check().is_some());
    find(&mut scene, Verdict::Passed);
    assert_eq!(scene.state("t-1"), "in_progress/preparing");
    // What is under way goes on.
    look_at(&mut scene, '3', no_branch(), (false, false));
    assert!(is_out_of_reach(&scene));
    assert_eq!(scene.state("t-1"), "in_progress/preparing");
}

#[test]
fn agents_start_on_a_target_out_of_reach_where_a_person_says_so() {
    let mut scene = at_a_remote();
    look_at(&mut scene, '2', no_branch(), (true, true));
    assert!(target(&scene).lets_agents_start());
    look_at(&mut scene, '2', no_branch(), (false, true));
    assert!(is_out_of_reach(&scene) && !target(&scene).lets_agents_start());
}
