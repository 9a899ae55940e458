//! Pull requests: nobody gives up work that may have been merged meanwhile.

use engine::Report;
use model::settings::LandMode;
use model::ticket::{FileStatus, PullRequest, ReviewDecision, Seen};

use crate::scene::{Scene, oid, secs};
use crate::states;

/// A ticket whose work waits in a pull request.
fn proposed() -> Scene {
    let mut scene = states::building_with(|settings| settings.land.mode = LandMode::Pr);
    scene.built("t-1", 'b');
    scene.checks_pass("t-1");
    let request = PullRequest {
        number: 7,
        url: "https://example.com/team/it/pull/7".to_owned(),
        head: oid('b'),
        answered: Default::default(),
    };
    scene.report("t-1", "land", Report::Proposed { request });
    scene.files_written("t-1");
    assert_eq!(scene.state("t-1"), "verify/proposed");
    scene
}

fn is_open(scene: &mut Scene) {
    let seen = Seen {
        is_draft: false,
        review: ReviewDecision::Open,
        conflicts: false,
        other_head: None,
        not_merged: None,
    };
    scene.report("t-1", "look_at_proposal", Report::ProposalSeen { seen });
}

fn is_merged(scene: &mut Scene) {
    let commit = oid('d');
    scene.report("t-1", "look_at_proposal", Report::Landed { commit });
}

#[test]
fn a_ticket_that_is_dropped_is_looked_at_first_and_has_landed_where_somebody_merged_it() {
    for is_by_file in [false, true] {
        for (looked, ends) in [
            (is_open as fn(&mut Scene), "done/dropped"),
            (is_merged, "done/landed"),
        ] {
            let mut scene = proposed();
            if is_by_file {
                scene.delete("t-1");
            } else {
                let answer = scene.ask(states::drop_it()).answer();
                assert!(answer.contains("looked at first"), "{answer}");
            }
            assert_eq!(scene.state("t-1"), "verify/proposed");
            looked(&mut scene);
            assert_eq!(scene.state("t-1"), ends, "by its file: {is_by_file}");
        }
    }
}

#[test]
fn a_file_that_stays_away_during_a_look_is_one_wish() {
    let mut scene = proposed();
    scene.delete("t-1");
    let again = scene.tick();
    assert!(again.events().is_empty(), "{again}");
}

#[test]
fn a_host_that_is_away_decides_nothing_and_the_wish_is_heeded_at_the_next_look() {
    let why = || "it does not answer".to_owned();
    for (looked, ends) in [
        (is_open as fn(&mut Scene), "done/dropped"),
        (is_merged, "done/landed"),
    ] {
        let mut scene = proposed();
        scene.ask(states::drop_it());
        scene.report("t-1", "look_at_proposal", Report::RemoteAway { why: why() });
        assert_eq!(scene.state("t-1"), "verify/proposed");
        scene.restart();
        scene.look_at_all();
        if scene.pending("t-1", "look_at_proposal").is_none() {
            scene.wait(secs(600));
        }
        looked(&mut scene);
        assert_eq!(scene.state("t-1"), ends);
    }
}

#[test]
fn a_look_that_only_a_person_can_mend_holds_the_ticket_and_a_second_word_drops_it() {
    let why = || "there is no program gh".to_owned();
    let mut scene = proposed();
    scene.ask(states::drop_it());
    scene.report("t-1", "look_at_proposal", Report::RemoteRefused { why: why() });
    assert_eq!(scene.state("t-1"), "verify/proposed (held)");
    scene.ask(states::drop_it());
    assert_eq!(scene.state("t-1"), "done/dropped");

    // A file that is away says nothing new each time that it is missed.
    let mut scene = proposed();
    scene.delete("t-1");
    scene.report("t-1", "look_at_proposal", Report::RemoteRefused { why: why() });
    assert_eq!(scene.state("t-1"), "verify/proposed (held)");
    scene.wait(secs(600));
    is_merged(&mut scene);
    assert_eq!(scene.state("t-1"), "done/landed");
    assert_eq!(scene.status("t-1"), FileStatus::Open, "there is no file");
}
