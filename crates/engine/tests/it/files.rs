//! Ticket files: what a look at them means in each state of the ticket.

use std::time::Duration;

use engine::{Input, Observation};
use model::attempt::{Class, Signal};
use model::command::Command;
use model::ticket::FileStatus;

use crate::matrix::matrix;
use crate::scene::{Scene, failed, id, secs};
use crate::states;
use crate::words::status_name;

/// A file that was deleted is waited for.
const PATIENCE: Duration = Duration::from_secs(1);

/// Every state, with its file as crew has written it.
fn in_every_state<D: std::fmt::Display>(act: impl FnMut(&mut Scene) -> D) -> String {
    matrix(states::all_at_rest(), act)
}

fn be_patient(scene: &mut Scene) {
    let mut settings = scene.core.settings().clone();
    settings.run.debounce = PATIENCE;
    scene.core.set_settings(settings);
}

#[test]
fn a_file_that_says_what_crew_wrote_changes_nothing() {
    for (label, mut scene) in states::all_at_rest() {
        if label == "nobody knows it" {
            continue;
        }
        let decided = scene.look_at("t-1");
        assert!(decided.output.writes.is_empty(), "{label}:\n{decided}");
        assert!(decided.output.refused.is_empty(), "{label}:\n{decided}");
    }
}

#[test]
fn a_file_that_is_set_to_open() {
    insta::assert_snapshot!(in_every_state(|scene| scene.set_status("t-1", FileStatus::Open)));
}

#[test]
fn a_file_that_is_set_to_in_progress() {
    insta::assert_snapshot!(in_every_state(
        |scene| scene.set_status("t-1", FileStatus::InProgress)
    ));
}

#[test]
fn a_file_that_is_closed() {
    insta::assert_snapshot!(in_every_state(|scene| scene.set_status("t-1", FileStatus::Closed)));
}

#[test]
fn a_new_note_in_a_file_is_a_comment_and_reaches_the_agent_and_a_known_one_is_neither() {
    let noted = |scene: &mut Scene, notes: &[&str]| {
        scene.write("t-1", |file| {
            file.notes = notes.iter().map(|note| (*note).to_owned()).collect();
            file.spec.notes = u32::try_from(notes.len()).unwrap();
            file.spec.digest = notes.concat();
        })
    };
    let mut scene = states::working();
    let two = noted(&mut scene, &["use the new API", "and say so"]);
    assert_eq!(two.events(), ["commented", "commented", "edited"], "{two}");
    let again = scene.look_at("t-1");
    assert!(again.events().is_empty(), "{again}");
    scene.restart();
    let third = noted(&mut scene, &["use the new API", "and say so", "thanks"]);
    assert_eq!(third.events()[..2], ["commented", "edited"], "{third}");
    let fewer = noted(&mut scene, &["use the new API"]);
    assert_eq!(fewer.events(), ["edited"], "{fewer}");
}

#[test]
fn a_file_whose_text_is_edited() {
    insta::assert_snapshot!(in_every_state(|scene| {
        scene.write("t-1", |file| file.spec.digest = "another".to_owned())
    }));
}

#[test]
fn a_file_that_loses_the_tags_of_crew() {
    insta::assert_snapshot!(in_every_state(
        |scene| scene.write("t-1", |file| file.tags.clear())
    ));
}

#[test]
fn a_file_that_is_deleted() {
    insta::assert_snapshot!(in_every_state(|scene| scene.delete("t-1")));
}

#[test]
fn a_file_that_is_deleted_and_comes_back_in_time_changes_nothing() {
    for (label, mut scene) in states::all_at_rest() {
        be_patient(&mut scene);
        let state = scene.state("t-1");
        for act in [Scene::delete, Scene::bring_back] {
            let decided = act(&mut scene, "t-1");
            assert!(decided.output.writes.is_empty(), "{label}:\n{decided}");
            scene.later(PATIENCE / 2);
        }
        assert_eq!(scene.state("t-1"), state, "{label}");
        scene.later(PATIENCE);
        let later = scene.tick();
        assert!(!later.events().contains(&"dropped"), "{label}:\n{later}");
    }
}

#[test]
fn a_ticket_whose_file_stays_away_is_dropped_and_opened_when_it_is_back() {
    insta::assert_snapshot!(in_every_state(|scene| {
        be_patient(scene);
        scene.delete("t-1");
        scene.later(PATIENCE);
        let dropped = scene.tick();
        let back = scene.bring_back("t-1");
        format!("{dropped}\nthe file is back\n{back}")
    }));
}

#[test]
fn a_file_that_cannot_be_read_changes_nothing() {
    for (label, mut scene) in states::all_at_rest() {
        let before = scene.state("t-1");
        let decided = scene.make_unreadable("t-1");
        assert!(decided.output.writes.is_empty(), "{label}:\n{decided}");
        assert_eq!(scene.state("t-1"), before, "{label}");
        assert!(scene.core.is_unreadable(&id("t-1")));
        scene.later(secs(3600));
        let later = scene.tick();
        assert!(!later.events().contains(&"dropped"), "{label}:\n{later}");
    }
}

#[test]
fn a_ticket_whose_file_cannot_be_read_is_not_given_out_until_it_can() {
    let mut scene = Scene::with(|settings| settings.run.debounce = secs(1));
    scene.add("t-1");
    scene.make_unreadable("t-1");
    scene.wait(secs(60));
    assert_eq!(scene.state("t-1"), "open");
    scene.look_at("t-1");
    scene.wait(secs(1));
    assert_eq!(scene.state("t-1"), "in_progress/preparing");
}

/// Crew's own writing is under way, so that the file still says its old status. That is no person's word.
#[test]
fn a_status_that_is_older_than_what_crew_is_writing_is_not_heeded() {
    for (label, scene) in states::all() {
        if scene.pending("t-1", "write_file").is_none() {
            continue;
        }
        for status in [FileStatus::Open, FileStatus::InProgress, FileStatus::Closed] {
            let decided = scene.clone().set_status("t-1", status);
            let events = decided.events();
            let status = status_name(status);
            assert!(events.is_empty(), "{label}, {status}:\n{decided}");
        }
    }
}

#[test]
fn a_status_that_a_person_set_while_crew_was_writing_is_overwritten_by_what_arrives() {
    let mut scene = states::preparing();
    scene.set_status("t-1", FileStatus::Closed);
    let (write, effect) = scene.pending("t-1", "write_file").unwrap();
    let decided = scene.report_of("t-1", (write, effect), engine::Report::Done);
    assert_eq!(decided.to_string(), "finished: write_file in_progress of t-1");
}

/// A report of an earlier engine can come a second time. Counted twice, the next writing would seem to have
/// arrived.
#[test]
fn a_writing_that_is_reported_twice_has_arrived_once() {
    let mut scene = states::preparing();
    let first = scene.pending("t-1", "write_file").unwrap();
    scene.report_of("t-1", first.clone(), engine::Report::Done);
    scene.workspace_ready("t-1");
    let why = "no key".to_owned();
    scene.finishes("t-1", Signal::Blocked { why });
    scene.report_of("t-1", first, engine::Report::Done);
    // Crew is about to write that the ticket is open and held: the status in the file is older.
    let decided = scene.set_status("t-1", FileStatus::Closed);
    assert!(decided.events().is_empty(), "{decided}");
}

#[test]
fn a_ticket_that_was_closed_before_crew_saw_it_needs_no_stream() {
    let mut scene = Scene::new();
    let decided = scene.set_status("t-1", FileStatus::Closed);
    assert!(decided.output.writes.is_empty(), "{decided}");
    assert!(scene.core.ticket(&id("t-1")).is_none());
    let opened = scene.set_status("t-1", FileStatus::Open);
    assert_eq!(opened.events(), ["created", "claimed", "agents_busy"]);
}

#[test]
fn a_ticket_whose_file_is_closed_while_its_step_runs_is_submitted_after_the_step() {
    let mut scene = states::working();
    scene.files_written("t-1");
    let closed = scene.set_status("t-1", FileStatus::Closed);
    assert!(closed.events().is_empty(), "{closed}");
    let ended = scene.finishes("t-1", Signal::None);
    assert_eq!(
        ended.events(),
        ["step_finished", "submitted", "check_started"],
        "{ended}"
    );
    assert!(ended.to_string().contains("submitted by the file"), "{ended}");
}

#[test]
fn a_ticket_whose_file_is_gone_while_its_step_runs_is_dropped_after_the_step() {
    let mut scene = states::working();
    let gone = scene.delete("t-1");
    assert_eq!(gone.events(), ["stop_ordered"], "{gone}");
    assert!(scene.tick().events().is_empty(), "a stop is ordered once");
    let ended = scene.run_ends("t-1", failed(Class::Lost));
    assert_eq!(
        ended.events(),
        ["step_failed", "dropped", "agents_idle"],
        "{ended}"
    );
    // The next file of that name is another ticket's: nothing is written into it.
    assert!(!ended.to_string().contains("write_file"), "{ended}");
}

#[test]
fn a_known_ticket_that_a_look_at_the_whole_folder_does_not_show_is_gone() {
    let mut scene = states::waits_for_another();
    let part = scene.step(Input::Observed {
        seen: Vec::new(),
        whole: false,
    });
    assert!(part.events().is_empty(), "{part}");
    scene.restart();
    let part = scene.step(Input::Observed {
        seen: Vec::new(),
        whole: false,
    });
    assert!(part.events().is_empty(), "{part}");
    let whole = scene.step(Input::Observed {
        seen: Vec::new(),
        whole: true,
    });
    assert_eq!(whole.events(), ["dropped"], "{whole}");
}

#[test]
fn a_ticket_whose_file_is_gone_is_dropped_after_the_wait_and_not_before() {
    let mut scene = states::waits_for_another();
    be_patient(&mut scene);
    let deleted = scene.delete("t-1");
    assert_eq!(deleted.to_string(), "wakes in 1 s");
    scene.later(PATIENCE - Duration::from_millis(1));
    assert_eq!(scene.tick().to_string(), "wakes in 0.001 s");
    // To be told again that it is gone does not prolong the wait.
    scene.look_at("t-1");
    scene.later(Duration::from_millis(1));
    assert_eq!(scene.tick().events(), ["dropped"]);
}

#[test]
fn a_file_that_changes_starts_its_wait_anew_and_what_crew_writes_does_not() {
    let mut scene = Scene::with(|settings| settings.run.debounce = secs(1));
    scene.add("t-1");
    scene.later(Duration::from_millis(600));
    scene.write("t-1", |file| file.spec.priority = 1);
    scene.later(Duration::from_millis(600));
    assert!(scene.tick().events().is_empty(), "it changed 0.6 s ago");
    // A look at the same file is no change.
    scene.look_at("t-1");
    scene.later(Duration::from_millis(400));
    assert_eq!(scene.tick().events(), ["claimed", "agents_busy"]);
}

#[test]
fn several_files_are_heeded_in_the_order_in_which_they_were_seen() {
    let mut scene = Scene::new();
    for ticket in ["t-1", "t-2"] {
        scene.edit(ticket, |_| {});
    }
    let seen = ["t-2", "t-1"].map(|ticket| scene.observation(&id(ticket)));
    let seen = Vec::from(seen);
    let decided = scene.step(Input::Observed { seen, whole: false });
    let created: Vec<&str> = decided.lines().iter().take(2).map(String::as_str).collect();
    assert_eq!(created, ["t-2: created ⇒ open", "t-1: created ⇒ open"]);
}

#[test]
fn a_file_that_was_never_readable_makes_no_ticket() {
    let mut scene = Scene::new();
    let seen = vec![Observation::Unreadable {
        ticket: id("t-1"),
        at: scene.now,
    }];
    let decided = scene.step(Input::Observed { seen, whole: false });
    assert_eq!(decided.to_string(), "nothing");
    assert!(scene.core.is_unreadable(&id("t-1")) && scene.core.ticket(&id("t-1")).is_none());
}

#[test]
fn a_file_that_cannot_be_read_is_not_gone() {
    let mut scene = states::waits_for_another();
    be_patient(&mut scene);
    scene.delete("t-1");
    scene.make_unreadable("t-1");
    scene.later(PATIENCE);
    assert!(scene.tick().events().is_empty(), "it is there again");
    scene.look_at("t-1");
    scene.later(PATIENCE);
    assert_eq!(scene.tick().events(), ["dropped"], "now it is gone");
}

#[test]
fn a_closed_file_that_cannot_be_read_any_more_is_not_submitted() {
    let mut scene = states::working();
    scene.files_written("t-1");
    scene.set_status("t-1", FileStatus::Closed);
    scene.make_unreadable("t-1");
    let ended = scene.finishes("t-1", Signal::None);
    assert_eq!(ended.events(), ["step_finished", "step_started"], "{ended}");
}

#[test]
fn a_file_that_cannot_be_read_is_not_overwritten_for_its_old_status() {
    let mut scene = states::preparing();
    scene.make_unreadable("t-1");
    let missing = scene.report("t-1", "write_file", engine::Report::FileMissing);
    assert!(missing.events().is_empty(), "{missing}");
}

#[test]
fn a_ticket_that_is_held_while_it_lands_is_dropped_when_its_file_is_deleted() {
    let mut scene = states::landing();
    let (paths, tip) = (vec!["crew.toml".to_owned()], crate::scene::oid('b'));
    scene.report(
        "t-1",
        "land",
        engine::Report::Sensitive {
            paths,
            secrets: Vec::new(),
            tip,
        },
    );
    assert_eq!(scene.state("t-1"), "verify/landing (held)");
    scene.delete("t-1");
    assert_eq!(scene.state("t-1"), "done/dropped");
}

#[test]
fn a_drop_that_was_ordered_is_carried_out_unless_the_file_is_back_when_the_step_has_ended() {
    let mut scene = states::working();
    scene.files_written("t-1");
    be_patient(&mut scene);
    scene.delete("t-1");
    scene.later(PATIENCE);
    assert_eq!(scene.tick().events(), ["stop_ordered"]);
    let dropped = scene.clone().run_ends("t-1", failed(Class::Lost));
    assert_eq!(dropped.events(), ["step_failed", "dropped", "agents_idle"]);
    scene.bring_back("t-1");
    let ended = scene.run_ends("t-1", failed(Class::Lost));
    assert_eq!(ended.events(), ["step_failed", "step_started"], "{ended}");
}

/// A person who drops the ticket by a command means that, whatever the file does.
#[test]
fn a_drop_that_a_person_ordered_is_carried_out_though_the_file_is_back() {
    let mut scene = states::working();
    scene.files_written("t-1");
    let (ticket, reason) = (id("t-1"), String::new());
    scene.ask(Command::Drop { ticket, reason });
    scene.delete("t-1");
    scene.bring_back("t-1");
    let ended = scene.run_ends("t-1", failed(Class::Lost));
    assert_eq!(ended.events(), ["step_failed", "dropped", "agents_idle"]);
}

/// A landed ticket whose file crew could not close, since it was not there, and which is in progress still.
fn landed_without_its_file() -> Scene {
    let mut scene = states::landing();
    scene.files_written("t-1");
    scene.landed("t-1");
    scene.delete("t-1");
    scene.report("t-1", "write_file", engine::Report::FileMissing);
    assert!(scene.pending("t-1", "write_file").is_none());
    scene
}

#[test]
fn the_file_of_a_landed_ticket_is_closed_when_it_is_back() {
    let mut scene = landed_without_its_file();
    let back = scene.bring_back("t-1");
    assert_eq!(back.events(), ["file_drifted"], "{back}");
    // Also when it cannot be read at first.
    let mut scene = landed_without_its_file();
    scene.make_unreadable("t-1");
    let back = scene.bring_back("t-1");
    assert_eq!(back.events(), ["file_drifted"], "{back}");
}

#[test]
fn the_file_of_a_landed_ticket_that_is_there_after_all_is_closed() {
    let mut scene = states::landing();
    scene.files_written("t-1");
    scene.landed("t-1");
    let missing = scene.report("t-1", "write_file", engine::Report::FileMissing);
    assert_eq!(missing.events(), ["file_drifted"], "{missing}");
    assert!(scene.pending("t-1", "write_file").is_some());
}

#[test]
fn the_file_of_a_landed_ticket_is_left_alone_while_it_is_being_closed() {
    let mut scene = states::landing();
    scene.files_written("t-1");
    scene.landed("t-1");
    scene.delete("t-1");
    let back = scene.bring_back("t-1");
    assert!(back.events().is_empty(), "{back}");
}

#[test]
fn a_closed_file_that_a_person_takes_away_and_brings_back_in_progress_is_left_alone() {
    let closed = || {
        let mut scene = states::landed();
        scene.files_written("t-1");
        scene
    };
    let mut scene = closed();
    scene.delete("t-1");
    let taken = scene.set_status("t-1", FileStatus::InProgress);
    assert!(taken.events().is_empty(), "{taken}");
    // Also when it was taken away while no engine ran.
    let mut scene = closed();
    scene.delete("t-1");
    scene.restart();
    scene.look_at_all();
    let taken = scene.set_status("t-1", FileStatus::InProgress);
    assert!(taken.events().is_empty(), "{taken}");
}

#[test]
fn a_dropped_ticket_whose_file_came_back_closed_stays_dropped() {
    let mut scene = states::preparing();
    scene.files_written("t-1");
    scene.delete("t-1");
    assert_eq!(scene.state("t-1"), "done/dropped");
    let closed = scene.set_status("t-1", FileStatus::Closed);
    assert!(closed.events().is_empty(), "{closed}");
    let taken = scene.set_status("t-1", FileStatus::InProgress);
    assert!(taken.events().is_empty(), "a person has taken it: {taken}");
}
