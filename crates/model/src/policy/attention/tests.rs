//! Every state of a ticket with what it needs, in the words that people read.

use super::*;
use crate::attempt::{self, Class, Stuck, Working};
use crate::samples;
use crate::ticket::{CheckPlan, Checks, Done, Held, InTheWay, Obstacle, Verify, Waiting, Why};
use crate::{Actor, AgentName, RunId, Time};

fn id(text: &str) -> TicketId {
    TicketId::new(text).unwrap()
}

fn ticket(state: State) -> Ticket {
    let mut ticket = samples::ticket::first();
    ticket.state = state;
    ticket
}

fn in_progress(state: attempt::State) -> Ticket {
    let mut attempt = samples::attempt::first();
    attempt.state = state;
    ticket(State::InProgress(attempt.into()))
}

fn asks(until: Option<Time>) -> Ticket {
    in_progress(attempt::State::WaitingForInput {
        question: "red or blue?".to_owned(),
        until,
    })
}

fn verify(stage: Stage) -> Ticket {
    ticket(State::Verify(Box::new(Verify {
        attempt: samples::attempt::first(),
        by: Actor::File,
        submitted_at: Time(0),
        round: 1,
        approved: None,
        fewer_tests: None,
        taken_with: None,
        cleared: None,
        train: crate::ticket::Place::default(),
        stage,
    })))
}

fn landing(waiting: Option<Waiting>) -> Ticket {
    verify(Stage::Landing {
        candidate: samples::ticket::candidate(),
        waiting,
        then: None,
    })
}

fn edited() -> Ticket {
    let paths = vec![InTheWay {
        path: "README".to_owned(),
        what: Obstacle::Edited,
    }];
    let retry_at = Time(5);
    landing(Some(Waiting { paths, retry_at }))
}

fn held(mut ticket: Ticket) -> Ticket {
    ticket.held = Some(Box::new(Held {
        why: Why::NoProgress,
        note: "the same failure came three times".to_owned(),
        since: Time(0),
        retry_at: None,
        may_pass: false,
        for_all: false,
        output: None,
    }));
    ticket
}

fn refused(refusal: &Refusal) -> String {
    let facts = Facts {
        refusal: Some(refusal),
        ..Facts::default()
    };
    need(&ticket(State::Open), facts)
}

fn need(ticket: &Ticket, facts: Facts<'_>) -> String {
    let need = attention(ticket, facts);
    let by_itself = if need.moves_by_itself() {
        ", moves by itself"
    } else {
        ""
    };
    match &need {
        Need::Over => "over".to_owned(),
        Need::Apart => "apart".to_owned(),
        Need::Time => format!("time{by_itself}"),
        Need::Agent => "an agent".to_owned(),
        Need::Others(others) => format!("others: {others}"),
        Need::Person(reason) => format!("a person ({}): {reason}{by_itself}", reason.name()),
    }
}

#[test]
fn a_ticket_that_is_held_asks_or_waits_for_edits_needs_a_person() {
    let of = |ticket: &Ticket| need(ticket, Facts::default());
    assert_eq!(
        of(&held(ticket(State::Open))),
        "a person (no_progress): no_progress: the same failure came three times"
    );
    assert_eq!(of(&asks(None)), "a person (question): ann asks: red or blue?");
    assert_eq!(
        of(&asks(Some(Time(9)))),
        "a person (question): ann asks: red or blue?, moves by itself"
    );
    assert_eq!(
        of(&edited()),
        "a person (checkout): your edits are in the way of landing it: README (edited)"
    );
}

#[test]
fn a_ticket_that_is_at_work_moves_by_itself() {
    let stuck = attempt::State::Stuck { why: Stuck::Errors };
    let sleeps = attempt::State::WaitingForWakeup {
        at: Time(9),
        why: "the build".to_owned(),
    };
    for state in [attempt::State::Preparing, attempt::State::Ready, stuck, sleeps] {
        assert_eq!(
            need(&in_progress(state.clone()), Facts::default()),
            "time, moves by itself",
            "{state:?}"
        );
    }
    let checks = Checks::new(samples::ticket::candidate(), CheckPlan::default());
    for stage in [Stage::Queued, Stage::Building, Stage::Checking(checks.into())] {
        assert_eq!(need(&verify(stage), Facts::default()), "time, moves by itself");
    }
    assert_eq!(need(&landing(None), Facts::default()), "time, moves by itself");
}

#[test]
fn a_ticket_that_is_over_needs_nothing_even_if_crew_fails_to_clear_up_after_it() {
    let over = ticket(State::Done(Done::NotNeeded));
    let facts = Facts {
        failure: Some("the work of ann could not be kept"),
        ..Facts::default()
    };
    assert_eq!(need(&over, facts), "over");
    assert_eq!(need(&held(over), facts), "over");
}

#[test]
fn a_ticket_that_a_gatekeeper_found_impossible_needs_a_person() {
    let reason = "the service does not exist any more".to_owned();
    assert_eq!(
        need(&ticket(State::Done(Done::Failed { reason })), Facts::default()),
        "a person (impossible): a gatekeeper found that it cannot be done: the service does not exist any more"
    );
}

#[test]
fn the_reason_that_a_ticket_is_not_dispatched_says_what_it_needs() {
    assert_eq!(need(&ticket(State::Open), Facts::default()), "an agent");
    assert_eq!(refused(&Refusal::NoAgentFree { ahead: 3 }), "an agent");
    let agent = AgentName::new("ann").unwrap();
    assert_eq!(refused(&Refusal::AssigneeBusy { agent }), "an agent");
    for refusal in [
        Refusal::Epic,
        Refusal::TakenByPerson,
        Refusal::NoFile,
        Refusal::FileClosed,
    ] {
        assert_eq!(refused(&refusal), "apart", "{refusal:?}");
    }
    let until = Time(9);
    assert_eq!(refused(&Refusal::NotDue { until }), "time, moves by itself");
    assert_eq!(refused(&Refusal::Debouncing { until }), "time, moves by itself");
    let ids = vec![id("t-2"), id("t-3")];
    assert_eq!(
        refused(&Refusal::WaitsFor { ids }),
        "others: it waits for t-2, t-3"
    );
    let recovers = id("t-2");
    assert_eq!(
        refused(&Refusal::RecoveryNotNeededYet { recovers }),
        "others: it recovers t-2, which has not failed"
    );
    assert_eq!(
        refused(&Refusal::MissingDependency { id: id("t-2") }),
        "a person (dependency): it depends on t-2, and there is no such ticket; write it, or remove the dependency"
    );
    let path = vec![id("t-1"), id("t-1")];
    assert_eq!(
        refused(&Refusal::Cycle {
            path,
            recovering: Vec::new(),
            waiting: Vec::new(),
        }),
        "a person (dependency): it depends on itself: t-1 → t-1; remove one of these dependencies"
    );
    assert_eq!(
        refused(&Refusal::DependencyFailed {
            id: id("t-2"),
            outcome: "dropped".to_owned(),
            since: Time(0)
        }),
        "a person (dependency_failed): it depends on t-2, which was dropped"
    );
    assert_eq!(
        refused(&Refusal::Unreadable),
        "a person (file): its file cannot be read as a ticket; mend it, and it goes on"
    );
}

#[test]
fn what_crew_cannot_do_needs_a_person_before_what_the_ticket_waits_for_otherwise() {
    let refusal = Refusal::WaitsFor { ids: vec![id("t-2")] };
    let other = id("t-0");
    let facts = Facts {
        refusal: Some(&refusal),
        failure: Some("no commit"),
        blocker: Some(&other),
        ..Facts::default()
    };
    let failing = "a person (failing): no commit";
    assert_eq!(need(&ticket(State::Open), facts), failing);
    assert_eq!(need(&verify(Stage::Queued), facts), failing);
    assert_eq!(need(&in_progress(attempt::State::Ready), facts), failing);
    assert_eq!(
        need(&asks(None), facts),
        "a person (question): ann asks: red or blue?"
    );
}

#[test]
fn a_harness_that_refuses_needs_a_person_only_between_steps_and_only_without_an_end() {
    let pause = |until| HarnessPause {
        class: Class::Auth,
        message: "401".to_owned(),
        until,
        since: Time(0),
        ticket: id("t-9"),
    };
    let of = |ticket: &Ticket, until| {
        let pause = pause(until);
        let facts = Facts {
            pause: Some(("claude", &pause)),
            ..Facts::default()
        };
        need(ticket, facts)
    };
    let ready = in_progress(attempt::State::Ready);
    assert_eq!(
        of(&ready, None),
        "a person (harness): claude refuses (auth): 401; `crew retry t-9` once that is mended"
    );
    assert_eq!(of(&ready, Some(Time(9))), "time, moves by itself");
    assert_eq!(
        of(&in_progress(attempt::State::Preparing), None),
        "time, moves by itself"
    );
    assert_eq!(of(&verify(Stage::Queued), None), "time, moves by itself");
}

#[test]
fn a_submitted_ticket_waits_for_the_one_that_lands_first_and_cannot() {
    let first = landing(None);
    let mut second = verify(Stage::Queued);
    second.id = id("t-2");
    let mut checking = verify(Stage::Building);
    checking.id = id("t-3");
    let tickets = [&first, &second, &checking];
    assert_eq!(blocker(tickets, |_| false), None);
    assert_eq!(
        blocker(tickets, |failing| *failing == second.id),
        None,
        "it is not its turn"
    );
    let found = blocker(tickets, |failing| *failing == first.id);
    assert_eq!(found, Some(&first.id));
    let facts = Facts {
        blocker: found,
        ..Facts::default()
    };
    assert_eq!(
        need(&second, facts),
        "others: it waits for t-1, which lands first and cannot go on"
    );
    assert_eq!(need(&first, facts), "time, moves by itself", "not for itself");
    assert_eq!(need(&checking, facts), "time, moves by itself");
    let facts = Facts {
        failure: Some("no commit"),
        ..facts
    };
    assert_eq!(need(&first, facts), "a person (failing): no commit");
    assert_eq!(
        blocker([&held(first.clone())], |_| true),
        None,
        "a held ticket makes way"
    );
}

#[test]
fn a_step_that_runs_is_not_kept_from_starting() {
    let mut working = samples::attempt::first();
    let run = RunId::new("t-1.1.1").unwrap();
    working = [
        attempt::Event::WorkspaceReady {
            base: samples::ticket::candidate().target,
            earlier_work: false,
        },
        attempt::Event::StepStarted {
            run,
            budget: None,
            change: None,
        },
    ]
    .iter()
    .fold(working, |attempt, event| attempt.after(event).unwrap().0);
    assert!(matches!(working.state, attempt::State::Working(Working { .. })));
    let pause = HarnessPause {
        class: Class::Auth,
        message: "401".to_owned(),
        until: None,
        since: Time(0),
        ticket: id("t-9"),
    };
    let facts = Facts {
        pause: Some(("claude", &pause)),
        ..Facts::default()
    };
    let runs = ticket(State::InProgress(working.into()));
    assert_eq!(need(&runs, facts), "time, moves by itself");
}
