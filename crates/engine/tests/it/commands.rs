//! Commands: what each comes to in each state of the ticket.

use model::attempt::Signal;
use model::call::Call;
use model::command::{Command, Question, Seen};
use model::ticket::FileStatus;
use model::{Fence, RunId};

use crate::matrix::matrix;
use crate::scene::{Scene, asked, id, name, oid, secs, someone};
use crate::states;

/// The decisions about `command`, in every state.
fn in_every_state(command: &Command) -> String {
    matrix(states::all(), |scene| scene.ask(command.clone()))
}

fn answer(question: Option<Question>) -> Command {
    Command::Answer {
        agent: name("ann"),
        text: "Blue.".to_owned(),
        question,
    }
}

fn question(ticket: &str, number: u32) -> Question {
    Question {
        ticket: id(ticket),
        number,
    }
}

#[test]
fn assign_gives_an_idle_agent_what_nobody_has() {
    insta::assert_snapshot!(in_every_state(&Command::Assign {
        agent: name("cat"),
        ticket: id("t-1"),
    }));
}

#[test]
fn kill_frees_the_agent_and_holds_the_ticket() {
    insta::assert_snapshot!(in_every_state(&Command::Kill { agent: name("ann") }));
}

#[test]
fn cleanup_removes_a_workspace_in_which_nothing_runs() {
    insta::assert_snapshot!(in_every_state(&Command::Cleanup { agent: name("ann") }));
}

#[test]
fn merge_submits_what_stands_between_two_steps() {
    insta::assert_snapshot!(in_every_state(&Command::Merge { ticket: id("t-1") }));
}

#[test]
fn retry_lets_go_on_what_is_held_or_waits() {
    insta::assert_snapshot!(in_every_state(&Command::Retry { ticket: id("t-1") }));
}

#[test]
fn drop_gives_up_whatever_is_not_over() {
    insta::assert_snapshot!(in_every_state(&states::drop_it()));
}

#[test]
fn waive_lets_a_merged_result_land() {
    let (ticket, reason) = (id("t-1"), "it is only a typo".to_owned());
    insta::assert_snapshot!(in_every_state(&Command::Waive { ticket, reason }));
}

#[test]
fn waive_of_a_commitment_needs_one_of_this_number() {
    insta::assert_snapshot!(in_every_state(&Command::WaiveCommitment {
        ticket: id("t-1"),
        id: 1,
        reason: "it is only a typo".to_owned(),
    }));
}

#[test]
fn approve_lets_sensitive_paths_land() {
    insta::assert_snapshot!(in_every_state(&Command::Approve {
        ticket: id("t-1"),
        tip: None
    }));
}

#[test]
fn answer_goes_to_an_agent_that_has_asked() {
    insta::assert_snapshot!(in_every_state(&answer(None)));
}

#[test]
fn wake_wakes_an_agent_that_sleeps() {
    insta::assert_snapshot!(in_every_state(&Command::Wake { agent: name("ann") }));
}

fn tool(fence: u64, call: Call) -> Command {
    Command::Tool {
        run: RunId::of_step(&id("t-1"), Fence(fence), 1),
        fence: Fence(fence),
        call,
    }
}

#[test]
fn a_result_is_called_in_the_step_that_runs_and_in_no_other() {
    insta::assert_snapshot!(in_every_state(&tool(
        1,
        Call::SubmitWork {
            summary: "it is done".to_owned(),
            output: None,
            acceptance_test_result: None,
        }
    )));
}

#[test]
fn a_verdict_is_called_in_the_review_that_runs_and_in_no_other() {
    insta::assert_snapshot!(in_every_state(&tool(
        2,
        Call::RejectWork {
            reason: "no".to_owned(),
            feedback: String::new(),
        }
    )));
}

#[test]
fn a_note_is_left_while_a_step_runs() {
    let text = "half way".to_owned();
    insta::assert_snapshot!(in_every_state(&tool(1, Call::TeamComment { text })));
}

#[test]
fn say_is_for_an_agent_that_has_a_step_before_it() {
    insta::assert_snapshot!(in_every_state(&Command::Say {
        agent: name("ann"),
        text: "Look at the log.".to_owned(),
    }));
}

#[test]
fn bait_leaves_an_agent_one_step() {
    insta::assert_snapshot!(in_every_state(&Command::Bait { agent: name("ann") }));
}

#[test]
fn reap_gives_an_agent_up_for_good() {
    insta::assert_snapshot!(in_every_state(&Command::Reap { agent: name("ann") }));
}

#[test]
fn mode_sets_the_mode_of_an_agent_at_work() {
    insta::assert_snapshot!(in_every_state(&Command::SetMode {
        agent: name("ann"),
        mode: model::attempt::Mode::Plan,
    }));
}

#[test]
fn delegate_is_no_mode_that_a_person_sets() {
    let mut scene = states::working();
    let delegate = Command::SetMode {
        agent: name("ann"),
        mode: model::attempt::Mode::Delegate,
    };
    let answer = scene.ask(delegate).answer();
    assert!(
        answer.contains("delegate begins when work is handed to another agent"),
        "{answer}"
    );
}

#[test]
fn rewind_takes_a_ticket_back_where_nothing_works_on_it() {
    insta::assert_snapshot!(in_every_state(&Command::Rewind {
        ticket: id("t-1"),
        commit: oid('e'),
        at: 7,
    }));
}

#[test]
fn an_answer_is_taken_for_the_question_that_is_meant_and_for_no_other() {
    let answered = |meant| states::waits_for_answer().ask(answer(Some(meant))).answer();
    assert_eq!(
        answered(question("t-1", 1)),
        "accepted: ann hears it at its next step on t-1"
    );
    let asks = "question 1 is: Which colour? (`crew answer t-1 --question 1 <text>`)";
    assert_eq!(
        answered(question("t-1", 2)),
        format!("not possible: ann has not asked question 2 about t-1; {asks}")
    );
    assert_eq!(
        answered(question("t-1", 0)),
        format!("not possible: question 0 about t-1 is not open any more; {asks}")
    );
    assert_eq!(
        answered(question("t-2", 1)),
        "not possible: ann is at work on t-1 by now, not on t-2"
    );
}

#[test]
fn a_second_answer_replaces_the_first_until_the_agent_has_been_given_one() {
    // There is no worker for the next step, so that the answer waits.
    let mut scene = Scene::with(|settings| settings.run.max_workers = 1);
    scene.add("t-1");
    scene.add("t-2");
    scene.workspace_ready("t-1");
    scene.run_ends("t-1", asked());
    scene.workspace_ready("t-2");
    let first = scene.ask(answer(None));
    assert_eq!(first.answer(), "accepted: ann hears it at its next step on t-1");
    assert_eq!(first.events(), ["answered"]);
    let red = |question| Command::Answer {
        agent: name("ann"),
        text: "Red.".to_owned(),
        question,
    };
    // As it is shown in the inbox, the question stays the same.
    for meant in [None, Some(question("t-1", 1))] {
        assert_eq!(
            scene.ask(red(meant)).answer(),
            "accepted: ann hears it at its next step on t-1, and not the answer before it"
        );
    }
    let ticket = scene.core.ticket(&id("t-1")).unwrap();
    let kept: Vec<&str> = ticket.answers.iter().map(|answer| answer.text.as_str()).collect();
    assert_eq!(kept, ["Red."], "a new session gets one answer to one question");
    scene.finishes("t-2", Signal::Done);
    let (_, step) = scene.pending("t-1", "start_step").unwrap();
    assert!(format!("{step:?}").contains("Red."), "{step:?}");
    assert_eq!(
        scene.ask(answer(None)).answer(),
        "not possible: ann asks nothing: it has its answer, and goes on"
    );
}

#[test]
fn a_command_to_an_agent_that_does_not_exist_says_so() {
    let agent = name("zoe");
    let commands = [
        Command::Kill { agent: agent.clone() },
        Command::Cleanup { agent: agent.clone() },
        Command::Wake { agent: agent.clone() },
        Command::Answer {
            agent: agent.clone(),
            text: "Blue.".to_owned(),
            question: None,
        },
    ];
    for command in commands {
        assert_eq!(
            states::working().ask(command).answer(),
            "not possible: there is no agent named zoe: `crew ps` lists them"
        );
    }
    let assign = Command::Assign {
        agent,
        ticket: id("t-1"),
    };
    assert_eq!(
        states::taken_by_person().ask(assign).answer(),
        "not possible: there is no agent named zoe: `crew spawn zoe` makes one"
    );
}

#[test]
fn assign_refuses_an_agent_that_has_another_ticket() {
    let mut scene = states::taken_by_person();
    scene.add("t-2");
    let assign = |agent: &str| Command::Assign {
        agent: name(agent),
        ticket: id("t-1"),
    };
    let busy = scene.ask(assign("ann")).answer();
    assert_eq!(
        busy,
        "not possible: ann is at work on t-2: only an idle agent can be assigned"
    );
    assert_eq!(scene.ask(assign("bob")).answer(), "accepted: bob has t-1");
}

#[test]
fn assign_needs_a_harness() {
    let mut scene = states::taken_by_person();
    let mut settings = scene.core.settings().clone();
    settings.agents.harness = None;
    scene.core.set_settings(settings);
    let assign = Command::Assign {
        agent: name("cat"),
        ticket: id("t-1"),
    };
    assert_eq!(
        scene.ask(assign).answer(),
        "not possible: t-1 is open: crew.toml names no harness for it: [agents] harness"
    );
}

/// A person who merges speaks about everything that waits; the engine itself asks again only later.
#[test]
fn a_command_is_answered_in_the_write_that_it_leads_to_and_its_author_is_the_cause() {
    for command in [Command::Kill { agent: name("ann") }, states::drop_it()] {
        let decided = states::working().ask(command);
        let write = &decided.output.writes[0];
        assert_eq!(write.cause, format!("asked by {}", someone()));
        assert!(
            write.answers.is_some(),
            "carried out again where the answer is lost"
        );
        assert!(decided.output.answers.is_empty());
    }
}

/// A retry finds the agent at work on another ticket, and the ticket goes back to the queue for another one.
#[test]
fn a_retry_without_its_agent_goes_back_to_the_queue_and_is_given_to_another() {
    let mut scene = states::refused();
    scene.set_status("t-2", FileStatus::Open);
    assert_eq!(scene.state("t-2"), "in_progress/preparing", "ann has another");
    let retry = scene.ask(Command::Retry { ticket: id("t-1") });
    assert_eq!(retry.events(), ["retried", "harness_freed", "claimed"], "{retry}");
    assert!(retry.to_string().contains("claimed by bob"), "{retry}");
}

/// A person decides on a card; what the card showed may be over when the command comes.
#[test]
fn a_command_about_a_ticket_that_has_moved_on_since_it_was_seen_is_refused() {
    let if_seen = |seen: &Seen, command: Command| Command::IfSeen {
        seen: seen.clone(),
        then: Box::new(command),
    };
    let waive = || Command::Waive {
        ticket: id("t-1"),
        reason: "it may".to_owned(),
    };
    let mut scene = states::refused();
    let seen = Seen::of(scene.core.ticket(&id("t-1")).unwrap());
    let of_claim = Seen {
        since: None,
        ..seen.clone()
    };
    let refused = "not possible: t-1 has moved on since you looked at it: it is";
    let other_claim = Seen {
        fence: Fence(seen.fence.0 + 1),
        ..seen.clone()
    };
    let answer = scene.ask(if_seen(&other_claim, waive())).answer();
    assert!(answer.starts_with(refused), "{answer}");
    scene.later(secs(1));
    let retried = scene.ask(if_seen(&seen, Command::Retry { ticket: id("t-1") }));
    assert!(retried.answer().starts_with("accepted"), "{retried}");
    let write = &retried.output.writes[0];
    assert!(
        write.answers.is_some(),
        "carried out again where the answer is lost"
    );
    let again = scene.ask(if_seen(&seen, Command::Retry { ticket: id("t-1") }));
    assert!(again.answer().starts_with(refused), "{again}");
    assert!(again.output.writes.is_empty(), "nothing is done");
    // The claim is the same, and that is all that this act depends on.
    assert!(of_claim.holds(scene.core.ticket(&id("t-1")).unwrap()));
    let mark = seen.mark();
    assert_eq!(Seen::from_mark(id("t-1"), &mark), Some(seen));
    for wrong in ["", "x", "1.x", "1.2.3", "-1"] {
        assert_eq!(Seen::from_mark(id("t-1"), wrong), None, "{wrong}");
    }
}

/// An idle agent has no fence that a person could have seen: that it has no ticket is all there is.
#[test]
fn a_command_about_an_idle_agent_that_was_given_a_ticket_meanwhile_is_refused() {
    let cleanup = |agent: &str| Command::IfIdle {
        agent: name(agent),
        then: Box::new(Command::Cleanup { agent: name(agent) }),
    };
    let mut scene = states::waits_for_answer();
    let given = scene.ask(cleanup("ann"));
    let refused = "not possible: ann was given t-1 since you looked at it";
    assert!(given.answer().starts_with(refused), "{given}");
    assert!(given.output.writes.is_empty(), "nothing is done");
    let idle = scene.ask(cleanup("cat")).answer();
    assert!(idle.starts_with("accepted: cat is idle"), "{idle}");
}
