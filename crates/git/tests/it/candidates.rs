//! Candidates and landing: merges without a checkout, and a target that moves.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use git::{Candidate, Id, Identity, Intent, Landing, Outcome};

use crate::support::{AT, World, main_branch, merged, message, put};

fn outcome(world: &World, tip: &str) -> Outcome {
    let who = Identity::new("crew", "crew@example.org");
    world
        .open()
        .candidate(&world.oid("main"), &world.oid(tip), &message(), &who, &who, AT)
        .unwrap()
}

#[test]
fn the_same_input_gives_the_same_merge_commit_and_touches_nothing() {
    let world = World::new();
    world.git(&["checkout", "-q", "-b", "side"]);
    world.write("side.txt", "side\n");
    world.commit_all("side");
    world.git(&["checkout", "-q", "main"]);
    world.write("README", "edited, not committed\n");
    let (status, refs) = (world.status(), world.refs());
    let repository = world.open();
    let first = merged(&repository, &world.head(), &world.oid("side"));
    let second = merged(&repository, &world.head(), &world.oid("side"));
    assert_eq!(first, second);
    assert_eq!((world.status(), world.refs()), (status, refs));
    let Candidate {
        commit,
        tree,
        changes,
    } = first;
    assert_eq!(repository.tree_of(&commit).unwrap(), tree);
    assert_eq!(changes.len(), 1);
    let text = world.git(&["log", "-1", "--format=%P%n%B", commit.as_str()]);
    let expected = format!(
        "{} {}\nLand t-1\n\nBecause.\n\nTicket: t-1\nAgent: ada\nAttempt: 1",
        world.head(),
        world.oid("side")
    );
    assert_eq!(text, expected);
}

#[test]
fn a_commit_is_of_the_ticket_whose_merge_brought_it() {
    let world = World::new();
    let branch = |name: &str| {
        world.git(&["checkout", "-q", "-b", name]);
        world.write(&format!("{name}.txt"), name);
        world.commit_all(&format!("work on {name}"));
        world.git(&["checkout", "-q", "main"]);
    };
    let repository = world.open();
    branch("side");
    let landed = merged(&repository, &world.head(), &world.oid("side"));
    world.git(&["reset", "-q", "--hard", landed.commit.as_str()]);
    world.write("README", "by hand\n");
    world.commit_all("by hand");
    // A merge that crew did not land brings what no ticket has.
    branch("other");
    world.git(&["merge", "-q", "--no-ff", "-m", "by hand too", "other"]);
    let found = |limit| {
        let found = repository.of_tickets(&world.head(), limit).unwrap();
        let shown = found.into_iter().map(|it| (it.subject, it.ticket));
        shown.collect::<Vec<_>>()
    };
    let of = |subject: &str| (subject.to_owned(), "t-1".to_owned());
    assert_eq!(found(100), [of("Land t-1"), of("work on side")]);
    assert_eq!(found(3), []);
}

#[test]
fn a_branch_without_commits_is_no_candidate() {
    let world = World::new();
    world.git(&["branch", "side"]);
    assert_eq!(outcome(&world, "side"), Outcome::NoCommits);
}

/// The naive version looks for commits that change a file, and merges two that cancel out.
#[test]
fn commits_that_cancel_out_are_no_candidate() {
    let world = World::new();
    world.git(&["checkout", "-q", "-b", "side"]);
    world.write("new.txt", "new\n");
    world.commit_all("add");
    world.git(&["rm", "-q", "new.txt"]);
    world.git(&["commit", "-q", "-m", "remove"]);
    assert_eq!(outcome(&world, "side"), Outcome::NoCommits);
    world.git(&["checkout", "-q", "main"]);
    world.write("other.txt", "other\n");
    world.commit_all("the target goes on");
    assert_eq!(outcome(&world, "side"), Outcome::NoCommits);
}

/// Somebody else brought the same work: the branch has landed then, and is no empty one.
#[test]
fn work_that_the_target_has_by_other_commits_is_a_candidate() {
    for merges in [false, true] {
        let world = World::new();
        world.git(&["checkout", "-q", "-b", "side"]);
        world.write("new.txt", "new\n");
        world.commit_all("the agent's");
        world.git(&["checkout", "-q", "main"]);
        world.write("new.txt", "new\n");
        world.commit_all("somebody's");
        if merges {
            world.git(&["checkout", "-q", "side"]);
            world.git(&["merge", "-q", "-m", "merge", "main"]);
            world.git(&["checkout", "-q", "main"]);
        }
        match outcome(&world, "side") {
            Outcome::Candidate(candidate) => assert_eq!(candidate.changes, []),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn unrelated_histories_are_named() {
    let world = World::new();
    let tree = world.git(&["rev-parse", "HEAD^{tree}"]);
    let orphan = world.git(&["commit-tree", "-m", "orphan", &tree]);
    world.git(&["branch", "side", &orphan]);
    let who = Identity::new("crew", "crew@example.org");
    let said = world
        .open()
        .candidate(&world.oid("main"), &world.oid("side"), &message(), &who, &who, AT);
    assert!(matches!(said, Err(git::Error::Unrelated { .. })));
}

/// Two sides from one commit, each a list of shell-free steps.
fn sides(world: &World, ours: impl Fn(&World), theirs: impl Fn(&World)) -> Outcome {
    world.git(&["checkout", "-q", "-b", "side"]);
    theirs(world);
    world.commit_all("theirs");
    world.git(&["checkout", "-q", "main"]);
    ours(world);
    world.commit_all("ours");
    outcome(world, "side")
}

#[test]
fn every_kind_of_conflict_names_its_paths() {
    type Step = fn(&World);
    let remove: Step = |world| std::fs::remove_file(world.root().join("src/lib.txt")).unwrap();
    let edit_a: Step = |world| world.write("src/lib.txt", "one\nA\nthree\n");
    let edit_b: Step = |world| world.write("src/lib.txt", "one\nB\nthree\n");
    let move_a: Step =
        |world| std::fs::rename(world.root().join("src/lib.txt"), world.root().join("a.txt")).unwrap();
    let move_b: Step =
        |world| std::fs::rename(world.root().join("src/lib.txt"), world.root().join("b.txt")).unwrap();
    let add_a: Step = |world| world.write("new.txt", "a\n");
    let add_b: Step = |world| world.write("new.txt", "b\n");
    let binary_a: Step = |world| std::fs::write(world.root().join("src/lib.txt"), b"\0a").unwrap();
    let binary_b: Step = |world| std::fs::write(world.root().join("src/lib.txt"), b"\0b").unwrap();
    let folder: Step = |world| {
        std::fs::remove_file(world.root().join("README")).unwrap();
        world.write("README/inside", "x\n");
    };
    let readme: Step = |world| world.write("README", "other\n");
    let mode_a: Step = |world| {
        world.write("new.txt", "a\n");
        let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(world.root().join("new.txt"), executable).unwrap();
    };
    let cases: [(&str, Step, Step, &str); 7] = [
        ("text", edit_a, edit_b, "src/lib.txt"),
        ("delete and modify", remove, edit_b, "src/lib.txt"),
        ("rename and rename", move_a, move_b, "src/lib.txt"),
        ("both add", add_a, add_b, "new.txt"),
        ("mode", mode_a, add_a, "new.txt"),
        ("binary", binary_a, binary_b, "src/lib.txt"),
        ("folder and file", readme, folder, "README"),
    ];
    for (kind, ours, theirs, path) in cases {
        let world = World::new();
        match sides(&world, ours, theirs) {
            Outcome::Conflict {
                paths,
                mixed,
                messages,
            } => {
                assert!(
                    paths
                        .iter()
                        .any(|one| one.starts_with(path) || one.to_string_lossy().contains(path)),
                    "{kind}: {paths:?}"
                );
                assert!(!messages.is_empty(), "{kind}");
                // git keeps both sides apart under a name that neither has.
                let made_up = paths.iter().find(|one| one.to_string_lossy().contains('~'));
                assert_eq!(made_up, None, "{kind}");
                assert_eq!(
                    mixed.contains(Path::new(path)),
                    kind == "folder and file",
                    "{kind}"
                );
            }
            other => panic!("{kind}: {other:?}"),
        }
    }
}

#[test]
fn names_of_any_bytes_go_through() {
    let world = World::new();
    let name = OsStr::from_bytes(b"a\n\"b\xff\t");
    std::fs::write(world.root().join(name), "x\n").unwrap();
    world.commit_all("odd");
    let odd = |content: &'static str| {
        move |world: &World| std::fs::write(world.root().join(name), content).unwrap()
    };
    match sides(&world, odd("ours\n"), odd("theirs\n")) {
        Outcome::Conflict { paths, .. } => assert_eq!(paths, [PathBuf::from(name)]),
        other => panic!("{other:?}"),
    }
    let changes = world
        .open()
        .changes(&world.oid("main~1"), &world.oid("main"))
        .unwrap();
    assert_eq!(changes[0].path, PathBuf::from(name));
}

/// Merges changes of the two ends of a file.
fn ends(world: &World) -> Outcome {
    let lines = |first: &str, last: &str| format!("{first}\n{}{last}\n", "middle\n".repeat(9));
    world.write("ends", &lines("first", "last"));
    world.commit_all("ends");
    sides(
        world,
        |world| world.write("ends", &lines("first", "LAST")),
        |world| world.write("ends", &lines("FIRST", "last")),
    )
}

#[test]
fn a_file_that_must_not_be_merged_is_a_conflict() {
    let world = World::new();
    assert!(matches!(ends(&world), Outcome::Candidate(_)));
    for rule in ["-merge", "binary"] {
        let world = World::new();
        world.write(".gitattributes", &format!("ends {rule}\n"));
        let outcome = ends(&world);
        assert!(
            matches!(&outcome, Outcome::Conflict { .. }),
            "{rule}: {outcome:?}"
        );
    }
}

#[test]
fn lines_of_both_sides_stay_under_merge_union() {
    let world = World::new();
    world.write(".gitattributes", "CHANGELOG merge=union\n");
    world.write("CHANGELOG", "old\n");
    world.commit_all("a changelog");
    let outcome = sides(
        &world,
        |world| world.write("CHANGELOG", "old\none\n"),
        |world| world.write("CHANGELOG", "old\ntwo\n"),
    );
    let Outcome::Candidate(candidate) = outcome else {
        panic!("{outcome:?}");
    };
    let merged = world.git(&["show", &format!("{}:CHANGELOG", candidate.commit)]);
    assert_eq!(merged, "old\none\ntwo");
}

/// The naive version reads attributes from around: a driver of the user's that an agent's branch names runs.
#[test]
fn a_merge_driver_runs_only_if_the_target_names_it() {
    for is_named in [false, true] {
        let world = World::new();
        let proof = world.folder.path().join("ran");
        let driver = format!("pwd > '{}'; cat %B > %A", proof.display());
        world.git(&["config", "--global", "merge.mine.driver", &driver]);
        if is_named {
            world.write(".gitattributes", "* merge=mine\n");
            world.commit_all("attributes");
        }
        let outcome = sides(
            &world,
            |world| world.write("src/lib.txt", "A\n"),
            |world| {
                world.write(".gitattributes", "* merge=mine\n");
                world.write("src/lib.txt", "B\n");
            },
        );
        assert_eq!(proof.exists(), is_named);
        assert_eq!(matches!(outcome, Outcome::Candidate(_)), is_named, "{outcome:?}");
        if is_named {
            let folder = std::fs::read_to_string(&proof).unwrap();
            assert!(!Path::new(folder.trim_end()).exists(), "{folder}");
        }
    }
}

/// In the train, the commit that work is merged on is another agent's, and has not landed.
#[test]
fn a_merge_driver_that_only_an_entry_ahead_names_does_not_run() {
    let world = World::new();
    let proof = world.folder.path().join("ran");
    let driver = format!("touch '{}'; cat %B > %A", proof.display());
    world.git(&["config", "--global", "merge.mine.driver", &driver]);
    let repository = world.open_locked();
    let target = world.head();
    let side = |name: &str, lib: &str, attributes: &str| {
        world.git(&["checkout", "-q", "-b", name, target.as_str()]);
        if !attributes.is_empty() {
            world.write(".gitattributes", attributes);
        }
        world.write("src/lib.txt", lib);
        let tip = world.commit_all(name);
        world.git(&["checkout", "-q", "main"]);
        tip
    };
    let ahead = side("ahead", "A\n", "* merge=mine\n");
    let ahead = merged(&repository, &target, &ahead).commit;
    repository
        .pin_candidate(&Id::parse("t-1").unwrap(), 1, &ahead)
        .unwrap();
    let behind = side("behind", "B\n", "");
    let who = Identity::new("crew", "crew@example.org");
    let outcome = repository
        .candidate(&ahead, &behind, &message(), &who, &who, AT)
        .unwrap();
    assert!(!proof.exists());
    assert!(matches!(outcome, Outcome::Conflict { .. }), "{outcome:?}");
}

/// Somebody else moves the target, in both ways, or deletes it.
#[test]
fn a_target_that_moved_is_never_overwritten() {
    let world = World::new();
    world.git(&["checkout", "-q", "-b", "side"]);
    world.write("side.txt", "side\n");
    world.commit_all("side");
    world.git(&["checkout", "-q", "main"]);
    let repository = world.open_locked();
    let old = world.head();
    let candidate = merged(&repository, &old, &world.oid("side"));
    let intent = Intent {
        target: main_branch(),
        old: old.clone(),
        new: candidate.commit.clone(),
    };

    let pushed = world.commit_all("pushed meanwhile");
    assert_eq!(
        repository.land(&intent).unwrap(),
        Landing::TargetMoved {
            now: Some(pushed.clone())
        }
    );
    assert_eq!(world.oid("main"), pushed);

    world.git(&["checkout", "-q", "--orphan", "rewritten"]);
    let rewritten = world.commit_all("rewritten");
    world.git(&["branch", "-f", "main", rewritten.as_str()]);
    assert_eq!(
        repository.land(&intent).unwrap(),
        Landing::TargetMoved { now: Some(rewritten) }
    );

    world.git(&["branch", "-q", "-D", "main"]);
    assert_eq!(
        repository.land(&intent).unwrap(),
        Landing::TargetMoved { now: None }
    );

    world.git(&["branch", "main", old.as_str()]);
    assert_eq!(
        repository.land(&intent).unwrap(),
        Landing::Landed { left: vec![] }
    );
    assert_eq!(world.oid("main"), candidate.commit);
    // The report was lost: the intent is carried out again.
    assert_eq!(
        repository.land(&intent).unwrap(),
        Landing::Landed { left: vec![] }
    );
}

/// The naive version is `git merge` in a checkout: killed between its steps it leaves a lock or a dirty tree.
/// Here nobody has the target checked out, and yet it moves, after the objects are durable.
#[test]
fn landing_needs_no_checkout_and_is_read_back_from_the_log() {
    let world = World::new();
    world.git(&["checkout", "-q", "-b", "side"]);
    world.write("side.txt", "side\n");
    let tip = world.commit_all("side");
    let repository = world.open_locked();
    let old = world.oid("main");
    let candidate = merged(&repository, &old, &tip);
    let intent = Intent {
        target: main_branch(),
        old: old.clone(),
        new: candidate.commit.clone(),
    };
    assert_eq!(
        repository.land(&intent).unwrap(),
        Landing::Landed { left: vec![] }
    );
    let landed = repository.landed(&world.oid("main"), 10).unwrap();
    assert_eq!(landed.len(), 1);
    assert_eq!(
        (
            landed[0].ticket.as_str(),
            landed[0].agent.as_str(),
            landed[0].attempt.as_str()
        ),
        ("t-1", "ada", "1")
    );
    assert_eq!(
        (&landed[0].commit, &landed[0].tree),
        (&candidate.commit, &candidate.tree)
    );
    let commits = repository.commits(&old, &tip, 10).unwrap();
    assert_eq!(
        commits.iter().map(|one| one.subject.as_str()).collect::<Vec<_>>(),
        ["side"]
    );
    let changes = repository.changes(&old, &candidate.commit).unwrap();
    let paths: Vec<_> = changes.iter().map(|change| change.path.as_path()).collect();
    assert_eq!(paths, [Path::new("side.txt")]);
    put(&world.folder.path().join("unused"), "");
}

#[test]
fn every_line_is_counted_whatever_the_file_and_the_attributes_in_the_tree_say() {
    let world = World::new();
    world.write("moved.txt", "1\n2\n3\n");
    world.commit_all("before");
    let before = world.head();
    // git would take both files for binary ones.
    world.write(".gitattributes", "*.rs binary\n");
    world.write("hidden.rs", "a\nb\n");
    world.write("data.bin", "\0\nx\n");
    world.git(&["mv", "moved.txt", "elsewhere.txt"]);
    world.commit_all("after");
    let repository = world.open();
    let lines = repository.lines_changed(&before, &world.head()).unwrap();
    assert_eq!(lines, 1 + 2 + 2 + 3 + 3);
    assert_eq!(repository.lines_changed(&before, &before).unwrap(), 0);
}
