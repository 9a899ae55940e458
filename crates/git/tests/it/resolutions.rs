//! Resolutions of conflicts: a branch that was looked at before a conflict, and what was put on top of it.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use git::Oid;

use crate::support::World;

/// The target and the branch `side` change the second line of `src/lib.txt`, and each a file of its own.
/// `side` is checked out. Gives its tip.
fn in_conflict(world: &World) -> Oid {
    world.git(&["checkout", "-q", "-b", "side"]);
    world.write("src/lib.txt", "one\nside\nthree\n");
    world.write("side.txt", "side\n");
    let approved = world.commit_all("side");
    world.git(&["checkout", "-q", "main"]);
    world.write("src/lib.txt", "one\nmain\nthree\n");
    world.write("main.txt", "main\n");
    world.commit_all("main");
    world.git(&["checkout", "-q", "side"]);
    approved
}

/// Begins to merge `what`, which stops at a conflict.
fn begin_merge(world: &World, what: &[&str]) {
    let args = [&["merge", "-q", "--no-edit"], what].concat();
    assert!(!world.try_git_at(&world.root(), &args).status.success());
}

fn resolve(world: &World) {
    world.write("src/lib.txt", "one\nmain and side\nthree\n");
}

/// The paths that the branch resolves on top of `approved`, if it does nothing else.
fn resolved(world: &World, approved: &Oid) -> Option<Vec<PathBuf>> {
    let (tip, target) = (world.oid("side"), world.oid("main"));
    let paths: Option<BTreeSet<PathBuf>> = world.open().only_resolves(approved, &tip, &target).unwrap();
    paths.map(|paths| paths.into_iter().collect())
}

fn lib() -> Option<Vec<PathBuf>> {
    Some(vec![PathBuf::from("src/lib.txt")])
}

#[test]
fn a_merge_that_changes_only_what_was_in_conflict_is_a_resolution() {
    let world = World::new();
    let approved = in_conflict(&world);
    assert_eq!(resolved(&world, &approved), Some(Vec::new()), "nothing was added");
    begin_merge(&world, &["main"]);
    resolve(&world);
    let first = world.commit_all("resolved");
    assert_eq!(resolved(&world, &approved), lib());
    // The target has gone on, and nothing is in conflict with that.
    world.git(&["checkout", "-q", "main"]);
    world.write("main.txt", "more\n");
    world.commit_all("more");
    world.git(&["checkout", "-q", "side"]);
    world.git(&["merge", "-q", "--no-edit", "main"]);
    assert_eq!(resolved(&world, &approved), lib(), "the second merge is clean");
    assert_eq!(resolved(&world, &first), Some(Vec::new()));
}

#[test]
fn whatever_else_is_changed_in_or_after_the_merge_is_none() {
    type Step = fn(&World);
    let other_file: Step = |world| world.write("side.txt", "other\n");
    let new_file: Step = |world| world.write("src/new.txt", "new\n");
    let targets_file: Step = |world| world.write("main.txt", "spoilt\n");
    let removed_file: Step = |world| std::fs::remove_file(world.root().join("main.txt")).unwrap();
    let other_mode: Step = |world| {
        let executable = PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(world.root().join("side.txt"), executable).unwrap();
    };
    let own_mode: Step = |world| {
        let executable = PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(world.root().join("src/lib.txt"), executable).unwrap();
    };
    let removed: Step = |world| std::fs::remove_file(world.root().join("src/lib.txt")).unwrap();
    let link: Step = |world| {
        std::fs::remove_file(world.root().join("src/lib.txt")).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", world.root().join("src/lib.txt")).unwrap();
    };
    let folder: Step = |world| {
        std::fs::remove_file(world.root().join("src/lib.txt")).unwrap();
        world.write("src/lib.txt/inside", "x\n");
    };
    let markers: Step =
        |world| world.write("src/lib.txt", "<<<<<<< HEAD\nside\n=======\nmain\n>>>>>>> main\n");
    let attributes: Step = |world| world.write(".gitattributes", "*.txt merge=ours\n");
    let renamed: Step = |world| {
        std::fs::rename(world.root().join("side.txt"), world.root().join("moved.txt")).unwrap();
    };
    let one_more: Step = |world| {
        world.commit_all("resolved");
        world.write("src/lib.txt", "one\nmore\nthree\n");
    };
    for (what, step) in [
        ("a file of the branch", other_file),
        ("a new file", new_file),
        ("a file of the target", targets_file),
        ("a file of the target is gone", removed_file),
        ("the mode of another file", other_mode),
        ("a mode that no side has", own_mode),
        ("the file is gone that both have", removed),
        ("a link", link),
        ("a folder in place of the file", folder),
        ("conflict markers", markers),
        ("attributes", attributes),
        ("a file is renamed", renamed),
        ("a commit on top of the merge", one_more),
    ] {
        let world = World::new();
        let approved = in_conflict(&world);
        begin_merge(&world, &["main"]);
        resolve(&world);
        step(&world);
        world.commit_all("resolved, and more");
        assert_eq!(resolved(&world, &approved), None, "{what}");
    }
}

#[test]
fn a_file_that_nobody_resolved_is_none() {
    let world = World::new();
    let approved = in_conflict(&world);
    begin_merge(&world, &["main"]);
    world.commit_all("as git left it");
    assert_eq!(resolved(&world, &approved), None);
}

#[test]
fn a_merge_of_anything_but_the_target_is_none() {
    let world = World::new();
    let approved = in_conflict(&world);
    // A commit of the agent's own, on top of the target's.
    world.git(&["checkout", "-q", "-b", "own", "main"]);
    world.write("own.txt", "own\n");
    world.commit_all("own");
    world.git(&["checkout", "-q", "side"]);
    begin_merge(&world, &["own"]);
    resolve(&world);
    world.commit_all("resolved");
    assert_eq!(resolved(&world, &approved), None);

    // The branch is the second parent: the merge is one of the target's.
    world.git(&["checkout", "-q", "-B", "side", "main"]);
    begin_merge(&world, &[approved.as_str()]);
    resolve(&world);
    world.commit_all("resolved");
    assert_eq!(resolved(&world, &approved), None);

    // Three parents.
    let tree = world.git(&["rev-parse", "side^{tree}"]);
    let (main, own) = (world.oid("main"), world.oid("own"));
    let parents = ["-p", approved.as_str(), "-p", main.as_str(), "-p", own.as_str()];
    let octopus = world.git(&[&["commit-tree", "-m", "octopus"], &parents[..], &[&tree]].concat());
    world.git(&["checkout", "-q", "-B", "side", &octopus]);
    assert_eq!(resolved(&world, &approved), None);

    // No merge, with the very tree of a resolution.
    let squashed = world.git(&["commit-tree", "-m", "squashed", "-p", approved.as_str(), &tree]);
    world.git(&["checkout", "-q", "-B", "side", &squashed]);
    assert_eq!(resolved(&world, &approved), None);

    // Another branch than the one that was approved.
    let other = world.git(&["commit-tree", "-m", "other", "-p", main.as_str(), &tree]);
    world.git(&["checkout", "-q", "-B", "side", &other]);
    assert_eq!(resolved(&world, &approved), None);
}

/// Both renamed the file, or one removed what the other edited: git names several paths then.
#[test]
fn renames_and_removals_are_resolved_within_the_paths_that_git_names() {
    let moved = |world: &World, to: &str| {
        std::fs::rename(world.root().join("src/lib.txt"), world.root().join(to)).unwrap();
    };
    let world = World::new();
    world.git(&["checkout", "-q", "-b", "side"]);
    moved(&world, "side.txt");
    let approved = world.commit_all("side");
    world.git(&["checkout", "-q", "main"]);
    moved(&world, "main.txt");
    world.commit_all("main");
    world.git(&["checkout", "-q", "side"]);
    begin_merge(&world, &["main"]);
    std::fs::remove_file(world.root().join("side.txt")).unwrap();
    world.commit_all("resolved");
    assert!(
        resolved(&world, &approved)
            .unwrap()
            .contains(&PathBuf::from("main.txt"))
    );
    moved_aside(&world, "main.txt");
    world.git(&["add", "-A"]);
    world.git(&["commit", "-q", "--amend", "--no-edit"]);
    assert_eq!(resolved(&world, &approved), None, "a third name");

    for keeps in [true, false] {
        let world = World::new();
        world.git(&["checkout", "-q", "-b", "side"]);
        world.write("src/lib.txt", "one\nside\nthree\n");
        let approved = world.commit_all("side");
        world.git(&["checkout", "-q", "main"]);
        std::fs::remove_file(world.root().join("src/lib.txt")).unwrap();
        world.commit_all("main");
        world.git(&["checkout", "-q", "side"]);
        begin_merge(&world, &["main"]);
        match keeps {
            true => world.write("src/lib.txt", "kept\n"),
            false => drop(std::fs::remove_file(world.root().join("src/lib.txt"))),
        }
        world.commit_all("resolved");
        assert_eq!(resolved(&world, &approved), lib(), "keeps: {keeps}");
    }
}

fn moved_aside(world: &World, path: &str) {
    let root = world.root();
    std::fs::rename(root.join(Path::new(path)), root.join("third.txt")).unwrap();
}

/// An agent writes attributes into its branch; the target's choose the merge drivers.
#[test]
fn attributes_of_the_branch_choose_no_merge_driver() {
    let world = World::new();
    world.git(&["config", "merge.theirs.driver", "cp %B %A"]);
    world.git(&["checkout", "-q", "-b", "side"]);
    world.write(".gitattributes", "*.txt merge=theirs\n");
    world.write("src/lib.txt", "one\nside\nthree\n");
    let approved = world.commit_all("side");
    world.git(&["checkout", "-q", "main"]);
    world.write("src/lib.txt", "one\nmain\nthree\n");
    world.commit_all("main");
    world.git(&["checkout", "-q", "side"]);
    world.git(&["merge", "-q", "--no-edit", "main"]);
    // The agent's driver took the target's file as it is: in crew's merge the path is in conflict.
    assert_eq!(resolved(&world, &approved), lib());
    world.write("side.txt", "more\n");
    world.git(&["add", "-A"]);
    world.git(&["commit", "-q", "--amend", "--no-edit"]);
    assert_eq!(resolved(&world, &approved), None);
}
