//! Reports: what each means to the ticket whose effect is reported.

use engine::Report;
use model::attempt::{Class, Failure, Workspace};
use model::ticket::{KeptWork, Secret};

use crate::matrix::table;
use crate::scene::{Scene, candidate, oid};
use crate::states;

/// Every report, the verdict of checks apart.
fn every_report() -> Vec<(&'static str, Report)> {
    let why = || "no disk".to_owned();
    let ready = |earlier_work| Report::WorkspaceReady {
        base: oid('a'),
        earlier_work,
    };
    let inspected = |workspace| Report::Inspected { workspace };
    let failure = |class| Report::StepNotSpawned {
        failure: Failure::new(class, "no such program"),
    };
    vec![
        ("workspace_ready", ready(false)),
        ("workspace_ready with earlier work", ready(true)),
        ("workspace_failed", Report::WorkspaceFailed { why: why() }),
        (
            "set_up_failed",
            Report::SetUpFailed {
                why: why(),
                output: "no network\n(exit code 1)".to_owned(),
                may_pass: true,
                for_all: false,
            },
        ),
        ("step_spawned", Report::StepSpawned),
        ("step_not_spawned (crash)", failure(Class::Crash)),
        ("step_not_spawned (auth)", failure(Class::Auth)),
        ("workspace_missing", Report::WorkspaceMissing),
        ("stopped", Report::Stopped),
        ("inspected missing", inspected(Workspace::Missing)),
        ("inspected clean", inspected(Workspace::Clean)),
        ("inspected changed", inspected(Workspace::Changed)),
        (
            "built",
            Report::Built {
                candidate: candidate('b'),
                untouched: Vec::new(),
                leftovers: model::ticket::Leftovers::default(),
                absent: Box::default(),
                resolves: None,
                ahead: Box::default(),
            },
        ),
        ("no_commits", Report::NoCommits),
        ("conflicted", states::conflicted()),
        ("import_refused", Report::ImportRefused { why: why() }),
        (
            "sensitive",
            Report::Sensitive {
                paths: vec!["crew.toml".to_owned()],
                secrets: Vec::new(),
                tip: oid('b'),
            },
        ),
        (
            "sensitive with secrets",
            Report::Sensitive {
                paths: Vec::new(),
                secrets: vec![Secret::File {
                    path: "src/lib.rs".to_owned(),
                    taken_away: Some(oid('a')),
                }],
                tip: oid('b'),
            },
        ),
        ("file_missing", Report::FileMissing),
        ("could_not_run", Report::CouldNotRun { why: why() }),
        ("hindered", Report::Hindered { why: why() }),
        ("landed", Report::Landed { commit: oid('c') }),
        ("landed another commit", Report::Landed { commit: oid('d') }),
        ("target_moved", Report::TargetMoved),
        ("checkout_edited", states::edited_checkout()),
        ("done", Report::Done),
    ]
}

/// The decisions about every report of this effect.
fn of(scene: &Scene, effect: &str) -> String {
    table(scene, every_report(), |scene, report| {
        scene.report("t-1", effect, report)
    })
}

#[test]
fn a_workspace_that_is_made_is_stepped_in() {
    insta::assert_snapshot!(of(&states::preparing(), "prepare_workspace"));
}

#[test]
fn a_step_that_does_not_start_is_over() {
    insta::assert_snapshot!(of(&states::starting(), "start_step"));
}

#[test]
fn a_step_that_does_not_start_while_it_is_stopped_for_a_kill_is_killed() {
    let mut scene = states::starting();
    let agent = crate::scene::name("ann");
    scene.ask(model::command::Command::Kill { agent });
    insta::assert_snapshot!(of(&scene, "start_step"));
}

#[test]
fn a_step_that_does_not_start_while_it_is_stopped_for_a_drop_is_dropped() {
    let mut scene = states::starting();
    scene.ask(states::drop_it());
    insta::assert_snapshot!(of(&scene, "start_step"));
}

#[test]
fn a_stop_that_arrived_says_nothing_of_the_end() {
    insta::assert_snapshot!(of(&states::being_killed(), "stop_run"));
}

#[test]
fn a_stuck_attempt_goes_on_from_what_is_in_its_workspace() {
    insta::assert_snapshot!(of(&states::stuck(), "inspect_workspace"));
}

#[test]
fn a_merge_leads_to_checks_or_back_to_the_agent_or_to_a_person() {
    insta::assert_snapshot!(of(&states::building(), "build_candidate"));
}

#[test]
fn a_landing_ends_the_ticket_or_is_tried_again() {
    insta::assert_snapshot!(of(&states::landing(), "land"));
}

#[test]
fn work_that_is_kept_changes_nothing() {
    insta::assert_snapshot!(of(&states::killed(), "keep_work"));
}

#[test]
fn work_that_no_branch_holds_is_noted_whatever_has_become_of_the_ticket() {
    for (mut scene, effect) in [
        (states::killed(), "keep_work"),
        (states::landed(), "remove_workspace"),
    ] {
        let reference = "refs/crew/rescue/t-1/1".to_owned();
        let work = vec![KeptWork::Workspace { reference }];
        let before = scene.state("t-1");
        scene.report("t-1", effect, Report::WorkKept { work: work.clone() });
        assert_eq!(scene.state("t-1"), before);
        let ticket = scene.core.ticket(&crate::scene::id("t-1")).unwrap();
        assert_eq!(ticket.kept, work, "{before}");
        assert_eq!(scene.pending("t-1", effect), None);
    }
}

#[test]
fn a_workspace_that_is_removed_changes_nothing() {
    insta::assert_snapshot!(of(&states::landed(), "remove_workspace"));
}

#[test]
fn a_file_that_is_written_changes_nothing() {
    insta::assert_snapshot!(of(&states::preparing(), "write_file"));
}

#[test]
fn a_note_that_is_added_changes_nothing() {
    insta::assert_snapshot!(of(&states::blocked(), "add_note"));
}
