//! Pull requests: when they are looked at.

use std::collections::BTreeSet;
use std::time::Duration;

use engine::Report;
use model::ticket::{PullRequest, ReviewDecision, Seen};

use crate::scene::{Scene, oid, secs};
use crate::states;

/// Work whose pull request was just opened.
fn proposed() -> Scene {
    let mut scene = states::landing();
    let head = scene.core.ticket(&crate::scene::id("t-1")).unwrap();
    let head = head.candidate().unwrap().tip.clone();
    let request = PullRequest {
        number: 1,
        url: "https://example.com/team/it/pull/1".to_owned(),
        head,
        answered: BTreeSet::new(),
    };
    scene.report("t-1", "land", Report::Proposed { request });
    scene
}

fn open(not_merged: &str) -> Report {
    Report::ProposalSeen {
        seen: Seen {
            is_draft: false,
            review: ReviewDecision::Approved,
            conflicts: false,
            other_head: None,
            not_merged: Some(not_merged.to_owned()),
        },
    }
}

/// The seconds until the pull request is looked at again.
fn wait(scene: &Scene) -> u64 {
    let ticket = scene.core.ticket(&crate::scene::id("t-1")).unwrap();
    let due = ticket.proposal().unwrap().1.due.unwrap();
    due.since(scene.now).as_secs()
}

#[test]
fn a_look_happens_by_itself_when_it_is_due() {
    let mut scene = proposed();
    assert_eq!(wait(&scene), 60);
    scene.wait(secs(59));
    assert!(scene.pending("t-1", "look_at_proposal").is_none());
    scene.wait(secs(1));
    assert!(scene.pending("t-1", "look_at_proposal").is_some());
    scene.report("t-1", "look_at_proposal", Report::Landed { commit: oid('c') });
    assert_eq!(scene.state("t-1"), "done/landed");
}

#[test]
fn the_words_of_a_host_that_does_not_merge_are_no_news() {
    let mut scene = proposed();
    let mut waits = Vec::new();
    for look in 0..6 {
        let due = Duration::from_secs(wait(&scene));
        scene.wait(due);
        let words = format!("something went wrong (request {look})");
        scene.report("t-1", "look_at_proposal", open(&words));
        waits.push(wait(&scene));
    }
    assert_eq!(waits, [60, 120, 240, 480, 600, 600]);
}
