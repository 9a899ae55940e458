//! A red target: agents that are at work go on, and nothing new begins, neither by itself nor by a person's
//! command.

use engine::{End, Report};
use model::attempt::{Class, Signal, Workspace};
use model::command::Command;
use model::settings::{Check, Settings};
use model::target::Verdict as OfTarget;
use model::ticket::{CheckOutcome, FileStatus, TestCount};

use crate::scene::{Scene, Verdict, asked, candidate, failed, id, name, oid, secs};
use crate::states;
use crate::target::{find, look, red};
use crate::words::Decided;

/// An event in a scene.
type Act = fn(&mut Scene) -> Decided;

/// An event in a state, with its name.
type Case = (&'static str, fn() -> Scene, Act);

fn retry(scene: &mut Scene) -> Decided {
    scene.ask(Command::Retry { ticket: id("t-1") })
}

fn answer(scene: &mut Scene) -> Decided {
    scene.ask(Command::Answer {
        agent: name("ann"),
        text: "Blue.".to_owned(),
        question: None,
    })
}

fn raise_budget(scene: &mut Scene) -> Decided {
    let mut settings = scene.core.settings().clone();
    settings.budget.ticket_usd = None;
    scene.core.set_settings(settings);
    scene.tick()
}

/// Nothing of it was committed, so that it comes back to its agent.
fn merge(scene: &mut Scene) -> Decided {
    scene.ask(Command::Merge { ticket: id("t-1") });
    scene.report("t-1", "build_candidate", Report::NoCommits)
}

fn turn_red(scene: &mut Scene) {
    look(scene, '2', false, true);
    find(scene, red());
}

/// The target is mended.
fn turn_green(scene: &mut Scene) {
    look(scene, '3', false, false);
    find(scene, OfTarget::Passed);
}

/// Whether a step of t-1 runs.
fn is_stepped(scene: &Scene) -> bool {
    let ticket = scene.core.ticket(&id("t-1"));
    ticket.is_some_and(|ticket| ticket.live_run().is_some())
}

fn is_moving(scene: &Scene) -> bool {
    assert!(!scene.core.is_at_work() || scene.core.rest().moving);
    scene.core.rest().moving
}

/// Every way in which a person can set t-1 going again so that its agent would have a step in the same
/// attempt.
fn released() -> Vec<(&'static str, Scene, Act)> {
    let cases: [Case; 6] = [
        ("credentials are mended", states::refused, retry),
        ("the same is tried once more", states::no_progress, retry),
        ("more money is granted", states::out_of_budget, retry),
        ("the budget is raised", states::out_of_budget, raise_budget),
        ("a question is answered", states::waits_for_answer, answer),
        (
            "asking work is merged and comes back",
            states::waits_for_answer,
            merge,
        ),
    ];
    let cases = cases.map(|(label, state, act)| (label, state(), act));
    cases.into_iter().collect()
}

#[test]
fn a_ticket_that_a_person_sets_going_on_a_red_target_waits_for_it_also_under_the_next_engine() {
    for (label, mut scene, act) in released() {
        turn_red(&mut scene);
        let decided = act(&mut scene);
        assert!(!is_stepped(&scene), "{label}: {decided}");
        assert_eq!(
            scene.state("t-1").split('/').next(),
            Some("in_progress"),
            "{label}"
        );
        let rest = scene.core.rest();
        assert!(!is_moving(&scene), "{label}: {rest:?}");
        let why = "no agent is started: the target itself does not pass `make test`";
        assert!(
            rest.waits.iter().any(|waits| waits.why == why),
            "{label}: {rest:?}"
        );
        let explained = scene.core.explain(&id("t-1")).map(|why| why.to_string());
        assert_eq!(explained.as_deref(), Some(why), "{label}");

        scene.restart();
        look(&mut scene, '2', false, true);
        scene.look_at_all();
        assert!(!is_stepped(&scene), "{label}, before the next engine has checked");
        assert!(is_moving(&scene), "{label}: its checks go on");
        find(&mut scene, red());
        scene.wait(secs(3600));
        assert!(!is_stepped(&scene), "{label}, under the next engine");
        turn_green(&mut scene);
        assert!(is_stepped(&scene), "{label}, on a green target");
        // The next step is no new beginning.
        turn_red(&mut scene);
        scene.finishes("t-1", Signal::None);
        assert!(is_stepped(&scene), "{label}: it goes on");
    }
}

#[test]
fn a_ticket_that_a_person_sets_going_on_a_green_target_goes_on_at_once() {
    for (label, mut scene, act) in released() {
        turn_green(&mut scene);
        let decided = act(&mut scene);
        assert!(is_stepped(&scene), "{label}: {decided}");
    }
}

#[test]
fn a_ticket_that_waits_for_the_target_goes_on_where_a_person_starts_agents_anyway() {
    for (label, mut scene, act) in released() {
        turn_red(&mut scene);
        act(&mut scene);
        scene.restart();
        look(&mut scene, '2', true, true);
        assert!(is_stepped(&scene), "{label}");
    }
}

#[test]
fn a_target_that_is_blind_or_cannot_be_checked_or_is_being_checked_is_waited_for_too() {
    let which = "make test".to_owned();
    let why = "no network".to_owned();
    for verdict in [
        Some(OfTarget::Blind { which }),
        Some(OfTarget::CouldNotRun {
            why,
            missing: None,
            may_pass: false,
        }),
        None,
    ] {
        let mut scene = states::no_progress();
        look(&mut scene, '2', false, true);
        let is_checked = verdict.is_some();
        if let Some(verdict) = verdict.clone() {
            find(&mut scene, verdict);
        }
        retry(&mut scene);
        assert!(!is_stepped(&scene), "{verdict:?}");
        assert_eq!(is_moving(&scene), !is_checked, "{verdict:?}");
        turn_green(&mut scene);
        assert!(is_stepped(&scene), "{verdict:?}");
    }
}

#[test]
fn the_answer_to_whoever_sets_a_ticket_going_says_that_it_waits_for_the_target() {
    let waits = "; the next step waits for the target: the target itself does not pass `make test`";
    let said = |mut scene: Scene, act: Act| {
        turn_red(&mut scene);
        act(&mut scene).answer()
    };
    assert_eq!(
        said(states::no_progress(), retry),
        format!("accepted: t-1 is tried again{waits}")
    );
    assert_eq!(
        said(states::killed(), retry),
        format!("accepted: t-1 is tried again{waits}"),
        "it is in the queue"
    );
    assert_eq!(
        said(states::waits_for_answer(), answer),
        format!("accepted: ann hears it at its next step on t-1{waits}")
    );
    let reopen: Act = |scene| {
        let fence = scene.core.ticket(&id("t-1")).unwrap().fence;
        scene.ask(Command::SetStatus {
            ticket: id("t-1"),
            status: FileStatus::Open,
            fence,
        })
    };
    assert_eq!(
        said(states::dropped(), reopen),
        format!("accepted: t-1 is open again{waits}")
    );
    let twice: Act = |scene| {
        retry(scene);
        retry(scene)
    };
    assert_eq!(
        said(states::no_progress(), twice),
        "accepted: t-1 is not held: it waits for the target, which is looked at now"
    );
    // Its checks are no step, and go on.
    assert_eq!(
        said(states::could_not_run(), retry),
        "accepted: t-1 is tried again"
    );
}

#[test]
fn without_an_engine_the_answer_does_not_take_the_last_verdict_for_the_present_one() {
    let mut scene = states::no_progress();
    turn_red(&mut scene);
    scene.restart_for(engine::Duty::Command { lands: None });
    assert_eq!(
        retry(&mut scene).answer(),
        "accepted: t-1 is tried again; the next step waits for the target, which the next engine checks first"
    );
}

#[test]
fn the_first_step_of_an_attempt_waits_for_a_target_that_has_turned_red_since_the_claim() {
    let mut scene = states::preparing();
    turn_red(&mut scene);
    scene.workspace_ready("t-1");
    assert!(!is_stepped(&scene));
    assert!(!is_moving(&scene));
    turn_green(&mut scene);
    assert!(is_stepped(&scene));
}

#[test]
fn an_agent_that_would_go_on_without_a_person_goes_on_while_the_target_is_red() {
    let answered_in_time = || {
        let in_time = |settings: &mut Settings| settings.run.answer_within = Some(secs(60));
        let mut scene = states::working_with(in_time);
        scene.run_ends("t-1", asked());
        scene
    };
    let time_passes: Act = |scene| {
        scene.wait(secs(3600));
        scene.tick()
    };
    let wake: Act = |scene| scene.ask(Command::Wake { agent: name("ann") });
    let end: Act = |scene| scene.run_ends("t-1", End::Finished(Signal::None));
    let fail_check: Act = |scene| scene.checked("t-1", Verdict::Failed);
    let inspect: Act = |scene| {
        let workspace = Workspace::Clean;
        scene.report("t-1", "inspect_workspace", Report::Inspected { workspace });
        scene.wait(secs(60));
        scene.tick()
    };
    let restart: Act = |scene| {
        scene.restart();
        look(scene, '2', false, true);
        find(scene, red());
        scene.run_ends("t-1", failed(Class::Lost));
        scene.wait(secs(60));
        scene.tick()
    };
    let cases: [Case; 10] = [
        ("its step ends", states::working, end),
        ("its wait ends", states::waits_to_step, time_passes),
        ("a person cuts its wait short", states::waits_to_step, retry),
        ("its harness's pause ends", states::throttled, time_passes),
        ("it wakes", states::asleep, time_passes),
        ("a person wakes it early", states::asleep, wake),
        ("nobody answers in time", answered_in_time, time_passes),
        ("it recovers", states::stuck, inspect),
        ("its checks fail", states::checking, fail_check),
        ("the next engine finds its step lost", states::working, restart),
    ];
    for (label, state, act) in cases {
        let mut scene = state();
        turn_red(&mut scene);
        act(&mut scene);
        assert!(is_stepped(&scene), "{label}: {}", scene.state("t-1"));
    }
}

#[test]
fn nothing_is_claimed_on_a_red_target_by_a_persons_hand() {
    let mut scene = Scene::new();
    turn_red(&mut scene);
    scene.add("t-1");
    let assigned = scene.ask(Command::Assign {
        agent: name("ann"),
        ticket: id("t-1"),
    });
    assert_eq!(
        assigned.answer(),
        "not possible: t-1 cannot be assigned: no agent is started: the target itself does not pass `make test`"
    );
    // Nor by a release that leads back to the queue.
    for state in [states::killed, states::blocked, states::spent] {
        let mut scene = state();
        turn_red(&mut scene);
        retry(&mut scene);
        scene.wait(secs(3600));
        assert_eq!(scene.state("t-1"), "open");
        assert!(!is_moving(&scene));
        turn_green(&mut scene);
        assert_eq!(scene.state("t-1"), "in_progress/preparing");
    }
}

#[test]
fn work_whose_hold_a_person_ends_is_checked_on_a_red_target_and_comes_back_to_the_queue() {
    let mut scene = states::could_not_run();
    turn_red(&mut scene);
    retry(&mut scene);
    scene.built("t-1", 'b');
    let failed = CheckOutcome::Failed {
        output: "1 failed".to_owned(),
    };
    scene.check_ends("t-1", failed);
    scene.check_ends("t-1", CheckOutcome::Passed);
    assert_eq!(scene.state("t-1"), "open");
    assert_eq!(
        oid('2'),
        scene.core.project().target.as_deref().unwrap().basis.tree
    );
}

/// Two checks, each for a folder of its own.
fn two_checks(settings: &mut Settings) {
    settings.checks.commands.clear();
    settings.check = ["src", "docs"]
        .map(|name| Check {
            name: name.to_owned(),
            command: "true".to_owned(),
            paths: vec![name.to_owned()],
            timeout: None,
            tests: TestCount::None,
            retry: 0,
        })
        .to_vec();
}

/// Whether a target with the tree of t-1's candidate needs checks of its own, once t-1 has landed on a target
/// of this verdict, without the check of a folder that its work leaves alone.
fn is_checked_after_a_skip_on(verdict: OfTarget) -> bool {
    let mut scene = states::building_with(two_checks);
    look(&mut scene, '2', false, true);
    find(&mut scene, verdict);
    let candidate = candidate('b');
    let untouched = vec!["src".to_owned()];
    scene.report(
        "t-1",
        "build_candidate",
        Report::Built {
            candidate,
            untouched,
            leftovers: model::ticket::Leftovers::default(),
            absent: Box::default(),
            resolves: None,
            ahead: Box::default(),
        },
    );
    scene.checks_pass("t-1");
    scene.landed("t-1");
    look(&mut scene, 'e', false, false);
    scene.core.target_to_check().is_some()
}

#[test]
fn a_target_is_not_green_by_work_for_which_the_check_that_fails_there_was_skipped() {
    assert!(is_checked_after_a_skip_on(red()));
    assert!(!is_checked_after_a_skip_on(OfTarget::Passed));
}
