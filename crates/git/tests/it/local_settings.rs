//! The settings of a workspace's own git: those with which a turn began come back.

use std::fs;
use std::os::unix::fs::symlink;

use git::{Id, Turn};

use crate::support::{World, put};

#[test]
fn what_a_turn_has_set_goes_and_what_could_not_be_read_is_left_alone() {
    let world = World::new();
    let repository = world.open_locked();
    let workspace = world.workspace(&repository);
    let at = workspace.path().join(".git");
    let (exclude, of_worktree, sparse) = (
        at.join("info/exclude"),
        at.join("config.worktree"),
        at.join("info/sparse-checkout"),
    );
    put(&exclude, "mine\n");
    let elsewhere = workspace.path().join("patterns");
    put(&elsewhere, "a\n");
    fs::remove_file(&sparse).ok();
    symlink(&elsewhere, &sparse).unwrap();
    let config = fs::read_to_string(at.join("config")).unwrap();
    let turn = Turn {
        ticket: Id::parse("t-1-c1").unwrap(),
        attempt: 1,
        start: workspace.start().clone(),
    };
    repository.note_settings(&workspace, &turn).unwrap();
    workspace.note_turns(std::slice::from_ref(&turn)).unwrap();

    put(&exclude, "theirs\n");
    put(&of_worktree, "[core]\nbare = true\n");
    put(&at.join("config"), &format!("{config}[user]\nname = mallory\n"));
    workspace.restore_settings(&turn).unwrap();
    assert_eq!(fs::read_to_string(&exclude).unwrap(), "mine\n");
    assert!(!of_worktree.exists(), "there was none");
    assert_eq!(fs::read_to_string(at.join("config")).unwrap(), config);
    assert!(sparse.is_symlink(), "nobody knows what it was");

    // Once the turn is over, nothing is put back any more.
    workspace.note_turns(&[]).unwrap();
    put(&exclude, "later\n");
    workspace.restore_settings(&turn).unwrap();
    assert_eq!(fs::read_to_string(&exclude).unwrap(), "later\n");
}
