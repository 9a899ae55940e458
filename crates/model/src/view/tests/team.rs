//! Leaders and children as they are shown, and words and calls of agents that decide, or do not.

use super::*;
use crate::Look;
use crate::attempt::{Child, Mode, Shared};
use crate::call::Call;
use crate::journal::{Fact, State};
use crate::policy::attention::Facts;
use crate::policy::budget::Budget;
use crate::ticket::Delegated;
use crate::view::notice::Kind;

const LOOK: Look = Look {
    now: Time(0),
    engine: true,
};

fn finished(signal: Signal) -> T {
    T::Attempt(A::StepFinished {
        usage: Usage::default(),
        total_micro_usd: None,
        signal,
        summary: Some("all of it".to_owned()),
        repeat: None,
        unusable: Vec::new(),
        steps_left: 9,
        attempts_left: 2,
        reopen_at: Time(0),
        answer_by: None,
    })
}

fn announced(mode: Mode, number: u32) -> T {
    T::Attempt(A::ModeAnnounced { mode, number })
}

impl Story {
    /// Records an event, and describes it.
    fn told(&mut self, of: &str, event: T) -> String {
        self.ticket(of, event.clone());
        describe_with(
            &Fact::Ticket(event),
            &State::Ticket(self.crew.tickets[&id(of)].clone()),
        )
    }

    /// Records an event; the notice that it is.
    fn noticed(&mut self, of: &str, event: T) -> Option<Notice> {
        self.ticket(of, event.clone());
        let after = State::Ticket(self.crew.tickets[&id(of)].clone());
        notice(Row {
            seq: self.seq,
            stream: &Stream::Ticket(id(of)),
            at: self.now(),
            fact: &Fact::Ticket(event),
            after: &after,
        })
    }

    /// ada has t-1 and waits for its two children.
    fn leading() -> Self {
        let mut story = Self::up(&["ada", "bob"]);
        story.create("t-1", "Lead", &[]);
        story.claim("t-1", "ada");
        story.start("t-1", 1);
        let child = |of: &str| Child {
            id: id(of),
            title: of.to_owned(),
            task: String::new(),
            acceptance: None,
            agent: None,
            is_apart: false,
            is_leader: false,
            by: name("ada"),
            at: Time(0),
        };
        let children = ["t-1-c1", "t-1-c2"];
        story.ticket(
            "t-1",
            T::Attempt(A::Delegated {
                children: children.map(child).into(),
            }),
        );
        story.finish("t-1", Signal::None);
        for of in children {
            story.create(of, of, &[]);
            let delegated = Delegated {
                by: id("t-1"),
                fence: Fence(1),
                workspace: Shared {
                    of: id("t-1"),
                    agent: name("ada"),
                    number: 1,
                },
                is_apart: false,
                depth: 1,
                work: None,
                unmerged: None,
            };
            story.ticket(of, T::Delegated { delegated });
        }
        story
    }

    fn dropped(&mut self, of: &str, by: Actor) -> Option<Notice> {
        let reason = "no".to_owned();
        self.noticed(of, T::Dropped { by, reason })
    }
}

#[test]
fn words_that_do_not_count_say_why() {
    let mut story = Story::up(&["ada"]);
    story.create("t-1", "Split it", &[]);
    story.claim("t-1", "ada");
    story.start("t-1", 1);
    assert_eq!(story.told("t-1", announced(Mode::Plan, 1)), "says MODE: plan");
    assert_eq!(
        story.told("t-1", announced(Mode::BreakUp, 2)),
        "says MODE: break_up"
    );
    assert_eq!(
        story.told("t-1", announced(Mode::Execute, 3)),
        "says MODE: execute; that does not count: it does not follow break_up: break_up goes back to plan"
    );
    let done = finished(Signal::Done);
    assert_eq!(
        story.told("t-1", done.clone()),
        "step finished: DONE (all of it); that does not count: in break_up, done means that there are tickets for the parts"
    );
    let T::Attempt(done) = done else { panic!() };
    let words = uncounted(&done, &story.crew.tickets[&id("t-1")]);
    let words: Vec<&str> = words.iter().map(|one| one.word.as_str()).collect();
    assert_eq!(words, ["MODE: execute", "DONE"]);
}

#[test]
fn a_word_that_is_put_off_does_not_count_and_one_that_counts_says_nothing_more() {
    let mut story = Story::up(&["ada"]);
    story.create("t-1", "Ask", &[]);
    story.claim("t-1", "ada");
    story.start("t-1", 1);
    let by = Actor::person("una");
    let text = "look at the log".to_owned();
    story.ticket("t-1", T::Attempt(A::Said { by, text }));
    assert_eq!(
        story.told("t-1", finished(Signal::Done)),
        "step finished: DONE (all of it); that does not count: it is told first what came while it was at work"
    );
    story.start("t-1", 2);
    assert_eq!(
        story.told("t-1", finished(Signal::Done)),
        "step finished: DONE (all of it)"
    );
}

#[test]
fn an_agent_that_has_called_its_result_waits_for_its_process_to_end() {
    let mut story = Story::up(&["ada"]);
    story.create("t-1", "Do it", &[]);
    story.claim("t-1", "ada");
    story.start("t-1", 1);
    let waiting = |story: &Story| story.crew.agent(&name("ada")).unwrap().waiting(LOOK);
    assert_eq!(waiting(&story), None);
    let call = Call::SubmitWork {
        summary: "it is done".to_owned(),
        output: None,
        acceptance_test_result: None,
    };
    story.ticket("t-1", T::Attempt(A::Called { call, at: Time(0) }));
    let waits = "waits for its process to end: it has submitted its work, and crew stops the process after `exit_within`";
    assert_eq!(waiting(&story).as_deref(), Some(waits));
    let ticket = &story.crew.tickets[&id("t-1")];
    let standing = Standing::of(ticket, Facts::default(), LOOK);
    assert_eq!(standing.why.as_deref(), Some(waits));
}

#[test]
fn a_leader_waits_for_the_children_that_are_not_over() {
    let mut story = Story::leading();
    let waiting = |story: &Story| story.crew.agent(&name("ada")).unwrap().waiting(LOOK);
    assert_eq!(
        waiting(&story).as_deref(),
        Some("waits for its children t-1-c1, t-1-c2")
    );
    story.dropped("t-1-c1", Actor::Engine);
    let waits = "waits for its children t-1-c2 (1 of 2 are over)";
    assert_eq!(waiting(&story).as_deref(), Some(waits));
    let ticket = &story.crew.tickets[&id("t-1")];
    let open = open_children(&story.crew.tickets, ticket);
    assert_eq!(open, [id("t-1-c2")]);
    let facts = Facts {
        children: Some(&open),
        ..Facts::default()
    };
    let standing = Standing::of(ticket, facts, LOOK);
    assert_eq!(
        (standing.word, standing.why.as_deref()),
        ("delegates", Some("waits for t-1-c2 (1 of 2 are over)"))
    );
}

#[test]
fn a_child_works_in_the_workspace_of_its_parent_and_says_so() {
    let mut story = Story::leading();
    story.claim("t-1-c1", "bob");
    let ready = A::WorkspaceReady {
        base: oid('a'),
        earlier_work: false,
    };
    let after = State::Ticket(story.crew.tickets[&id("t-1-c1")].clone());
    assert_eq!(
        describe_with(&Fact::Ticket(T::Attempt(ready)), &after),
        "at work in the workspace of t-1, with all that is there"
    );
    let prepare = ticket::Effect::PrepareWorkspace {
        agent: name("bob"),
        fence: Fence(1),
        number: 1,
        from: attempt::StartPoint::Target,
    };
    assert_eq!(
        describe_effect(&prepare, &after),
        "have bob work in the workspace of t-1"
    );
}

#[test]
fn a_child_is_completed_once_and_what_its_leader_decides_is_no_notice() {
    let mut story = Story::leading();
    story.claim("t-1-c1", "bob");
    story.start("t-1-c1", 1);
    assert_eq!(story.noticed("t-1-c1", finished(Signal::Done)), None);
    let unified = story
        .noticed(
            "t-1-c1",
            T::Unified {
                work: None,
                unmerged: None,
            },
        )
        .unwrap();
    assert_eq!(unified.kind, Kind::Completed);
    assert_eq!(
        unified.says,
        "done: its work is its parent's, and lands with that one; all of it"
    );
    let budget = Budget {
        spent_micro_usd: 5_100_000,
        limit_micro_usd: 5_000_000,
    };
    assert_eq!(story.noticed("t-1-c2", T::BudgetSpent { budget }), None);
    let ticket = &story.crew.tickets[&id("t-1-c2")];
    let held = ticket.held.as_ref().unwrap();
    assert!(
        held.note.ends_with(", the budget that it has together with t-1"),
        "{}",
        held.note
    );
    let mut other = Story::leading();
    assert_eq!(story.dropped("t-1-c2", Actor::Engine), None);
    let by_person = other.dropped("t-1-c2", Actor::person("una")).unwrap();
    assert_eq!(by_person.kind, Kind::Failed);
}

#[test]
fn a_note_of_a_persons_is_nobody_elses() {
    let mut story = Story::up(&["ada"]);
    story.create("t-1", "Do it", &[]);
    story.claim("t-1", "ada");
    story.start("t-1", 1);
    let note = |by| T::Commented {
        by,
        text: "mind the gap".to_owned(),
    };
    let of_person = story.noticed("t-1", note(Actor::person("una"))).unwrap();
    assert_eq!(
        (of_person.agent, of_person.says.as_str()),
        (None, "note by una: mind the gap")
    );
    let of_file = story.noticed("t-1", note(Actor::File)).unwrap();
    assert_eq!(of_file.agent, None);
    let run = RunId::of_step(&id("t-1"), Fence(1), 1);
    let of_agent = story.noticed("t-1", note(Actor::Agent { run })).unwrap();
    assert_eq!(of_agent.agent, Some(name("ada")));
}

#[test]
fn a_ticket_that_was_broken_up_has_not_failed() {
    let mut story = Story::leading();
    story.claim("t-1-c1", "bob");
    story.start("t-1-c1", 1);
    let parts = vec![ticket::Part {
        ticket: id("t-7"),
        title: "A part".to_owned(),
        result: None,
    }];
    assert_eq!(
        story.noticed("t-1-c1", finished(Signal::BrokenUp { parts })),
        None
    );
    assert_eq!(story.crew.tickets[&id("t-1-c1")].state_name(), "open");
}

#[test]
fn a_child_that_is_dropped_after_it_was_held_is_told_as_dropped() {
    let mut story = Story::leading();
    story.claim("t-1-c1", "bob");
    story.start("t-1-c1", 1);
    let why = "no key".to_owned();
    story.ticket("t-1-c1", finished(Signal::Blocked { why }));
    let came_to = |story: &Story| {
        let work = story.crew.attempts.get(&(id("t-1-c1"), 1));
        work.map(|work| work.came_to.clone()).unwrap_or_default()
    };
    assert_eq!(came_to(&story), "held, blocked");
    let (by, reason) = (Actor::Engine, "t-1 goes on without it".to_owned());
    story.ticket("t-1-c1", T::Dropped { by, reason });
    assert_eq!(came_to(&story), "dropped");
}
