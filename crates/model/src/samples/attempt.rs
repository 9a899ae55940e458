//! The attempt machine's alphabet.

use std::collections::BTreeSet;

use super::{Alphabet, EARLY, LATE, agent, harness, oid, other_harness, run, session_id};
use crate::attempt::{
    AfterChildren, AfterStop, Attempt, Child, ChildEnd, ChildResult, Claim, Class, Event, Failure,
    HarnessChange, Machine, Mode, Prompt, Quiet, Signal, Silence, StartPoint, State, Stuck, Usage, Workspace,
};
use crate::call::Call;
use crate::conversation::Conversation;
use crate::machine::{self, Explored, Sample};
use crate::{Actor, Fence};

/// A description for the page.
pub const ABOUT: &str = "An attempt is one agent at work on one ticket, from its claim until its work is landed or given \
    back. It is a child of the ticket. Its conversation owns a session and, while a step runs, a worker. News of its end goes to the ticket, \
    which leaves `in_progress`: this machine alone then stays where it is.";

/// A fresh claim.
#[must_use]
pub fn first() -> Attempt {
    let claim = Claim::new(agent("ann"), Fence(1), 1, StartPoint::Target);
    Attempt::new(claim, Conversation::new(harness(), session_id(1)), EARLY)
}

/// Every event that fits `attempt`, with its guards.
#[must_use]
pub fn alphabet(attempt: &Attempt) -> Vec<Sample<Event>> {
    let fresh = session_id(attempt.conversation.session.number + 1);
    let run = run(attempt.claim.fence, attempt.conversation.runs + 1);
    let finished = |signal, steps_left, attempts_left| Event::StepFinished {
        usage: Usage {
            input_tokens: 10,
            output_tokens: 5,
            cost_micro_usd: 7,
            estimated_micro_usd: 0,
        },
        total_micro_usd: None,
        signal,
        summary: Some("what was done".to_owned()),
        repeat: None,
        unusable: Vec::new(),
        steps_left,
        attempts_left,
        reopen_at: LATE,
        answer_by: None,
    };
    let failed = |class, errors_left, repeats_left| Event::StepFailed {
        usage: Usage::default(),
        total_micro_usd: Some(9),
        failure: Failure::new(class, "refused"),
        retry_at: LATE,
        errors_left,
        repeats_left,
        fresh: fresh.clone(),
    };
    let recovered = |workspace, recoveries_left, attempts_left| Event::Recovered {
        workspace,
        fresh: fresh.clone(),
        recoveries_left,
        attempts_left,
        reopen_at: LATE,
    };
    let by = || Actor::person("ann's boss");
    let why = || "so".to_owned();
    let mut all = Alphabet::new();
    all.when(
        "nothing in it",
        Event::WorkspaceReady {
            base: oid('a'),
            earlier_work: false,
        },
    )
    .when(
        "earlier work",
        Event::WorkspaceReady {
            base: oid('a'),
            earlier_work: true,
        },
    )
    .when(
        "",
        Event::StepStarted {
            run: run.clone(),
            budget: None,
            change: None,
        },
    )
    .when(
        "budget low",
        Event::StepStarted {
            run: run.clone(),
            budget: Some(super::budget()),
            change: None,
        },
    )
    .when(
        "another harness",
        Event::StepStarted {
            run,
            budget: None,
            change: Some(HarnessChange {
                to: other_harness(),
                fresh: fresh.clone(),
            }),
        },
    )
    .event(Event::WorkerSpawned)
    .event(Event::WentQuiet(Quiet {
        since: EARLY,
        how: Silence::Idle { child: None },
    }))
    .event(Event::Stirred)
    .when(
        "then retry",
        Event::StopOrdered {
            then: AfterStop::Retry {
                class: Class::Stalled,
            },
        },
    )
    .when(
        "then fail",
        Event::StopOrdered {
            then: AfterStop::Fail {
                failure: Failure::new(Class::Auth, "refused"),
            },
        },
    )
    .when(
        "then conclude",
        Event::StopOrdered {
            then: AfterStop::Conclude,
        },
    )
    .when(
        "then pause",
        Event::StopOrdered {
            then: AfterStop::Pause,
        },
    )
    .when(
        "then release",
        Event::StopOrdered {
            then: AfterStop::Release { by: by() },
        },
    )
    .when(
        "then reap",
        Event::StopOrdered {
            then: AfterStop::Reap { why: why() },
        },
    )
    .when(
        "then drop",
        Event::StopOrdered {
            then: AfterStop::Drop {
                by: by(),
                reason: why(),
            },
        },
    )
    .when("done", finished(Signal::Done, 5, 2))
    .when("none, steps left", finished(Signal::None, 5, 2))
    .when("none, limit reached", finished(Signal::None, 0, 2))
    .when("none, limit reached, last attempt", finished(Signal::None, 0, 0))
    .when("blocked", finished(Signal::Blocked { why: why() }, 5, 2))
    .when(
        "asked",
        finished(
            Signal::Asked {
                question: "which?".to_owned(),
            },
            5,
            2,
        ),
    )
    .when(
        "asked, for a time",
        Event::StepFinished {
            usage: Usage::default(),
            total_micro_usd: None,
            signal: Signal::Asked {
                question: "which?".to_owned(),
            },
            summary: None,
            repeat: None,
            unusable: Vec::new(),
            steps_left: 5,
            attempts_left: 2,
            reopen_at: LATE,
            answer_by: Some(LATE),
        },
    )
    .when(
        "wakeup",
        finished(Signal::WakeupSet { at: LATE, why: why() }, 5, 2),
    )
    .when("session kept", failed(Class::Crash, 4, 2))
    .when("session broken", failed(Class::SessionMissing, 4, 2))
    .when("not counted", failed(Class::RateLimited, 0, 0))
    .when("stopped by crew", failed(Class::KilledByUs, 5, 3))
    .when("too many in a row", failed(Class::Crash, 0, 2))
    .when("same again", failed(Class::Crash, 4, 0))
    .when("auth", failed(Class::Auth, 4, 2))
    .event(Event::Answered {
        by: by(),
        text: "that".to_owned(),
        question: "which?".to_owned(),
    })
    .event(Event::Woken)
    .event(Event::WokenEarly { by: by() })
    .event(Event::WaitTimedOut)
    .when(
        "a result",
        Event::Called {
            call: Call::SubmitWork {
                summary: why(),
                output: None,
                acceptance_test_result: None,
            },
            at: EARLY,
        },
    )
    .when(
        "no result",
        Event::Called {
            call: Call::ReportProgress { text: why() },
            at: EARLY,
        },
    )
    .when("workspace clean", recovered(Workspace::Clean, 2, 2))
    .when("workspace changed", recovered(Workspace::Changed, 2, 2))
    .when("workspace gone", recovered(Workspace::Missing, 2, 2))
    .when(
        "workspace gone, last attempt",
        recovered(Workspace::Missing, 2, 0),
    )
    .when("none left", recovered(Workspace::Clean, 0, 2))
    .when("none left, last attempt", recovered(Workspace::Clean, 0, 0))
    .event(Event::Retried {
        by: by(),
        fresh: fresh.clone(),
    })
    .event(Event::TicketEdited)
    .event(Event::Submitted)
    .event(Event::ChecksPassed)
    .when(
        "checks",
        Event::Returned {
            prompt: Prompt::ChecksFailed {
                which: "true".to_owned(),
                output: why(),
                remembered: false,
            },
        },
    )
    .when(
        "conflict",
        Event::Returned {
            prompt: Prompt::MergeConflict {
                paths: vec!["a".to_owned()],
                missing: None,
            },
        },
    )
    .event(Event::Delegated {
        children: vec![child()],
    })
    .when(
        "to go on",
        Event::ChildrenEndOrdered {
            then: AfterChildren::Unify { by: by() },
        },
    )
    .when(
        "to stop",
        Event::ChildrenEndOrdered {
            then: AfterChildren::Stop {
                then: AfterStop::Release { by: by() },
            },
        },
    )
    .event(Event::ChildrenOver {
        results: vec![child_result()],
    })
    .when(
        "its mode allows it",
        Event::ModeSet {
            mode: match attempt.mode {
                Mode::Execute => Mode::Plan,
                Mode::Delegate | Mode::Plan | Mode::BreakUp | Mode::Unify => Mode::Execute,
            },
            by: by(),
        },
    )
    .when(
        "its mode does not allow it",
        Event::ModeSet {
            mode: Mode::Unify,
            by: by(),
        },
    )
    .when(
        "the next one",
        Event::ModeAnnounced {
            mode: Mode::Plan,
            number: attempt.announced + 1,
        },
    )
    .when(
        "read before",
        Event::ModeAnnounced {
            mode: Mode::Plan,
            number: attempt.announced,
        },
    )
    .event(Event::Said {
        by: by(),
        text: "look at the log".to_owned(),
    })
    .event(Event::Baited { by: by() })
    .when(
        "parts made",
        finished(
            Signal::BrokenUp {
                parts: vec![super::part()],
            },
            5,
            2,
        ),
    );
    all.0
}

/// A child of `t-1`.
#[must_use]
pub fn child() -> Child {
    Child {
        id: super::ticket_id("t-1-c1"),
        title: "A part of it".to_owned(),
        task: "Do the first half.".to_owned(),
        acceptance: None,
        agent: None,
        is_apart: false,
        is_leader: false,
        by: agent("ann"),
        at: EARLY,
    }
}

/// What it came to.
#[must_use]
pub fn child_result() -> ChildResult {
    ChildResult {
        id: child().id,
        title: child().title,
        agent: Some(agent("bob")),
        end: ChildEnd::Unified,
        summary: Some("what was done".to_owned()),
        cost_micro_usd: 7,
        work: None,
        tags: BTreeSet::new(),
    }
}

/// The differences between attempts that matter.
#[must_use]
pub fn shape(attempt: &Attempt) -> String {
    // Of an attempt that has delegated, only its way through its children matters.
    if !attempt.children.is_empty() {
        let live = attempt.conversation.has_live_worker();
        let then = attempt.after_children().map(|then| match then {
            AfterChildren::Unify { .. } => "unify",
            AfterChildren::Stop { .. } => "stop",
        });
        return format!("{} with children {live} {then:?}", attempt.state.name());
    }
    let state = match &attempt.state {
        State::Working(w) => {
            let is_last_chance = w.next == Prompt::LastChance;
            format!("working {is_last_chance} {}", w.due.is_some())
        }
        State::Stuck { why: Stuck::Errors } => "stuck".to_owned(),
        State::Stuck {
            why: Stuck::Auth | Stuck::NoProgress,
        } => "stuck for a person".to_owned(),
        State::WaitingForInput { until, .. } => format!("waiting_for_input {}", until.is_some()),
        State::Ready => format!("ready {}", attempt.resumes_at.is_some()),
        State::Preparing
        | State::WaitingForWakeup { .. }
        | State::WaitingForChildren { .. }
        | State::Verifying
        | State::Done => attempt.state.name().to_owned(),
    };
    let conversation = &attempt.conversation;
    let worker = conversation.worker.as_ref().map(|w| w.state);
    let worker = worker.filter(|_| conversation.has_live_worker());
    let stopping = match &conversation.stopping {
        None => "",
        Some(AfterStop::Retry { .. }) => "retry",
        Some(AfterStop::Fail { .. }) => "fail",
        Some(AfterStop::Conclude) => "conclude",
        Some(AfterStop::Pause) => "pause",
        Some(AfterStop::Release { .. }) => "release",
        Some(AfterStop::Reap { .. }) => "reap",
        Some(AfterStop::Drop { .. }) => "drop",
    };
    format!(
        "{state} {worker:?} {stopping} {:?} {}",
        conversation.session.state,
        attempt.claim.has_slot()
    )
}

/// The machine, explored.
#[must_use]
pub fn explored() -> Explored {
    machine::explore::<Machine>(&[first()], alphabet, |attempt| vec![shape(attempt)])
}
