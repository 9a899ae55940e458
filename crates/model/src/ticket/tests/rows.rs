//! Rows of the table that are easy to get wrong, as stories.

use super::reviews::{approve, claimed_review, review};
use crate::attempt::{self, AfterStop, Class, Event as Of, Failure, Prompt, Signal, Usage, Workspace};
use crate::machine::Rejected;
use crate::policy::budget::Budget;
use crate::samples::ticket::{candidate, first, spec};
use crate::ticket::{
    AfterLanding, Answer, Candidate, Change, CheckPlan, Done, Effect, Event, FileStatus, Fingerprint,
    KeptWork, Label, Released, Repeat, ReviewEvent, Spec, Stage, State, Ticket, Verify, Why,
};
use crate::{Actor, AgentName, Fence, Oid, RunId, SessionId, TicketId, Time};

/// A ticket to which things happen, one second apart.
pub(super) struct Story {
    pub(super) ticket: Ticket,
    pub(super) now: Time,
    pub(super) effects: Vec<Effect>,
}

impl Story {
    /// A ticket that was seen.
    pub(super) fn open() -> Self {
        let mut story = Self {
            ticket: first(),
            now: Time(0),
            effects: Vec::new(),
        };
        story.then(Event::Created { spec: spec() });
        story
    }

    /// Its agent has a workspace.
    fn ready() -> Self {
        let mut story = Self::open();
        story.claim();
        story.of(Of::WorkspaceReady {
            base: oid('a'),
            earlier_work: false,
        });
        story
    }

    /// Its first step runs.
    pub(super) fn running() -> Self {
        let mut story = Self::ready();
        story.start();
        story
    }

    /// Its first step asked to be verified.
    pub(super) fn submitted() -> Self {
        let mut story = Self::running();
        story.finish(Signal::Done, 9);
        story
    }

    /// Its merged result is being checked.
    pub(super) fn checking() -> Self {
        let mut story = Self::submitted();
        story.then(Event::CheckStarted);
        story.then(Event::CandidateBuilt {
            candidate: candidate(),
            plan: CheckPlan::default(),
        });
        story
    }

    fn attempt(&mut self, event: &Event) -> Result<Change, Rejected> {
        self.now.0 += 1_000;
        self.ticket.after(event, self.now)
    }

    #[expect(
        clippy::needless_pass_by_value,
        reason = "an event is written where it happens"
    )]
    pub(super) fn then(&mut self, event: Event) -> &mut Self {
        let change = self.attempt(&event).unwrap();
        (self.ticket, self.effects) = (change.ticket, change.effects);
        self
    }

    pub(super) fn of(&mut self, event: Of) -> &mut Self {
        self.then(Event::Attempt(event))
    }

    #[expect(
        clippy::needless_pass_by_value,
        reason = "an event is written where it happens"
    )]
    pub(super) fn refuses(&mut self, event: Event) -> String {
        self.attempt(&event).expect_err("it is refused").why
    }

    pub(super) fn claim(&mut self) -> &mut Self {
        let agent = AgentName::new("ann").unwrap();
        let (fence, at) = (self.ticket.fence.next(), Time(i64::MAX));
        self.then(Event::Claimed {
            agent,
            fence,
            harness: crate::samples::harness(),
            session: session(fence, 1),
            at,
            eligible: true,
        })
    }

    pub(super) fn start(&mut self) -> &mut Self {
        let attempt = self.ticket.attempt().unwrap();
        let run = RunId::of_step(
            &self.ticket.id,
            attempt.claim.fence,
            attempt.conversation.runs + 1,
        );
        self.of(Of::StepStarted {
            run,
            budget: None,
            change: None,
        })
        .of(Of::WorkerSpawned)
    }

    pub(super) fn finish(&mut self, signal: Signal, steps_left: u32) -> &mut Self {
        self.of(Of::StepFinished {
            usage: Usage::default(),
            total_micro_usd: None,
            signal,
            summary: None,
            repeat: None,
            unusable: Vec::new(),
            steps_left,
            attempts_left: 2,
            reopen_at: Time(500_000),
            answer_by: None,
        })
    }

    pub(super) fn fail(&mut self, class: Class, errors_left: u32) -> &mut Self {
        let attempt = self.ticket.attempt().unwrap();
        let fresh = session(attempt.claim.fence, attempt.conversation.session.number + 1);
        let failure = Failure::new(class, "no");
        let (usage, retry_at) = (Usage::default(), Time(400_000));
        self.of(Of::StepFailed {
            usage,
            total_micro_usd: None,
            failure,
            retry_at,
            errors_left,
            repeats_left: 2,
            fresh,
        })
    }

    /// The prompt of the step that was just started, and true if it mentions that the text has changed.
    pub(super) fn started(&mut self) -> (Prompt, bool) {
        let attempt = self.ticket.attempt().unwrap();
        let run = RunId::of_step(
            &self.ticket.id,
            attempt.claim.fence,
            attempt.conversation.runs + 1,
        );
        self.of(Of::StepStarted {
            run,
            budget: None,
            change: None,
        });
        let started = self.effects.iter().find_map(|e| match e {
            Effect::Attempt(attempt::Effect::StartStep { prompt, edited, .. }) => {
                Some((prompt.clone(), *edited))
            }
            _ => None,
        });
        started.unwrap()
    }

    fn edit(&mut self, digest: &str) -> &mut Self {
        let spec = Spec {
            digest: digest.to_owned(),
            ..self.ticket.spec.clone()
        };
        self.then(Event::Edited { spec, waited: None })
    }

    pub(super) fn name(&self) -> String {
        self.ticket.state_name()
    }

    pub(super) fn held(&self) -> &Why {
        &self.ticket.held.as_ref().expect("it is held").why
    }

    fn verify(&self) -> &Verify {
        let State::Verify(verify) = &self.ticket.state else {
            panic!("not submitted: {}", self.name())
        };
        verify
    }
}

pub(super) fn oid(digit: char) -> Oid {
    Oid::new(String::from(digit).repeat(40)).unwrap()
}

pub(super) fn session(fence: Fence, n: u32) -> SessionId {
    SessionId::of_attempt(uuid::Uuid::from_u128(7), &TicketId::new("t-1").unwrap(), fence, n)
}

pub(super) fn boss() -> Actor {
    Actor::person("boss")
}

#[test]
fn the_way_there_is_strict() {
    let mut story = Story::checking();
    assert_eq!(story.name(), "verify/checking");
    story.then(Event::ChecksPassed {
        tree: oid('d'),
        passed: vec!["make".to_owned()],
        review: false,
    });
    assert!(
        matches!(story.effects.as_slice(), [Effect::Land { .. }]),
        "{:?}",
        story.effects
    );
    story.then(Event::Landed { commit: oid('c') });
    let State::Done(Done::Landed { acceptance, .. }) = &story.ticket.state else {
        panic!("{}", story.name())
    };
    assert_eq!(acceptance, "make");
    assert_eq!(story.ticket.filing().unwrap().status, FileStatus::Closed);
}

#[test]
fn a_ticket_seen_for_the_first_time_is_not_written() {
    assert_eq!(Story::open().effects, []);
}

#[test]
fn the_limit_never_means_done_one_more_step_says_so_and_then_it_goes_back() {
    let mut story = Story::running();
    story.finish(Signal::None, 0);
    assert_eq!(story.started().0, Prompt::LastChance);
    story.finish(Signal::None, 0);
    assert_eq!(
        (story.name(), story.ticket.due),
        ("open".to_owned(), Some(Time(500_000)))
    );
    assert!(story.ticket.labels.contains(&Label::AgentIncomplete));
    assert_eq!(story.ticket.from, attempt::StartPoint::Kept { number: 1 });
}

#[test]
fn an_agent_that_never_prints_a_result_is_named_as_the_cause() {
    let mut story = Story::running();
    story.finish(Signal::None, 0).start().of(Of::StepFinished {
        usage: Usage::default(),
        total_micro_usd: None,
        signal: Signal::None,
        summary: None,
        repeat: None,
        unusable: Vec::new(),
        steps_left: 0,
        attempts_left: 0,
        reopen_at: Time(500_000),
        answer_by: None,
    });
    let note = &story.ticket.held.as_ref().unwrap().note;
    assert!(note.contains("its attempts are spent"), "{note}");
    assert!(note.contains("printed no result (`DONE`"), "{note}");
    assert!(note.contains("crew logs"), "{note}");
}

#[test]
fn an_answer_is_kept_for_whoever_begins_anew_until_the_ticket_is_done() {
    let mut story = Story::running();
    story.finish(
        Signal::Asked {
            question: "which?".to_owned(),
        },
        9,
    );
    story.of(Of::Answered {
        by: boss(),
        text: "the left one".to_owned(),
        question: "which?".to_owned(),
    });
    let answer = Answer {
        question: "which?".to_owned(),
        text: "the left one".to_owned(),
    };
    story.then(Event::Released {
        why: Released::Killed { by: boss() },
    });
    assert_eq!(story.name(), "open (held)");
    assert_eq!(story.ticket.answers, [answer], "no prompt has held it yet");
    story.then(Event::Dropped {
        by: boss(),
        reason: "no".to_owned(),
    });
    assert!(story.ticket.answers.is_empty());
}

#[test]
fn an_edit_is_in_every_prompt_until_such_a_step_has_ended_well() {
    let mut story = Story::ready();
    story.edit("before");
    assert!(
        !story.started().1,
        "an agent without a prompt so far gets the new text anyway"
    );
    story.edit("during");
    story.finish(Signal::None, 9);
    assert!(story.started().1);
    story.fail(Class::Crash, 3);
    assert!(story.started().1, "the step with the warning was lost");
    story.finish(Signal::None, 9);
    assert!(!story.started().1);
}

#[test]
fn a_persons_kill_is_not_undone_by_a_step_that_ends_before_it() {
    let mut story = Story::running();
    story.of(Of::StopOrdered {
        then: AfterStop::Release { by: boss() },
    });
    let stalled = AfterStop::Retry {
        class: Class::Stalled,
    };
    assert_eq!(
        story.refuses(Event::Attempt(Of::StopOrdered { then: stalled })),
        "it is being stopped already"
    );
    let dropped = || Event::Dropped {
        by: boss(),
        reason: "no".to_owned(),
    };
    assert!(story.refuses(dropped()).contains("stopped first"));
    story.of(Of::StopOrdered {
        then: AfterStop::Drop {
            by: boss(),
            reason: "no".to_owned(),
        },
    });
    story.finish(Signal::Done, 9);
    assert_eq!(
        story.name(),
        "in_progress/working",
        "what it asks for is not heeded any more"
    );
    story.then(dropped());
    assert_eq!(story.name(), "done/dropped");
}

#[test]
fn a_stall_costs_an_error_and_the_session_but_its_prompt_is_sent_again() {
    let mut story = Story::checking();
    let failed = Event::ChecksFailed {
        which: "make".to_owned(),
        output: "boom".to_owned(),
        steps_left: 3,
        reopen_at: Time(0),
        repeat: None,
    };
    story.then(failed);
    let failed = Prompt::ChecksFailed {
        which: "make".to_owned(),
        output: "boom".to_owned(),
        remembered: false,
    };
    assert_eq!(story.started().0, failed);
    story
        .of(Of::StopOrdered {
            then: AfterStop::Retry {
                class: Class::Stalled,
            },
        })
        .fail(Class::Stalled, 4);
    let attempt = story.ticket.attempt().unwrap();
    assert_eq!(
        (
            attempt.conversation.errors,
            attempt.conversation.session.number,
            attempt.conversation.session.is_new()
        ),
        (1, 2, true)
    );
    assert_eq!(story.ticket.deadline().unwrap().at, Time(400_000));
    assert_eq!(story.started().0, failed);
}

#[test]
fn candidates_are_numbered_over_all_submissions_of_an_attempt() {
    let mut story = Story::submitted();
    story.then(Event::CheckStarted);
    story.then(Event::NoCommits {
        steps_left: 3,
        reopen_at: Time(0),
        repeat: None,
    });
    story.start().finish(Signal::Done, 9).then(Event::CheckStarted);
    assert!(
        matches!(
            story.effects.as_slice(),
            [Effect::BuildCandidate { round: 2, .. }]
        ),
        "{:?}",
        story.effects
    );
}

#[test]
fn the_line_is_kept_in_the_order_of_submitting() {
    let mut story = Story::submitted();
    let at = story.now;
    assert_eq!(story.verify().submitted_at, at);
    story.then(Event::CheckStarted);
    story.then(Event::CandidateBuilt {
        candidate: candidate(),
        plan: CheckPlan::default(),
    });
    story.then(Event::ChecksPassed {
        tree: oid('d'),
        passed: Vec::new(),
        review: false,
    });
    story.then(Event::TargetMoved);
    assert_eq!(
        (&story.verify().stage, story.verify().submitted_at),
        (&Stage::Queued, at),
        "it does not go to the end"
    );
}

#[test]
fn a_person_may_close_the_file_in_any_state() {
    let submit = || Event::Submitted {
        by: boss(),
        at: Time(0),
    };
    assert_eq!(
        Story::open()
            .then(Event::ClosedByPerson { by: Actor::File })
            .name(),
        "done/closed_by_person"
    );

    let mut story = Story::ready();
    assert!(
        story
            .refuses(Event::ClosedByPerson { by: Actor::File })
            .contains("submits it")
    );
    assert_eq!(story.then(submit()).name(), "verify/checking");
    assert!(
        story
            .refuses(Event::ClosedByPerson { by: Actor::File })
            .contains("when it has landed")
    );

    let mut story = Story::running();
    assert!(
        story.refuses(submit()).contains("stopped first"),
        "the step's end decides"
    );

    let mut story = Story::running();
    story.fail(Class::Auth, 4);
    assert_eq!(
        (story.name(), story.held()),
        ("in_progress/stuck (held)".to_owned(), &Why::Auth)
    );
    assert_eq!(
        story.then(submit()).name(),
        "verify/checking",
        "the hold ends with it"
    );

    let mut story = Story::checking();
    story.then(Event::TargetRed {
        which: "make".to_owned(),
        output: "1 failed\n(exit code 1)".to_owned(),
        retry_at: Time(600_000),
    });
    assert_eq!(
        story.then(Event::ClosedByPerson { by: Actor::File }).name(),
        "done/closed_by_person"
    );
    assert!(story.effects.iter().any(|e| matches!(e, Effect::KeepWork { .. })));

    let mut story = Story::ready();
    story.then(Event::Submitted {
        by: Actor::File,
        at: Time(0),
    });
    assert!(
        story
            .refuses(Event::ClosedByPerson { by: Actor::File })
            .contains("when it has landed")
    );
    story.then(Event::CheckStarted);
    assert_eq!(
        story.then(Event::ClosedByPerson { by: Actor::File }).name(),
        "done/closed_by_person",
        "merging it has shown that nothing was committed"
    );
}

#[test]
fn labels_say_what_is_true_now() {
    let mut story = Story::running();
    story.finish(Signal::None, 0).start().finish(Signal::None, 0);
    assert!(story.ticket.labels.contains(&Label::AgentIncomplete));
    story.claim().of(Of::WorkspaceReady {
        base: oid('a'),
        earlier_work: true,
    });
    assert!(
        story.ticket.labels.contains(&Label::AgentIncomplete),
        "the last attempt was"
    );
    assert_eq!(story.started().0, Prompt::Resume);
    story.finish(Signal::Done, 9);
    assert!(story.ticket.labels.is_empty(), "{:?}", story.ticket.labels);
}

#[test]
fn a_workspace_that_could_not_be_set_up_costs_no_attempt_and_is_tried_again_by_itself() {
    let failed = || Event::Released {
        why: Released::SetUpFailed {
            why: "`npm ci` failed".to_owned(),
            output: "no network".to_owned(),
            may_pass: true,
            for_all: false,
            retry_at: Time(500_000),
        },
    };
    let mut story = Story::open();
    story.claim().then(failed());
    assert_eq!((story.held(), story.ticket.tries), (&Why::CouldNotRun, 0));
    let held = story.ticket.held.clone().unwrap();
    assert!(held.note.contains("`npm ci` failed"), "{}", held.note);
    assert_eq!(held.output.as_deref(), Some("no network"));
    assert_eq!(
        story.ticket.deadline().map(|deadline| deadline.at),
        Some(Time(500_000))
    );
    story.then(Event::RetryDue);
    assert_eq!(
        (story.name(), story.ticket.held.is_none()),
        ("open".to_owned(), true)
    );
    assert_eq!(story.ticket.from, attempt::StartPoint::Target);
    assert_eq!(Story::ready().refuses(failed()), "its workspace was made");
}

#[test]
fn a_workspace_that_could_not_be_made_costs_an_attempt_and_moves_no_start() {
    let failed = |attempts_left| Event::Released {
        why: Released::WorkspaceFailed {
            why: "disk full".to_owned(),
            attempts_left,
            reopen_at: Time(500_000),
        },
    };
    let mut story = Story::open();
    story.claim().then(failed(1));
    assert_eq!(
        (story.name(), &story.ticket.from),
        ("open".to_owned(), &attempt::StartPoint::Target)
    );
    story.claim().then(failed(0));
    assert_eq!(story.held(), &Why::Failed);
    assert!(story.ticket.held.as_ref().unwrap().note.contains("disk full"));
    assert_eq!(Story::ready().refuses(failed(1)), "its workspace was made");
}

#[test]
fn stuck_is_recovered_by_what_is_found_and_only_so_often() {
    let stuck = || {
        let mut story = Story::running();
        story.fail(Class::Crash, 0);
        assert!(matches!(
            story.effects.as_slice(),
            [Effect::Attempt(attempt::Effect::InspectWorkspace { .. })]
        ));
        story
    };
    let found_on = |workspace, recoveries_left, attempts_left| {
        let fresh = session(Fence(1), 2);
        Of::Recovered {
            workspace,
            fresh,
            recoveries_left,
            attempts_left,
            reopen_at: Time(500_000),
        }
    };
    let found = |workspace, recoveries_left| found_on(workspace, recoveries_left, 2);
    assert_eq!(stuck().of(found(Workspace::Clean, 1)).name(), "in_progress/ready");
    let mut story = stuck();
    story.of(found(Workspace::Changed, 1));
    assert_eq!(story.started().0, Prompt::Resume);
    let mut story = stuck();
    story.of(found(Workspace::Missing, 1));
    assert_eq!(
        (story.name(), story.ticket.due),
        ("open".to_owned(), Some(Time(500_000)))
    );
    assert!(story.ticket.labels.contains(&Label::AutoRecovered));
    let mut story = stuck();
    story.of(found_on(Workspace::Missing, 1, 0));
    assert_eq!(
        story.held(),
        &Why::Failed,
        "a workspace that keeps vanishing is looked at in the end"
    );
    let mut story = stuck();
    story.of(found(Workspace::Changed, 0));
    assert_eq!(
        (story.name(), story.ticket.due),
        ("open".to_owned(), Some(Time(500_000)))
    );
    assert!(story.ticket.labels.contains(&Label::AgentError));
}

#[test]
fn who_is_recovered_hears_the_task_before_its_last_chance_and_no_step_more() {
    let mut story = Story::running();
    story.finish(Signal::None, 0);
    assert_eq!(story.started().0, Prompt::LastChance);
    story.fail(Class::Crash, 0);
    story.of(Of::Recovered {
        workspace: Workspace::Changed,
        fresh: session(Fence(1), 2),
        recoveries_left: 1,
        attempts_left: 2,
        reopen_at: Time(500_000),
    });
    assert_eq!(
        story.started().0,
        Prompt::Resume,
        "a new session knows of no task"
    );
    story.finish(Signal::None, 0);
    assert_eq!(story.started().0, Prompt::LastChance);
    story.finish(Signal::None, 0);
    assert_eq!(story.name(), "open");
    assert!(story.ticket.labels.contains(&Label::AgentIncomplete));
}

#[test]
fn an_approval_of_paths_counts_for_the_tip_it_was_given_for() {
    let mut story = Story::submitted();
    story.then(Event::CheckStarted);
    story.then(Event::Sensitive {
        secrets: Vec::new(),
        paths: vec!["crew.toml".to_owned()],
        tip: oid('a'),
    });
    assert_eq!(story.ticket.slot(), None, "its agent is free");
    story
        .then(Event::SensitiveApproved { by: boss() })
        .then(Event::CheckStarted);
    assert!(
        matches!(&story.effects[..], [Effect::BuildCandidate { approved: Some(tip), .. }] if *tip == oid('a'))
    );
    // Its agent is gone: work that comes back goes to the queue, and the story with it.
    story.then(Event::Conflicted {
        paths: vec!["a".to_owned()],
        resolutions_left: 2,
        overtaken: false,
        repeat: None,
    });
    assert_eq!(
        (story.name(), story.ticket.feedback.len()),
        ("open".to_owned(), 1)
    );
}

#[test]
fn what_is_waived_lands_with_the_name_and_the_reason() {
    let mut story = Story::checking();
    story.then(Event::TargetRed {
        which: "make".to_owned(),
        output: "1 failed\n(exit code 1)".to_owned(),
        retry_at: Time(600_000),
    });
    story.then(Event::Waived {
        by: boss(),
        reason: "known".to_owned(),
    });
    story.then(Event::Landed { commit: oid('c') });
    let State::Done(Done::Landed { acceptance, .. }) = &story.ticket.state else {
        panic!("{}", story.name())
    };
    assert_eq!(acceptance, "waived by boss: known");
}

#[test]
fn what_is_waived_is_not_checked_again_when_the_target_moves_before_it_lands() {
    let merged_anew = |tip: Oid| Event::CandidateBuilt {
        candidate: Candidate {
            commit: oid('e'),
            target: oid('f'),
            tip,
            ..candidate()
        },
        plan: CheckPlan::default(),
    };
    let waived = || {
        let mut story = Story::checking();
        story.then(Event::TargetRed {
            which: "make".to_owned(),
            output: "1 failed\n(exit code 1)".to_owned(),
            retry_at: Time(600_000),
        });
        story.then(Event::Waived {
            by: boss(),
            reason: "known".to_owned(),
        });
        story.then(Event::TargetMoved).then(Event::CheckStarted);
        story
    };
    let mut story = waived();
    story.then(merged_anew(candidate().tip));
    assert_eq!(story.name(), "verify/landing");
    story.then(Event::Landed { commit: oid('e') });
    let State::Done(Done::Landed { acceptance, .. }) = &story.ticket.state else {
        panic!("{}", story.name())
    };
    assert_eq!(acceptance, "waived by boss: known");

    // Another tip is other work: nobody has let that pass.
    assert_eq!(waived().then(merged_anew(oid('9'))).name(), "verify/checking");
}

#[test]
fn what_is_approved_is_checked_and_not_reviewed_again_when_the_target_moves() {
    let passed = || Event::ChecksPassed {
        tree: oid('d'),
        passed: Vec::new(),
        review: true,
    };
    let mut story = Story::checking();
    story.then(passed());
    review(&mut story, "gate-1", 2, approve("ran it"));
    story.then(Event::Approved {
        fence: Fence(2),
        agree: 1,
    });
    assert_eq!(story.name(), "verify/checking");
    story.then(Event::CheckStarted);
    let again = Event::CandidateBuilt {
        candidate: candidate(),
        plan: CheckPlan::default(),
    };
    assert_eq!(story.then(again).name(), "verify/checking");
    assert_eq!(story.then(passed()).name(), "verify/landing");
}

#[test]
fn what_is_dropped_or_retried_while_it_lands_waits_for_what_came_of_the_landing() {
    let landing = || {
        let mut story = Story::checking();
        story.then(Event::ChecksPassed {
            tree: oid('d'),
            passed: Vec::new(),
            review: false,
        });
        story
    };
    let drop = || Event::LandingEndOrdered {
        then: AfterLanding::Drop {
            by: boss(),
            reason: "not needed".to_owned(),
        },
    };
    let retry = || Event::LandingEndOrdered {
        then: AfterLanding::Retry { by: boss() },
    };
    assert_eq!(
        landing().refuses(Event::NotLanded),
        "nobody has ended its landing"
    );
    assert_eq!(landing().then(drop()).name(), "verify/landing");
    let landed = Event::Landed { commit: oid('c') };
    assert_eq!(landing().then(drop()).then(landed).name(), "done/landed");
    assert_eq!(
        landing().then(drop()).then(Event::NotLanded).name(),
        "done/dropped"
    );
    assert_eq!(
        landing().then(drop()).then(Event::TargetMoved).name(),
        "done/dropped"
    );
    let in_the_way = || Event::CheckoutEdited {
        paths: Vec::new(),
        retry_at: Time(0),
    };
    assert_eq!(landing().then(drop()).then(in_the_way()).name(), "done/dropped");
    let hold = || Event::LandingEndOrdered {
        then: AfterLanding::Hold {
            why: "no right to write".to_owned(),
            may_pass: false,
            retry_at: Time(40_000),
        },
    };
    let landed = Event::Landed { commit: oid('c') };
    assert_eq!(landing().then(hold()).then(landed).name(), "done/landed");
    let mut story = landing();
    story.then(hold()).then(Event::NotLanded);
    let held = story.ticket.held.as_ref().unwrap();
    assert_eq!(
        (held.why.name(), held.note.as_str(), held.retry_at),
        (
            "landing",
            "it could not be landed: no right to write",
            Some(Time(40_000))
        )
    );
    assert_eq!(&story.verify().stage, &Stage::Queued);
    assert_eq!(
        landing().then(hold()).then(drop()).then(Event::NotLanded).name(),
        "done/dropped"
    );
    let mut story = landing();
    story.then(retry()).then(Event::NotLanded);
    assert_eq!(&story.verify().stage, &Stage::Queued);
    let mut story = landing();
    story.then(in_the_way());
    assert!(story.refuses(drop()).contains("not landing at this moment"));
}

#[test]
fn nothing_that_lands_was_not_accepted() {
    let mut story = Story::checking();
    story.then(Event::ChecksPassed {
        tree: oid('d'),
        passed: Vec::new(),
        review: true,
    });
    let approved = || Event::Approved {
        fence: Fence(2),
        agree: 1,
    };
    assert!(story.refuses(approved()).contains("has not approved of it"));
    story.then(claimed_review("gate-1", 2));
    let noted = |test: &str| Event::Review {
        fence: Fence(2),
        event: ReviewEvent::VerdictNoted {
            verdict: approve(test),
        },
    };
    assert!(story.refuses(noted(" ")).contains("needs an acceptance test"));
    story
        .then(noted("ran it"))
        .then(approved())
        .then(Event::CheckStarted);
    story.then(Event::CandidateBuilt {
        candidate: candidate(),
        plan: CheckPlan::default(),
    });
    story.then(Event::ChecksPassed {
        tree: oid('d'),
        passed: vec!["make check".to_owned()],
        review: true,
    });
    story.then(Event::Landed { commit: oid('c') });
    let State::Done(Done::Landed { acceptance, .. }) = &story.ticket.state else {
        panic!("{}", story.name())
    };
    assert_eq!(acceptance, "make check; ran it");
}

#[test]
fn the_same_failure_once_too_often_is_held_as_submitted_until_a_person_retries() {
    let repeat = |left| {
        let (of, times) = (Fingerprint::NothingCommitted, 3 - left);
        Some(Repeat { of, times, left })
    };
    let nothing = |left, steps_left| Event::NoCommits {
        steps_left,
        reopen_at: Time(0),
        repeat: repeat(left),
    };
    let mut story = Story::submitted();
    story.then(Event::CheckStarted).then(nothing(1, 3));
    assert_eq!(story.name(), "in_progress/working");
    story.start().finish(Signal::Done, 9).then(Event::CheckStarted);
    story.then(nothing(0, 3));
    let held = story.ticket.held.clone().unwrap();
    assert_eq!(
        (story.name().as_str(), held.why),
        ("verify/checking (held)", Why::NoProgress)
    );
    assert!(held.note.contains("3 times in a row"), "{}", held.note);
    assert_eq!(story.ticket.slot(), None, "its agent is free");
    assert!(story.refuses(Event::CheckStarted).contains("held"));

    // A retry looks first; work that fails again goes to the queue, and the count begins anew.
    let fresh = session(story.ticket.fence, 9);
    story.then(Event::Retried {
        by: boss(),
        slot_free: true,
        fresh,
    });
    assert_eq!(
        (story.name().as_str(), &story.ticket.repeat),
        ("verify/checking", &None)
    );
    story.then(Event::CheckStarted).then(nothing(2, 3));
    assert_eq!((story.name().as_str(), story.ticket.feedback.len()), ("open", 1));
    assert_eq!(
        story.ticket.repeat,
        repeat(2),
        "the next attempt begins with what is known"
    );
    story.edit("another");
    assert_eq!(story.ticket.repeat, None, "another text is another input");
}

#[test]
fn work_that_no_branch_holds_is_known_once_until_the_ticket_is_opened_again() {
    let kept = |number: u32| KeptWork::Workspace {
        reference: format!("refs/crew/rescue/t-1/{number}"),
    };
    let mut story = Story::running();
    story.charge(9, None);
    let why = Released::Killed { by: boss() };
    story.then(Event::Released { why });
    for numbers in [&[1][..], &[1, 2]] {
        let work = numbers.iter().map(|number| kept(*number)).collect();
        story.then(Event::WorkKept { work });
    }
    assert_eq!(story.ticket.kept, [kept(1), kept(2)]);
    let (by, reason) = (boss(), String::new());
    story.then(Event::Dropped { by, reason });
    assert_eq!(story.ticket.kept.len(), 2, "a person may still want it");
    story.then(Event::Reopened { by: boss() });
    assert_eq!(story.ticket.kept, []);
}

#[test]
fn the_last_commit_of_the_latest_attempt_is_named_while_nobody_goes_on_with_it() {
    let attempt = |number: u32| KeptWork::Attempt {
        reference: format!("refs/crew/attempts/t-1/{number}"),
    };
    let rescued = KeptWork::Workspace {
        reference: "refs/crew/rescue/t-1/1".to_owned(),
    };
    let apart = |story: &Story| story.ticket.work_apart().cloned().collect::<Vec<_>>();
    let mut story = Story::running();
    story.charge(9, None);
    let work = vec![attempt(1), rescued.clone()];
    story.then(Event::WorkKept { work });
    assert_eq!(apart(&story), std::slice::from_ref(&rescued), "an agent has it");
    let why = Released::Killed { by: boss() };
    story.then(Event::Released { why });
    let work = vec![attempt(2)];
    story.then(Event::WorkKept { work });
    assert_eq!(apart(&story), [rescued.clone(), attempt(2)], "a person decides");
    let (by, slot_free, fresh) = (boss(), true, session(story.ticket.fence, 2));
    story.then(Event::Retried { by, slot_free, fresh });
    assert_eq!(
        apart(&story),
        std::slice::from_ref(&rescued),
        "the next attempt goes on with it"
    );
    let (by, reason) = (boss(), String::new());
    story.then(Event::Dropped { by, reason });
    assert_eq!(apart(&story), [rescued, attempt(2)]);
}

#[test]
fn spent_steps_are_not_called_the_same_failure() {
    let mut story = Story::submitted();
    let repeat = Some(Repeat {
        of: Fingerprint::NothingCommitted,
        times: 3,
        left: 0,
    });
    story.then(Event::CheckStarted).then(Event::NoCommits {
        steps_left: 0,
        reopen_at: Time(0),
        repeat,
    });
    assert_eq!(story.ticket.held.as_ref().unwrap().why, Why::Failed);
}

#[test]
fn what_a_service_asks_for_is_waited_for_and_no_error() {
    let mut story = Story::running();
    story.fail(Class::RateLimited, 5);
    let attempt = story.ticket.attempt().unwrap();
    let throttled = attempt.conversation.throttled.as_ref().unwrap();
    assert_eq!((attempt.conversation.errors, throttled.times), (0, 1));
    assert_eq!(story.ticket.deadline().unwrap().at, Time(400_000));
    story.start().fail(Class::Overloaded, 5);
    assert_eq!(
        story
            .ticket
            .attempt()
            .unwrap()
            .conversation
            .throttled
            .as_ref()
            .unwrap()
            .times,
        2
    );
    story.start().finish(Signal::None, 9);
    assert_eq!(
        story.ticket.attempt().unwrap().conversation.throttled,
        None,
        "a step got through"
    );
}

fn budget(limit: u64) -> Budget {
    Budget {
        spent_micro_usd: 9,
        limit_micro_usd: limit,
    }
}

impl Story {
    /// Starts a step that warns of a budget.
    fn warn(&mut self, limit: u64) -> &mut Self {
        let attempt = self.ticket.attempt().unwrap();
        let run = RunId::of_step(
            &self.ticket.id,
            attempt.claim.fence,
            attempt.conversation.runs + 1,
        );
        let budget = Some(budget(limit));
        self.of(Of::StepStarted {
            run,
            budget,
            change: None,
        })
    }

    fn warned(&self) -> Option<u64> {
        self.ticket.attempt().unwrap().conversation.session.warned
    }

    fn charge(&mut self, cost: u64, total: Option<u64>) {
        self.of(Of::StepFinished {
            usage: Usage {
                cost_micro_usd: cost,
                ..Usage::default()
            },
            total_micro_usd: total,
            answer_by: None,
            signal: Signal::None,
            summary: None,
            repeat: None,
            unusable: Vec::new(),
            steps_left: 9,
            attempts_left: 2,
            reopen_at: Time(500_000),
        });
    }
}

#[test]
fn a_warning_has_reached_the_agent_when_its_step_has_ended_well() {
    let mut story = Story::ready();
    story.warn(10).fail(Class::Crash, 3);
    assert_eq!(story.warned(), None, "the step with the warning was lost");
    story.warn(10).finish(Signal::None, 9);
    assert_eq!(story.warned(), Some(10));
    story.started();
    story.fail(Class::Crash, 3);
    assert_eq!(
        story.warned(),
        Some(10),
        "a later step that is lost takes nothing back"
    );
    story.started();
    story.fail(Class::SessionMissing, 3);
    assert_eq!(story.warned(), None, "a new session has had no warning");
}

#[test]
fn a_spent_budget_holds_between_two_steps_and_the_agent_goes_on_where_it_was() {
    let budget = budget(9);
    let mut story = Story::running();
    let refused = story.attempt(&Event::BudgetSpent { budget }).unwrap_err();
    assert_eq!(refused.why, "a worker of it is alive; it is stopped first");
    story.charge(9, None);
    story.then(Event::BudgetSpent { budget });
    assert_eq!(story.name(), "in_progress/working (held)");
    assert_eq!(story.held(), &Why::Budget { budget });
    assert_eq!(story.ticket.slot(), None, "its agent is free");
    assert_eq!(story.ticket.spent.since_grant_micro_usd, 9);
    let session = story.ticket.attempt().unwrap().conversation.session.clone();

    story.then(Event::BudgetRaised { slot_free: true });
    assert_eq!(story.name(), "in_progress/working");
    assert_eq!(
        story.ticket.spent.since_grant_micro_usd, 9,
        "to raise is not to grant anew"
    );
    assert_eq!(story.ticket.attempt().unwrap().conversation.session, session);
    assert_eq!(story.started().0, Prompt::Step, "the conversation goes on");
}

#[test]
fn a_retry_grants_a_budget_anew_only_where_money_was_missing() {
    let budget = budget(9);
    let fresh = session(Fence(9), 9);
    let retried = |slot_free| Event::Retried {
        by: boss(),
        slot_free,
        fresh: fresh.clone(),
    };
    let mut story = Story::running();
    story.charge(9, None);
    story.then(Event::BudgetSpent { budget }).then(retried(true));
    assert_eq!(story.name(), "in_progress/working");
    assert_eq!(story.ticket.spent.since_grant_micro_usd, 0);
    assert_eq!(
        story.ticket.spent.days.values().sum::<u64>(),
        9,
        "the day has cost it all the same"
    );

    let mut story = Story::running();
    story.charge(9, None);
    story.then(Event::BudgetSpent { budget }).then(retried(false));
    assert_eq!(
        story.name(),
        "open",
        "its agent has another ticket: the next one takes over"
    );
    assert_eq!(story.ticket.from, attempt::StartPoint::Kept { number: 1 });

    let mut story = Story::running();
    story.charge(9, None);
    let why = Released::Killed { by: boss() };
    story.then(Event::Released { why }).then(retried(false));
    assert_eq!(
        story.ticket.spent.since_grant_micro_usd, 9,
        "this was about something else"
    );
    story.then(Event::BudgetSpent { budget });
    assert_eq!(story.name(), "open (held)");
}

#[test]
fn a_session_remembers_the_last_total_that_its_client_reported() {
    let mut story = Story::running();
    story.charge(5, Some(5));
    story.started();
    story.charge(2, None);
    let total = |story: &Story| {
        story
            .ticket
            .attempt()
            .unwrap()
            .conversation
            .session
            .total_micro_usd
    };
    assert_eq!(
        total(&story),
        Some(5),
        "a client that reported none has not reported zero"
    );
    story.started();
    story.charge(2, Some(7));
    assert_eq!(total(&story), Some(7));
    story.started();
    story.fail(Class::SessionMissing, 3);
    assert_eq!(total(&story), None, "a new session starts without");
}

#[test]
fn another_client_hears_the_story_so_far_in_a_session_of_its_own() {
    let other = attempt::HarnessId {
        name: "other".to_owned(),
        kind: crate::settings::HarnessKind::Claude,
    };
    let starts_on = |story: &mut Story, to: &attempt::HarnessId| {
        let attempt = story.ticket.attempt().unwrap();
        let change = attempt::HarnessChange {
            to: to.clone(),
            fresh: session(attempt.claim.fence, attempt.conversation.session.number + 1),
        };
        Of::StepStarted {
            run: RunId::of_step(
                &story.ticket.id,
                attempt.claim.fence,
                attempt.conversation.runs + 1,
            ),
            budget: None,
            change: Some(change),
        }
    };
    let mut story = Story::ready();
    // No client has had a prompt yet: the session is as good as a new one.
    let event = starts_on(&mut story, &other);
    story.of(event);
    let attempt = story.ticket.attempt().unwrap();
    assert_eq!(
        (&attempt.conversation.harness, attempt.conversation.session.number),
        (&other, 1)
    );
    story.of(Of::WorkerSpawned).finish(Signal::None, 3);

    let same = starts_on(&mut story, &other);
    assert_eq!(
        story.refuses(Event::Attempt(same)),
        "it works with this harness already"
    );
    let event = starts_on(&mut story, &crate::samples::harness());
    story.of(event);
    let started = story.effects.iter().find_map(|effect| match effect {
        Effect::Attempt(attempt::Effect::StartStep {
            prompt,
            new_session,
            harness,
            ..
        }) => Some((prompt.clone(), *new_session, harness.clone())),
        _ => None,
    });
    assert_eq!(started, Some((Prompt::Resume, true, crate::samples::harness())));
    assert_eq!(story.ticket.attempt().unwrap().conversation.session.number, 2);
}
