use super::*;
use crate::Look;
use crate::command::{Command, Question};
use crate::journal::EffectId;
use crate::policy::route::Refusal;
use crate::project::HarnessPause;
use crate::ticket::CheckPlan;

/// The inbox, as a frontend would show it.
fn shown(story: &Story, beside: &Context) -> String {
    let one = |item: Item| {
        assert!(item.acts.iter().all(|act| Act::VERBS.contains(&act.verb())));
        let acts: Vec<String> = item.acts.iter().map(Act::typed).collect();
        let since = item.since.map_or_else(|| "–".to_owned(), |at| at.to_string());
        let until = item.until.map(|at| format!(" until {at}")).unwrap_or_default();
        let agent = item.agent.map(|agent| format!(" {agent}")).unwrap_or_default();
        format!(
            "{:?} {} [{}]{agent} since {since}{until}\n  {}: {}\n  {}\n",
            item.urgency,
            item.kind.name(),
            item.id,
            item.title,
            item.why,
            acts.join(" | ")
        )
    };
    story.crew.inbox(beside).into_iter().map(one).collect()
}

fn ask(story: &mut Story, of: &str, question: &str) {
    story.finish(
        of,
        Signal::Asked {
            question: question.to_owned(),
        },
    );
}

fn candidate() -> Candidate {
    Candidate {
        commit: oid('c'),
        tree: oid('d'),
        target: oid('a'),
        tip: oid('b'),
        passed: Vec::new(),
        review: None,
        brings_nothing: false,
    }
}

/// A ticket for every reason there is to wait for a person.
fn waiting() -> Story {
    let agents = ["ada", "bob", "cem", "dee", "eve", "fay", "gil", "hal", "ivy"];
    let mut story = Story::up(&agents);
    for (n, agent) in agents.iter().enumerate() {
        let of = format!("t-{}", n + 1);
        story.create(&of, &format!("AttemptSummary of {agent}"), &[]);
        story.claim(&of, agent);
        story.start(&of, 1);
    }
    let why = |why: &str| why.to_owned();
    story.finish("t-1", Signal::Blocked { why: why("no key") });
    ask(&mut story, "t-2", "red or blue?");
    ask(&mut story, "t-3", "why?");
    for of in ["t-4", "t-5", "t-6", "t-7"] {
        story.finish(of, Signal::Done);
        story.ticket(of, T::CheckStarted);
    }
    story.ticket(
        "t-4",
        T::Sensitive {
            secrets: Vec::new(),
            paths: vec!["crew.toml".to_owned()],
            tip: oid('b'),
        },
    );
    let retry_at = story.now() + std::time::Duration::from_secs(60);
    story.ticket(
        "t-5",
        T::CouldNotRun {
            why: "the checks could not be run: no disk".to_owned(),
            may_pass: false,
            retry_at,
        },
    );
    story.ticket(
        "t-6",
        T::CandidateBuilt {
            candidate: candidate(),
            plan: CheckPlan::default(),
        },
    );
    story.ticket(
        "t-6",
        T::TargetRed {
            which: "make".to_owned(),
            output: "1 failed\n(exit code 1)".to_owned(),
            retry_at,
        },
    );
    story.ticket(
        "t-7",
        T::CandidateBuilt {
            candidate: candidate(),
            plan: CheckPlan::default(),
        },
    );
    story.ticket(
        "t-7",
        T::ChecksPassed {
            tree: oid('d'),
            passed: Vec::new(),
            review: false,
        },
    );
    story.ticket(
        "t-7",
        T::CheckoutEdited {
            paths: vec![ticket::InTheWay {
                path: "README.md".to_owned(),
                what: ticket::Obstacle::Edited,
            }],
            retry_at,
        },
    );
    let failure = Failure {
        left: None,
        class: Class::Auth,
        message: "401".to_owned(),
        until: None,
    };
    story.ticket(
        "t-8",
        T::Attempt(A::StepFailed {
            total_micro_usd: None,
            usage: Usage::default(),
            failure,
            retry_at,
            errors_left: 4,
            repeats_left: 2,
            fresh: SessionId(uuid::Uuid::from_u128(9)),
        }),
    );
    story.finish(
        "t-9",
        Signal::WakeupSet {
            at: retry_at,
            why: why("the build"),
        },
    );
    story.create("t-a", "Needs what there is not", &["t-z"]);
    story.create("t-b", "Round", &["t-c"]);
    story.create("t-c", "And round", &["t-b"]);
    story
}

fn failing(ticket: &str, is_file: bool, why: &str) -> Failing {
    Failing {
        of: EffectId { seq: 7, index: 1 },
        ticket: id(ticket),
        is_file,
        why: why.to_owned(),
        since: Time(60_000),
        until: Some(Time(90_000)),
    }
}

fn beside() -> Context {
    let cycle = |path: [&str; 3]| Refusal::Cycle {
        path: path.into_iter().map(id).collect(),
        recovering: Vec::new(),
        waiting: Vec::new(),
    };
    Context {
        engine: true,
        refusals: BTreeMap::from([
            (id("t-a"), Refusal::MissingDependency { id: id("t-z") }),
            (id("t-b"), cycle(["t-b", "t-c", "t-b"])),
            (id("t-c"), cycle(["t-c", "t-b", "t-c"])),
        ]),
        files: vec![BadFile {
            name: "my notes".to_owned(),
            ticket: None,
            what: "'my notes' cannot be a ticket's id".to_owned(),
            hint: "rename it".to_owned(),
        }],
        refuses_work: Some("no room where /home/me/project/.crew stands".to_owned()),
        unwritable: Some("cannot write in /home/me/project/.tickets: Permission denied".to_owned()),
        locked: vec!["/home/me/project/.git/index.lock".to_owned()],
        failing: vec![
            failing("t-8", false, "the work of hal could not be kept: no commit 1234"),
            failing("t-9", true, "its file could not be written: as no other can"),
        ],
        ..Context::default()
    }
}

#[test]
fn whatever_waits_for_a_person_is_there_once_with_what_to_type() {
    let story = waiting();
    insta::assert_snapshot!(shown(&story, &beside()));
    assert_eq!(
        story.crew.inbox(&Context::default()).len(),
        8,
        "the journal's own"
    );
}

#[test]
fn nothing_is_said_to_go_on_by_itself_while_no_engine_runs() {
    let story = waiting();
    let without = Context {
        engine: false,
        ..beside()
    };
    let shown = shown(&story, &without);
    let promises = shown.lines().filter(|line| line.contains("by itself"));
    // This one names the engine.
    let others: Vec<&str> = promises.filter(|line| !line.contains(MEND)).collect();
    assert_eq!(others, Vec::<&str>::new());
    let look = Look {
        now: Time(0),
        engine: false,
    };
    for item in story.crew.inbox(&without) {
        let promise = item.by_itself(look).unwrap_or_default();
        assert!(
            promise.is_empty() || promise.contains("when an engine runs again (`crew run`)"),
            "{promise}"
        );
    }
}

#[test]
fn what_is_settled_is_gone_and_a_new_question_is_a_new_entry() {
    let mut story = Story::up(&["ada"]);
    story.create("t-1", "Ask", &[]);
    story.claim("t-1", "ada");
    story.start("t-1", 1);
    assert_eq!(shown(&story, &Context::default()), "");
    ask(&mut story, "t-1", "red or blue?");
    let first = story.crew.inbox(&Context::default()).remove(0);
    let by = Actor::person("me");
    let text = "red".to_owned();
    story.ticket(
        "t-1",
        T::Attempt(A::Answered {
            by,
            text,
            question: "red or blue?".to_owned(),
        }),
    );
    assert_eq!(shown(&story, &Context::default()), "");
    story.start("t-1", 2);
    ask(&mut story, "t-1", "red or blue?");
    let second = story.crew.inbox(&Context::default()).remove(0);
    assert_ne!(first.id, second.id);
    let question = |item: &Item| match item.acts[0].command("red") {
        Some(Command::Answer { question, .. }) => question,
        other => panic!("{other:?}"),
    };
    assert_ne!(question(&first), question(&second));
    let ticket = &story.crew.tickets[&id("t-1")];
    assert_eq!(question(&second), Question::of(ticket));
}

#[test]
fn a_harness_that_refuses_is_listed_once_unless_the_refused_ticket_is_held_for_it() {
    let mut story = Story::up(&["ada", "bob"]);
    for (of, agent) in [("t-1", "ada"), ("t-2", "bob")] {
        story.create(of, "Work", &[]);
        story.claim(of, agent);
        story.start(of, 1);
        story.finish(of, Signal::None);
    }
    let pause = |ticket: &str| HarnessPause {
        class: Class::Auth,
        message: "401".to_owned(),
        until: None,
        since: Time(60_000),
        ticket: id(ticket),
    };
    let refused = |ticket: &str| Context {
        pauses: [id("t-1"), id("t-2")]
            .map(|id| (id, ("claude".to_owned(), pause(ticket))))
            .into(),
        ..Context::default()
    };
    assert_eq!(
        shown(&story, &refused("t-9")),
        "Everyone harness [harness:claude:60000] since 1970-01-01T00:01:00Z\n  \
         no step is started on claude: claude refuses (auth): 401; `crew retry t-9` once that is mended\n  \
         crew retry t-1\n"
    );
    story.start("t-2", 2);
    let failure = Failure {
        left: None,
        class: Class::Auth,
        message: "401".to_owned(),
        until: None,
    };
    story.ticket(
        "t-2",
        T::Attempt(A::StepFailed {
            total_micro_usd: None,
            usage: Usage::default(),
            failure,
            retry_at: Time(0),
            errors_left: 4,
            repeats_left: 2,
            fresh: SessionId(uuid::Uuid::from_u128(9)),
        }),
    );
    let items = story.crew.inbox(&refused("t-2"));
    let kinds: Vec<&str> = items.iter().map(|item| item.kind.name()).collect();
    assert_eq!(kinds, ["auth"], "it says so, and its `crew retry` helps all");
}

#[test]
fn an_agent_that_is_stuck_is_no_entry_since_crew_goes_on_with_it_by_itself() {
    let mut story = Story::up(&["ada"]);
    story.create("t-1", "Work", &[]);
    story.claim("t-1", "ada");
    story.start("t-1", 1);
    let failure = Failure {
        left: None,
        class: Class::Transient,
        message: "no network".to_owned(),
        until: None,
    };
    story.ticket(
        "t-1",
        T::Attempt(A::StepFailed {
            total_micro_usd: None,
            usage: Usage::default(),
            failure,
            retry_at: Time(0),
            errors_left: 0,
            repeats_left: 2,
            fresh: SessionId(uuid::Uuid::from_u128(9)),
        }),
    );
    assert_eq!(story.crew.tickets[&id("t-1")].state_name(), "in_progress/stuck");
    assert_eq!(shown(&story, &Context::default()), "");
}
