//! What an agent changes after it has submitted: files by their content, whatever git commands it runs.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use git::{Repository, Submission, Workspace};

use crate::support::{World, limits, put};

const RUN: &str = "t-1.1.1";

fn called(at: SystemTime) -> Submission<'static> {
    Submission {
        run: RUN,
        at,
        is_called: true,
    }
}

/// Later than all that is written: a hundred years after 1970.
fn later() -> SystemTime {
    UNIX_EPOCH + Duration::from_hours(24 * 365 * 100)
}

fn changed(repository: &Repository, workspace: &Workspace) -> Vec<PathBuf> {
    repository
        .changed_since_submitted(workspace, RUN, &limits())
        .unwrap()
}

fn note(repository: &Repository, workspace: &Workspace, made: Submission<'_>) {
    repository.note_submitted(workspace, made, &limits()).unwrap();
}

#[test]
fn content_counts_and_neither_commits_nor_ignored_files_nor_times() {
    let world = World::new();
    world.write(".gitignore", "target/\n");
    world.commit_all("ignored");
    let repository = world.open_locked();
    let workspace = world.workspace(&repository);
    let at = workspace.path();
    put(&at.join("app"), "good\n");
    assert!(
        changed(&repository, &workspace).is_empty(),
        "nothing was submitted"
    );
    note(&repository, &workspace, called(later()));
    world.git_at(&at, &["add", "-A"]);
    world.git_at(&at, &["commit", "-q", "-m", "the same, committed"]);
    put(&at.join("target/cache"), "built\n");
    put(&at.join("README"), "other\n");
    world.git_at(&at, &["checkout", "-q", "README"]);
    assert!(changed(&repository, &workspace).is_empty());
    put(&at.join("app"), "half(\n");
    put(&at.join("new"), "half\n");
    world.git_at(&at, &["add", "-A"]);
    world.git_at(&at, &["commit", "-q", "-m", "half"]);
    assert_eq!(
        changed(&repository, &workspace),
        [Path::new("app"), Path::new("new")]
    );
    world.git_at(&at, &["reset", "-q", "--hard", "HEAD~2"]);
    assert_eq!(changed(&repository, &workspace), [Path::new("app")], "taken back");
    let other = repository.changed_since_submitted(&workspace, "t-1.1.2", &limits());
    assert!(other.unwrap().is_empty(), "another step");
}

#[test]
fn what_is_younger_than_a_submission_that_is_noted_late_was_changed_after_it() {
    let world = World::new();
    let repository = world.open_locked();
    let workspace = world.workspace(&repository);
    let at = workspace.path();
    put(&at.join("app"), "good\n");
    let call = at.join("call");
    // The time of a file on the same file system, as that of a call is.
    let submitted = loop {
        put(&call, "call\n");
        let written = |path: &Path| path.metadata().unwrap().modified().unwrap();
        if written(&call) > written(&at.join("app")) {
            break written(&call);
        }
    };
    while call.exists() {
        put(&at.join("late"), "half\n");
        let is_younger = at.join("late").metadata().unwrap().modified().unwrap() > submitted;
        if is_younger {
            std::fs::remove_file(&call).unwrap();
        }
    }
    note(&repository, &workspace, called(submitted));
    assert_eq!(changed(&repository, &workspace), [Path::new("late")]);
}

#[test]
fn a_call_stands_and_what_was_printed_before_it_does_not() {
    let world = World::new();
    let repository = world.open_locked();
    let workspace = world.workspace(&repository);
    let at = workspace.path();
    let printed = || Submission {
        is_called: false,
        ..called(later())
    };
    note(&repository, &workspace, printed());
    put(&at.join("one"), "1\n");
    note(&repository, &workspace, printed());
    assert_eq!(
        changed(&repository, &workspace),
        [Path::new("one")],
        "it was printed before"
    );
    note(&repository, &workspace, called(later()));
    assert!(changed(&repository, &workspace).is_empty());
    put(&at.join("two"), "2\n");
    note(&repository, &workspace, printed());
    note(&repository, &workspace, called(later()));
    assert_eq!(
        changed(&repository, &workspace),
        [Path::new("two")],
        "the first call stands"
    );
}
