//! What crew writes into a ticket's file, and effects that fail and are tried again.

use engine::Report;
use model::attempt::Signal;
use model::command::Command;
use model::ticket::FileStatus;

use crate::scene::{Scene, id, name, secs};
use crate::states;
use crate::words::{Decided, at};

fn patient() -> Scene {
    let mut scene = Scene::with(|settings| settings.run.debounce = secs(2));
    scene.add("t-1");
    scene.wait(secs(2));
    assert_eq!(scene.state("t-1"), "in_progress/preparing");
    scene
}

fn missing(scene: &mut Scene) -> Decided {
    scene.report("t-1", "write_file", Report::FileMissing)
}

fn could_not(scene: &mut Scene, effect: &str) -> Decided {
    let why = "read-only".to_owned();
    scene.report("t-1", effect, Report::CouldNotRun { why })
}

fn hindered(scene: &mut Scene, effect: &str) -> Decided {
    let why = "no room".to_owned();
    scene.report("t-1", effect, Report::Hindered { why })
}

#[test]
fn a_file_that_is_away_for_a_moment_is_written_when_it_is_back() {
    let mut scene = patient();
    assert_eq!(missing(&mut scene).to_string(), "again in 2 s: nobody's fault");
    scene.later(secs(1));
    assert_eq!(
        missing(&mut scene).to_string(),
        "again in 1 s: nobody's fault",
        "the wait is not begun anew"
    );
    let seen = scene.look_at("t-1");
    assert!(
        seen.events().is_empty(),
        "what it says is older than the writing: {seen}"
    );
    let written = scene.report("t-1", "write_file", Report::Done);
    assert_eq!(written.to_string(), "finished: write_file in_progress of t-1");
    let drifted = scene.set_status("t-1", FileStatus::Open);
    assert_eq!(drifted.events(), ["file_drifted"], "{drifted}");
}

#[test]
fn a_file_that_stays_away_is_not_waited_for() {
    let mut scene = patient();
    missing(&mut scene);
    scene.later(secs(2));
    assert_eq!(
        missing(&mut scene).to_string(),
        "finished: write_file in_progress of t-1\n\
         t-1: file_drifted → write_file in_progress ⇒ in_progress/preparing"
            .lines()
            .rev()
            .collect::<Vec<_>>()
            .join("\n"),
        "the file that was last seen says that it is open"
    );
}

#[test]
fn the_wait_of_one_writing_is_not_that_of_the_next() {
    let mut scene = patient();
    missing(&mut scene);
    scene.report("t-1", "write_file", Report::Done);
    scene.later(secs(60));
    scene.ask(Command::Kill { agent: name("ann") });
    assert_eq!(missing(&mut scene).to_string(), "again in 2 s: nobody's fault");
}

#[test]
fn a_done_ticket_whose_file_was_away_is_closed_when_it_is_back() {
    let mut scene = Scene::with(|settings| settings.run.debounce = secs(2));
    scene.add("t-1");
    scene.wait(secs(2));
    scene.files_written("t-1");
    scene.workspace_ready("t-1");
    scene.finishes("t-1", Signal::Done);
    scene.built("t-1", 'b');
    scene.checks_pass("t-1");
    scene.files_written("t-1");
    scene.landed("t-1");
    scene.delete("t-1");
    missing(&mut scene);
    scene.later(secs(2));
    let away = missing(&mut scene);
    assert!(away.events().is_empty(), "{away}");
    // The person who moved it away brings it back as crew left it.
    let back = scene.write("t-1", |file| file.status = Some(FileStatus::InProgress));
    assert_eq!(
        back.to_string(),
        "t-1: file_drifted → write_file closed ⇒ done/landed"
    );
}

#[test]
fn an_effect_that_fails_is_tried_again_ever_more_rarely_and_told_of_once() {
    let mut scene = states::killed();
    let lines: Vec<String> = (0..4)
        .map(|_| {
            let lines = could_not(&mut scene, "keep_work").to_string();
            scene.later(secs(60));
            lines
        })
        .collect();
    insta::assert_snapshot!(lines.join("\n---\n"));
}

#[test]
fn an_effect_that_the_machine_hinders_is_tried_again_steadily_and_is_nobodys_to_mend() {
    let mut scene = states::killed();
    for n in 0..30 {
        let decided = hindered(&mut scene, "keep_work");
        assert_eq!(decided.output.warnings.len(), usize::from(n == 0), "{decided}");
        let again = decided.output.postponed[0].at;
        assert_eq!(at(again, scene.now), "in 5 s");
        assert!(!scene.core.is_stuck(&id("t-1")));
        scene.later(secs(5));
    }
}

#[test]
fn a_merge_that_the_machine_hinders_for_long_lets_the_others_pass() {
    let mut scene = states::building();
    scene.add("t-2");
    scene.workspace_ready("t-2");
    scene.finishes("t-2", Signal::Done);
    for _ in 0..2 {
        let decided = hindered(&mut scene, "build_candidate");
        assert!(decided.events().is_empty(), "{decided}");
        scene.later(secs(60));
    }
    scene.later(secs(1));
    let decided = hindered(&mut scene, "build_candidate");
    assert_eq!(decided.events(), ["could_not_run", "check_started"], "{decided}");
    assert_eq!(scene.state("t-1"), "verify/checking (held)");
    assert!(scene.pending("t-2", "build_candidate").is_some());
}

#[test]
fn a_workspace_that_the_machine_hinders_is_tried_for_as_long_as_it_takes() {
    let mut scene = states::preparing();
    for _ in 0..30 {
        let decided = hindered(&mut scene, "prepare_workspace");
        assert!(decided.events().is_empty(), "{decided}");
        scene.later(secs(60));
    }
    assert_eq!(
        scene.workspace_ready("t-1").events(),
        ["workspace_ready", "step_started"]
    );
}

#[test]
fn a_file_that_cannot_be_written_is_told_until_it_can() {
    let mut scene = states::preparing();
    could_not(&mut scene, "write_file");
    assert!(!scene.core.is_unwritten(&id("t-1")));
    could_not(&mut scene, "write_file");
    assert!(scene.core.is_unwritten(&id("t-1")));
    assert!(!scene.core.is_stuck(&id("t-1")), "its work goes on");
    assert!(scene.core.moves(&id("t-1")));
    scene.report("t-1", "write_file", Report::Done);
    assert!(!scene.core.is_unwritten(&id("t-1")));
}

#[test]
fn the_count_of_failures_begins_anew_when_an_effect_was_done() {
    let mut scene = states::preparing();
    could_not(&mut scene, "prepare_workspace");
    scene.workspace_ready("t-1");
    let decided = could_not(&mut scene, "start_step");
    assert!(!scene.core.is_stuck(&id("t-1")), "{decided}");
}

#[test]
fn the_wait_of_a_note_is_not_that_of_the_status_after_it() {
    let mut scene = states::blocked();
    scene.files_written("t-1");
    let retry = Command::Retry { ticket: id("t-1") };
    scene.ask(retry);
    scene.workspace_ready("t-1");
    scene.files_written("t-1");
    let why = "no key".to_owned();
    scene.finishes("t-1", Signal::Blocked { why });
    let mut settings = scene.core.settings().clone();
    settings.run.debounce = secs(2);
    scene.core.set_settings(settings);
    let missing = |scene: &mut Scene, effect| scene.report("t-1", effect, Report::FileMissing).to_string();
    assert_eq!(missing(&mut scene, "add_note"), "again in 2 s: nobody's fault");
    scene.later(secs(60));
    scene.report("t-1", "add_note", Report::Done);
    assert_eq!(missing(&mut scene, "write_file"), "again in 2 s: nobody's fault");
}

#[test]
fn a_try_that_the_machine_hindered_is_not_counted() {
    let mut scene = states::killed();
    hindered(&mut scene, "keep_work");
    could_not(&mut scene, "keep_work");
    assert!(!scene.core.is_stuck(&id("t-1")));
    could_not(&mut scene, "keep_work");
    assert!(scene.core.is_stuck(&id("t-1")));
}

#[test]
fn a_failure_of_a_claim_that_is_over_is_nobodys_to_mend() {
    let mut scene = states::preparing();
    for _ in 0..2 {
        could_not(&mut scene, "prepare_workspace");
    }
    assert!(scene.core.is_stuck(&id("t-1")));
    scene.ask(Command::Kill { agent: name("ann") });
    could_not(&mut scene, "prepare_workspace");
    assert!(!scene.core.is_stuck(&id("t-1")));
}

#[test]
fn edits_that_stay_in_the_way_are_looked_at_ever_more_rarely() {
    let mut scene = states::landing();
    let mut waits = Vec::new();
    for _ in 0..3 {
        let decided = scene.report("t-1", "land", states::edited_checkout());
        let ticket = scene.core.ticket(&id("t-1")).unwrap();
        waits.push(at(ticket.deadline().unwrap().at, scene.now));
        assert_eq!(decided.events(), ["checkout_edited"], "{decided}");
        scene.later(secs(40));
        scene.ask(Command::Merge { ticket: id("t-1") });
    }
    assert_eq!(waits, ["in 2 s", "in 10 s", "in 20 s"]);
}
