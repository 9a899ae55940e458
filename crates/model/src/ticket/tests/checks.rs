//! The rows of a candidate that is being checked.

use crate::attempt::{self, Signal};
use crate::machine::Rejected;
use crate::samples;
use crate::ticket::{
    Change, CheckOutcome, CheckPlan, CheckSlot, CheckStop, CheckTask, Checks, Effect, Event, FewerTests,
    Loss, Ticket, Why,
};
use crate::{Actor, RunId, Time};

/// A ticket whose checks are about to begin: two commands, and one that sets up.
struct Story {
    ticket: Ticket,
    effects: Vec<Effect>,
}

impl Story {
    fn new() -> Self {
        let list = |commands: &[&str]| commands.iter().copied().map(samples::ticket::check).collect();
        Self::of(CheckPlan {
            setup: list(&["make ready"]),
            commands: list(&["make check", "make lint"]),
            ..CheckPlan::default()
        })
    }

    fn of(plan: CheckPlan) -> Self {
        let id = crate::TicketId::new("t-1").unwrap();
        let session = crate::SessionId::of_attempt(uuid::Uuid::nil(), &id, crate::Fence(1), 1);
        let step = RunId::of_step(&id, crate::Fence(1), 1);
        let mut story = Self {
            ticket: Ticket::new(id),
            effects: Vec::new(),
        };
        for event in [
            Event::Created {
                spec: samples::ticket::spec(),
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
                run: step,
                budget: None,
                change: None,
            }),
            Event::Attempt(attempt::Event::StepFinished {
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
            }),
            Event::CheckStarted,
            Event::CandidateBuilt {
                candidate: samples::ticket::candidate(),
                plan,
            },
        ] {
            story.then(event);
        }
        story
    }

    fn attempt(&self, event: &Event) -> Result<Change, Rejected> {
        self.ticket.after(event, Time(1))
    }

    #[expect(
        clippy::needless_pass_by_value,
        reason = "an event is written where it happens"
    )]
    fn then(&mut self, event: Event) -> &mut Self {
        let change = self.attempt(&event).unwrap();
        (self.ticket, self.effects) = (change.ticket, change.effects);
        self
    }

    fn refuses(&self, event: &Event) -> String {
        self.attempt(event).expect_err("it is refused").why
    }

    fn checks(&self) -> &Checks {
        self.ticket.checks().unwrap()
    }

    /// The run of that number.
    fn run(n: u32) -> RunId {
        let id = crate::TicketId::new("t-1").unwrap();
        RunId::of_check(&id, crate::Fence(1), 1, n)
    }

    /// Orders the next run; gives what is to be started.
    fn order(&mut self, task: CheckTask) -> (String, crate::Oid, u32) {
        let run = Self::run(self.checks().runs + 1);
        self.then(Event::CheckOrdered {
            run: run.clone(),
            task,
            slot: CheckSlot::FIRST,
            anew: false,
            at: Time(7),
        });
        assert!(self.ticket.waits_for(&run));
        let [
            Effect::StartCheck {
                run: started,
                command,
                commit,
                set_up,
                ..
            },
        ] = &self.effects[..]
        else {
            panic!("{:?}", self.effects)
        };
        assert_eq!(*started, run);
        (command.to_string(), commit.clone(), *set_up)
    }

    fn end(&mut self, outcome: CheckOutcome) -> &mut Self {
        let run = Self::run(self.checks().runs);
        self.then(Event::CheckEnded {
            run,
            outcome,
            tests: None,
        })
    }

    fn passed() -> Event {
        Event::ChecksPassed {
            tree: samples::ticket::candidate().tree,
            passed: Vec::new(),
            review: false,
        }
    }
}

fn stops(effects: &[Effect]) -> Vec<&RunId> {
    let stops = effects.iter().filter_map(|effect| match effect {
        Effect::Attempt(attempt::Effect::StopRun { run }) => Some(run),
        _ => None,
    });
    stops.collect()
}

#[test]
fn commands_run_one_after_the_other_and_only_all_of_them_pass() {
    let candidate = samples::ticket::candidate();
    let mut story = Story::new();
    assert_eq!(story.refuses(&Story::passed()), "not every check has passed");
    let first = ("make check".to_owned(), candidate.commit.clone(), 0);
    assert_eq!(story.order(CheckTask::Candidate), first);
    let again = Event::CheckOrdered {
        run: Story::run(2),
        task: CheckTask::Candidate,
        slot: CheckSlot::FIRST,
        anew: false,
        at: Time(0),
    };
    assert_eq!(story.refuses(&again), "a run of its checks is under way");
    story.end(CheckOutcome::NotSetUp);
    assert_eq!(story.order(CheckTask::SetUp).0, "make ready");
    story.end(CheckOutcome::Passed);
    let set_up = ("make check".to_owned(), candidate.commit.clone(), 1);
    assert_eq!(story.order(CheckTask::Candidate), set_up);
    story.end(CheckOutcome::Passed);
    assert_eq!(story.refuses(&Story::passed()), "not every check has passed");
    assert_eq!(story.order(CheckTask::Candidate).0, "make lint");
    assert_eq!(story.refuses(&Story::passed()), "not every check has passed");
    story.end(CheckOutcome::PassedBefore);
    assert_eq!(story.then(Story::passed()).ticket.state_name(), "verify/landing");
    assert!(stops(&story.effects).is_empty());
}

#[test]
fn a_failure_is_proven_on_the_target_and_nothing_else_is() {
    let candidate = samples::ticket::candidate();
    let mut story = Story::new();
    let proof = |n| Event::CheckOrdered {
        run: Story::run(n),
        task: CheckTask::Target,
        slot: CheckSlot::FIRST,
        anew: false,
        at: Time(0),
    };
    assert!(story.refuses(&proof(1)).contains("proves"));
    story.order(CheckTask::Candidate);
    story.end(CheckOutcome::Failed {
        output: "1 failed".to_owned(),
    });
    assert_eq!(story.refuses(&Story::passed()), "not every check has passed");
    let on_target = ("make check".to_owned(), candidate.target, 0);
    assert_eq!(story.order(CheckTask::Target), on_target);
    story.end(CheckOutcome::Passed);
    assert_eq!(story.checks().failed.as_deref(), Some("1 failed"));
}

#[test]
fn the_proof_runs_every_command_up_to_the_one_that_failed() {
    let candidate = samples::ticket::candidate();
    let failed = CheckOutcome::Failed {
        output: "1 failed\n(exit code 1)".to_owned(),
    };
    let mut story = Story::new();
    story.order(CheckTask::Candidate);
    story.end(CheckOutcome::Passed);
    story.order(CheckTask::Candidate);
    story.end(failed);
    for (command, is_green) in [("make check", false), ("make lint", true)] {
        let on_target = (command.to_owned(), candidate.target.clone(), 0);
        assert_eq!(story.order(CheckTask::Target), on_target);
        story.end(CheckOutcome::Passed);
        assert_eq!(story.checks().is_target_green(), is_green, "{command}");
    }
    let failed = story.checks().failed_command().map(ToString::to_string);
    assert_eq!(failed.as_deref(), Some("make lint"));
}

#[test]
fn commands_begin_anew_where_the_checkout_did_not_last() {
    let mut story = Story::new();
    story.order(CheckTask::Candidate);
    story.end(CheckOutcome::Passed);
    story.order(CheckTask::Candidate);
    story.end(CheckOutcome::NotSetUp);
    assert_eq!((story.checks().passed, story.checks().restarts), (0, 1));
    assert_eq!(story.order(CheckTask::SetUp).0, "make ready");
    story.end(CheckOutcome::Passed);
    assert_eq!(story.order(CheckTask::Candidate).0, "make check");
}

#[test]
fn the_end_of_a_check_is_read_from_its_last_lines() {
    let how = crate::ticket::how_it_ended;
    assert_eq!(how("1 failed\n(exit code 1)"), Some("exit code 1"));
    assert_eq!(
        how("\n(timed out after 3 s)\n(a hint)"),
        Some("timed out after 3 s")
    );
    let kept = format!("\n(exit code 2)\n(a hint)\n{}", crate::ticket::KEPT_SET_UP);
    assert_eq!(how(&kept), Some("exit code 2"));
    for other in ["", "(see above)", "(exit code 1)\nmore\nand more", "exit code 1"] {
        assert_eq!(how(other), None, "{other}");
    }
}

#[test]
fn a_run_that_is_lost_counts_unless_the_engine_was_stopped() {
    let mut story = Story::new();
    let lost = || CheckOutcome::Lost { how: Loss::Stopped };
    let stop = |why| Event::CheckStopOrdered { why };
    story.order(CheckTask::Candidate);
    story.end(lost());
    assert_eq!(story.checks().lost, 1);
    story.order(CheckTask::Candidate);
    story.then(stop(CheckStop::Frozen));
    assert_eq!(stops(&story.effects), [&Story::run(2)]);
    assert_eq!(
        story.refuses(&stop(CheckStop::Pause)),
        "it is being stopped already"
    );
    story.end(lost());
    assert_eq!(story.checks().lost, 2);
    story.order(CheckTask::Candidate);
    story.then(stop(CheckStop::Pause));
    story.end(lost());
    assert_eq!((story.checks().lost, &story.checks().run), (2, &None));
    story.order(CheckTask::Candidate);
    story.end(CheckOutcome::Passed);
    assert_eq!(story.checks().lost, 0);
}

#[test]
fn whatever_leaves_the_checks_ends_the_run_that_is_under_way() {
    let retry_at = Time(9);
    let leaving = [
        Event::Dropped {
            by: Actor::person("pat"),
            reason: String::new(),
        },
        Event::TargetMoved,
        Event::CouldNotRun {
            why: String::new(),
            may_pass: false,
            retry_at,
        },
        Event::TargetRed {
            which: String::new(),
            output: "1 failed\n(exit code 1)".to_owned(),
            retry_at,
        },
        Event::ChecksFailed {
            which: String::new(),
            output: String::new(),
            steps_left: 3,
            reopen_at: retry_at,
            repeat: None,
        },
    ];
    for event in leaving {
        let mut story = Story::new();
        story.order(CheckTask::Candidate);
        let name = event.name();
        story.then(event);
        assert_eq!(stops(&story.effects), [&Story::run(1)], "{name}");
        assert_eq!(story.ticket.live_runs().count(), 0, "{name}");
        let late = Event::CheckEnded {
            run: Story::run(1),
            outcome: CheckOutcome::Passed,
            tests: None,
        };
        story.refuses(&late);
    }
}

#[test]
fn a_person_may_waive_checks_that_are_held() {
    let mut story = Story::new();
    story.order(CheckTask::Candidate);
    story.then(Event::CouldNotRun {
        why: String::new(),
        may_pass: false,
        retry_at: Time(9),
    });
    assert_eq!(story.ticket.held.as_ref().unwrap().why, Why::CouldNotRun);
    story.then(Event::Waived {
        by: Actor::person("pat"),
        reason: "it is fine".to_owned(),
    });
    assert_eq!(story.ticket.state_name(), "verify/landing");
}

/// A story whose first check has passed with 3 of 10 tests, and the event that holds it.
fn with_fewer_tests() -> (Story, Event) {
    let tests = FewerTests { ran: 3, before: 10 };
    let output = "3 passed".to_owned();
    let mut story = Story::new();
    story.order(CheckTask::Candidate);
    let held = Event::TestsHeld {
        which: "make check".to_owned(),
        tests,
        output: output.clone(),
    };
    assert_eq!(story.refuses(&held), "its checks have not run");
    story.end(CheckOutcome::FewerTests { tests, output });
    (story, held)
}

#[test]
fn fewer_tests_wait_for_a_person_who_lets_them_pass_for_one_tip() {
    let (mut story, held) = with_fewer_tests();
    let tip = samples::ticket::candidate().tip;
    let approved = Event::TestsApproved {
        by: Actor::person("pat"),
    };
    assert_eq!(
        story.refuses(&approved),
        "no number of tests of it waits for a person's word"
    );
    story.then(held);
    let reason = story.ticket.held.as_ref().unwrap();
    assert_eq!(reason.why.name(), "tests");
    assert!(
        reason
            .note
            .contains("`make check` passes, but ran 3 tests, and on the target 10"),
        "{}",
        reason.note
    );
    assert_eq!(reason.output.as_deref(), Some("3 passed"));
    assert_eq!(story.ticket.tip_to_approve(), Some(&tip));
    assert!(!story.ticket.may_run_fewer_tests(&tip));
    story.then(approved);
    assert_eq!(
        (story.ticket.state_name().as_str(), &story.ticket.held),
        ("verify/checking", &None)
    );
    assert!(story.ticket.may_run_fewer_tests(&tip));
    assert!(
        !story
            .ticket
            .may_run_fewer_tests(&samples::ticket::candidate().tree)
    );
}

#[test]
fn work_with_fewer_tests_is_sent_back_retried_or_waived() {
    let by = || Actor::person("pat");
    let back = Event::Returned {
        by: by(),
        why: "bring them back".to_owned(),
        reopen_at: Time(1),
    };
    let waived = Event::Waived {
        by: by(),
        reason: "it is fine".to_owned(),
    };
    for (event, state) in [(back, "open"), (waived, "verify/landing")] {
        let (mut story, held) = with_fewer_tests();
        assert_ne!(
            story.refuses(&Event::Returned {
                by: by(),
                why: String::new(),
                reopen_at: Time(1)
            }),
            ""
        );
        story.then(held).then(event);
        assert_eq!(
            (story.ticket.state_name().as_str(), &story.ticket.held),
            (state, &None)
        );
    }
}

#[test]
fn a_check_that_may_be_repeated_begins_anew_and_counts_once_it_has_no_try_left() {
    let flaky = |name: &str| crate::ticket::Check {
        name: Some(name.to_owned()),
        retry: 1,
        ..samples::ticket::check("make test")
    };
    let plan = CheckPlan {
        commands: vec![samples::ticket::check("make check"), flaky("test")],
        ..CheckPlan::default()
    };
    let failed = |output: &str| CheckOutcome::Failed {
        output: output.to_owned(),
    };
    let mut story = Story::of(plan);
    story.order(CheckTask::Candidate);
    story.end(CheckOutcome::Passed);
    story.order(CheckTask::Candidate);
    story.end(failed("1 failed"));
    assert_eq!((story.checks().passed, &story.checks().failed), (0, &None));
    assert_eq!(story.order(CheckTask::Candidate).0, "make check");
    story.end(CheckOutcome::Passed);
    let counted = |story: &Story| {
        let checks = story.checks();
        checks.counted(CheckTask::Candidate, CheckOutcome::Passed, "2 passed")
    };
    let flaky = CheckOutcome::Flaky {
        output: "2 passed".to_owned(),
    };
    assert_eq!(counted(&story), flaky);
    let mut lucky = Story {
        ticket: story.ticket.clone(),
        effects: Vec::new(),
    };
    lucky.order(CheckTask::Candidate);
    lucky.end(flaky);
    assert!(lucky.checks().are_passed());
    assert_eq!(lucky.checks().verdicts(), ["make check", "test (flaky)"]);
    story.order(CheckTask::Candidate);
    story.end(failed("2 failed"));
    assert_eq!(story.checks().failed.as_deref(), Some("2 failed"));
    assert_eq!(story.checks().tries.len(), 1);
}
