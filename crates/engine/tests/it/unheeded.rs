//! Ticket files that git has changed, and those that nobody can explain: nothing is decided on them.

use std::collections::BTreeSet;

use engine::{Input, Observation};
use model::command::Command;
use model::ticket::{FileStatus, Origin};

use crate::scene::{Scene, id};
use crate::states;
use crate::words::Decided;

const ALL: [FileStatus; 3] = [FileStatus::Open, FileStatus::InProgress, FileStatus::Closed];
const OTHERS: [Origin; 2] = [Origin::Git, Origin::Unknown];

fn fence(scene: &Scene) -> model::Fence {
    scene.core.ticket(&id("t-1")).unwrap().fence
}

fn set(scene: &mut Scene, status: FileStatus) -> Decided {
    let (ticket, fence) = (id("t-1"), fence(scene));
    scene.ask(Command::SetStatus {
        ticket,
        status,
        fence,
    })
}

fn asks(scene: &Scene) -> Option<bool> {
    let ticket = scene.core.ticket(&id("t-1")).unwrap();
    ticket.unheeded.as_ref().map(model::ticket::Unheeded::asks)
}

/// Every state with its file as crew has written it, and nothing on its way. A ticket that a person has taken
/// is crew's as soon as its file is open, whoever opened it.
fn at_rest() -> Vec<(&'static str, Scene)> {
    let all = states::all_at_rest().into_iter();
    all.filter(|(label, scene)| scene.core.ticket(&id("t-1")).is_some() && *label != "a person has taken it")
        .collect()
}

#[test]
fn a_status_that_is_no_persons_word_moves_no_ticket_and_is_not_overwritten() {
    for origin in OTHERS {
        for status in ALL {
            for (label, mut scene) in at_rest() {
                let before = scene.state("t-1");
                scene.origin = origin;
                let decided = scene.set_status("t-1", status);
                let events = decided.events();
                assert!(
                    events.iter().all(|event| *event == "file_unheeded"),
                    "{label}, {origin:?}, {status:?}:\n{decided}"
                );
                assert!(!decided.to_string().contains("write_file"), "{label}:\n{decided}");
                assert_eq!(scene.state("t-1"), before, "{label}, {origin:?}, {status:?}");
                let again = scene.look_at("t-1");
                assert!(again.events().is_empty(), "{label}: noted twice\n{again}");
            }
        }
    }
}

#[test]
fn a_status_that_is_no_persons_word_is_forgotten_when_the_file_is_as_it_was() {
    for origin in OTHERS {
        for (label, mut scene) in at_rest() {
            scene.origin = origin;
            let was = scene.status("t-1");
            for status in ALL.into_iter().filter(|status| *status != was) {
                let noted = scene.set_status("t-1", status);
                assert_eq!(noted.events(), ["file_unheeded"], "{label}:\n{noted}");
                assert_eq!(asks(&scene), Some(origin == Origin::Unknown));
                let back = scene.set_status("t-1", was);
                assert_eq!(back.events(), ["file_heeded"], "{label}:\n{back}");
            }
        }
    }
}

#[test]
fn what_was_not_heeded_stays_so_when_the_next_engine_finds_it() {
    for status in ALL {
        let mut scene = states::landed();
        scene.files_written("t-1");
        scene.origin = Origin::Git;
        scene.set_status("t-1", status);
        for origin in [Origin::Unknown, Origin::Git, Origin::Person] {
            scene.restart();
            scene.origin = origin;
            let decided = scene.look_at_all();
            let opened = decided.events().contains(&"reopened");
            assert!(
                !opened && scene.state("t-1") == "done/landed",
                "{status:?}:\n{decided}"
            );
            assert_ne!(asks(&scene), Some(true), "{status:?}, {origin:?}");
        }
    }
}

#[test]
fn a_landed_ticket_whose_old_file_is_back_is_done_again_only_by_a_persons_word() {
    let mut scene = states::landed();
    scene.files_written("t-1");
    scene.origin = Origin::Unknown;
    scene.set_status("t-1", FileStatus::Open);
    // Another text in the same file is not yet a word about its status.
    scene.origin = Origin::Person;
    scene.write("t-1", |file| file.spec.digest = "another".to_owned());
    assert_eq!(scene.state("t-1"), "done/landed");
    let opened = set(&mut scene, FileStatus::Open);
    assert!(opened.events().contains(&"reopened"), "{opened}");
}

#[test]
fn a_landed_ticket_whose_old_file_is_back_is_closed_by_a_persons_word() {
    for command in [false, true] {
        let mut scene = states::landed();
        scene.files_written("t-1");
        scene.origin = Origin::Unknown;
        scene.set_status("t-1", FileStatus::Open);
        let closed = if command {
            let (ticket, reason) = (id("t-1"), String::new());
            scene.ask(Command::Drop { ticket, reason })
        } else {
            set(&mut scene, FileStatus::Closed)
        };
        assert_eq!(closed.events(), ["file_drifted"], "{closed}");
        assert_eq!((asks(&scene), scene.state("t-1").as_str()), (None, "done/landed"));
        assert!(scene.pending("t-1", "write_file").is_some());
    }
}

#[test]
fn a_word_about_a_ticket_that_was_given_out_since_is_an_old_one() {
    let mut scene = states::landed();
    scene.files_written("t-1");
    let old = model::Fence(fence(&scene).0 - 1);
    let ticket = id("t-1");
    let status = FileStatus::Open;
    let decided = scene.ask(Command::SetStatus {
        ticket,
        status,
        fence: old,
    });
    assert!(decided.events().is_empty(), "{decided}");
}

#[test]
fn a_file_that_git_has_taken_leaves_its_ticket_as_it_was_until_it_is_back() {
    for origin in OTHERS {
        for (label, mut scene) in at_rest() {
            let before = scene.state("t-1");
            scene.origin = origin;
            let taken = scene.delete("t-1");
            let noted = taken.events();
            assert!(
                noted.iter().all(|event| *event == "file_unheeded"),
                "{label}:\n{taken}"
            );
            assert_eq!(scene.state("t-1"), before, "{label}");
            scene.restart();
            scene.origin = Origin::Person;
            scene.look_at_all();
            assert_eq!(scene.state("t-1"), before, "{label}: after another start");
            scene.origin = origin;
            let back = scene.bring_back("t-1");
            let events = back.events();
            assert!(
                !events.contains(&"reopened") && !events.contains(&"dropped"),
                "{label}:\n{back}"
            );
            assert_eq!(asks(&scene), None, "{label}");
        }
    }
}

#[test]
fn a_file_that_vanished_with_others_is_asked_about_and_one_alone_is_dropped() {
    let mut scene = Scene::new();
    for ticket in ["t-1", "t-2"] {
        scene.add(ticket);
    }
    let gone = ["t-1", "t-2"].map(|ticket| Observation::Gone {
        ticket: id(ticket),
        origin: Origin::Person,
        is_tracked: true,
    });
    let seen = gone.to_vec();
    let both = scene.clone().step(Input::Observed { seen, whole: false });
    assert_eq!(both.events(), ["file_unheeded", "file_unheeded"], "{both}");
    let seen = gone[..1].to_vec();
    let one = scene.step(Input::Observed { seen, whole: false });
    assert!(one.events().contains(&"dropped"), "{one}");
}

#[test]
fn files_that_are_missing_at_the_start_were_taken_by_git_where_that_has_moved() {
    for (tickets, has_moved, state) in [
        (1, false, "done/dropped"),
        (1, true, "in_progress/preparing"),
        (2, false, "in_progress/preparing"),
    ] {
        let mut scene = Scene::new();
        for ticket in ["t-1", "t-2"].into_iter().take(tickets) {
            scene.add(ticket);
        }
        scene.restart();
        if has_moved {
            scene.step(Input::GitMoved);
        }
        // Those that git tracks are reported. What git has taken is not in its index.
        let deleted = ["t-1", "t-2"].into_iter().take(tickets).map(gone);
        let (seen, whole) = (deleted.filter(|_| !has_moved).collect(), true);
        scene.step(Input::Observed { seen, whole });
        assert_eq!(scene.state("t-1"), state, "{tickets} {has_moved}");
        // A later whole look is not about that move any more.
        assert_eq!(
            asks(&scene).unwrap_or(tickets > 1),
            tickets > 1,
            "{tickets} {has_moved}"
        );
    }
}

#[test]
fn a_file_that_is_missing_in_another_folder_at_the_start_is_asked_about() {
    let mut scene = Scene::new();
    scene.add("t-1");
    scene.restart();
    scene.step(Input::FolderReplaced);
    let (seen, whole) = (Vec::new(), true);
    scene.step(Input::Observed { seen, whole });
    scene.wait(scene.core.settings().run.debounce);
    assert_eq!(
        (scene.state("t-1").as_str(), asks(&scene)),
        ("in_progress/preparing", Some(true))
    );
}

#[test]
fn a_file_under_another_name_is_asked_about_and_goes_on_when_it_is_back() {
    let mut scene = states::working();
    scene.files_written("t-1");
    let moved = |scene: &Scene, renamed: bool| match scene.observation(&id("t-1")) {
        Observation::Read {
            spec,
            status,
            tags,
            changed_at,
            origin,
            ..
        } => Observation::Read {
            ticket: id("t-9"),
            renamed: renamed.then(|| id("t-1")),
            notes: Vec::new(),
            spec,
            status,
            tags,
            changed_at,
            origin,
        },
        Observation::Unreadable { .. } | Observation::Gone { .. } => panic!("no file"),
    };
    let new = moved(&scene, true);
    let seen = vec![new, gone("t-1")];
    let renamed = scene.step(Input::Observed { seen, whole: false });
    assert_eq!(renamed.events(), ["file_unheeded"], "{renamed}");
    assert_eq!(
        (asks(&scene), scene.state("t-9").as_str()),
        (Some(true), "unknown")
    );
    assert_eq!(scene.state("t-1"), "in_progress/working");
    let mut dropped = scene.clone();
    let seen = vec![scene.observation(&id("t-1")), gone("t-9")];
    let back = scene.step(Input::Observed { seen, whole: false });
    assert_eq!(back.events(), ["file_heeded"], "{back}");
    // Once the ticket is given up, the file goes with it.
    let (ticket, reason) = (id("t-1"), String::new());
    dropped.ask(Command::Drop { ticket, reason });
    dropped.run_ends("t-1", crate::scene::failed(model::attempt::Class::Lost));
    assert_eq!(
        (dropped.state("t-1").as_str(), dropped.state("t-9").as_str()),
        ("done/dropped", "unknown")
    );
    assert!(
        dropped.pending("t-1", "write_file").is_some(),
        "it is closed there"
    );
    dropped.files_written("t-1");
    // It lies there once more, as it was: it is closed again.
    let again = dropped.step(Input::Observed {
        seen: vec![moved(&scene_with_file(), true)],
        whole: false,
    });
    assert_eq!(again.events(), ["file_drifted"], "{again}");
    // A person who opens it makes it a ticket of its own.
    let Observation::Read { spec, .. } = moved(&scene_with_file(), true) else {
        panic!("no file")
    };
    let opened = dropped.step(Input::Observed {
        seen: vec![Observation::Read {
            ticket: id("t-9"),
            spec,
            status: FileStatus::Open,
            tags: BTreeSet::new(),
            notes: Vec::new(),
            changed_at: dropped.now,
            origin: Origin::Person,
            renamed: Some(id("t-1")),
        }],
        whole: false,
    });
    assert!(opened.events().contains(&"created"), "{opened}");
}

fn gone(ticket: &str) -> Observation {
    Observation::Gone {
        ticket: id(ticket),
        origin: Origin::Person,
        is_tracked: true,
    }
}

/// The file, which git does not track, is gone, and nobody can bring it back.
fn untracked_gone(ticket: &str) -> Observation {
    Observation::Gone {
        ticket: id(ticket),
        origin: Origin::Person,
        is_tracked: false,
    }
}

#[test]
fn the_deletion_of_a_file_that_git_does_not_track_drops_no_work() {
    for (label, scene) in at_rest() {
        let ticket = scene.core.ticket(&id("t-1")).unwrap();
        if ticket.is_done() {
            continue;
        }
        let (has_work, was) = (ticket.has_work_at_stake(), scene.state("t-1"));
        // An agent that is at work on another ticket may have deleted the file.
        let others = scene
            .core
            .live_runs()
            .any(|(of, run)| of.as_str() != "t-1" && !run.is_check());
        let after = |seen: Observation| {
            let mut scene = scene.clone();
            let seen = vec![seen];
            let gone = scene.step(Input::Observed { seen, whole: false });
            (
                gone.events().contains(&"file_unheeded"),
                asks(&scene),
                scene.state("t-1"),
            )
        };
        let (is_unheeded, asked, state) = after(untracked_gone("t-1"));
        assert_eq!(
            (is_unheeded, asked),
            (has_work || others, (has_work || others).then_some(true)),
            "{label}"
        );
        assert!(!has_work || state == was, "{label}: {state}");
        let (is_unheeded, asked, _) = after(gone("t-1"));
        assert_eq!(
            (is_unheeded, asked),
            (others, others.then_some(true)),
            "{label}: somebody can have it back"
        );
    }
}

#[test]
fn a_file_that_git_does_not_track_and_that_went_while_no_engine_ran_drops_no_work() {
    let mut scene = scene_with_file();
    scene.restart();
    let seen = Vec::new();
    scene.step(Input::Observed { seen, whole: true });
    assert_eq!(asks(&scene), Some(true));
    assert_eq!(scene.state("t-1"), "in_progress/working");
}

#[test]
fn an_open_ticket_whose_file_git_has_taken_is_named_at_the_end() {
    let mut scene = Scene::new();
    scene.edit("t-1", |file| file.spec.deps.extend([id("t-9")]));
    scene.look_at_all();
    scene.origin = Origin::Git;
    scene.delete("t-1");
    let rest = scene.core.rest();
    assert!(!rest.moving);
    let waits: Vec<(&str, bool)> = rest
        .waits
        .iter()
        .map(|waits| (waits.ticket.as_str(), waits.why.contains("git stash pop")))
        .collect();
    assert_eq!(waits, [("t-1", true)]);
}

/// A ticket at work, whose file says so.
fn scene_with_file() -> Scene {
    let mut scene = states::working();
    scene.files_written("t-1");
    scene
}

#[test]
fn a_file_that_was_renamed_with_its_id_is_asked_about_and_stops_nobody() {
    let mut scene = scene_with_file();
    let Observation::Read {
        spec,
        status,
        tags,
        changed_at,
        origin,
        ..
    } = scene.observation(&id("t-1"))
    else {
        panic!("no file")
    };
    let new = Observation::Read {
        ticket: id("t-9"),
        renamed: None,
        notes: Vec::new(),
        spec,
        status,
        tags,
        changed_at,
        origin,
    };
    let seen = vec![new, gone("t-1")];
    let renamed = scene.step(Input::Observed { seen, whole: false });
    assert_eq!(
        renamed.events(),
        ["created", "file_unheeded", "file_unheeded"],
        "{renamed}"
    );
    assert_eq!(scene.state("t-1"), "in_progress/working");
    let asks = |ticket: &str| {
        scene
            .core
            .ticket(&id(ticket))
            .unwrap()
            .unheeded
            .as_ref()
            .unwrap()
            .asks()
    };
    assert!(asks("t-1") && asks("t-9"));
}

#[test]
fn a_ticket_that_an_engine_without_its_journal_had_is_given_out_again() {
    let mut scene = Scene::new();
    scene.origin = Origin::LostEngine;
    let found = scene.set_status("t-1", FileStatus::InProgress);
    assert_eq!(
        found.events(),
        ["created", "work_found", "file_drifted"],
        "{found}"
    );
    let written = scene.report("t-1", "write_file", engine::Report::Done);
    assert_eq!(written.events(), ["claimed", "agents_busy"], "{written}");
}

#[test]
fn a_new_ticket_in_progress_that_nobody_can_explain_is_asked_about() {
    let mut scene = Scene::new();
    scene.origin = Origin::Unknown;
    scene.set_status("t-1", FileStatus::InProgress);
    assert_eq!((asks(&scene), scene.state("t-1").as_str()), (Some(true), "open"));
    let opened = set(&mut scene, FileStatus::Open);
    assert_eq!(opened.events(), ["file_drifted"], "{opened}");
}
