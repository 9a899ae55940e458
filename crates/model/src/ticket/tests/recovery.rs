//! Recovery: the ticket that had failed, when one that recovers it has landed.

use super::rows::{Story, boss, oid, session};
use crate::attempt::{Class, StartPoint};
use crate::commitment::Promise;
use crate::ticket::{Done, Effect, Event, FileStatus, State, Why};
use crate::{Fence, TicketId};

fn landed(replaces: bool) -> Event {
    Event::RecoveryLanded {
        by: TicketId::new("t-9").unwrap(),
        commit: oid('f'),
        replaces,
    }
}

/// A ticket whose conflicts could not be resolved.
fn in_conflict() -> Story {
    let mut story = Story::submitted();
    story.then(Event::CheckStarted);
    story.then(Event::Conflicted {
        paths: vec!["a".to_owned()],
        resolutions_left: 0,
        overtaken: false,
        repeat: None,
    });
    assert_eq!(story.held(), &Why::Conflict);
    story
}

#[test]
fn a_failed_ticket_is_opened_again_with_fresh_attempts_and_its_agent_is_told() {
    let mut story = in_conflict();
    story.then(landed(false));
    assert_eq!(story.name(), "open");
    assert!(story.effects.iter().any(|e| matches!(e, Effect::KeepWork { .. })));
    assert_eq!((story.ticket.tries, story.ticket.due), (0, None));
    assert_eq!(story.ticket.from, StartPoint::Kept { number: 1 });
    let told = story.ticket.feedback.last().unwrap();
    assert!(told.contains("t-9") && told.contains(oid('f').as_str()), "{told}");
    story.claim();
    assert_eq!((story.ticket.tries, story.ticket.attempts), (1, 2));
}

#[test]
fn a_ticket_that_is_over_and_has_failed_is_opened_again_from_the_work_that_was_kept() {
    let mut story = in_conflict();
    story.ticket.state = State::Done(Done::Failed {
        reason: "no".to_owned(),
    });
    story.ticket.held = None;
    story.then(landed(false));
    assert_eq!(
        (story.name().as_str(), &story.ticket.from),
        ("open", &StartPoint::Kept { number: 1 })
    );
}

#[test]
fn a_ticket_that_is_opened_again_has_the_commitments_that_its_file_lists_by_then() {
    let mut story = in_conflict();
    story.ticket.state = State::Done(Done::Failed {
        reason: "no".to_owned(),
    });
    story.ticket.held = None;
    let promise = Promise {
        says: "the page is there".to_owned(),
        run: None,
    };
    story.ticket.spec.commitments = vec![promise.clone()];
    story.then(landed(false));
    assert!(story.ticket.has_promised(&promise));
}

#[test]
fn one_that_replaces_closes_it_and_what_depends_on_it_may_begin() {
    let mut story = in_conflict();
    story.then(landed(true));
    assert_eq!(story.name(), "done/replaced");
    assert!(story.effects.iter().any(|e| matches!(e, Effect::KeepWork { .. })));
    let State::Done(done) = &story.ticket.state else {
        panic!("{}", story.name())
    };
    assert!(done.satisfies_dependents());
    let filing = story.ticket.filing().unwrap();
    assert_eq!((filing.status, filing.tags.len()), (FileStatus::Closed, 0));
}

#[test]
fn only_a_failure_is_recovered() {
    let mut story = Story::running();
    assert_eq!(story.refuses(landed(false)), "it has not failed");
    story.fail(Class::Auth, 4);
    assert_eq!(story.refuses(landed(true)), "it has not failed");
    let mut story = in_conflict();
    story.then(Event::Retried {
        by: boss(),
        slot_free: true,
        fresh: session(Fence(9), 9),
    });
    assert_eq!(story.refuses(landed(false)), "it has not failed");
}
