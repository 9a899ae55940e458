//! Checks: what their verdict leads to.

use engine::Report;
use model::attempt::Signal;
use model::ticket::{CheckOutcome, CheckTask, Effect};

use crate::matrix::table;
use crate::scene::{Scene, Verdict, candidate};
use crate::states;

fn verdicts() -> Vec<(&'static str, Verdict)> {
    vec![
        ("passed", Verdict::Passed),
        ("failed", Verdict::Failed),
        ("could not run", Verdict::CouldNotRun),
        ("target red", Verdict::TargetRed),
    ]
}

fn fail(scene: &mut Scene, tip: char) -> crate::words::Decided {
    scene.built("t-1", tip);
    scene.checked("t-1", Verdict::Failed)
}

#[test]
fn a_verdict_leads_to_landing_or_back_to_the_agent_or_to_a_wait() {
    insta::assert_snapshot!(table(&states::checking(), verdicts(), |scene, verdict| {
        scene.checked("t-1", verdict)
    }));
}

#[test]
fn checks_that_are_hindered_are_run_again_and_checks_that_are_stopped_hold_the_ticket() {
    let why = || "no room".to_owned();
    let reports = [
        ("hindered", Report::Hindered { why: why() }),
        ("could not run", Report::CouldNotRun { why: why() }),
        ("target moved", Report::TargetMoved),
        ("not spawned", Report::CheckNotSpawned { why: why() }),
        ("passed before", Report::PassedBefore),
        ("not set up", Report::NotSetUp),
    ];
    insta::assert_snapshot!(table(&states::checking(), reports, |scene, report| {
        scene.report("t-1", "start_check", report)
    }));
}

#[test]
fn the_third_failure_on_the_same_commit_is_not_paid_again() {
    let mut scene = states::building();
    for _ in 0..2 {
        assert_eq!(
            fail(&mut scene, 'b').events(),
            ["check_ended", "checks_failed", "step_started"]
        );
        scene.finishes("t-1", Signal::Done);
    }
    fail(&mut scene, 'b');
    assert_eq!(scene.state("t-1"), "verify/checking (held)");
}

#[test]
fn a_failure_on_another_commit_begins_anew() {
    let mut scene = states::building();
    for tip in ['b', 'b', 'd', 'd', 'b'] {
        fail(&mut scene, tip);
        assert_eq!(scene.state("t-1"), "in_progress/working", "{tip}");
        scene.finishes("t-1", Signal::Done);
    }
}

#[test]
fn a_failure_without_a_step_left_holds_the_ticket() {
    let mut scene = states::building_with(|settings| settings.run.max_steps = 1);
    fail(&mut scene, 'b');
    assert_eq!(scene.state("t-1"), "open (held)");
}

#[test]
fn a_check_that_could_not_be_run_is_tried_again_ever_more_rarely() {
    let mut scene = states::building();
    for seconds in [30, 60, 120] {
        scene.built("t-1", 'b');
        let decided = scene.checked("t-1", Verdict::TargetRed);
        let set = format!("sets retry in {seconds} s");
        assert!(decided.to_string().contains(&set), "{decided}");
        scene.wait(crate::scene::secs(seconds));
        let built = scene.pending("t-1", "build_candidate");
        assert!(built.is_some(), "it is built again after {seconds} s");
    }
}

#[test]
fn a_waived_commit_is_not_checked_again() {
    let mut scene = states::target_red();
    let (ticket, reason) = (crate::scene::id("t-1"), "known".to_owned());
    scene.ask(model::command::Command::Waive { ticket, reason });
    scene.report("t-1", "land", Report::TargetMoved);
    let candidate = candidate('b');
    let decided = scene.report(
        "t-1",
        "build_candidate",
        Report::Built {
            candidate,
            untouched: Vec::new(),
            leftovers: model::ticket::Leftovers::default(),
            absent: Box::default(),
            resolves: None,
            ahead: Box::default(),
        },
    );
    assert_eq!(scene.state("t-1"), "verify/landing", "{decided}");
}

/// Whether the run of the target that was ordered last is made although the same has passed there before.
fn is_proof_anew(scene: &Scene) -> bool {
    let (_, effect) = scene.pending("t-1", "start_check").unwrap();
    match effect {
        Effect::StartCheck { task, anew, .. } => {
            assert_eq!(task, CheckTask::Target);
            anew
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_pass_that_is_remembered_proves_the_first_failure_in_a_row_alone() {
    let mut scene = states::building();
    let output = || "1 failed".to_owned();
    let mut fails = |tip| {
        scene.built("t-1", tip);
        scene.check_ends("t-1", CheckOutcome::Failed { output: output() });
        let anew = is_proof_anew(&scene);
        match anew {
            true => scene.check_ends("t-1", CheckOutcome::Passed),
            false => scene.check_ends("t-1", CheckOutcome::PassedBefore),
        };
        scene.finishes("t-1", Signal::Done);
        anew
    };
    // Nothing has run before under this engine.
    assert!(fails('b'));
    // The target has just passed.
    assert!(!fails('d'));
    // Since then nothing has.
    assert!(fails('e'));
    assert!(!fails('f'));
}
