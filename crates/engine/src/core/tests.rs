//! Tests of what takes several parts of the core.

use model::attempt::{self, HarnessId};
use model::journal::EffectId;
use model::settings::{HarnessKind, Settings};
use model::ticket::{Done, Effect, Event, Spec, State, Ticket};
use model::{AgentName, Fence, RunId, SessionId, TicketId, Time};

use super::Core;
use crate::{Input, Loaded, Observation, Report};

fn core() -> Core {
    Core::load(Settings::default(), uuid::Uuid::nil(), Loaded::default()).unwrap()
}

fn id() -> TicketId {
    TicketId::new("t-1").unwrap()
}

fn report(core: &mut Core, seq: u64, effect: &Effect, report: Report) {
    let input = Input::Reported {
        id: EffectId { seq, index: 0 },
        ticket: id(),
        effect: effect.clone(),
        report,
    };
    drop(core.step(input, Time(0)));
}

fn could_not() -> Report {
    Report::CouldNotRun {
        why: "no commit".to_owned(),
    }
}

fn keep() -> Effect {
    Effect::KeepWork {
        agent: AgentName::new("ann").unwrap(),
        number: 1,
    }
}

fn waits(core: &Core) -> Vec<String> {
    core.rest().waits.into_iter().map(|waits| waits.why).collect()
}

/// A ticket that was claimed with this fence.
fn claimed(fence: u64) -> Ticket {
    let created = Event::Created {
        spec: Spec::default(),
    };
    let claimed = Event::Claimed {
        agent: AgentName::new("ann").unwrap(),
        fence: Fence(fence),
        harness: HarnessId {
            name: "scripted".to_owned(),
            kind: HarnessKind::Command,
        },
        session: SessionId::of_attempt(uuid::Uuid::nil(), &id(), Fence(fence), 1),
        at: Time(0),
        eligible: true,
    };
    let mut ticket = Ticket::new(id());
    for event in [created, claimed] {
        ticket = ticket.after(&event, Time(0)).unwrap().ticket;
    }
    ticket
}

#[test]
fn a_report_for_an_earlier_claim_ends_the_failure_of_its_effect() {
    let mut core = core();
    core.put(claimed(1).into(), 1);
    let prepare = Effect::PrepareWorkspace {
        agent: AgentName::new("ann").unwrap(),
        fence: Fence(1),
        number: 1,
        from: attempt::StartPoint::Target,
    };
    report(&mut core, 1, &prepare, could_not());
    report(&mut core, 1, &prepare, could_not());
    assert!(core.is_stuck(&id()));
    core.put(claimed(2).into(), 2);
    report(&mut core, 1, &prepare, could_not());
    assert!(!core.is_stuck(&id()), "nobody waits for the old workspace");
}

#[test]
fn a_step_that_cannot_be_stopped_is_a_persons_until_it_was_stopped() {
    let mut core = core();
    core.put(claimed(2).into(), 2);
    let run = RunId::new("t-1.2.1").unwrap();
    let stop = Effect::Attempt(attempt::Effect::StopRun { run });
    report(&mut core, 2, &stop, could_not());
    report(&mut core, 2, &stop, could_not());
    assert!(core.is_stuck(&id()));
    report(&mut core, 2, &stop, Report::Stopped);
    assert!(!core.is_stuck(&id()));
}

#[test]
fn work_that_cannot_be_kept_is_listed_as_long_as_a_person_can_mend_it() {
    let mut core = core();
    core.put(Ticket::new(id()).into(), 1);
    report(&mut core, 1, &keep(), could_not());
    assert!(!core.is_stuck(&id()) && waits(&core).is_empty());
    report(&mut core, 1, &keep(), could_not());
    assert!(core.is_stuck(&id()) && !core.is_unwritten(&id()));
    assert_eq!(waits(&core), ["the work of ann could not be kept: no commit"]);
    let hindered = Report::Hindered {
        why: "no room".to_owned(),
    };
    report(&mut core, 1, &keep(), hindered);
    assert!(!core.is_stuck(&id()) && waits(&core).is_empty());
    report(&mut core, 1, &keep(), could_not());
    assert!(core.is_stuck(&id()));
    report(&mut core, 1, &keep(), Report::Done);
    assert!(!core.is_stuck(&id()) && waits(&core).is_empty());
}

/// A crew that has been up for years has forgotten most of what it ever saw.
#[test]
fn nothing_is_left_of_a_ticket_that_is_archived() {
    let mut core = core();
    let mut ticket = Ticket::new(id());
    ticket.state = State::Done(Done::Failed {
        reason: "no".to_owned(),
    });
    core.restore(id(), 1, ticket.into());
    let gone = Input::Observed {
        seen: vec![Observation::Gone {
            ticket: id(),
            origin: model::ticket::Origin::Person,
            is_tracked: true,
        }],
        whole: true,
    };
    drop(core.step(gone, Time(0)));
    let text = "why".to_owned();
    let note = |text| Effect::AddNote { text, by: None };
    report(&mut core, 1, &note(text.clone()), could_not());
    report(&mut core, 2, &note(text), Report::FileMissing);
    report(&mut core, 3, &keep(), could_not());
    let knows = |core: &Core| format!("{core:?}").contains("t-1");
    assert!(knows(&core));

    core.forget(&[id()].into());
    assert!(!knows(&core), "{core:#?}");
}
