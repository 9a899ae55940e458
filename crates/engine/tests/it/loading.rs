//! Loading: an engine that is killed at any moment goes on from its journal as if nothing had been.

use engine::{Core, Duty, Loaded};
use model::journal::{State, Stream};
use model::project::Project;

use crate::matrix::matrix;
use crate::scene::{Scene, id, settings};
use crate::states;

#[test]
fn a_restart_in_any_state_begins_only_what_a_person_may_have_made_way_for() {
    insta::assert_snapshot!(matrix(states::all(), |scene| {
        let before = scene.all_pending("t-1");
        let opened = scene.restart();
        let looked = scene.look_at_all();
        let begun = scene.all_pending("t-1");
        assert_eq!(begun[..before.len()], before, "what was ordered is still ordered");
        format!("{opened}\nthe folder is read\n{looked}")
    }));
}

/// All knowledge of a core is in the journal: the next core decides as this one would have.
#[test]
fn the_next_core_decides_as_the_one_before_it_would_have() {
    for (label, scene) in states::all_at_rest() {
        for kind in ["prepare_workspace", "inspect_workspace", "build_candidate"] {
            if scene.pending("t-1", kind).is_none() {
                continue;
            }
            let (mut one, mut other) = (scene.clone(), scene.clone());
            other.restart();
            other.look_at_all();
            let report = || engine::Report::CouldNotRun {
                why: "no disk".to_owned(),
            };
            let (a, b) = (
                one.report("t-1", kind, report()),
                other.report("t-1", kind, report()),
            );
            assert_eq!(a.events(), b.events(), "{label}, {kind}");
            assert_eq!(one.state("t-1"), other.state("t-1"), "{label}, {kind}");
        }
    }
}

#[test]
fn a_writing_that_was_ordered_before_a_restart_is_still_on_its_way() {
    let mut scene = states::preparing();
    scene.restart();
    // The file still says that it is open: nobody has set it back.
    let read = scene.look_at_all();
    assert_eq!(read.events(), ["agents_busy"], "{read}");
    scene.files_written("t-1");
    let open = scene.set_status("t-1", model::ticket::FileStatus::Open);
    assert_eq!(
        open.events(),
        ["file_drifted"],
        "a person has set it back: {open}"
    );
}

#[test]
fn a_journal_whose_streams_are_of_another_kind_is_refused() {
    let core = |stream, state| {
        let loaded = Loaded {
            streams: vec![(stream, 1, state)],
            pending: Vec::new(),
        };
        Core::load(settings(), uuid::Uuid::nil(), loaded).map(drop)
    };
    let project = || State::Project(Project::default());
    assert_eq!(core(Stream::Project, project()), Ok(()));
    let error = core(Stream::Ticket(id("t-1")), project()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "stream `ticket/t-1` holds the state of another kind of stream"
    );
    let (_, ticket) = states::working().journal.ticket(&id("t-1")).unwrap();
    assert!(core(Stream::Project, State::Ticket(ticket)).is_err());
}

#[test]
fn the_same_inputs_lead_to_the_same_decisions() {
    for ((label, mut one), (_, mut other)) in states::all().into_iter().zip(states::all()) {
        assert_eq!(one.tick().output, other.tick().output, "{label}");
        assert!(one.core.tickets().eq(other.core.tickets()), "{label}");
    }
}

#[test]
fn an_engine_opens_once_and_after_a_crash_again() {
    let mut scene = Scene::loaded(|_| {});
    let opened = scene.open(Duty::Drain);
    assert_eq!(
        opened.to_string(),
        "crew: opened\ncrew+ agent_spawned ann\ncrew+ agent_spawned bob\ncrew+ agent_spawned cat\n\
         crew+ initialized"
    );
    let after_a_crash = scene.restart();
    assert_eq!(after_a_crash.events(), ["opened", "initialized"]);
}
