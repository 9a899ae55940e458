//! Whether a ticket still waits for an effect when the turn of the effect has come.

use engine::driver::Purpose;
use engine::{Duty, Report};
use model::attempt::Signal;
use model::command::Command;
use model::journal::{EffectId, Ordered};
use model::ticket::FileStatus;

use super::shell::{Shell, performances};
use crate::scene::{Scene, id, name};
use crate::states;

/// The first effect of this name that the scene's ticket t-1 has ordered.
fn left(scene: &Scene, kind: &str) -> Ordered {
    let found = scene.pending("t-1", kind);
    let (effect_id, effect) = found.unwrap_or_else(|| panic!("t-1 has no pending {kind}"));
    Ordered {
        id: effect_id,
        ticket: id("t-1"),
        effect,
    }
}

/// The purpose of an effect whose turn comes while its ticket is as it is in the scene.
fn purpose_in(mut scene: Scene, ordered: &Ordered) -> Purpose {
    // Nothing else holds the effect up.
    let others: Vec<EffectId> = scene.journal.pending().map(|(id, ..)| id).collect();
    for other in others {
        scene.journal.finish(other);
    }
    let (mut shell, opened) = Shell::start(scene, Duty::Drain);
    shell.perform_all(&opened.actions);
    let actions = shell.driver.recorded(vec![ordered.clone()], shell.scene.now);
    let found = performances(&actions)
        .find(|one| one.ordered == *ordered)
        .unwrap();
    found.purpose
}

fn dropped(mut scene: Scene) -> Scene {
    scene.ask(states::drop_it());
    scene
}

fn killed(mut scene: Scene) -> Scene {
    scene.ask(Command::Kill { agent: name("ann") });
    scene
}

#[test]
fn a_workspace_is_made_only_while_its_claim_waits_for_it() {
    let one = left(&states::preparing(), "prepare_workspace");
    assert_eq!(purpose_in(states::preparing(), &one), Purpose::Perform);
    for over in [
        killed(states::preparing()),
        states::working(),
        states::not_due(),
        Scene::new(),
    ] {
        assert_eq!(purpose_in(over, &one), Purpose::Nothing);
    }
}

#[test]
fn a_workspace_is_not_made_for_a_claim_after_which_there_was_another() {
    let one = left(&states::preparing(), "prepare_workspace");
    let mut scene = states::not_due();
    scene.wait(crate::scene::secs(600));
    assert_eq!(scene.state("t-1"), "in_progress/preparing");
    assert_eq!(purpose_in(scene, &one), Purpose::Nothing);
}

#[test]
fn a_step_is_started_only_while_its_run_is_waited_for() {
    let one = left(&states::starting(), "start_step");
    for waits in [states::starting(), states::working(), killed(states::starting())] {
        assert_eq!(purpose_in(waits, &one), Purpose::Perform);
    }
    for over in [states::waits_for_answer(), states::killed(), states::building()] {
        assert_eq!(purpose_in(over, &one), Purpose::Nothing);
    }
    let mut scene = states::waits_for_answer();
    let (agent, text, question) = (name("ann"), "red".to_owned(), None);
    scene.ask(Command::Answer {
        agent,
        text,
        question,
    });
    assert_eq!(
        scene.state("t-1"),
        "in_progress/working",
        "another step is started"
    );
    assert_eq!(purpose_in(scene, &one), Purpose::Nothing);
}

#[test]
fn a_merge_is_begun_only_for_the_round_that_waits_for_it() {
    let one = left(&states::building(), "build_candidate");
    assert_eq!(purpose_in(states::building(), &one), Purpose::Perform);
    let mut another_round = states::building();
    another_round.report("t-1", "build_candidate", Report::NoCommits);
    another_round.finishes("t-1", Signal::Done);
    assert_eq!(another_round.state("t-1"), states::building().state("t-1"));
    let mut another_claim = dropped(states::building());
    another_claim.files_written("t-1");
    another_claim.set_status("t-1", FileStatus::Open);
    another_claim.workspace_ready("t-1");
    another_claim.finishes("t-1", Signal::Done);
    assert_eq!(another_claim.state("t-1"), states::building().state("t-1"));
    let no_longer = [
        ("another claim", another_claim),
        ("another round", another_round),
        ("checking", states::checking()),
        ("dropped", dropped(states::building())),
    ];
    for (label, over) in no_longer {
        assert_eq!(purpose_in(over, &one), Purpose::Nothing, "{label}");
    }
}

#[test]
fn a_check_is_started_only_while_its_run_is_waited_for() {
    let one = left(&states::checking(), "start_check");
    assert_eq!(purpose_in(states::checking(), &one), Purpose::Perform);
    let mut another_round = states::building();
    another_round.report("t-1", "build_candidate", Report::NoCommits);
    another_round.finishes("t-1", Signal::Done);
    another_round.built("t-1", 'd');
    for over in [another_round, dropped(states::checking()), states::landing()] {
        assert_eq!(purpose_in(over, &one), Purpose::Nothing);
    }
}

#[test]
fn a_landing_that_nobody_waits_for_or_that_somebody_has_ended_is_ended() {
    let one = left(&states::landing(), "land");
    assert_eq!(purpose_in(states::landing(), &one), Purpose::Perform);
    let being_ended = dropped(states::landing());
    assert_eq!(being_ended.state("t-1"), states::landing().state("t-1"));
    let mut another_candidate = states::building();
    another_candidate.built("t-1", 'd');
    another_candidate.checks_pass("t-1");
    for over in [
        being_ended,
        another_candidate,
        states::landed(),
        states::building(),
    ] {
        assert_eq!(purpose_in(over, &one), Purpose::End);
    }
}

/// An effect that ends something or that tells of it is performed whatever became of its ticket.
#[test]
fn an_effect_that_begins_nothing_is_always_performed() {
    let ordered = [
        left(&states::being_killed(), "stop_run"),
        left(&states::stuck(), "inspect_workspace"),
        left(&states::blocked(), "keep_work"),
        left(&states::landed(), "remove_workspace"),
        left(&states::blocked(), "write_file"),
        left(&states::blocked(), "add_note"),
    ];
    for one in ordered {
        for (label, scene) in states::all() {
            if scene.core.ticket(&id("t-1")).is_some() {
                assert_eq!(purpose_in(scene, &one), Purpose::Perform, "{label}: {one:?}");
            }
        }
    }
}
