//! Labels: one test for each row of the table of failures. Each sets the tags of the ticket's file, and
//! clears them.

use super::reviews::{approve as approval, claimed_review};
use super::rows::{Story, boss, oid, session};
use crate::attempt::{Class, Event as Of, Signal, Workspace};
use crate::samples::ticket::{candidate, first, spec};
use crate::ticket::{CheckPlan, Event, Released, ReviewEvent, Spec, Verdict};
use crate::{Fence, Time};

/// Crew's tags in the ticket's file.
fn tags(story: &Story) -> Vec<String> {
    let filing = story.ticket.filing().unwrap();
    filing.tags.into_iter().filter(|tag| tag != "verify").collect()
}

/// A ticket that recovers no other.
fn plain() -> Story {
    let mut story = Story {
        ticket: first(),
        now: Time(0),
        effects: Vec::new(),
    };
    let spec = Spec {
        recovers: None,
        ..spec()
    };
    story.then(Event::Created { spec });
    story
}

/// The next attempt at an open ticket runs its first step.
fn next_attempt(story: &mut Story) {
    story
        .claim()
        .of(Of::WorkspaceReady {
            base: oid('a'),
            earlier_work: true,
        })
        .start();
}

/// The attempt at work crashes for the last time.
fn crash(story: &mut Story, attempts_left: u32) {
    let fresh = session(story.ticket.fence, 9);
    story.fail(Class::Crash, 0).of(Of::Recovered {
        workspace: Workspace::Changed,
        fresh,
        recoveries_left: 0,
        attempts_left,
        reopen_at: Time(500_000),
    });
}

fn retry(story: &mut Story) {
    story.then(Event::Retried {
        by: boss(),
        slot_free: true,
        fresh: session(Fence(9), 9),
    });
}

/// In review, and a gatekeeper has it.
fn reviewed() -> Story {
    let mut story = plain();
    next_attempt(&mut story);
    story.finish(Signal::Done, 9).then(Event::CheckStarted);
    story.then(Event::CandidateBuilt {
        candidate: candidate(),
        plan: CheckPlan::default(),
    });
    story.then(Event::ChecksPassed {
        tree: oid('d'),
        passed: Vec::new(),
        review: true,
    });
    claim_review(&mut story);
    story
}

fn claim_review(story: &mut Story) {
    story.then(claimed_review("gate-1", story.ticket.fence.next().0));
}

/// The gatekeeper that has it comes to its verdict.
fn decide(story: &mut Story, verdict: Verdict) {
    let fence = story.ticket.fence;
    let event = ReviewEvent::VerdictNoted { verdict };
    story.then(Event::Review { fence, event });
}

fn approve(story: &mut Story) {
    decide(story, approval("ran it"));
    let fence = story.ticket.fence;
    story.then(Event::Approved { fence, agree: 1 });
}

fn crash_review(story: &mut Story, left: u32) {
    let (fence, due) = (story.ticket.fence, Time(0));
    story.then(Event::ReviewCrashed { fence, left, due });
}

#[test]
fn a_worker_that_crashes_leaves_agent_error_and_the_last_one_failed_too() {
    let mut story = plain();
    next_attempt(&mut story);
    crash(&mut story, 1);
    assert_eq!(tags(&story), ["agent-error"]);
    next_attempt(&mut story);
    crash(&mut story, 0);
    assert_eq!(tags(&story), ["agent-error", "failed", "held"]);
    retry(&mut story);
    assert_eq!(tags(&story), [""; 0]);
}

#[test]
fn a_worker_that_ends_without_submitting_leaves_agent_incomplete_until_the_next_one_submits() {
    let mut story = plain();
    next_attempt(&mut story);
    story.finish(Signal::None, 0).start().finish(Signal::None, 0);
    assert_eq!(tags(&story), ["agent-incomplete"]);
    next_attempt(&mut story);
    assert_eq!(tags(&story), ["agent-incomplete"], "so the last attempt ended");
    story.finish(Signal::Done, 9);
    assert_eq!(tags(&story), [""; 0]);
}

#[test]
fn the_end_of_the_last_attempt_alone_counts() {
    let mut story = plain();
    next_attempt(&mut story);
    story.finish(Signal::None, 0).start().finish(Signal::None, 0);
    next_attempt(&mut story);
    crash(&mut story, 1);
    assert_eq!(tags(&story), ["agent-error"]);
}

#[test]
fn a_gatekeeper_that_crashes_leaves_evaluator_error_until_a_verdict() {
    let mut story = reviewed();
    crash_review(&mut story, 1);
    assert_eq!(tags(&story), ["evaluator-error"]);
    claim_review(&mut story);
    crash_review(&mut story, 0);
    assert_eq!(tags(&story), ["evaluator-error", "failed", "held"]);

    let mut story = reviewed();
    crash_review(&mut story, 1);
    claim_review(&mut story);
    approve(&mut story);
    assert_eq!(tags(&story), [""; 0]);
}

#[test]
fn a_gatekeeper_without_a_verdict_leaves_evaluator_incomplete_until_a_verdict() {
    let mut story = reviewed();
    let (fence, due) = (story.ticket.fence, Time(0));
    let why = String::new();
    story.then(Event::ReviewGaveUp {
        fence,
        why,
        left: 1,
        due,
    });
    assert_eq!(tags(&story), ["evaluator-incomplete"]);
    claim_review(&mut story);
    approve(&mut story);
    assert_eq!(tags(&story), [""; 0]);
}

#[test]
fn a_ticket_that_nobody_had_any_more_is_auto_recovered_until_it_is_submitted() {
    let mut story = plain();
    story.then(Event::WorkFound);
    assert_eq!(tags(&story), ["auto-recovered"]);
    next_attempt(&mut story);
    story.finish(Signal::Done, 9);
    assert_eq!(tags(&story), [""; 0]);
}

#[test]
fn rejected_work_is_rejected_until_it_is_submitted_anew() {
    let mut story = reviewed();
    let (reason, feedback) = ("no".to_owned(), "so".to_owned());
    decide(&mut story, Verdict::Reject { reason, feedback });
    let fence = story.ticket.fence;
    story.then(Event::Rejected {
        fence,
        attempts_left: 1,
        reopen_at: Time(0),
    });
    assert_eq!(tags(&story), ["rejected"]);
    next_attempt(&mut story);
    assert_eq!(tags(&story), ["rejected"]);
    story.finish(Signal::Done, 9);
    assert_eq!(tags(&story), [""; 0]);
}

#[test]
fn every_hold_is_held_and_only_a_failure_is_failed() {
    let mut story = plain();
    next_attempt(&mut story);
    story.fail(Class::Auth, 4);
    assert_eq!(tags(&story), ["held"], "a person logs the client in");
    retry(&mut story);
    assert_eq!(tags(&story), [""; 0]);

    story.start().then(Event::Attempt(Of::StepFinished {
        usage: crate::attempt::Usage::default(),
        total_micro_usd: None,
        signal: Signal::Blocked {
            why: "no key".to_owned(),
        },
        summary: None,
        repeat: None,
        unusable: Vec::new(),
        steps_left: 9,
        attempts_left: 2,
        reopen_at: Time(0),
        answer_by: None,
    }));
    assert_eq!(tags(&story), ["held"]);
}

#[test]
fn work_that_a_reviewer_found_impossible_is_failed_until_it_is_opened_again() {
    let mut story = reviewed();
    let reason = "no".to_owned();
    decide(&mut story, Verdict::Fail { reason });
    let fence = story.ticket.fence;
    story.then(Event::WorkFailed { fence });
    assert_eq!(tags(&story), ["failed"]);
    story.then(Event::Reopened { by: boss() });
    assert_eq!(tags(&story), [""; 0]);
}

#[test]
fn a_killed_agent_is_not_a_failure_and_one_that_was_given_up_is() {
    let mut story = plain();
    next_attempt(&mut story);
    story.finish(Signal::None, 9);
    let mut reaped = Story {
        ticket: story.ticket.clone(),
        now: story.now,
        effects: Vec::new(),
    };
    story.then(Event::Released {
        why: Released::Killed { by: boss() },
    });
    assert_eq!(tags(&story), ["held", "killed"]);
    reaped.then(Event::Released {
        why: Released::Reaped { why: "no".to_owned() },
    });
    assert_eq!(tags(&reaped), ["failed", "held", "reaped"]);
    for mut story in [story, reaped] {
        retry(&mut story);
        assert_eq!(tags(&story), [""; 0]);
    }
}

#[test]
fn a_recovery_is_tagged_from_its_claim_on_until_it_lands_or_goes_back() {
    let mut story = Story::open();
    assert_eq!(tags(&story), [""; 0], "its author's file is left alone");
    story.claim();
    assert_eq!(tags(&story), ["recovery"]);
    story.then(Event::Released {
        why: Released::Killed { by: boss() },
    });
    assert_eq!(tags(&story), ["held", "killed"]);

    let mut story = Story::open();
    story.then(Event::RecoveryNotNeeded);
    assert_eq!(tags(&story), ["recovery"]);
    story.then(Event::Reopened { by: boss() });
    assert_eq!(tags(&story), [""; 0]);
}
