//! The merge train: entries are merged one on another, tried as prefixes, and land together.

use std::collections::BTreeSet;

use engine::{AtRemote, Input, Report, TargetSeen};
use model::attempt::Signal;
use model::command::Command;
use model::commitment::Promise;
use model::settings::{Check, ReviewOf, ReviewWhen, Settings, Train};
use model::ticket::{
    Candidate, CheckCommand, CheckOutcome, CheckTask, Done, Effect, InTheWay, Obstacle, Stage, State,
    TestCount, Trial, WhyUncoupled,
};

use crate::scene::{File, Scene, Verdict, id, name, oid, secs};

const ALL: [&str; 4] = ["t-1", "t-2", "t-3", "t-4"];

/// A scene in which the work of four tickets is submitted, and the first is being merged.
fn submitted(slots: u32) -> Scene {
    let mut scene = Scene::with(|settings| {
        settings.agents.names = ["ann", "bob", "cat", "dan"].map(name).to_vec();
        settings.train = Train { batch: 4, slots };
    });
    for ticket in ALL {
        scene.add(ticket);
        scene.workspace_ready(ticket);
    }
    for ticket in ALL {
        scene.finishes(ticket, Signal::Done);
    }
    scene
}

/// The merge of a ticket succeeds; the candidate's commit has the digit of the ticket.
fn merges(scene: &mut Scene, ticket: &str) {
    merges_to_be_reviewed(scene, ticket, None);
}

/// The same, where the executor has found what asks for a review.
fn merges_to_be_reviewed(scene: &mut Scene, ticket: &str, why: Option<&str>) {
    merges_as(scene, ticket, why, &[]);
}

/// The same; `untouched`: the checks of whose paths it changes none.
fn merges_as(scene: &mut Scene, ticket: &str, why: Option<&str>, untouched: &[&str]) {
    let digit = ticket.chars().last().unwrap();
    let (_, effect) = scene.pending(ticket, "build_candidate").unwrap();
    let Effect::BuildCandidate { coupling, .. } = effect else {
        unreachable!("asked for by name")
    };
    let candidate = Candidate {
        commit: oid(digit),
        tree: oid(digit),
        target: coupling.map_or(oid('a'), |coupling| coupling.on),
        tip: oid(digit),
        passed: Vec::new(),
        review: why.map(ToOwned::to_owned),
        brings_nothing: false,
    };
    let untouched = untouched.iter().map(|name| (*name).to_owned()).collect();
    let built = Report::Built {
        candidate,
        untouched,
        leftovers: model::ticket::Leftovers::default(),
        absent: Box::default(),
        resolves: None,
        ahead: Box::default(),
    };
    scene.report(ticket, "build_candidate", built);
}

/// A scene in which all four are in the train, and the checks run on the last.
fn coupled(slots: u32) -> Scene {
    let mut scene = submitted(slots);
    for ticket in ALL {
        merges(&mut scene, ticket);
    }
    assert_eq!(tried(&scene), ["t-4"]);
    scene
}

/// The tickets whose checks run.
fn tried(scene: &Scene) -> Vec<String> {
    let active = scene.core.active_tickets();
    let running = active.filter(|(_, ticket)| ticket.check_run().is_some());
    running.map(|(id, _)| id.to_string()).collect()
}

fn states(scene: &Scene) -> Vec<String> {
    ALL.iter().map(|ticket| scene.state(ticket)).collect()
}

fn fails(scene: &mut Scene, ticket: &str) {
    let output = "1 failed".to_owned();
    scene.check_ends(ticket, CheckOutcome::Failed { output });
}

fn lands(scene: &mut Scene, tip: &str) {
    let commit = oid(tip.chars().last().unwrap());
    scene.report(tip, "land", Report::Landed { commit });
}

#[test]
fn one_run_on_the_last_entry_lands_all_of_them_by_one_order() {
    let mut scene = coupled(1);
    scene.checks_pass("t-4");
    assert_eq!(states(&scene), ["verify/landing"; 4]);
    let (_, effect) = scene.pending("t-4", "land").unwrap();
    let Effect::Land {
        batch: Some(batch), ..
    } = effect
    else {
        panic!("{effect:?}")
    };
    assert_eq!(batch.base, oid('a'));
    let commits: Vec<_> = batch.entries.iter().map(|entry| entry.commit.clone()).collect();
    assert_eq!(commits, ['1', '2', '3', '4'].map(oid));
    for inner in &ALL[..3] {
        assert!(scene.pending(inner, "land").is_none(), "{inner}");
    }
    lands(&mut scene, "t-4");
    assert_eq!(states(&scene), ["done/landed"; 4]);
}

#[test]
fn a_batch_that_fails_is_halved_until_the_first_entry_at_fault_is_known() {
    let mut scene = coupled(1);
    fails(&mut scene, "t-4");
    assert_eq!(tried(&scene), ["t-2"]);
    scene.checks_pass("t-2");
    // The half that passed lands while the rest is halved on.
    assert_eq!(scene.state("t-1"), "verify/landing");
    assert_eq!(tried(&scene), ["t-3"]);
    lands(&mut scene, "t-2");
    fails(&mut scene, "t-3");
    // What is ahead of it has landed: it is proven on that, as a ticket by itself is.
    assert_eq!(tried(&scene), ["t-3"]);
    scene.check_ends("t-3", CheckOutcome::PassedBefore);
    assert!(
        scene.state("t-3").starts_with("in_progress"),
        "{}",
        scene.state("t-3")
    );
    // The one behind it is merged anew, on the target.
    let (_, effect) = scene.pending("t-4", "build_candidate").unwrap();
    assert!(
        matches!(effect, Effect::BuildCandidate { coupling: None, .. }),
        "{effect:?}"
    );
    merges(&mut scene, "t-4");
    scene.checks_pass("t-4");
    scene.report("t-4", "land", Report::Landed { commit: oid('4') });
    assert_eq!(scene.state("t-4"), "done/landed");
}

#[test]
fn what_is_left_by_elimination_alone_is_tried_by_itself_before_it_is_blamed() {
    for passes in [true, false] {
        let mut scene = coupled(1);
        fails(&mut scene, "t-4");
        scene.checks_pass("t-2");
        scene.checks_pass("t-3");
        assert_eq!(
            tried(&scene),
            Vec::<String>::new(),
            "what is ahead of it lands first"
        );
        lands(&mut scene, "t-2");
        lands(&mut scene, "t-3");
        assert_eq!(tried(&scene), ["t-4"]);
        if passes {
            scene.checks_pass("t-4");
            lands(&mut scene, "t-4");
            assert_eq!(states(&scene), ["done/landed"; 4]);
        } else {
            fails(&mut scene, "t-4");
            scene.check_ends("t-4", CheckOutcome::PassedBefore);
            assert!(
                scene.state("t-4").starts_with("in_progress"),
                "{}",
                scene.state("t-4")
            );
        }
    }
}

#[test]
fn a_person_who_drops_an_entry_whose_batch_lands_ends_that_landing_first() {
    let reason = || "not wanted".to_owned();
    for has_landed in [false, true] {
        let mut scene = coupled(1);
        scene.checks_pass("t-4");
        scene.ask(Command::Drop {
            ticket: id("t-2"),
            reason: reason(),
        });
        assert_eq!(
            states(&scene),
            ["verify/landing"; 4],
            "it is not known whether it has landed"
        );
        if has_landed {
            lands(&mut scene, "t-4");
            assert_eq!(states(&scene), ["done/landed"; 4]);
            continue;
        }
        scene.report("t-4", "land", Report::NotLanded);
        assert_eq!(scene.state("t-2"), "done/dropped");
        for ticket in ["t-1", "t-3", "t-4"] {
            assert_eq!(scene.state(ticket), "verify/checking", "{ticket}");
            let because = WhyUncoupled::BatchEnded { of: id("t-2") };
            assert_eq!(why_back(&scene, ticket), Some(because), "{ticket}");
        }
    }
}

#[test]
fn a_file_that_is_deleted_while_its_batch_lands_ends_the_landing_of_the_whole_batch() {
    for (deleted, goes_on) in [("t-4", ["t-1", "t-2", "t-3"]), ("t-2", ["t-1", "t-3", "t-4"])] {
        let mut scene = coupled(1);
        scene.checks_pass("t-4");
        scene.delete(deleted);
        assert_eq!(states(&scene), ["verify/landing"; 4], "{deleted}");
        scene.report("t-4", "land", Report::NotLanded);
        assert_eq!(scene.state(deleted), "done/dropped");
        for ticket in goes_on {
            assert_eq!(scene.state(ticket), "verify/checking", "{deleted}: {ticket}");
        }
        // The next of them is merged or tried: the train does not stand still.
        let is_building = |ticket: &&str| scene.pending(ticket, "build_candidate").is_some();
        assert!(
            goes_on.iter().any(is_building) || !tried(&scene).is_empty(),
            "{deleted}"
        );
    }
}

#[test]
fn an_entry_that_gets_a_commitment_while_it_waits_does_not_land_with_the_others() {
    let mut scene = coupled(1);
    scene.write("t-2", |file| {
        file.spec.commitments = vec![Promise {
            says: "the page is there".to_owned(),
            run: Some(CheckCommand::Shell("test -f page".to_owned())),
        }];
    });
    // Its agent may have written that: a person is asked before anything is run.
    assert_eq!(ahead_of(&scene, "t-2").as_deref(), Some("the target"));
    merges(&mut scene, "t-2");
    assert_eq!(scene.state("t-2"), "verify/checking (held)");
    assert_others_land(&mut scene);
}

#[test]
fn an_entry_that_is_to_be_reviewed_while_it_waits_does_not_land_with_the_others() {
    let mut scene = coupled(1);
    let mut settings = scene.core.settings().clone();
    settings.review.when = ReviewWhen::Some(ReviewOf {
        labels: BTreeSet::from(["risky".to_owned()]),
        paths: Vec::new(),
        lines: None,
    });
    scene.core.set_settings(settings);
    scene.write("t-2", |file| {
        file.spec.tags = BTreeSet::from(["risky".to_owned()]);
    });
    assert_others_land(&mut scene);
    assert_eq!(
        ahead_of(&scene, "t-2").as_deref(),
        Some("the target"),
        "it has checks of its own"
    );
}

/// The others land without the second ticket.
fn assert_others_land(scene: &mut Scene) {
    assert!(
        tried(scene).is_empty(),
        "the verdict on the last entry is of no use"
    );
    for other in ["t-3", "t-4"] {
        merges(scene, other);
    }
    assert_eq!(tried(scene), ["t-4"]);
    scene.checks_pass("t-4");
    lands(scene, "t-4");
    for other in ["t-1", "t-3", "t-4"] {
        assert_eq!(scene.state(other), "done/landed");
    }
}

#[test]
fn a_conflict_with_an_entry_ahead_asks_no_agent_and_is_tried_again_once_that_has_landed() {
    let mut scene = submitted(1);
    merges(&mut scene, "t-1");
    let paths = vec!["same".to_owned()];
    scene.report("t-2", "build_candidate", Report::ConflictsAhead { paths });
    assert_eq!(scene.state("t-2"), "verify/checking");
    assert!(scene.pending("t-2", "start_step").is_none());
    // Those behind it go on without it.
    merges(&mut scene, "t-3");
    merges(&mut scene, "t-4");
    assert_eq!(tried(&scene), ["t-4"]);
    assert!(scene.pending("t-2", "build_candidate").is_none());
    scene.checks_pass("t-4");
    lands(&mut scene, "t-4");
    merges(&mut scene, "t-2");
    assert_eq!(tried(&scene), ["t-2"]);
}

#[test]
fn an_entry_that_is_dropped_takes_those_behind_it_out_of_the_train() {
    let mut scene = coupled(1);
    let reason = "not wanted".to_owned();
    scene.ask(Command::Drop {
        ticket: id("t-2"),
        reason,
    });
    assert!(tried(&scene).is_empty(), "the run on the last entry is of no use");
    assert!(scene.pending("t-4", "stop_run").is_some());
    let (_, effect) = scene.pending("t-3", "build_candidate").unwrap();
    let Effect::BuildCandidate { coupling, .. } = effect else {
        unreachable!("asked for by name")
    };
    assert_eq!(coupling.unwrap().ahead, id("t-1"));
}

#[test]
fn an_engine_that_is_killed_leaves_a_train_that_the_next_one_goes_on_with() {
    let mut scene = coupled(1);
    scene.restart();
    assert_eq!(tried(&scene), ["t-4"]);
    fails(&mut scene, "t-4");
    scene.restart();
    assert_eq!(tried(&scene), ["t-2"]);
    scene.checks_pass("t-2");
    scene.restart();
    lands(&mut scene, "t-2");
    assert_eq!(scene.state("t-1"), "done/landed");
    assert_eq!(tried(&scene), ["t-3"]);
}

#[test]
fn a_target_that_somebody_else_moved_has_the_whole_batch_merged_anew() {
    let mut scene = coupled(1);
    scene.checks_pass("t-4");
    scene.report("t-4", "land", Report::TargetMoved);
    assert_eq!(states(&scene), ["verify/checking"; 4]);
    assert!(scene.pending("t-1", "build_candidate").is_some());
    for ticket in ALL {
        assert_eq!(
            why_back(&scene, ticket),
            Some(WhyUncoupled::TargetMoved),
            "{ticket}"
        );
    }
}

/// The reason for which a ticket was taken out of the train.
fn why_back(scene: &Scene, ticket: &str) -> Option<WhyUncoupled> {
    match &scene.core.ticket(&id(ticket)).unwrap().state {
        State::Verify(verify) => verify.train.uncoupled.clone().map(|uncoupled| uncoupled.why),
        other => panic!("{other:?}"),
    }
}

#[test]
fn edits_in_the_way_of_one_entry_let_those_ahead_of_it_be_tried_and_land() {
    let mut scene = coupled(1);
    scene.checks_pass("t-4");
    let paths = vec![InTheWay {
        path: "edited".to_owned(),
        what: Obstacle::Edited,
    }];
    let entry = id("t-3");
    scene.report("t-4", "land", Report::BatchInTheWay { entry, paths });
    assert_eq!(
        tried(&scene),
        ["t-2"],
        "the target never stands at what was not checked"
    );
    scene.checks_pass("t-2");
    lands(&mut scene, "t-2");
    // It is merged alone, and nobody on it.
    merges(&mut scene, "t-3");
    assert_eq!(tried(&scene), ["t-3"]);
    assert!(scene.pending("t-4", "build_candidate").is_none());
}

#[test]
fn a_batch_that_the_remote_refuses_lands_one_by_one_and_only_the_entry_at_fault_is_held() {
    let mut scene = coupled(1);
    scene.checks_pass("t-4");
    let why = "policy: no secrets".to_owned();
    let refused = || Report::RemoteRefused { why: why.clone() };
    scene.report("t-4", "land", refused());
    for ticket in ALL {
        let held = &scene.core.ticket(&id(ticket)).unwrap().held;
        assert!(held.is_none(), "{ticket}");
    }
    for ticket in ALL {
        merges(&mut scene, ticket);
        assert_eq!(tried(&scene), [ticket], "nobody is merged on it");
        scene.checks_pass(ticket);
        match ticket {
            "t-2" => drop(scene.report(ticket, "land", refused())),
            _ => lands(&mut scene, ticket),
        }
    }
    for ticket in ["t-1", "t-3", "t-4"] {
        assert_eq!(scene.state(ticket), "done/landed", "{ticket}");
    }
    let held = scene.core.ticket(&id("t-2")).unwrap().held.as_ref().unwrap();
    assert_eq!(held.why, model::ticket::Why::Landing);
    assert!(held.note.ends_with(&why), "{}", held.note);
}

#[test]
fn a_check_that_may_be_repeated_is_repeated_before_the_train_is_at_fault() {
    let retried = |settings: &mut Settings| {
        settings.checks.commands.clear();
        settings.check = vec![Check {
            name: "tests".to_owned(),
            command: "make test".to_owned(),
            retry: 1,
            ..Check::default()
        }];
    };
    for passes in [true, false] {
        let mut scene = submitted_with(retried, |_| {});
        for ticket in ALL {
            merges(&mut scene, ticket);
        }
        scene.wait(secs(2));
        let failed = || CheckOutcome::Failed {
            output: "1 failed".to_owned(),
        };
        scene.check_ends("t-4", failed());
        assert_eq!(tried(&scene), ["t-4"], "it is repeated");
        if passes {
            scene.check_ends("t-4", CheckOutcome::Passed);
            assert_eq!(scene.state("t-4"), "verify/landing");
        } else {
            scene.check_ends("t-4", failed());
            assert!(!tried(&scene).contains(&"t-4".to_owned()) && !tried(&scene).is_empty());
        }
    }
}

#[test]
fn a_red_target_holds_the_whole_train_and_blames_nobody() {
    let mut scene = coupled(1);
    fails(&mut scene, "t-4");
    fails(&mut scene, "t-2");
    assert_eq!(tried(&scene), ["t-1"]);
    scene.checked("t-1", Verdict::TargetRed);
    for ticket in ALL {
        let held = scene.core.ticket(&id(ticket)).unwrap().held.as_ref();
        assert_eq!(held.unwrap().why, model::ticket::Why::TargetRed, "{ticket}");
    }
}

fn cannot_be_run(scene: &mut Scene, ticket: &str) {
    let why = "`make` cannot be run".to_owned();
    scene.check_ends(ticket, CheckOutcome::CouldNotRun { why });
}

#[test]
fn a_batch_whose_check_cannot_be_run_is_halved_and_only_the_entry_at_fault_is_told() {
    let mut scene = coupled(1);
    cannot_be_run(&mut scene, "t-4");
    assert_eq!(tried(&scene), ["t-2"]);
    cannot_be_run(&mut scene, "t-2");
    assert_eq!(tried(&scene), ["t-1"]);
    cannot_be_run(&mut scene, "t-1");
    // Nothing is ahead of it: the target is tried, and then the work once more.
    assert_eq!(task(&scene, "t-1"), CheckTask::Target);
    scene.check_ends("t-1", CheckOutcome::Passed);
    assert_eq!(task(&scene, "t-1"), CheckTask::Candidate);
    cannot_be_run(&mut scene, "t-1");
    assert!(
        scene.state("t-1").starts_with("in_progress"),
        "{}",
        scene.state("t-1")
    );
    for ticket in ["t-2", "t-3", "t-4"] {
        assert!(scene.core.ticket(&id(ticket)).unwrap().held.is_none(), "{ticket}");
    }
}

#[test]
fn work_that_is_left_as_the_only_one_that_cannot_be_run_is_proven_by_itself() {
    let mut scene = coupled(1);
    cannot_be_run(&mut scene, "t-4");
    scene.checks_pass("t-2");
    scene.checks_pass("t-3");
    lands(&mut scene, "t-2");
    lands(&mut scene, "t-3");
    assert!(
        matches!(why_back(&scene, "t-4"), Some(WhyUncoupled::Hindered { .. })),
        "{:?}",
        why_back(&scene, "t-4")
    );
    merges(&mut scene, "t-4");
    assert_eq!(task(&scene, "t-4"), CheckTask::Candidate);
    cannot_be_run(&mut scene, "t-4");
    scene.check_ends("t-4", CheckOutcome::Passed);
    cannot_be_run(&mut scene, "t-4");
    assert!(
        scene.state("t-4").starts_with("in_progress"),
        "{}",
        scene.state("t-4")
    );
}

#[test]
fn a_target_on_which_the_checks_cannot_be_run_holds_the_whole_train() {
    let mut scene = coupled(1);
    for ticket in ["t-4", "t-2", "t-1"] {
        cannot_be_run(&mut scene, ticket);
    }
    cannot_be_run(&mut scene, "t-1");
    for ticket in ALL {
        let held = scene.core.ticket(&id(ticket)).unwrap().held.as_ref().unwrap();
        assert_eq!(held.why, model::ticket::Why::CouldNotRun, "{ticket}");
        assert!(held.note.contains("on the target either"), "{}", held.note);
    }
}

#[test]
fn the_next_batch_is_tried_in_the_other_checkout_once_it_has_stopped_growing() {
    let mut scene = submitted(2);
    // The first one is merged while the others are not submitted: only three are left for the next batch.
    for ticket in ALL {
        merges(&mut scene, ticket);
    }
    assert_eq!(tried(&scene), ["t-4"]);
    scene.add("t-5");
    // All agents are busy with what is not landed.
    scene.checks_pass("t-4");
    lands(&mut scene, "t-4");
    scene.workspace_ready("t-5");
    scene.finishes("t-5", Signal::Done);
    merges(&mut scene, "t-5");
    assert_eq!(tried(&scene), ["t-5"], "one that is alone is checked at once");
    scene.add("t-6");
    scene.workspace_ready("t-6");
    scene.finishes("t-6", Signal::Done);
    merges(&mut scene, "t-6");
    assert_eq!(tried(&scene), ["t-5"]);
    scene.wait(secs(2));
    assert_eq!(tried(&scene), ["t-5", "t-6"]);
    let slot = |ticket: &str| scene.core.ticket(&id(ticket)).unwrap().checks().unwrap().slot.0;
    assert_eq!((slot("t-5"), slot("t-6")), (1, 2));
    // A verdict on the longer prefix makes the other one needless.
    scene.checks_pass("t-6");
    assert!(tried(&scene).is_empty());
    assert!(scene.pending("t-5", "stop_run").is_some());
    scene.report("t-6", "land", Report::Landed { commit: oid('6') });
    assert_eq!(
        (scene.state("t-5"), scene.state("t-6")),
        ("done/landed".to_owned(), "done/landed".to_owned())
    );
}

#[test]
fn an_engine_without_a_train_takes_what_waits_in_one_out_of_it() {
    let mut scene = coupled(1);
    let mut settings = scene.core.settings().clone();
    settings.train = Train::SINGLE;
    scene.core.set_settings(settings);
    scene.tick();
    for ticket in ["t-1", "t-2", "t-3"] {
        let State::Verify(verify) = &scene.core.ticket(&id(ticket)).unwrap().state else {
            panic!("{}", scene.state(ticket))
        };
        let waits = matches!(&verify.stage, Stage::InTrain(entry) if entry.trial == Trial::Untried);
        assert!(!waits, "{ticket}");
    }
    // The run on the last one would decide on all of them.
    assert!(tried(&scene).is_empty());
    assert!(scene.pending("t-4", "stop_run").is_some());
}

/// A scene with a train of two checkouts, in which the work of four tickets is submitted at once.
fn submitted_with(change: impl FnOnce(&mut Settings), prepare: impl FnOnce(&mut Scene)) -> Scene {
    let mut scene = Scene::with(|settings| {
        settings.agents.names = ["ann", "bob", "cat", "dan"].map(name).to_vec();
        settings.train = Train { batch: 4, slots: 2 };
        change(settings);
    });
    for ticket in ALL {
        scene.add(ticket);
    }
    prepare(&mut scene);
    for ticket in ALL {
        scene.workspace_ready(ticket);
    }
    for ticket in ALL {
        scene.finishes(ticket, Signal::Done);
    }
    scene
}

/// All work is reviewed, and there is no gatekeeper.
fn are_reviewed_by_a_person(settings: &mut Settings) {
    settings.review.when = ReviewWhen::Always;
    settings.review.count = 0;
}

fn ahead_of(scene: &Scene, ticket: &str) -> Option<String> {
    let (_, effect) = scene.pending(ticket, "build_candidate")?;
    let Effect::BuildCandidate { coupling, .. } = effect else {
        unreachable!("asked for by name")
    };
    Some(coupling.map_or("the target".to_owned(), |coupling| coupling.ahead.to_string()))
}

fn slot(scene: &Scene, ticket: &str) -> u32 {
    scene.core.ticket(&id(ticket)).unwrap().checks().unwrap().slot.0
}

fn passed(scene: &Scene, ticket: &str) -> String {
    match &scene.core.ticket(&id(ticket)).unwrap().state {
        State::Done(Done::Landed { acceptance, .. }) => acceptance.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn work_that_is_to_be_reviewed_is_checked_beside_each_other_and_lands_as_one_batch_once_approved() {
    let mut scene = submitted_with(are_reviewed_by_a_person, |_| {});
    let target = || Some("the target".to_owned());
    assert_eq!(
        ALL.map(|ticket| ahead_of(&scene, ticket)),
        [target(), target(), None, None]
    );
    merges(&mut scene, "t-2");
    merges(&mut scene, "t-1");
    assert_eq!(tried(&scene), ["t-1", "t-2"]);
    assert_eq!((slot(&scene, "t-1"), slot(&scene, "t-2")), (2, 1));
    scene.restart();
    assert_eq!(
        tried(&scene),
        ["t-1", "t-2"],
        "the next engine has the same of them"
    );
    scene.checks_pass("t-1");
    // A failure sends its own ticket back, and nobody else notices.
    scene.checked("t-2", Verdict::Failed);
    assert!(
        scene.state("t-2").starts_with("in_progress"),
        "{}",
        scene.state("t-2")
    );
    scene.finishes("t-2", Signal::Done);
    for ticket in ["t-3", "t-4", "t-2"] {
        if scene.pending(ticket, "build_candidate").is_none() {
            scene.tick();
        }
        merges(&mut scene, ticket);
        scene.checks_pass(ticket);
    }
    let is_in_review = |state: &String| state.starts_with("verify/reviewing");
    assert!(states(&scene).iter().all(is_in_review), "{:?}", states(&scene));
    for ticket in ALL {
        scene.ask(Command::Approve {
            ticket: id(ticket),
            tip: None,
        });
    }
    let ahead = ["the target", "t-1", "t-2", "t-3"];
    for (ticket, ahead) in ALL.into_iter().zip(ahead) {
        assert_eq!(ahead_of(&scene, ticket).as_deref(), Some(ahead), "{ticket}");
        merges(&mut scene, ticket);
    }
    assert_eq!(tried(&scene), ["t-4"], "one run decides on all that is approved");
    scene.checks_pass("t-4");
    lands(&mut scene, "t-4");
    assert_eq!(states(&scene), ["done/landed"; 4]);
    assert!(
        passed(&scene, "t-2").contains("approved by"),
        "{}",
        passed(&scene, "t-2")
    );
}

#[test]
fn commitments_are_verified_beside_the_train_and_not_again_in_the_batch() {
    let promise = || Promise {
        says: "it is fast".to_owned(),
        run: Some(CheckCommand::Argv(vec!["bench".to_owned()])),
    };
    let mut scene = submitted_with(
        |_| {},
        |scene| {
            drop(scene.ask(Command::CommitTo {
                ticket: id("t-2"),
                promise: promise(),
            }));
        },
    );
    assert_eq!(ahead_of(&scene, "t-2").as_deref(), Some("the target"));
    for ticket in ["t-1", "t-2", "t-3"] {
        merges(&mut scene, ticket);
    }
    assert_eq!(tried(&scene), ["t-2"], "the train grows meanwhile");
    merges(&mut scene, "t-4");
    scene.wait(secs(2));
    assert_eq!(tried(&scene), ["t-2", "t-4"]);
    assert_eq!(
        task(&scene, "t-2"),
        CheckTask::Commitment,
        "its checks are the train's"
    );
    scene.check_ends("t-2", CheckOutcome::Passed);
    // It has met what it promised, and joins the train, where nothing of that is run again.
    assert_eq!(ahead_of(&scene, "t-2").as_deref(), Some("t-4"));
    merges(&mut scene, "t-2");
    scene.wait(secs(2));
    assert_eq!(tried(&scene), ["t-2", "t-4"]);
    scene.checks_pass("t-2");
    lands(&mut scene, "t-2");
    assert_eq!(states(&scene), ["done/landed"; 4]);
    assert!(
        passed(&scene, "t-2").contains("bench"),
        "{}",
        passed(&scene, "t-2")
    );
    assert!(
        !passed(&scene, "t-1").contains("bench"),
        "{}",
        passed(&scene, "t-1")
    );
}

#[test]
fn with_one_checkout_who_was_submitted_first_has_the_next_one() {
    let mut scene = submitted_with(
        |settings| {
            settings.train.slots = 1;
            settings.train.batch = 2;
            are_reviewed_by_a_person(settings);
        },
        |_| {},
    );
    merges(&mut scene, "t-1");
    assert_eq!(tried(&scene), ["t-1"]);
    assert!(scene.pending("t-2", "build_candidate").is_none());
    scene.checks_pass("t-1");
    assert_eq!(ahead_of(&scene, "t-2").as_deref(), Some("the target"));
    scene.ask(Command::Approve {
        ticket: id("t-1"),
        tip: None,
    });
    merges(&mut scene, "t-1");
    merges(&mut scene, "t-2");
    assert_eq!(tried(&scene), ["t-2"]);
    scene.checks_pass("t-2");
    assert_eq!(
        tried(&scene),
        ["t-1"],
        "it goes before the own checks of what came later"
    );
    scene.checks_pass("t-1");
    lands(&mut scene, "t-1");
    assert_eq!(scene.state("t-1"), "done/landed");
    assert_eq!(ahead_of(&scene, "t-3").as_deref(), Some("the target"));
}

#[test]
fn what_is_built_after_the_train_was_switched_off_waits_for_the_one_checkout() {
    let mut scene = submitted_with(|_| {}, |scene| promises(scene, "t-1"));
    merges(&mut scene, "t-1");
    assert_eq!(tried(&scene), ["t-1"]);
    let mut settings = scene.core.settings().clone();
    settings.train = Train::SINGLE;
    scene.core.set_settings(settings);
    scene.tick();
    merges(&mut scene, "t-2");
    assert_eq!(tried(&scene), ["t-1"], "its checkout is in use");
    scene.ask(Command::Drop {
        ticket: id("t-1"),
        reason: "not wanted".to_owned(),
    });
    scene.tick();
    assert_eq!(tried(&scene), ["t-2"]);
}

/// On the entry ahead the work changes what is to be reviewed, and on the target it does not.
#[test]
fn a_tip_that_one_merge_has_shown_to_need_a_review_is_reviewed_and_not_merged_for_ever() {
    let by_change = |settings: &mut Settings| {
        settings.review.when = ReviewWhen::Some(ReviewOf {
            labels: BTreeSet::new(),
            paths: vec!["keys".to_owned()],
            lines: None,
        });
    };
    let mut scene = submitted_with(by_change, |_| {});
    merges(&mut scene, "t-1");
    assert_eq!(ahead_of(&scene, "t-2"), Some("t-1".to_owned()));
    merges_to_be_reviewed(&mut scene, "t-2", Some("it changes keys/one"));
    assert_eq!(ahead_of(&scene, "t-2"), Some("the target".to_owned()));
    merges(&mut scene, "t-2");
    assert!(scene.pending("t-2", "build_candidate").is_none());
    let candidate = scene.core.ticket(&id("t-2")).unwrap().candidate().cloned();
    assert_eq!(
        candidate.and_then(|candidate| candidate.review).as_deref(),
        Some("it changes keys/one")
    );
}

fn task(scene: &Scene, ticket: &str) -> CheckTask {
    let ticket = scene.core.ticket(&id(ticket)).unwrap();
    ticket.check_run().unwrap().task
}

/// A person has a ticket promise that the page is there.
fn promises(scene: &mut Scene, ticket: &str) {
    let promise = Promise {
        says: "the page is there".to_owned(),
        run: Some(CheckCommand::Shell("test -f page".to_owned())),
    };
    let ticket = id(ticket);
    drop(scene.ask(Command::CommitTo { ticket, promise }));
}

#[test]
fn with_one_checkout_commitments_are_verified_one_after_the_other_and_one_run_of_the_checks_lands_them() {
    let mut scene = submitted_with(
        |settings| settings.train.slots = 1,
        |scene| {
            for ticket in ALL {
                promises(scene, ticket);
            }
        },
    );
    for (ticket, ahead) in ALL.into_iter().zip(["the target", "t-1", "t-2", "t-3"]) {
        assert_eq!(
            ahead_of(&scene, ticket).as_deref(),
            Some("the target"),
            "{ticket}"
        );
        merges(&mut scene, ticket);
        assert_eq!(tried(&scene), [ticket]);
        assert_eq!(task(&scene, ticket), CheckTask::Commitment);
        scene.check_ends(ticket, CheckOutcome::Passed);
        assert_eq!(ahead_of(&scene, ticket).as_deref(), Some(ahead), "{ticket}");
        merges(&mut scene, ticket);
    }
    assert_eq!(tried(&scene), ["t-4"]);
    assert_eq!(task(&scene, "t-4"), CheckTask::Candidate);
    scene.checks_pass("t-4");
    lands(&mut scene, "t-4");
    assert_eq!(states(&scene), ["done/landed"; 4]);
    for ticket in ALL {
        let passed = passed(&scene, ticket);
        assert!(passed.contains("the page is there"), "{ticket}: {passed}");
    }
}

#[test]
fn a_ticket_that_nobody_follows_goes_on_with_its_checks_where_its_commitments_were_verified() {
    let mut scene = Scene::with(|settings| {
        settings.agents.names = ["ann", "bob"].map(name).to_vec();
        settings.train = Train { batch: 4, slots: 2 };
    });
    for ticket in ["t-1", "t-2"] {
        scene.add(ticket);
        scene.workspace_ready(ticket);
    }
    promises(&mut scene, "t-1");
    scene.finishes("t-1", Signal::Done);
    merges(&mut scene, "t-1");
    assert_eq!(task(&scene, "t-1"), CheckTask::Commitment);
    scene.check_ends("t-1", CheckOutcome::Passed);
    assert_eq!(task(&scene, "t-1"), CheckTask::Candidate);
    assert!(scene.pending("t-1", "build_candidate").is_none());
    // The next engine goes on with the run, and nothing is verified again.
    scene.restart();
    assert_eq!(task(&scene, "t-1"), CheckTask::Candidate);
    // Others may be merged on it, as on any entry.
    scene.finishes("t-2", Signal::Done);
    assert_eq!(ahead_of(&scene, "t-2").as_deref(), Some("t-1"));
    scene.checks_pass("t-1");
    lands(&mut scene, "t-1");
    assert!(passed(&scene, "t-1").contains("the page is there"));
}

#[test]
fn work_that_does_not_meet_its_commitments_goes_back_before_any_check_runs() {
    let mut scene = submitted_with(|_| {}, |scene| promises(scene, "t-1"));
    merges(&mut scene, "t-1");
    assert_eq!(task(&scene, "t-1"), CheckTask::Commitment);
    fails(&mut scene, "t-1");
    assert!(
        scene.state("t-1").starts_with("in_progress"),
        "{}",
        scene.state("t-1")
    );
    assert_eq!(ahead_of(&scene, "t-2").as_deref(), Some("the target"));
}

#[test]
fn work_that_somebody_looks_at_is_checked_before_its_commitments_are_verified() {
    let by_hand = |file: &mut File| {
        file.spec.commitments = vec![Promise {
            says: "it looks friendly".to_owned(),
            run: None,
        }];
    };
    let mut of_review = submitted_with(are_reviewed_by_a_person, |scene| promises(scene, "t-1"));
    let mut of_a_person = Scene::with(|settings| settings.train = Train { batch: 4, slots: 2 });
    of_a_person.write("t-1", by_hand);
    of_a_person.workspace_ready("t-1");
    of_a_person.finishes("t-1", Signal::Done);
    for scene in [&mut of_review, &mut of_a_person] {
        merges(scene, "t-1");
        assert_eq!(task(scene, "t-1"), CheckTask::Candidate);
    }
    of_review.checks_pass("t-1");
    assert_eq!(task(&of_review, "t-1"), CheckTask::Commitment);
}

#[test]
fn work_whose_commitments_are_met_on_a_target_that_has_moved_is_merged_anew_before_it_is_checked() {
    let mut scene = Scene::with(|settings| settings.train = Train { batch: 4, slots: 2 });
    scene.add("t-1");
    promises(&mut scene, "t-1");
    scene.workspace_ready("t-1");
    scene.finishes("t-1", Signal::Done);
    merges(&mut scene, "t-1");
    scene.step(Input::TargetSeen(TargetSeen {
        commit: oid('f'),
        tree: oid('f'),
        environment: String::new(),
        canary_due: false,
        is_back: false,
        at_remote: AtRemote::Free,
        moved: None,
        anyway: true,
        anew: false,
    }));
    scene.check_ends("t-1", CheckOutcome::Passed);
    assert!(tried(&scene).is_empty());
    assert_eq!(ahead_of(&scene, "t-1").as_deref(), Some("the target"));
    merges(&mut scene, "t-1");
    assert_eq!(task(&scene, "t-1"), CheckTask::Candidate);
}

#[test]
fn a_path_filter_counts_for_a_ticket_that_is_alone_and_not_in_a_batch() {
    let of_docs = |settings: &mut Settings| {
        settings.check = vec![Check {
            name: "docs".to_owned(),
            command: "make docs".to_owned(),
            paths: vec!["docs".to_owned()],
            timeout: None,
            tests: TestCount::Auto,
            retry: 0,
        }];
    };
    let checks = |scene: &Scene, ticket: &str| {
        let ticket = scene.core.ticket(&id(ticket)).unwrap();
        ticket.checks().unwrap().plan.names().join(", ")
    };
    let mut scene = submitted_with(of_docs, |_| {});
    for ticket in ALL {
        // Another entry may touch what this one does not.
        merges_as(&mut scene, ticket, None, &["docs"]);
    }
    assert_eq!(checks(&scene, "t-4"), "make test, docs");
    let mut scene = Scene::with(|settings| {
        settings.train = Train { batch: 4, slots: 2 };
        of_docs(settings);
    });
    scene.add("t-1");
    scene.workspace_ready("t-1");
    scene.finishes("t-1", Signal::Done);
    merges_as(&mut scene, "t-1", None, &["docs"]);
    assert_eq!(checks(&scene, "t-1"), "make test");
}
