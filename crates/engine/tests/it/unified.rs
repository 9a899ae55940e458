//! Children whose work is their parent's: what is said of it, over all attempts of the parent.

use std::collections::BTreeSet;

use engine::Report;
use model::attempt::{ChildWork, Prompt, Signal, State};
use model::command::Command;
use model::commitment::Promise;
use model::settings::{ReviewOf, ReviewWhen};
use model::ticket::{CheckCommand, Done, Event, Listed};

use crate::delegation::{begins, leading, task, unifies, waiting};
use crate::scene::{Scene, Verdict, id, oid};

fn work(files: &[&str]) -> Report {
    Report::Unified {
        unmerged: None,
        work: Some(Box::new(ChildWork {
            from: oid('a'),
            tip: oid('b'),
            commits: files.len(),
            files: Listed::of(files.iter().map(|file| (*file).to_owned())),
        })),
        absent: BTreeSet::new(),
    }
}

/// Both children of t-1 are done, the second one without a change, and the step of t-1 runs.
fn with_two_done() -> Scene {
    let mut scene = waiting(|_| {});
    scene.finishes("t-1-c1", Signal::Done);
    scene.report("t-1-c1", "unify", work(&["app", "test"]));
    begins(&mut scene, "t-1-c2");
    scene.finishes("t-1-c2", Signal::Done);
    scene.report("t-1-c2", "unify", work(&[]));
    scene
}

fn submits(scene: &mut Scene, absent: &[&str]) {
    scene.finishes("t-1", Signal::Done);
    scene.built_without("t-1", '1', absent);
    scene.checks_pass("t-1");
    scene.landed("t-1");
}

fn brought_nothing(scene: &Scene, child: &str) -> bool {
    scene.core.ticket(&id(child)).unwrap().brought_nothing()
}

#[test]
fn their_parent_hears_what_each_did_to_the_branch() {
    let scene = with_two_done();
    let attempt = scene.core.ticket(&id("t-1")).and_then(|t| t.attempt()).unwrap();
    let State::Working(working) = &attempt.state else {
        panic!("{:?}", attempt.state);
    };
    let Prompt::Unify { results } = &working.next else {
        panic!("{:?}", working.next);
    };
    let words: Vec<String> = results.iter().map(model::attempt::ChildResult::words).collect();
    assert_eq!(
        words,
        [
            "done (2 commits, 2 files: app, test)",
            "done (it changed nothing)"
        ]
    );
}

#[test]
fn one_that_changed_nothing_is_over_with_its_parent_and_brought_nothing() {
    let mut scene = with_two_done();
    submits(&mut scene, &[]);
    assert_eq!(scene.state("t-1-c1"), "done/landed");
    assert_eq!(scene.state("t-1-c2"), "done/landed");
    assert!(!brought_nothing(&scene, "t-1-c1"));
    assert!(brought_nothing(&scene, "t-1-c2"));
}

#[test]
fn one_whose_commits_are_not_in_the_merge_has_not_landed() {
    let mut scene = with_two_done();
    submits(&mut scene, &["t-1-c1"]);
    assert_eq!(scene.state("t-1"), "done/landed");
    let child = scene.core.ticket(&id("t-1-c1")).unwrap();
    let model::ticket::State::Done(Done::Dropped { reason, .. }) = &child.state else {
        panic!("{:?}", child.state);
    };
    assert!(reason.contains("its commits are not in"), "{reason}");
    assert_eq!(scene.state("t-1-c2"), "done/landed");
}

#[test]
fn commits_that_are_there_again_when_it_is_built_anew_land() {
    let mut scene = with_two_done();
    scene.finishes("t-1", Signal::Done);
    scene.built_without("t-1", '1', &["t-1-c1"]);
    scene.checked("t-1", Verdict::Failed);
    submits(&mut scene, &[]);
    assert_eq!(scene.state("t-1-c1"), "done/landed");
}

/// The agent of t-1 cannot go on, and a person has it tried again.
fn tried_again(earlier_work: bool) -> Scene {
    let mut scene = with_two_done();
    let why = "it cannot be brought together".to_owned();
    scene.finishes("t-1", Signal::Blocked { why });
    for child in ["t-1-c1", "t-1-c2"] {
        assert_eq!(scene.state(child), "verify/unified");
    }
    scene.report("t-1", "keep_work", Report::Done);
    scene.ask(Command::Retry { ticket: id("t-1") });
    let base = oid('a');
    scene.report(
        "t-1",
        "prepare_workspace",
        Report::WorkspaceReady { base, earlier_work },
    );
    scene
}

#[test]
fn they_stay_a_part_of_their_parent_over_its_attempts_and_land_with_it() {
    let mut scene = tried_again(true);
    assert_eq!(scene.state("t-1-c1"), "verify/unified");
    submits(&mut scene, &[]);
    for child in ["t-1-c1", "t-1-c2"] {
        assert_eq!(scene.state(child), "done/landed");
    }
}

#[test]
fn an_attempt_that_begins_without_their_work_ends_them() {
    let scene = tried_again(false);
    for child in ["t-1-c1", "t-1-c2"] {
        assert_eq!(scene.state(child), "done/dropped");
    }
}

#[test]
fn a_tag_of_one_decides_about_the_review_of_the_whole() {
    let mut scene = waiting(|settings| {
        settings.review.when = ReviewWhen::Some(ReviewOf {
            labels: BTreeSet::from(["risky".to_owned()]),
            paths: Vec::new(),
            lines: None,
        });
    });
    scene.write("t-1-c2", |file| {
        file.spec.tags = BTreeSet::from(["risky".to_owned()]);
    });
    unifies(&mut scene, "t-1-c1");
    begins(&mut scene, "t-1-c2");
    unifies(&mut scene, "t-1-c2");
    scene.finishes("t-1", Signal::Done);
    scene.built("t-1", '1');
    scene.checks_pass("t-1");
    assert_eq!(scene.state("t-1"), "verify/reviewing");
}

/// Anybody can write a file, and the parent's work is verified as a whole.
#[test]
fn commitments_in_the_file_of_one_do_not_count() {
    let mut scene = leading(|_| {});
    let promise = || Promise {
        says: "never there".to_owned(),
        run: Some(CheckCommand::Argv(vec![
            "test".to_owned(),
            "-e".to_owned(),
            "never".to_owned(),
        ])),
    };
    scene.delegates("t-1", &[task("One")]).unwrap();
    scene.edit("t-1-c1", |file| file.spec.commitments = vec![promise()]);
    scene.children_written("t-1");
    scene.finishes("t-1", Signal::None);
    begins(&mut scene, "t-1-c1");
    let written = scene.write("t-1-c1", |file| {
        file.spec.commitments = vec![promise(), promise()];
    });
    assert!(!written.events().contains(&"commitment_added"), "{written}");
    assert!(scene.core.ticket(&id("t-1-c1")).unwrap().commitments.is_empty());
    unifies(&mut scene, "t-1-c1");
    submits(&mut scene, &[]);
    assert_eq!(scene.state("t-1-c1"), "done/landed");
    let child = scene.core.ticket(&id("t-1-c1")).unwrap();
    assert!(child.commitments.is_empty() && child.unconfirmed.is_none());
}

/// An event that is only news is written once.
#[test]
fn that_all_commits_are_there_is_no_news() {
    let mut scene = with_two_done();
    scene.finishes("t-1", Signal::Done);
    let built = scene.built("t-1", '1');
    let news = Event::ChildrenAbsent {
        absent: BTreeSet::new(),
    };
    assert!(!built.events().contains(&news.name()), "{built}");
}
