mod agent;
mod archive;
mod cost;
mod inbox;
mod notice;
mod team;

use super::*;
use crate::attempt::{Class, Event as A, Failure, Signal};
use crate::ticket::{Candidate, Event as T, Spec};
use crate::{Actor, Fence, RunId, SessionId};

/// A journal being written: every ticket row goes through the machine, so that the fold sees what an engine
/// writes.
#[derive(Default)]
struct Story {
    crew: Snapshot,
    seq: u64,
}

fn name(text: &str) -> AgentName {
    AgentName::new(text).unwrap()
}

fn id(text: &str) -> TicketId {
    TicketId::new(text).unwrap()
}

fn oid(digit: char) -> Oid {
    Oid::new(String::from(digit).repeat(40)).unwrap()
}

impl Story {
    /// One event a second, from 2026-01-02T03:04:05Z on.
    fn now(&self) -> Time {
        Time(1_767_323_045_000 + i64::try_from(self.seq).unwrap() * 1000)
    }

    fn project(&mut self, event: &project::Event) {
        use crate::machine::Machine as _;
        let after = project::Machine::transition(&self.crew.project, event)
            .unwrap()
            .state;
        let (fact, after, stream) = (
            Fact::Project(event.clone()),
            State::Project(after),
            Stream::Project,
        );
        self.row(&stream, &fact, &after);
    }

    fn ticket(&mut self, of: &str, event: T) {
        let before = self
            .crew
            .tickets
            .get(&id(of))
            .cloned()
            .unwrap_or_else(|| Ticket::new(id(of)).into());
        let after = before.after(&event, self.now()).unwrap().ticket;
        let (fact, after, stream) = (
            Fact::Ticket(event),
            State::Ticket(after.into()),
            Stream::Ticket(id(of)),
        );
        self.row(&stream, &fact, &after);
    }

    fn row(&mut self, stream: &Stream, fact: &Fact, after: &State) {
        self.seq += 1;
        self.crew.apply(Row {
            seq: self.seq,
            stream,
            at: self.now(),
            fact,
            after,
        });
    }

    fn up(agents: &[&str]) -> Self {
        let mut story = Self::default();
        story.project(&project::Event::Opened);
        for agent in agents {
            story.project(&project::Event::AgentSpawned { name: name(agent) });
        }
        story.project(&project::Event::Initialized);
        story
    }

    fn create(&mut self, of: &str, title: &str, deps: &[&str]) {
        let deps = deps.iter().map(|dep| id(dep)).collect();
        let spec = Spec {
            title: title.to_owned(),
            kind: "task".to_owned(),
            priority: 2,
            deps,
            ..Spec::default()
        };
        self.ticket(of, T::Created { spec });
    }

    fn claim(&mut self, of: &str, by: &str) {
        let fence = self
            .crew
            .tickets
            .get(&id(of))
            .map_or(Fence(1), |t| t.fence.next());
        let session = SessionId(uuid::Uuid::from_u128(u128::from(fence.0)));
        self.ticket(
            of,
            T::Claimed {
                agent: name(by),
                fence,
                harness: crate::samples::harness(),
                session,
                at: self.now(),
                eligible: true,
            },
        );
        self.ticket(
            of,
            T::Attempt(A::WorkspaceReady {
                base: oid('a'),
                earlier_work: false,
            }),
        );
    }

    fn start(&mut self, of: &str, n: u32) {
        let run = RunId::of_step(&id(of), Fence(1), n);
        self.ticket(
            of,
            T::Attempt(A::StepStarted {
                run,
                budget: None,
                change: None,
            }),
        );
        self.ticket(of, T::Attempt(A::WorkerSpawned));
    }

    fn finish(&mut self, of: &str, signal: Signal) {
        let usage = Usage {
            input_tokens: 1000,
            output_tokens: 200,
            cost_micro_usd: 50_000,
            estimated_micro_usd: 0,
        };
        let event = A::StepFinished {
            usage,
            total_micro_usd: None,
            signal,
            summary: None,
            repeat: None,
            unusable: Vec::new(),
            steps_left: 9,
            attempts_left: 2,
            reopen_at: Time(0),
            answer_by: None,
        };
        self.ticket(of, T::Attempt(event));
    }

    fn land(&mut self, of: &str) {
        let candidate = Candidate {
            commit: oid('c'),
            tree: oid('d'),
            target: oid('a'),
            tip: oid('b'),
            passed: Vec::new(),
            review: None,
            brings_nothing: false,
        };
        self.ticket(of, T::CheckStarted);
        let plan = ticket::CheckPlan::default();
        self.ticket(of, T::CandidateBuilt { candidate, plan });
        let passed = vec!["make test".to_owned()];
        self.ticket(
            of,
            T::ChecksPassed {
                tree: oid('d'),
                passed,
                review: false,
            },
        );
        self.ticket(of, T::Landed { commit: oid('c') });
    }

    /// The agents, one a line.
    fn agents(&self) -> String {
        let line = |agent: Agent| {
            let waits = agent.waits.map(|w| {
                let until = w.until.map(|at| format!(" until {at}")).unwrap_or_default();
                format!(" · waits for {}{until}", w.what)
            });
            let ticket = agent
                .ticket
                .map(|t| format!(" {t} step {}", agent.step))
                .unwrap_or_default();
            let since = agent.since.map(|at| at.to_string()).unwrap_or_default();
            let (symbol, status) = (agent.status.symbol(), agent.status.name());
            format!(
                "{symbol} {} {status} since {since}{ticket}{}\n",
                agent.name,
                waits.unwrap_or_default()
            )
        };
        self.crew.agents().into_iter().map(line).collect()
    }
}

/// Six agents, each in a state of its own.
fn fleet() -> Story {
    let mut story = Story::up(&["ada", "bob", "cem", "dee", "eve", "fay"]);
    for (of, title) in [
        ("t-1", "Land"),
        ("t-2", "Ask"),
        ("t-3", "Fail"),
        ("t-4", "Step"),
        ("t-5", "Check"),
    ] {
        story.create(of, title, &[]);
    }
    story.create("t-6", "After t-5", &["t-5"]);
    for (of, by) in [
        ("t-1", "ada"),
        ("t-2", "bob"),
        ("t-3", "cem"),
        ("t-4", "dee"),
        ("t-5", "eve"),
    ] {
        story.claim(of, by);
        story.start(of, 1);
    }
    story.finish("t-1", Signal::Done);
    story.land("t-1");
    story.finish(
        "t-2",
        Signal::Asked {
            question: "red or blue?".to_owned(),
        },
    );
    let failure = Failure::new(Class::Crash, "exit code 1");
    story.ticket(
        "t-3",
        T::Attempt(A::StepFailed {
            usage: Usage {
                input_tokens: 7,
                ..Usage::default()
            },
            total_micro_usd: None,
            failure,
            retry_at: story.now() + std::time::Duration::from_secs(2),
            errors_left: 4,
            repeats_left: 2,
            fresh: SessionId(uuid::Uuid::from_u128(9)),
        }),
    );
    story.finish("t-4", Signal::None);
    story.start("t-4", 2);
    story.finish("t-5", Signal::Done);
    story
}

#[test]
fn every_agent_says_what_it_does_and_what_it_waits_for() {
    insta::assert_snapshot!(fleet().agents());
}

#[test]
fn tickets_are_counted_once_each() {
    let mut story = fleet();
    let counts = story.crew.counts();
    assert_eq!(
        (counts.open, counts.ready, counts.in_progress, counts.verifying),
        (1, 0, 3, 1)
    );
    assert_eq!((counts.held, counts.landed, counts.total()), (0, 1, 6));
    story.ticket(
        "t-4",
        T::Attempt(A::StopOrdered {
            then: attempt::AfterStop::Release {
                by: Actor::person("me"),
            },
        }),
    );
    let order: Vec<&str> = story.crew.order().iter().map(|t| t.id.as_str()).collect();
    assert_eq!(
        order,
        ["t-5", "t-2", "t-3", "t-4", "t-6"],
        "what is nearest to the target comes first"
    );
}

#[test]
fn a_blocked_ticket_is_held_and_its_agent_idle() {
    let mut story = Story::up(&["ada"]);
    story.create("t-1", "Block", &[]);
    story.claim("t-1", "ada");
    story.start("t-1", 1);
    story.finish(
        "t-1",
        Signal::Blocked {
            why: "no network".to_owned(),
        },
    );
    let held = story.crew.held();
    assert_eq!(
        (held.len(), held[0].why, held[0].submitted),
        (1, "blocked", false)
    );
    assert!(held[0].note.contains("no network"), "{held:?}");
    assert_eq!(story.crew.counts().held, 1);
    let ada = story.crew.agent(&name("ada")).unwrap();
    assert_eq!((ada.status, ada.ticket, ada.step), (Status::Idle, None, 0));
    assert_eq!(
        ada.totals.usage.input_tokens, 1000,
        "what it used is not forgotten with the ticket"
    );
}

#[test]
fn what_landed_is_kept_with_who_and_how_much() {
    let story = fleet();
    let [landed] = story.crew.landed.as_slice() else {
        panic!("{:?}", story.crew.landed)
    };
    assert_eq!(
        (landed.ticket.as_str(), landed.agent.clone(), landed.steps),
        ("t-1", Some(name("ada")), 1)
    );
    assert_eq!(landed.usage.cost_micro_usd, 50_000);
    assert_eq!(story.crew.members[&name("ada")].landed, 1);
}

#[test]
fn the_time_of_the_next_try_stands_before_what_was_printed() {
    let words = |why: &str| {
        let event = T::CouldNotRun {
            why: why.to_owned(),
            may_pass: false,
            retry_at: Time(0),
        };
        describe(&Fact::Ticket(event))
    };
    let at = Time(0);
    assert_eq!(words("no disk"), format!("no disk (next try not before {at})"));
    assert_eq!(
        words("`a` cannot be run:\nsh: a: not found"),
        format!("`a` cannot be run (next try not before {at}):\nsh: a: not found")
    );
}

#[test]
fn a_row_that_was_folded_is_passed_over() {
    let mut story = fleet();
    let before = story.crew.clone();
    story.seq -= 1;
    story.project(&project::Event::AgentSpawned { name: name("zed") });
    assert_eq!(story.crew, before);
}

#[test]
fn the_state_file_has_the_seeds_shape() {
    let value = state_json(&fleet().crew, "/ws");
    insta::assert_snapshot!(serde_json::to_string_pretty(&value).unwrap());
    let seeds = [
        "name",
        "session",
        "worktree",
        "branch",
        "task",
        "task_assigned_at",
        "status",
        "started_at",
        "step_count",
        "last_step_at",
        "total_input_tokens",
        "total_output_tokens",
        "total_cost_usd",
    ];
    for agent in value["agents"].as_array().unwrap() {
        assert!(seeds.iter().all(|key| agent.get(key).is_some()), "{agent}");
        let status = agent["status"].as_str().unwrap();
        assert!(
            ["idle", "ready", "working", "done", "stuck"].contains(&status),
            "{status}"
        );
    }
}

#[test]
fn whoever_waits_for_a_harness_says_which_and_until_when() {
    let mut story = Story::up(&["ada", "bob", "cem"]);
    for (of, by) in [("t-1", "ada"), ("t-2", "bob"), ("t-3", "cem")] {
        story.create(of, of, &[]);
        story.claim(of, by);
    }
    story.start("t-1", 1);
    let waits = |story: &Story, of: &str| {
        let agent = story.crew.agent(&name(of)).unwrap();
        agent.waits.map(|waits| (waits.what, waits.until))
    };
    let mut pause = project::HarnessPause {
        class: Class::RateLimited,
        message: "too much".to_owned(),
        until: Some(Time(story.now().0 + 60_000)),
        since: story.now(),
        ticket: id("t-9"),
    };
    let paused = |pause: &project::HarnessPause| project::Event::HarnessPaused {
        harness: "scripted".to_owned(),
        pause: pause.clone(),
    };
    story.project(&project::Event::HarnessPaused {
        harness: "another".to_owned(),
        pause: pause.clone(),
    });
    assert_eq!(waits(&story, "bob"), Some(("its first step".to_owned(), None)));
    story.project(&paused(&pause));
    assert_eq!(waits(&story, "ada"), None, "its step runs");
    let until = pause.until;
    assert_eq!(
        waits(&story, "bob"),
        Some(("scripted (rate_limited): too much".to_owned(), until))
    );

    (pause.class, pause.until) = (Class::Auth, None);
    story.project(&paused(&pause));
    let (what, until) = waits(&story, "cem").unwrap();
    assert!(
        what.contains("(auth)") && what.contains("crew retry t-9"),
        "{what}"
    );
    assert_eq!(until, None);
    let (harness, by) = ("scripted".to_owned(), Actor::person("pat"));
    story.project(&project::Event::HarnessFreed { harness, by });
    assert_eq!(waits(&story, "bob"), Some(("its first step".to_owned(), None)));
}
