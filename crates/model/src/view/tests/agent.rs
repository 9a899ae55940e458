//! Agents as they are shown: an answer that waits for the target, and a project without an engine.

use super::*;
use crate::Look;
use crate::attempt::Mode;
use crate::policy::attention::Facts;
use crate::target::{Basis, Target, Verdict};
use crate::ticket::CheckPlan;

const LOOK: Look = Look {
    now: Time(0),
    engine: true,
};
const WITHOUT: Look = Look {
    engine: false,
    ..LOOK
};

fn red() -> Target {
    Target {
        commit: oid('a'),
        basis: Basis {
            tree: oid('b'),
            plan: CheckPlan {
                setup: Vec::new(),
                commands: vec![crate::samples::ticket::check("make")],
                ..CheckPlan::default()
            },
            environment: String::new(),
        },
        verdict: Verdict::Failed {
            which: "make".to_owned(),
            output: String::new(),
        },
        since: Time(0),
        round: 1,
        anyway: false,
        canaries: Vec::new(),
        flaky: Vec::new(),
        run: None,
        hindered: 0,
        remote: None,
        looks: 0,
        retry_at: None,
    }
}

/// A story whose agent was answered, and has not been given that.
fn answered() -> Story {
    let mut story = Story::up(&["ada"]);
    story.create("t-1", "Ask", &[]);
    story.claim("t-1", "ada");
    story.start("t-1", 1);
    let question = "red or blue?".to_owned();
    story.finish(
        "t-1",
        Signal::Asked {
            question: question.clone(),
        },
    );
    story.ticket(
        "t-1",
        T::Attempt(A::Answered {
            by: Actor::person("me"),
            text: "red".to_owned(),
            question,
        }),
    );
    story
}

fn ada(story: &Story) -> Agent {
    story.crew.agent(&name("ada")).unwrap()
}

#[test]
fn an_answered_agent_waits_for_a_target_that_is_red() {
    let mut story = answered();
    let agent = ada(&story);
    assert_eq!(agent.status, Status::Working);
    assert_eq!(agent.waiting(LOOK).as_deref(), Some("waits for its next step"));
    story.project(&project::Event::Target(Box::new(red())));
    let agent = ada(&story);
    assert_eq!((agent.status, agent.mode), (Status::Waiting, Some(Mode::Execute)));
    let waits = "waits for the target: the target itself does not pass `make`";
    assert_eq!(agent.waiting(LOOK).as_deref(), Some(waits));
    let without = format!("{waits}, and goes on when an engine runs again (`crew run`)");
    assert_eq!(agent.waiting(WITHOUT), Some(without));
    // The step that it is given the answer in waits for nothing more.
    story.start("t-1", 2);
    assert_eq!(ada(&story).status, Status::Working);
}

#[test]
fn an_agent_between_two_steps_waits_for_an_engine_and_one_that_asks_for_a_person() {
    let agent = ada(&answered());
    assert_eq!(
        (agent.status_at(LOOK), agent.status_at(WITHOUT)),
        (Status::Working, Status::Waiting)
    );
    let waits = "waits for its next step, and goes on when an engine runs again (`crew run`)";
    assert_eq!(agent.waiting(WITHOUT).as_deref(), Some(waits));
    let stands = |story: &Story, look| {
        let ticket = &story.crew.tickets[&TicketId::new("t-1").unwrap()];
        let standing = Standing::of(ticket, Facts::default(), look);
        (standing.word, standing.why)
    };
    assert_eq!(stands(&answered(), LOOK), ("working", None));
    assert_eq!(
        stands(&answered(), WITHOUT),
        ("waits", Some(waits.to_owned())),
        "its ticket says what it says"
    );
    let mut story = Story::up(&["ada"]);
    story.create("t-1", "Ask", &[]);
    story.claim("t-1", "ada");
    story.start("t-1", 1);
    assert_eq!(
        ada(&story).status_at(WITHOUT),
        Status::Working,
        "its step runs on"
    );
    assert_eq!(stands(&story, WITHOUT), ("working", None));
    let question = "red or blue?".to_owned();
    story.finish("t-1", Signal::Asked { question });
    let waits = Some("waits for an answer: red or blue?".to_owned());
    assert_eq!(ada(&story).waiting(WITHOUT), waits);
}
