//! Rows of a candidate in review, as stories.

use super::rows::{Story, oid};
use crate::attempt::{self, AfterStop, Class, Failure, Prompt, Usage};
use crate::ticket::{
    AfterReview, Asking, Clearance, Done, Effect, Event, Label, ReviewEvent, State, TimerKey, Verdict, Why,
};
use crate::{Actor, AgentName, Fence, RunId, SessionId, Time};

pub(super) fn claimed_review(name: &str, fence: u64) -> Event {
    Event::ReviewClaimed {
        agent: AgentName::new(name).unwrap(),
        fence: Fence(fence),
        harness: crate::samples::harness(),
        session: fresh(fence, 1),
        at: Time(i64::MAX),
    }
}

pub(super) fn approve(test: &str) -> Verdict {
    Verdict::Approve {
        acceptance_test: test.to_owned(),
        met: Vec::new(),
        feedback: String::new(),
    }
}

/// A review that comes to its verdict.
pub(super) fn review(story: &mut Story, name: &str, fence: u64, verdict: Verdict) {
    story.then(claimed_review(name, fence));
    of(story, fence, started(story, fence));
    of(story, fence, ReviewEvent::Spawned);
    of(story, fence, finished());
    of(story, fence, ReviewEvent::VerdictNoted { verdict });
}

fn fresh(fence: u64, n: u32) -> SessionId {
    let id = crate::samples::ticket::first().id;
    SessionId::of_attempt(uuid::Uuid::nil(), &id, Fence(fence), n)
}

fn of(story: &mut Story, fence: u64, event: ReviewEvent) {
    story.then(Event::Review {
        fence: Fence(fence),
        event,
    });
}

fn started(story: &Story, fence: u64) -> ReviewEvent {
    let reviewing = story.ticket.reviewing().unwrap();
    let runs = reviewing.review(Fence(fence)).unwrap().conversation.runs;
    let run = RunId::of_step(&story.ticket.id, Fence(fence), runs + 1);
    ReviewEvent::Started { run }
}

fn finished() -> ReviewEvent {
    ReviewEvent::Finished {
        usage: Usage {
            cost_micro_usd: 7,
            ..Usage::default()
        },
        total_micro_usd: None,
    }
}

fn failed(class: Class, fence: u64) -> ReviewEvent {
    ReviewEvent::Failed {
        usage: Usage::default(),
        total_micro_usd: None,
        failure: Failure::new(class, "no"),
        retry_at: Time(900_000),
        fresh: fresh(fence, 2),
    }
}

fn in_review() -> Story {
    let mut story = Story::checking();
    story.then(Event::ChecksPassed {
        tree: oid('d'),
        passed: Vec::new(),
        review: true,
    });
    story
}

/// A gatekeeper is at work.
fn live() -> Story {
    let mut story = in_review();
    story.then(claimed_review("gate-1", 2));
    let event = started(&story, 2);
    of(&mut story, 2, event);
    story
}

fn pat() -> Actor {
    Actor::person("pat")
}

fn approved(fence: u64, agree: u32) -> Event {
    Event::Approved {
        fence: Fence(fence),
        agree,
    }
}

fn rejected() -> Event {
    Event::Rejected {
        fence: Fence(2),
        attempts_left: 2,
        reopen_at: Time(0),
    }
}

fn reject() -> Verdict {
    Verdict::Reject {
        reason: "no test".to_owned(),
        feedback: "write one".to_owned(),
    }
}

#[test]
fn a_review_is_a_second_claim_with_a_slot_of_its_own_and_costs_its_ticket() {
    let mut story = live();
    let slots: Vec<_> = story.ticket.slots().map(|(name, _)| name.to_string()).collect();
    assert_eq!(slots, ["ann", "gate-1"]);
    assert_eq!(story.ticket.live_runs().count(), 1);
    assert!(story.ticket.has_claim(Fence(1)) && story.ticket.has_claim(Fence(2)));
    of(&mut story, 2, finished());
    assert_eq!(story.ticket.spent.since_grant_micro_usd, 7);
    assert_eq!(story.ticket.live_runs().count(), 0);
}

#[test]
fn an_author_does_not_review_and_nobody_reviews_beside_another() {
    let mut story = in_review();
    assert!(story.refuses(claimed_review("ann", 2)).contains("an author"));
    story.then(claimed_review("gate-1", 2));
    assert!(
        story
            .refuses(claimed_review("gate-2", 3))
            .contains("a gatekeeper has it")
    );
}

#[test]
fn as_many_gatekeepers_approve_as_must_agree_and_none_of_them_twice() {
    let mut story = in_review();
    review(&mut story, "gate-1", 2, approve("ran it"));
    assert!(story.refuses(approved(2, 2)).contains("not enough"));
    assert!(
        story
            .refuses(claimed_review("gate-1", 3))
            .contains("approved of it already")
    );
    review(&mut story, "gate-2", 3, approve("read it"));
    story.then(approved(3, 2));
    let State::Verify(verify) = &story.ticket.state else {
        panic!("{}", story.name())
    };
    assert!(verify.clearance(&oid('a')).is_some(), "its tip is cleared");
    assert!(verify.clearance(&oid('9')).is_none(), "no other is");
}

#[test]
fn a_verdict_waits_until_no_process_of_its_review_lives() {
    let mut story = live();
    let noted = ReviewEvent::VerdictNoted {
        verdict: approve("ran it"),
    };
    of(&mut story, 2, noted);
    assert!(story.refuses(approved(2, 1)).contains("is ended first"));
}

#[test]
fn a_rejection_reaches_the_next_attempt_which_starts_from_the_branch() {
    let mut story = in_review();
    review(&mut story, "gate-1", 2, reject());
    story.then(rejected());
    let ticket = &story.ticket;
    assert_eq!(story.name(), "open");
    assert_eq!(ticket.from, attempt::StartPoint::Kept { number: 1 });
    assert!(ticket.labels.contains(&Label::Rejected));
    assert!(
        ticket.feedback[0].contains("no test\nwrite one"),
        "{:?}",
        ticket.feedback
    );
    assert!(
        story
            .effects
            .iter()
            .any(|effect| matches!(effect, Effect::KeepWork { .. }))
    );
    assert!(ticket.authors.contains(&AgentName::new("ann").unwrap()));
}

#[test]
fn a_review_without_a_verdict_is_tried_again_later_and_held_in_the_end() {
    let mut story = live();
    of(&mut story, 2, finished());
    let gave_up = |fence, left| Event::ReviewGaveUp {
        why: String::new(),
        fence: Fence(fence),
        left,
        due: Time(900_000),
    };
    story.then(gave_up(2, 1));
    let removed = |story: &Story| {
        let mut effects = story.effects.iter();
        effects.any(|effect| matches!(effect, Effect::RemoveReview { run: Some(_), .. }))
    };
    assert!(removed(&story));
    assert_eq!(
        story.ticket.deadline().map(|deadline| deadline.key),
        Some(TimerKey::Review)
    );
    assert!(story.ticket.labels.contains(&Label::EvaluatorIncomplete));
    let early = Event::ReviewClaimed {
        agent: AgentName::new("gate-1").unwrap(),
        fence: Fence(3),
        harness: crate::samples::harness(),
        session: fresh(3, 1),
        at: Time(0),
    };
    assert!(story.refuses(early).contains("not due"));
    story.then(claimed_review("gate-1", 3));
    let event = started(&story, 3);
    of(&mut story, 3, event);
    of(&mut story, 3, failed(Class::Crash, 3));
    story.then(Event::ReviewCrashed {
        fence: Fence(3),
        left: 0,
        due: Time(0),
    });
    let held = story.ticket.held.as_ref().unwrap();
    assert_eq!(held.why, Why::Review);
    let note = "its review ended in errors too often, at last in this one (crash): ";
    assert!(held.note.starts_with(note), "{}", held.note);
    let labels: Vec<_> = story.ticket.labels.iter().collect();
    assert_eq!(labels, [&Label::EvaluatorError]);
}

#[test]
fn a_person_decides_in_a_gatekeepers_place_once_its_step_has_ended() {
    let mut story = live();
    let returned = || Event::Returned {
        by: pat(),
        why: "not yet".to_owned(),
        reopen_at: Time(0),
    };
    assert!(story.refuses(returned()).contains("is ended first"));
    let then = AfterReview::Return {
        by: pat(),
        why: "not yet".to_owned(),
    };
    story.then(Event::ReviewEndOrdered { then });
    let stop = |effect: &Effect| matches!(effect, Effect::Attempt(attempt::Effect::StopRun { .. }));
    assert!(story.effects.iter().any(stop));
    of(&mut story, 2, failed(Class::KilledByUs, 2));
    story.then(returned());
    let State::InProgress(attempt) = &story.ticket.state else {
        panic!("{}", story.name())
    };
    let attempt::State::Working(working) = &attempt.state else {
        panic!("{:?}", attempt.state)
    };
    let prompt = Prompt::Returned {
        by: "pat".to_owned(),
        why: "not yet".to_owned(),
    };
    assert_eq!((&working.next, attempt.claim.agent.as_str()), (&prompt, "ann"));

    let mut story = in_review();
    story.then(Event::ReviewApproved { by: pat() });
    assert_eq!(story.name(), "verify/checking");
}

#[test]
fn a_review_of_a_ticket_that_is_dropped_is_ended_and_leaves_nothing() {
    let mut story = live();
    story.then(Event::Dropped {
        by: pat(),
        reason: String::new(),
    });
    let is_end = |effect: &&Effect| {
        matches!(
            effect,
            Effect::Attempt(attempt::Effect::StopRun { .. }) | Effect::RemoveReview { .. }
        )
    };
    assert_eq!(story.effects.iter().filter(is_end).count(), 2);
    assert_eq!(story.ticket.slots().count(), 0);
}

#[test]
fn work_that_a_gatekeeper_finds_impossible_is_over() {
    let mut story = in_review();
    let reason = "it contradicts itself".to_owned();
    review(&mut story, "gate-1", 2, Verdict::Fail { reason });
    story.then(Event::WorkFailed { fence: Fence(2) });
    assert!(matches!(story.ticket.state, State::Done(Done::Failed { .. })));
    story.then(Event::Dropped {
        by: pat(),
        reason: String::new(),
    });
    assert!(matches!(story.ticket.state, State::Done(Done::Dropped { .. })));
}

#[test]
fn a_review_that_the_engine_stops_goes_on_in_its_session() {
    let mut story = live();
    let stop = ReviewEvent::StopOrdered {
        then: AfterStop::Pause,
    };
    of(&mut story, 2, stop);
    of(&mut story, 2, failed(Class::KilledByUs, 2));
    let event = started(&story, 2);
    of(&mut story, 2, event);
    let [
        Effect::StartReview {
            session, new_session, ..
        },
    ] = story.effects.as_slice()
    else {
        panic!("{:?}", story.effects)
    };
    assert_eq!((session, *new_session), (&fresh(2, 1), false));
}

fn asked(until: Option<Time>) -> ReviewEvent {
    let question = "is it meant?".to_owned();
    let since = Time(1_000);
    ReviewEvent::Asked {
        asks: Asking {
            question,
            until,
            since,
        },
    }
}

/// A gatekeeper has asked.
fn asking(until: Option<Time>) -> Story {
    let mut story = live();
    of(&mut story, 2, ReviewEvent::Spawned);
    of(&mut story, 2, finished());
    of(&mut story, 2, asked(until));
    story
}

fn answered(text: &str) -> ReviewEvent {
    ReviewEvent::Answered {
        by: pat(),
        text: text.to_owned(),
        question: "is it meant?".to_owned(),
    }
}

#[test]
fn a_review_waits_with_its_question_and_goes_on_with_the_answer() {
    let mut story = asking(None);
    let open = story.ticket.open_question().unwrap();
    assert_eq!((open.agent.as_str(), open.text), ("gate-1", "is it meant?"));
    assert_eq!((story.ticket.questions, story.ticket.deadline()), (1, None));
    let review = story.ticket.reviewing().unwrap().open().unwrap();
    assert!(!review.can_step(Time(i64::MAX)));
    let event = started(&story, 2);
    story.refuses(Event::Review {
        fence: Fence(2),
        event,
    });
    // An answer that it was not given yet is replaced.
    of(&mut story, 2, answered("no"));
    of(&mut story, 2, answered("yes"));
    assert_eq!(story.ticket.answerable().unwrap().answer, Some("yes"));
    assert!(story.ticket.closed_question.is_none());
    let event = started(&story, 2);
    of(&mut story, 2, event);
    assert!(story.ticket.answerable().is_none());
    assert_eq!(story.ticket.answers.len(), 1);
}

#[test]
fn a_review_goes_on_without_an_answer_when_its_time_is_over() {
    let mut story = asking(Some(Time(60_000)));
    let deadline = story.ticket.deadline().unwrap();
    assert_eq!((deadline.key, deadline.at), (TimerKey::Answer, Time(60_000)));
    of(&mut story, 2, ReviewEvent::WaitTimedOut);
    let review = story.ticket.reviewing().unwrap().open().unwrap();
    assert_eq!(review.unanswered, ["is it meant?"]);
    assert!(review.can_step(Time(0)) && story.ticket.open_question().is_none());
    assert!(story.ticket.closed_question.is_none());
}

#[test]
fn a_question_whose_review_ends_is_closed_with_the_reason() {
    let dropped = Event::Dropped {
        by: pat(),
        reason: String::new(),
    };
    for (event, why) in [
        (dropped, "the ticket was dropped by pat"),
        (Event::TargetMoved, "is gone, and the work is merged anew"),
        (
            Event::ReviewApproved { by: pat() },
            "pat has approved in the gatekeeper's place",
        ),
        (
            Event::ReviewCrashed {
                fence: Fence(2),
                left: 1,
                due: Time(0),
            },
            "its review is over",
        ),
    ] {
        let mut story = asking(None);
        story.then(event);
        assert!(story.ticket.open_question().is_none(), "{why}");
        let closed = story.ticket.closed_question.as_ref().unwrap();
        assert!(closed.is_new && closed.number == 1, "{closed:?}");
        assert!(closed.words(&story.ticket.id).ends_with(why), "{closed:?}");
    }
}

/// The work at tip a was approved, and its branch does not merge any more.
fn in_conflict() -> Story {
    let mut story = in_review();
    review(&mut story, "gate-1", 2, approve("ran it"));
    story.then(approved(2, 1));
    story.then(Event::CheckStarted);
    story.then(Event::Conflicted {
        paths: vec!["src/a.rs".to_owned()],
        resolutions_left: 1,
        overtaken: false,
        repeat: None,
    });
    story
}

/// It is submitted again and being merged.
fn merged_again(story: &mut Story) {
    let at = story.now;
    story.then(Event::Submitted { by: pat(), at });
    story.then(Event::CheckStarted);
}

fn kept(of: char, tip: char) -> Event {
    Event::ApprovalKept {
        by: vec![AgentName::new("gate-1").unwrap()],
        of: oid(of),
        tip: oid(tip),
        paths: vec!["src/a.rs".to_owned()],
    }
}

fn clearance(story: &Story, tip: char) -> Option<&Clearance> {
    let State::Verify(verify) = &story.ticket.state else {
        panic!("{}", story.name())
    };
    verify.clearance(&oid(tip))
}

#[test]
fn an_approval_holds_for_the_tip_that_resolves_the_conflict_of_the_approved_one() {
    let mut story = in_conflict();
    assert!(
        story
            .refuses(kept('a', '8'))
            .contains("nothing of it is submitted")
    );
    merged_again(&mut story);
    let ordered = |effect: &Effect| match effect {
        Effect::BuildCandidate { before_conflict, .. } => before_conflict.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(ordered(&story.effects[0]), Some(oid('a')));
    assert!(story.refuses(kept('b', '8')).contains("not approved before"));
    story.then(kept('a', '8'));
    assert!(clearance(&story, 'a').is_none());
    let Some(Clearance::Approved { acceptance_test, .. }) = clearance(&story, '8') else {
        panic!("its tip is not cleared")
    };
    assert_eq!(
        acceptance_test,
        "ran it (before the conflict in src/a.rs was resolved)"
    );
    assert!(
        story.refuses(kept('a', '7')).contains("not approved before"),
        "once"
    );
}

#[test]
fn an_approval_does_not_outlive_a_rejection_or_hold_where_its_gatekeeper_is_an_author() {
    let mut story = in_conflict();
    merged_again(&mut story);
    story.ticket.authors.insert(AgentName::new("gate-1").unwrap());
    assert!(story.refuses(kept('a', '8')).contains("an author"));
    story.ticket.authors.remove(&AgentName::new("gate-1").unwrap());

    // Something else was changed: it is reviewed again, and rejected.
    story.then(Event::CandidateBuilt {
        candidate: crate::ticket::Candidate {
            tip: oid('8'),
            ..crate::samples::ticket::candidate()
        },
        plan: crate::ticket::CheckPlan::default(),
    });
    story.then(Event::ChecksPassed {
        tree: oid('d'),
        passed: Vec::new(),
        review: true,
    });
    review(&mut story, "gate-1", 3, reject());
    story.then(Event::Rejected {
        fence: Fence(3),
        attempts_left: 2,
        reopen_at: Time(0),
    });
    assert_eq!(story.ticket.approved_before, None);
}

#[test]
fn an_approval_names_each_commitment_that_no_command_verifies() {
    let promise = crate::commitment::Promise {
        says: "it is friendly".to_owned(),
        run: None,
    };
    let mut story = Story::submitted();
    let by = crate::commitment::By::Assigner(pat());
    story.then(Event::CommitmentAdded { by, promise });
    story.then(Event::CheckStarted);
    story.then(Event::CandidateBuilt {
        candidate: crate::samples::ticket::candidate(),
        plan: crate::ticket::CheckPlan::default(),
    });
    let passed = |review| Event::ChecksPassed {
        tree: oid('d'),
        passed: Vec::new(),
        review,
    };
    assert!(
        story
            .refuses(passed(false))
            .contains("not every commitment is met")
    );
    story.then(passed(true));
    review(&mut story, "gate-1", 2, approve("ran it"));
    assert!(story.refuses(approved(2, 1)).contains("named as met"));
    story.then(Event::ReviewApproved { by: pat() });
    assert!(
        story.ticket.unmet(&oid('a')).next().is_none(),
        "a person names all"
    );
}
