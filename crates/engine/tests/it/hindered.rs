//! Hindered work: an engine that ends when nothing moves waits for causes that may pass, and for no other.

use engine::Report;
use model::target::Verdict as OfTarget;
use model::ticket::{CheckOutcome, Loss};

use crate::scene::{Scene, oid, secs};
use crate::states;
use crate::target::{find, look};

/// The tries in a row that are waited for.
const TRIES: u32 = model::policy::backoff::HINDERED_TRIES;

fn is_moving(scene: &Scene) -> bool {
    scene.core.rest().moving
}

fn set_up_fails(scene: &mut Scene, may_pass: bool) {
    let report = Report::SetUpFailed {
        why: "`npm ci` failed".to_owned(),
        output: "no network\n(exit code 1)".to_owned(),
        may_pass,
        for_all: false,
    };
    scene.report("t-1", "prepare_workspace", report);
    assert_eq!(scene.state("t-1"), "open (held)");
}

/// Waits for the time of the next try.
fn next_try(scene: &mut Scene) {
    scene.wait(secs(3600));
}

fn checks_are_killed(scene: &mut Scene) {
    // Three times with the work, and three times with the target.
    for _ in 0..6 {
        let how = Loss::Signal { signal: 9 };
        scene.check_ends("t-1", CheckOutcome::Lost { how });
    }
    assert_eq!(scene.state("t-1"), "verify/checking (held)");
}

fn target_hindered(scene: &mut Scene, may_pass: bool) {
    find(
        scene,
        OfTarget::CouldNotRun {
            why: "no network".to_owned(),
            missing: None,
            may_pass,
        },
    );
}

#[test]
fn a_set_up_that_fails_is_waited_for_until_it_has_failed_too_often() {
    let mut scene = states::preparing();
    for tries in 1..=TRIES {
        set_up_fails(&mut scene, true);
        assert_eq!(is_moving(&scene), tries < TRIES, "after {tries}");
        assert_eq!(scene.core.rest().waits.len(), 1, "it is held all the same");
        next_try(&mut scene);
        assert_eq!(scene.state("t-1"), "in_progress/preparing");
    }
}

#[test]
fn a_cause_that_only_a_person_can_mend_is_not_waited_for() {
    let mut scene = states::preparing();
    set_up_fails(&mut scene, false);
    assert!(!is_moving(&scene));
    for state in [states::could_not_run, states::target_red, states::landing_failed] {
        assert!(!is_moving(&state()));
    }
    let mut scene = states::checking();
    for _ in 0..2 {
        let why = "`no-such-program` cannot be run".to_owned();
        scene.check_ends("t-1", CheckOutcome::CouldNotRun { why });
    }
    assert!(!is_moving(&scene));
}

#[test]
fn checks_that_somebody_ends_again_and_again_are_waited_for() {
    let mut scene = states::checking();
    checks_are_killed(&mut scene);
    assert!(is_moving(&scene));
    next_try(&mut scene);
    scene.built("t-1", 'b');
    checks_are_killed(&mut scene);
    assert!(is_moving(&scene));
}

#[test]
fn tries_count_in_a_row_and_for_one_engine() {
    let mut scene = states::preparing();
    let fails_often = |scene: &mut Scene| {
        for _ in 1..TRIES {
            set_up_fails(scene, true);
            assert!(is_moving(scene));
            next_try(scene);
        }
    };
    fails_often(&mut scene);
    set_up_fails(&mut scene, true);
    assert!(!is_moving(&scene));
    // The next engine tries at once, and is as patient.
    scene.restart();
    scene.look_at_all();
    assert_eq!(scene.state("t-1"), "in_progress/preparing");
    fails_often(&mut scene);
    // A set-up that works ends the row.
    scene.workspace_ready("t-1");
    scene.run_ends("t-1", engine::End::Finished(model::attempt::Signal::Done));
    scene.built("t-1", 'b');
    checks_are_killed(&mut scene);
    assert!(is_moving(&scene));
}

#[test]
fn a_target_that_cannot_be_checked_is_waited_for_while_a_ticket_wants_it() {
    let mut scene = Scene::new();
    look(&mut scene, '2', false, true);
    target_hindered(&mut scene, true);
    assert!(!is_moving(&scene), "nobody wants it");
    scene.add("t-1");
    for tries in 1..TRIES {
        assert!(is_moving(&scene), "after {tries}");
        next_try(&mut scene);
        assert!(is_moving(&scene), "its checks go on");
        target_hindered(&mut scene, true);
    }
    assert!(!is_moving(&scene));
    // Another target is another matter.
    look(&mut scene, '3', false, false);
    target_hindered(&mut scene, true);
    assert!(is_moving(&scene));
    next_try(&mut scene);
    target_hindered(&mut scene, false);
    assert!(!is_moving(&scene), "a program is missing");
    assert_eq!(
        scene.core.project().target.as_deref().unwrap().basis.tree,
        oid('3')
    );
}
