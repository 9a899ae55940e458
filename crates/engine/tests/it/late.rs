//! Late reports: the ticket has moved on while an effect was under way.

use engine::Report;
use model::attempt::Class;
use model::command::Command;

use crate::scene::{Scene, candidate, failed, id, name, oid};
use crate::states;

fn retry() -> Command {
    Command::Retry { ticket: id("t-1") }
}

fn kill() -> Command {
    Command::Kill { agent: name("ann") }
}

/// The lines of a report of `effect`, which was ordered before `moves` and comes after them.
fn late(mut scene: Scene, effect: &str, moves: impl FnOnce(&mut Scene), report: Report) -> String {
    let ordered = scene.pending("t-1", effect).unwrap();
    moves(&mut scene);
    let before = scene.state("t-1");
    let decided = scene.report_of("t-1", ordered, report);
    assert_eq!(
        scene.state("t-1"),
        before,
        "a late report moves nothing:\n{decided}"
    );
    decided.to_string()
}

fn ready() -> Report {
    let (base, earlier_work) = (oid('a'), false);
    Report::WorkspaceReady { base, earlier_work }
}

#[test]
fn a_workspace_of_a_claim_that_is_over_is_refused() {
    let refused = "finished: prepare_workspace of ann, attempt 1 from the target of t-1\n\
                   refused: t-1: a report of an earlier claim";
    let killed = |scene: &mut Scene| drop(scene.ask(kill()));
    assert_eq!(
        late(states::preparing(), "prepare_workspace", killed, ready()),
        refused
    );
    let claimed_again = |scene: &mut Scene| {
        scene.ask(kill());
        scene.ask(retry());
        assert_eq!(scene.state("t-1"), "in_progress/preparing");
    };
    assert_eq!(
        late(states::preparing(), "prepare_workspace", claimed_again, ready()),
        refused
    );
    let why = "no disk".to_owned();
    let failed = Report::WorkspaceFailed { why };
    assert_eq!(
        late(states::preparing(), "prepare_workspace", claimed_again, failed),
        refused
    );
}

#[test]
fn a_merge_of_a_submission_that_was_dropped_is_refused() {
    let dropped = |scene: &mut Scene| drop(scene.ask(states::drop_it()));
    let candidate = candidate('b');
    assert_eq!(
        late(
            states::building(),
            "build_candidate",
            dropped,
            Report::Built {
                candidate,
                untouched: Vec::new(),
                leftovers: model::ticket::Leftovers::default(),
                absent: Box::default(),
                resolves: None,
                ahead: Box::default(),
            }
        ),
        "finished: build_candidate 1 of t-1\nrefused: t-1: a report of an earlier claim"
    );
}

#[test]
fn a_start_that_is_reported_after_the_end_of_its_run_changes_nothing() {
    let ended = |scene: &mut Scene| {
        let run = model::RunId::new("t-1.1.1").unwrap();
        scene.step(engine::Input::RunEnded(engine::RunEnd {
            verdict: None,
            commitments: Vec::new(),
            run,
            usage: model::attempt::Usage::default(),
            total_micro_usd: None,
            summary: None,
            modes: Vec::new(),
            made: Vec::new(),
            end: failed(Class::Transient),
            stated: None,
            left: None,
            unusable: Vec::new(),
        }));
    };
    insta::assert_snapshot!(late(states::starting(), "start_step", ended, Report::StepSpawned));
    let failure = model::attempt::Failure::new(Class::Crash, "no such program");
    let not_spawned = Report::StepNotSpawned { failure };
    assert_eq!(
        late(states::starting(), "start_step", ended, not_spawned),
        "finished: start_step t-1.1.1 on scripted (init, new session) of t-1\n\
         refused: t-1: a report of an earlier run"
    );
}

#[test]
fn a_look_at_a_workspace_whose_agent_was_killed_is_refused() {
    let killed = |scene: &mut Scene| drop(scene.ask(kill()));
    let workspace = model::attempt::Workspace::Clean;
    let lines = late(
        states::stuck(),
        "inspect_workspace",
        killed,
        Report::Inspected { workspace },
    );
    insta::assert_snapshot!(lines);
}

#[test]
fn a_second_report_of_a_landing_is_refused() {
    let landed = |scene: &mut Scene| drop(scene.landed("t-1"));
    let commit = oid('c');
    let lines = late(states::landing(), "land", landed, Report::Landed { commit });
    insta::assert_snapshot!(lines);
}

#[test]
fn a_drop_while_a_ticket_lands_waits_for_the_outcome_of_the_landing() {
    for (report, state) in [
        (Report::NotLanded, "done/dropped"),
        (Report::TargetMoved, "done/dropped"),
    ] {
        // Edits are in the way, and the ticket is dropped while landing it is tried again.
        let mut scene = states::edits_in_the_way();
        scene.ask(Command::Merge { ticket: id("t-1") });
        let answer = scene.ask(states::drop_it()).answer();
        assert!(answer.contains("it is dropped unless it has landed"), "{answer}");
        assert_eq!(scene.state("t-1"), "verify/landing");
        scene.report("t-1", "land", report);
        assert_eq!(scene.state("t-1"), state);
    }
}
