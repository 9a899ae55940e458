//! The rows of a ticket's commitments.

use crate::attempt::{self, Signal};
use crate::commitment::{By, Promise, State as Standing};
use crate::samples;
use crate::ticket::{
    Candidate, CheckCommand, CheckOutcome, CheckPlan, CheckTask, Done, Event, Spec, Stage, State, Ticket, Why,
};
use crate::{Actor, Oid, RunId, Time};

fn promise(says: &str, command: Option<&str>) -> Promise {
    Promise {
        says: says.to_owned(),
        run: command.map(|text| CheckCommand::Shell(text.to_owned())),
    }
}

fn spec(commitments: &[Promise]) -> Spec {
    Spec {
        commitments: commitments.to_vec(),
        ..samples::ticket::spec()
    }
}

fn built(tip: char) -> Event {
    Event::CandidateBuilt {
        candidate: Candidate {
            tip: Oid::new(tip.to_string().repeat(40)).unwrap(),
            ..samples::ticket::candidate()
        },
        plan: CheckPlan::default(),
    }
}

fn tip(tip: char) -> Oid {
    Oid::new(tip.to_string().repeat(40)).unwrap()
}

fn passed() -> Event {
    Event::ChecksPassed {
        tree: samples::ticket::candidate().tree,
        passed: Vec::new(),
        review: false,
    }
}

fn then(ticket: &Ticket, event: &Event) -> Ticket {
    ticket.after(event, Time(1)).unwrap().ticket
}

fn refused(ticket: &Ticket, event: &Event) -> String {
    ticket.after(event, Time(1)).expect_err("it is refused").why
}

/// A ticket that an agent has.
fn at_work(commitments: &[Promise]) -> Ticket {
    let id = crate::TicketId::new("t-1").unwrap();
    let session = crate::SessionId::of_attempt(uuid::Uuid::nil(), &id, crate::Fence(1), 1);
    let events = [
        Event::Created {
            spec: spec(commitments),
        },
        Event::Claimed {
            agent: crate::AgentName::new("ann").unwrap(),
            fence: crate::Fence(1),
            harness: samples::harness(),
            session,
            at: Time(0),
            eligible: true,
        },
        Event::Attempt(attempt::Event::WorkspaceReady {
            base: samples::ticket::candidate().target,
            earlier_work: false,
        }),
        Event::Attempt(attempt::Event::StepStarted {
            run: RunId::of_step(&id, crate::Fence(1), 1),
            budget: None,
            change: None,
        }),
    ];
    events
        .iter()
        .fold(Ticket::new(id), |ticket, event| then(&ticket, event))
}

/// It is submitted, and merged with this tip.
fn submitted(ticket: &Ticket, tip: char) -> Ticket {
    let done = Event::Attempt(attempt::Event::StepFinished {
        usage: attempt::Usage::default(),
        total_micro_usd: None,
        signal: Signal::Done,
        summary: None,
        repeat: None,
        unusable: Vec::new(),
        steps_left: 9,
        attempts_left: 2,
        reopen_at: Time(0),
        answer_by: None,
    });
    let events = [done, Event::CheckStarted, built(tip)];
    events
        .iter()
        .fold(ticket.clone(), |ticket, event| then(&ticket, event))
}

/// The next commitment is verified.
fn verified(ticket: &Ticket, outcome: CheckOutcome) -> Ticket {
    let checks = ticket.checks().unwrap();
    assert_eq!(checks.next(), Some(CheckTask::Commitment));
    let run = RunId::of_check(&ticket.id, crate::Fence(1), 1, checks.runs + 1);
    let ordered = Event::CheckOrdered {
        run: run.clone(),
        task: CheckTask::Commitment,
        slot: crate::ticket::CheckSlot::FIRST,
        anew: false,
        at: Time(1),
    };
    let under_way = then(ticket, &ordered);
    let verifying = under_way
        .commitments
        .iter()
        .filter(|one| one.state == Standing::Verifying);
    assert_eq!(verifying.count(), 1);
    then(
        &under_way,
        &Event::CheckEnded {
            run,
            outcome,
            tests: None,
        },
    )
}

fn failed() -> CheckOutcome {
    CheckOutcome::Failed {
        output: "not there".to_owned(),
    }
}

fn approved() -> Event {
    Event::CommitmentsApproved {
        by: Actor::person("someone"),
    }
}

#[test]
fn work_that_does_not_meet_a_commitment_goes_back_and_never_on() {
    let ticket = submitted(
        &at_work(&[promise("a", Some("true")), promise("b", Some("false"))]),
        'a',
    );
    assert_eq!(refused(&ticket, &passed()), "not every check has passed");
    let ticket = verified(&ticket, CheckOutcome::Passed);
    let unmet = |id| Event::CommitmentUnmet {
        id,
        output: "not there".to_owned(),
        steps_left: 3,
        reopen_at: Time(9),
        repeat: None,
    };
    assert_eq!(refused(&ticket, &unmet(2)), "the commitment has not failed");
    let ticket = verified(&ticket, failed());
    assert_eq!(refused(&ticket, &passed()), "not every check has passed");
    let back = then(&ticket, &unmet(2));
    assert!(matches!(back.state, State::InProgress(_)));
    assert_eq!(back.commitments[1].state, Standing::Failed);
    assert_eq!(back.broken_commitments().count(), 0, "its agent has it");
    let spent = Event::CommitmentUnmet {
        id: 2,
        output: "not there".to_owned(),
        steps_left: 0,
        reopen_at: Time(9),
        repeat: None,
    };
    let held = then(&ticket, &spent);
    let broken: Vec<u32> = held.broken_commitments().map(|one| one.id).collect();
    assert_eq!(broken, [2]);
    let waived = Event::CommitmentWaived {
        id: 2,
        by: Actor::person("someone"),
        reason: "so".to_owned(),
    };
    assert_eq!(then(&held, &waived).broken_commitments().count(), 0);
}

#[test]
fn a_verdict_is_not_asked_for_again_when_the_target_moves() {
    let ticket = submitted(&at_work(&[promise("a", Some("true"))]), 'a');
    let ticket = verified(&ticket, CheckOutcome::Passed);
    assert_eq!(ticket.commitments_met(&tip('a')), Some((1, 1, 1)));
    let moved = [Event::TargetMoved, Event::CheckStarted];
    let moved = moved.iter().fold(ticket, |ticket, event| then(&ticket, event));
    let same = then(&moved, &built('a'));
    assert_eq!(same.checks().unwrap().next(), None);
    let landing = then(&same, &passed());
    let commit = samples::ticket::candidate().commit;
    let landed = then(&landing, &Event::Landed { commit });
    let State::Done(Done::Landed { acceptance, .. }) = &landed.state else {
        panic!("{:?}", landed.state)
    };
    assert_eq!(acceptance, "a (`true`)");
    let other = then(&moved, &built('f'));
    assert_eq!(other.checks().unwrap().next(), Some(CheckTask::Commitment));
    assert_eq!(other.commitments[0].state, Standing::Pending);
}

#[test]
fn an_edit_while_an_agent_has_the_ticket_counts_once_a_person_has_said_so() {
    let (old, new) = ([promise("a", Some("true"))], [promise("b", Some("true"))]);
    let edited = |list: &[Promise]| Event::Edited {
        spec: spec(list),
        waited: None,
    };
    let ticket = then(&at_work(&old), &edited(&new));
    assert_eq!(ticket.unconfirmed.as_deref(), Some(&new[..]));
    assert!(ticket.lists(&old), "the old ones count");
    let put_back = then(&ticket, &edited(&old));
    assert_eq!(put_back.unconfirmed, None);
    let ticket = verified(&submitted(&ticket, 'a'), CheckOutcome::Passed);
    assert_eq!(refused(&ticket, &passed()), "not every commitment is met");
    let held = then(&ticket, &Event::CommitmentsHeld { tip: tip('a') });
    assert!(matches!(held.held.as_ref().unwrap().why, Why::Commitments { .. }));
    let freed = then(&held, &edited(&old));
    assert!(freed.held.is_none(), "nothing is asked any more");
    let approved = then(&held, &approved());
    assert!(approved.held.is_none() && approved.lists(&new));
    assert_eq!(
        approved.stage(),
        Some(&Stage::Queued),
        "the new ones are verified"
    );
}

#[test]
fn a_promise_without_a_command_waits_for_a_person_who_names_it_as_met_by_this_tip() {
    let ticket = submitted(&at_work(&[promise("it is beautiful", None)]), 'a');
    assert_eq!(ticket.checks().unwrap().next(), None);
    assert_eq!(refused(&ticket, &passed()), "not every commitment is met");
    let held = then(&ticket, &Event::CommitmentsHeld { tip: tip('a') });
    let approved = then(&held, &approved());
    let events = [Event::CheckStarted, built('a'), passed()];
    let landing = events.iter().fold(approved, |ticket, event| then(&ticket, event));
    assert!(landing.is_landing());
}

#[test]
fn a_waiver_of_unmet_commitments_has_the_work_merged_anew() {
    let ticket = submitted(&at_work(&[promise("it is beautiful", None)]), 'a');
    let held = then(&ticket, &Event::CommitmentsHeld { tip: tip('a') });
    let waived = Event::Waived {
        by: Actor::person("someone"),
        reason: "so".to_owned(),
    };
    let ticket = then(&then(&held, &waived), &Event::CheckStarted);
    assert!(ticket.is_waived_at(&tip('a')));
    assert_eq!(ticket.commitments_met(&tip('a')), Some((0, 1, 1)));
    assert!(then(&ticket, &built('a')).is_landing());
}

#[test]
fn a_commitment_that_is_added_during_the_checks_is_verified_too() {
    let added = Event::CommitmentAdded {
        by: By::Assigner(Actor::person("someone")),
        promise: promise("b", Some("true")),
    };
    let ticket = then(&submitted(&at_work(&[]), 'a'), &added);
    assert_eq!(refused(&ticket, &added), "it has this commitment already");
    assert_eq!(ticket.stage(), Some(&Stage::Queued));
    let building = then(&ticket, &Event::CheckStarted);
    let late = Event::CommitmentAdded {
        by: By::Ticket,
        promise: promise("c", None),
    };
    assert_eq!(
        refused(&building, &late),
        "it is being merged at this moment: ask again"
    );
    let ticket = then(&building, &built('a'));
    assert_eq!(ticket.checks().unwrap().next(), Some(CheckTask::Commitment));
}

#[test]
fn shell_text_in_a_ticket_that_an_agent_made_counts_once_a_person_has_said_so() {
    let program = Promise {
        says: "p".to_owned(),
        run: Some(CheckCommand::Argv(vec!["true".to_owned()])),
    };
    let all = [promise("a", Some("true")), program.clone()];
    let of_agent = |list: &[Promise]| Spec {
        made_by: Some("ada".to_owned()),
        ..spec(list)
    };
    let created = Event::Created { spec: of_agent(&all) };
    let ticket = then(&Ticket::new(crate::TicketId::new("t-1").unwrap()), &created);
    assert!(ticket.lists(std::slice::from_ref(&program)));
    assert_eq!(ticket.waiting_promises().collect::<Vec<_>>(), [&all[0]]);
    let why = ticket.why_promises_wait().unwrap();
    assert!(why.contains("ada, no person, made this ticket"), "{why}");
    let ticket = then(&ticket, &approved());
    assert!(ticket.lists(&all) && ticket.why_promises_wait().is_none());
    // What was approved stays so, and what is new waits again.
    let more = [all[0].clone(), program, promise("b", Some("false"))];
    let edited = Event::Edited {
        spec: of_agent(&more),
        waited: None,
    };
    let ticket = then(&ticket, &edited);
    assert!(ticket.lists(&more[..2]));
    assert_eq!(ticket.waiting_promises().collect::<Vec<_>>(), [&more[2]]);
}

fn waived(id: u32) -> Event {
    Event::CommitmentWaived {
        id,
        by: Actor::person("someone"),
        reason: "so".to_owned(),
    }
}

#[test]
fn a_commitment_that_is_waived_is_not_verified_and_is_counted_as_not_met() {
    let both = [promise("a", Some("true")), promise("b", Some("false"))];
    let ticket = then(&at_work(&both), &waived(2));
    assert_eq!(refused(&ticket, &waived(2)), "this commitment is waived already");
    assert_eq!(refused(&ticket, &waived(3)), "it has no such commitment");
    let ticket = verified(&submitted(&ticket, 'a'), CheckOutcome::Passed);
    assert_eq!(ticket.checks().unwrap().next(), None);
    assert_eq!(ticket.commitments_met(&tip('a')), Some((1, 1, 2)));
    let landing = then(&ticket, &passed());
    assert!(landing.is_landing());
    assert_eq!(
        refused(&landing, &waived(1)),
        "its checks and commitments are passed"
    );
}

#[test]
fn a_waiver_during_the_checks_has_the_work_merged_anew_and_one_for_no_progress_lets_it_go_on() {
    let both = [promise("a", Some("true")), promise("b", Some("false"))];
    let ticket = verified(&submitted(&at_work(&both), 'a'), CheckOutcome::Passed);
    assert_eq!(then(&ticket, &waived(2)).stage(), Some(&Stage::Queued));
    let mut held = ticket;
    held.held = Some(Box::new(crate::ticket::Held {
        why: Why::NoProgress,
        note: String::new(),
        since: Time(1),
        retry_at: None,
        may_pass: false,
        for_all: false,
        output: None,
    }));
    let ticket = then(&held, &waived(2));
    assert!(ticket.held.is_none());
    assert_eq!(ticket.stage(), Some(&Stage::Queued));
}
