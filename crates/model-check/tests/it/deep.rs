//! The larger worlds: a million states and more.

use model_check::{Bounds, Guards};

use crate::explored::{CALM, OVERTAKEN, REVIEWED, falls, holds};

#[test]
fn three_tickets_an_engine_killed_and_a_process_lost() {
    holds(Bounds {
        stops: 1,
        losses: 1,
        ..CALM
    });
}

#[test]
fn three_tickets_an_engine_killed_and_a_ticket_dropped() {
    let summary = holds(Bounds {
        stops: 1,
        drops: 1,
        ..CALM
    });
    assert!(
        summary.states > 1_000_000,
        "it explores what it says: {summary:?}"
    );
}

#[test]
fn three_tickets_and_an_engine_that_was_overtaken_which_without_version_and_fence_falls() {
    let summary = holds(OVERTAKEN);
    assert!(
        summary.states > 1_000_000,
        "it explores what it says: {summary:?}"
    );
    let unfenced = Guards {
        admission: false,
        ..Guards::ALL
    };
    assert_eq!(falls(unfenced, OVERTAKEN).invariant, "I13");
}

#[test]
fn one_ticket_and_an_engine_that_was_overtaken_twice() {
    holds(Bounds {
        tickets: 1,
        stops: 2,
        pushes: 1,
        losses: 1,
        edits: 1,
        ..OVERTAKEN
    });
}

#[test]
fn two_tickets_in_review_an_engine_killed_and_one_sent_back() {
    let summary = holds(Bounds {
        stops: 1,
        rejections: 1,
        ..REVIEWED
    });
    assert!(summary.states > 100_000, "it explores what it says: {summary:?}");
}

#[test]
fn two_tickets_in_review_an_engine_killed_and_one_dropped() {
    holds(Bounds {
        stops: 1,
        drops: 1,
        ..REVIEWED
    });
}
