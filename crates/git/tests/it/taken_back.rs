//! Commits that take back what the target has changed.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use git::{Oid, Refusal};

use crate::support::World;

/// The target and the branch `side` change `src/lib.txt` each in its own way; the target also changes `g`,
/// adds `h`, deletes `gone`, makes `run` executable, and moves the submodule `sub` on. `side` is checked out.
/// Gives the commit below both.
fn in_conflict(world: &World) -> Oid {
    world.write("g", "old\n");
    world.write("gone", "old\n");
    world.write("run", "old\n");
    world.commit_all("files");
    let base = link(world, '1');
    world.git(&["checkout", "-q", "-b", "side"]);
    world.write("src/lib.txt", "one\nside\nthree\n");
    world.git(&["commit", "-q", "-a", "-m", "side"]);
    world.git(&["checkout", "-q", "main"]);
    world.write("src/lib.txt", "one\nmain\nthree\n");
    world.write("g", "new\n");
    world.write("h", "new\n");
    world.git(&["rm", "-q", "gone"]);
    std::fs::set_permissions(world.root().join("run"), PermissionsExt::from_mode(0o755)).unwrap();
    world.git(&["add", "src", "g", "h", "run"]);
    link(world, '2');
    world.git(&["checkout", "-q", "side"]);
    base
}

/// Commits what is staged, with a submodule at `sub` whose commit has this digit throughout.
fn link(world: &World, digit: char) -> Oid {
    let commit = digit.to_string().repeat(40);
    let entry = format!("160000,{commit},sub");
    // Without its folder, git would take the submodule for deleted.
    std::fs::create_dir_all(world.root().join("sub")).unwrap();
    world.git(&["update-index", "--add", "--cacheinfo", &entry]);
    world.git(&["commit", "-q", "-m", "link"]);
    world.head()
}

/// The paths that the branch takes back.
fn taken(world: &World, base: &Oid) -> Vec<PathBuf> {
    let refusals = world
        .open()
        .takes_back(base, &world.oid("main"), &world.oid("side"))
        .unwrap();
    let paths = refusals.into_iter().flat_map(|refusal| match refusal {
        Refusal::TakesBack { paths, .. } => paths,
        other => panic!("{other}"),
    });
    paths.collect()
}

fn paths(paths: &[&str]) -> Vec<PathBuf> {
    paths.iter().map(PathBuf::from).collect()
}

/// Merges the target, and resolves the conflict by the branch's own version.
fn resolve(world: &World) {
    assert!(
        !world
            .try_git_at(&world.root(), &["merge", "-q", "main"])
            .status
            .success()
    );
    world.write("src/lib.txt", "one\nside\nthree\n");
    world.git(&["add", "src"]);
}

#[test]
fn a_merge_that_keeps_only_the_branchs_side_takes_back_the_rest() {
    let world = World::new();
    let base = in_conflict(&world);
    world.git(&["merge", "-q", "-s", "ours", "-m", "ours", "main"]);
    let all = ["g", "gone", "h", "run", "sub"];
    assert_eq!(taken(&world, &base), paths(&all), "src/lib.txt was in conflict");
    // What the branch puts back in a later commit is not taken back, and what it undoes there is its own.
    world.git(&["checkout", "main", "--", "g", "h", "run"]);
    world.git(&["rm", "-q", "gone"]);
    link(&world, '2');
    assert_eq!(taken(&world, &base), Vec::<PathBuf>::new());
    world.write("g", "old\n");
    world.git(&["commit", "-q", "-m", "undo", "g"]);
    assert_eq!(taken(&world, &base), Vec::<PathBuf>::new());
}

#[test]
fn a_submodule_that_a_resolution_puts_back_is_found_until_the_target_has_it_so() {
    let world = World::new();
    let base = in_conflict(&world);
    resolve(&world);
    link(&world, '1');
    assert_eq!(taken(&world, &base), paths(&["sub"]));
    // A second merge does not hide the first.
    world.git(&["checkout", "-q", "main"]);
    world.write("more", "more\n");
    world.git(&["add", "more"]);
    world.git(&["commit", "-q", "-m", "more"]);
    world.git(&["checkout", "-q", "side"]);
    world.git(&["merge", "-q", "--no-edit", "main"]);
    assert_eq!(taken(&world, &base), paths(&["sub"]));
    world.git(&["checkout", "-q", "main"]);
    link(&world, '1');
    assert_eq!(taken(&world, &base), Vec::<PathBuf>::new());
}

#[test]
fn a_resolution_of_what_was_in_conflict_takes_nothing_back() {
    let world = World::new();
    let base = in_conflict(&world);
    resolve(&world);
    world.git(&["commit", "-q", "-m", "resolved"]);
    assert_eq!(taken(&world, &base), Vec::<PathBuf>::new());
}

#[test]
fn a_file_that_git_takes_into_a_renamed_folder_is_not_taken_back() {
    let world = World::new();
    for name in ["a", "b", "c"] {
        world.write(&format!("old/{name}"), &format!("{name}\n").repeat(20));
    }
    let base = world.commit_all("folder");
    world.git(&["checkout", "-q", "-b", "side"]);
    world.git(&["mv", "old", "new"]);
    world.commit_all("rename");
    world.git(&["checkout", "-q", "main"]);
    world.write("old/d", "d\n");
    world.commit_all("add");
    world.git(&["checkout", "-q", "side"]);
    world.git(&[
        "-c",
        "merge.directoryRenames=true",
        "merge",
        "-q",
        "--no-edit",
        "main",
    ]);
    assert_eq!(world.read("new/d"), "d\n");
    assert_eq!(taken(&world, &base), Vec::<PathBuf>::new());
}

#[test]
fn a_squash_onto_the_moved_target_takes_back_what_landed_meanwhile() {
    let world = World::new();
    let base = in_conflict(&world);
    world.git(&["reset", "-q", "--soft", "main"]);
    world.git(&["commit", "-q", "-m", "squash"]);
    // `src/lib.txt` has a version of the branch's own.
    assert_eq!(taken(&world, &base), paths(&["g", "gone", "h", "run", "sub"]));
    world.git(&["checkout", "main", "--", "g", "h", "run"]);
    world.git(&["rm", "-q", "gone"]);
    link(&world, '2');
    assert_eq!(taken(&world, &base), Vec::<PathBuf>::new());
    // What a later commit undoes is meant.
    world.write("g", "old\n");
    world.git(&["commit", "-q", "-m", "undo", "g"]);
    assert_eq!(taken(&world, &base), Vec::<PathBuf>::new());
}

#[test]
fn a_rebase_onto_the_moved_target_takes_nothing_back() {
    let world = World::new();
    let base = in_conflict(&world);
    world.git(&["checkout", "-q", "-B", "side", "main"]);
    world.write("own", "own\n");
    world.commit_all("own");
    world.write("own", "more\n");
    world.commit_all("more");
    assert_eq!(taken(&world, &base), Vec::<PathBuf>::new());
}

/// Two sides that change `f` in its 3rd line each, `main` its 20th too; and `g` in different places.
fn in_one_line(world: &World) -> Oid {
    let lines = |changed: &[(usize, &str)]| {
        let mut lines: Vec<String> = (1..=20).map(|line| line.to_string()).collect();
        for (line, to) in changed {
            lines[line - 1] = (*to).to_owned();
        }
        lines.join("\n") + "\n"
    };
    world.write("f", &lines(&[]));
    world.write("g", &lines(&[]));
    let base = world.commit_all("lines");
    world.git(&["checkout", "-q", "-b", "side"]);
    world.write("f", &lines(&[(3, "side")]));
    world.write("g", &lines(&[(3, "side")]));
    world.commit_all("side");
    world.git(&["checkout", "-q", "main"]);
    world.write("f", &lines(&[(3, "main"), (20, "main")]));
    world.write("g", &lines(&[(20, "main")]));
    world.commit_all("main");
    world.git(&["checkout", "-q", "side"]);
    base
}

#[test]
fn a_merge_that_keeps_a_whole_file_of_two_takes_the_others_lines_back() {
    let world = World::new();
    let base = in_one_line(&world);
    world.git(&["merge", "-q", "-s", "ours", "-m", "ours", "main"]);
    assert_eq!(taken(&world, &base), paths(&["f", "g"]));
}

#[test]
fn a_conflict_that_is_resolved_by_a_whole_side_takes_the_others_lines_back() {
    let world = World::new();
    let base = in_one_line(&world);
    let merged = world.try_git_at(&world.root(), &["merge", "-q", "main"]);
    assert!(!merged.status.success());
    world.git(&["checkout", "-q", "--ours", "f"]);
    world.git(&["add", "f"]);
    world.git(&["commit", "-q", "-m", "resolved"]);
    assert_eq!(taken(&world, &base), paths(&["f"]));
    // The 20th line is put back, and the 3rd stays the branch's own.
    let text = world.read("f").replace("\n20\n", "\nmain\n");
    world.write("f", &text);
    world.commit_all("put back");
    assert_eq!(taken(&world, &base), Vec::<PathBuf>::new());
}
