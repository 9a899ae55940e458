//! Workspaces, prepared one by one and many at once.

use git::{Error, Id, Spec};

use crate::support::{AT, World, limits, put};

#[test]
fn an_agent_commits_with_an_empty_home_and_its_work_comes_over() {
    let world = World::new();
    let repository = world.open_locked();
    let workspace = world.workspace(&repository);
    let at = workspace.path();
    assert_eq!(world.git_at(&at, &["status", "--porcelain"]), "");
    assert_eq!(world.git_at(&at, &["branch", "--show-current"]), "agent/ada-t-1");
    assert_eq!(world.git_at(&at, &["remote"]), "");
    assert_eq!(
        std::fs::read_to_string(workspace.instructions()).unwrap(),
        "do it\n"
    );

    put(&at.join("new.txt"), "new\n");
    world.git_at(&at, &["add", "-A"]);
    world.git_at(&at, &["commit", "-q", "-m", "work"]);
    assert_eq!(
        world.git_at(&at, &["log", "-1", "--format=%an <%ae>"]),
        "ada <ada@example.org>"
    );
    let imported = repository.import(&workspace, &limits()).unwrap();
    assert_eq!(imported.commits, 1);
    assert_eq!(imported.changes.len(), 1);
    assert_eq!(imported.changes[0].path.to_str(), Some("new.txt"));
    assert_eq!(world.oid("refs/heads/agent/ada-t-1"), imported.tip);
    assert_eq!(repository.import(&workspace, &limits()).unwrap(), imported);
}

#[test]
fn preparing_twice_finds_the_same_workspace_and_another_attempt_is_refused() {
    let world = World::new();
    let repository = world.open_locked();
    let spec = world.spec("ada", "t-1");
    let workspace = repository.prepare(&spec).unwrap();
    put(&workspace.path().join("kept.txt"), "kept\n");
    assert_eq!(repository.prepare(&spec).unwrap(), workspace);
    assert!(workspace.path().join("kept.txt").exists());

    let second = Spec {
        attempt: 2,
        ..spec.clone()
    };
    assert!(matches!(
        repository.prepare(&second),
        Err(Error::WorkspaceTaken { .. })
    ));
    // `a-b` on `c` and `a` on `b-c` have one folder's name.
    let twin = Spec {
        agent: Id::parse("ada-t").unwrap(),
        ticket: Id::parse("1").unwrap(),
        ..spec
    };
    assert!(matches!(
        repository.prepare(&twin),
        Err(Error::WorkspaceTaken { .. })
    ));
}

/// The naive version runs `git worktree add` for each: measured, 42 % of 200 failed at sixteen at a time.
#[test]
fn two_hundred_are_made_at_once() {
    let world = World::new();
    let repository = world.open_locked();
    std::thread::scope(|scope| {
        let lanes: Vec<_> = (0..16)
            .map(|lane| {
                let (world, repository) = (&world, &repository);
                scope.spawn(move || {
                    let mine = (0..200).filter(|number| number % 16 == lane);
                    mine.map(|number| {
                        repository
                            .prepare(&world.spec("ada", &format!("t-{number}")))
                            .unwrap()
                    })
                    .count()
                })
            })
            .collect();
        assert_eq!(
            lanes.into_iter().map(|lane| lane.join().unwrap()).sum::<usize>(),
            200
        );
    });
    assert_eq!(
        world.git(&["for-each-ref", "refs/heads/agent/"]).lines().count(),
        200
    );
    let some = world.workspaces().join("ada-t-137");
    assert_eq!(world.git_at(&some, &["status", "--porcelain"]), "");
    assert_eq!(std::fs::read_to_string(some.join("README")).unwrap(), "hello\n");
}

/// The naive version trusts the branch: a `git gc --prune=now` that read the refs before the branch moved
/// deletes what was imported, and no later import brings it back.
#[test]
fn imported_objects_that_the_users_gc_deleted_are_imported_again() {
    for part in ["^{commit}", "^{tree}"] {
        let world = World::new();
        let repository = world.open_locked();
        let workspace = world.workspace(&repository);
        let path = workspace.path();
        std::fs::write(path.join("new.txt"), "new\n").unwrap();
        world.git_at(&path, &["add", "."]);
        world.git_at(&path, &["commit", "-q", "-m", "work"]);
        let tip = repository.import(&workspace, &limits()).unwrap().tip;
        let gone = world.git(&["rev-parse", &format!("{tip}{part}")]);
        let (folder, file) = gone.split_at(2);
        let object = world.root().join(".git/objects").join(folder).join(file);
        std::fs::remove_file(object).unwrap();
        assert_eq!(repository.import(&workspace, &limits()).unwrap().tip, tip);
        world.git(&["fsck", "--connectivity-only", "--no-dangling"]);
    }
}

/// The naive version has no pin: the user rewrites their branch, `git gc` takes the base, and the borrowed
/// objects are gone.
#[test]
fn the_users_gc_cannot_take_the_base() {
    let world = World::new();
    let repository = world.open_locked();
    world.write("README", "second\n");
    world.commit_all("second");
    let workspace = world.workspace(&repository);
    // Only the pin is left: crew's branch goes too.
    world.git(&["reset", "-q", "--hard", "HEAD~1"]);
    world.git(&["update-ref", "-d", "refs/heads/agent/ada-t-1"]);
    world.git(&["reflog", "expire", "--expire=all", "--all"]);
    world.git(&["gc", "-q", "--prune=now"]);
    assert_eq!(world.git_at(&workspace.path(), &["status", "--porcelain"]), "");
    world.git_at(&workspace.path(), &["fsck", "--connectivity-only"]);

    world.git(&["update-ref", "-d", &workspace.base_ref()]);
    world.git(&["gc", "-q", "--prune=now"]);
    assert!(
        !world
            .try_git_at(&workspace.path(), &["fsck", "--connectivity-only"])
            .status
            .success()
    );
}

#[test]
fn a_branch_that_is_elsewhere_is_not_overwritten() {
    let world = World::new();
    let repository = world.open_locked();
    let first = world.head();
    world.commit_all("second");
    world.git(&["branch", "agent/ada-t-1", first.as_str()]);
    match repository.prepare(&world.spec("ada", "t-1")) {
        Err(Error::BranchTaken { now, .. }) => assert_eq!(now, first),
        other => panic!("{other:?}"),
    }
    assert!(!world.workspaces().join("ada-t-1").exists());
    // Nothing names it as the attempt's branch, so that nothing deletes it with the attempt.
    let pins = world.git(&["for-each-ref", "refs/crew/base"]);
    assert_eq!(pins, "");
}

#[test]
fn a_branch_that_a_person_has_checked_out_is_theirs_until_it_has_another_name() {
    let world = World::new();
    let repository = world.open_locked();
    let theirs = world.folder.path().join("theirs");
    // At the very start of the work, too: its commits would show in their checkout as edits.
    let (place, branch) = (theirs.to_str().unwrap(), "agent/ada-t-1");
    world.git(&["worktree", "add", "-q", "-b", branch, place]);
    let error = repository.prepare(&world.spec("ada", "t-1")).unwrap_err();
    let Error::BranchShown {
        branch: said,
        checkout,
    } = &error
    else {
        panic!("{error:?}");
    };
    let checkout = checkout.canonicalize().unwrap();
    assert_eq!(
        (said.as_str(), checkout),
        (branch, theirs.canonicalize().unwrap())
    );
    assert!(error.hint().unwrap().contains("git branch -m"));
    assert_eq!(world.git(&["for-each-ref", "refs/crew/base"]), "");

    world.git(&["branch", "-m", branch, "mine"]);
    let workspace = repository.prepare(&world.spec("ada", "t-1")).unwrap();
    assert!(workspace.exists());
    let stands = world.git_at(&theirs, &["status", "--porcelain", "--branch"]);
    assert_eq!(stands, "## mine");
}

#[test]
fn a_branch_named_agent_is_named_as_the_obstacle() {
    let world = World::new();
    let repository = world.open_locked();
    world.git(&["branch", "agent"]);
    let error = repository.prepare(&world.spec("ada", "t-1")).unwrap_err();
    assert!(matches!(error, Error::BranchBlocked { .. }), "{error}");
    assert!(error.hint().is_some());
}

/// The naive version writes by path: a symlinked folder leads it out of the workspace.
#[test]
fn instructions_are_never_written_through_a_symlink() {
    let world = World::new();
    let repository = world.open_locked();
    let workspace = world.workspace(&repository);
    workspace.write_instructions(b"again\n").unwrap();
    assert_eq!(
        std::fs::read_to_string(workspace.instructions()).unwrap(),
        "again\n"
    );

    let victim = world.folder.path().join("victim");
    std::fs::create_dir(&victim).unwrap();
    std::fs::rename(workspace.path().join(".git"), workspace.path().join("moved")).unwrap();
    std::os::unix::fs::symlink(&victim, workspace.path().join(".git")).unwrap();
    assert!(matches!(
        workspace.write_instructions(b"pwned\n"),
        Err(Error::Io { .. })
    ));
    assert_eq!(std::fs::read_dir(&victim).unwrap().count(), 0);
    // The naive write succeeds.
    std::fs::write(workspace.instructions(), "pwned\n").unwrap();
    assert!(victim.join("crew-instructions.md").exists());
}

#[test]
fn a_sha256_repository_works_like_another() {
    let world = World::bare_ground();
    world.git(&["init", "-q", "-b", "main", "--object-format=sha256"]);
    world.git(&["config", "user.name", "User"]);
    world.git(&["config", "user.email", "user@example.org"]);
    world.write("README", "hello\n");
    world.commit_all("first");
    let repository = world.open_locked();
    let workspace = world.workspace(&repository);
    put(&workspace.path().join("new.txt"), "new\n");
    world.git_at(&workspace.path(), &["add", "-A"]);
    world.git_at(&workspace.path(), &["commit", "-q", "-m", "work"]);
    let imported = repository.import(&workspace, &limits()).unwrap();
    let candidate = crate::support::merged(&repository, &world.head(), &imported.tip);
    assert_eq!(candidate.commit.as_str().len(), 64);
}

/// An agent that is killed in the middle of a commit leaves git's locks, and its next step could not commit.
#[test]
fn the_locks_of_a_killed_agents_git_go_and_no_others() {
    let world = World::new();
    let repository = world.open_locked();
    let workspace = world.workspace(&repository);
    let git_dir = workspace.path().join(".git");
    let branch = git_dir.join(format!("{}.lock", workspace.branch().full()));
    for lock in [git_dir.join("index.lock"), git_dir.join("HEAD.lock"), branch] {
        put(&lock, "");
    }
    put(&workspace.path().join("work.txt"), "work\n");
    assert!(
        !world
            .try_git_at(&workspace.path(), &["add", "-A"])
            .status
            .success()
    );
    workspace.clear_locks().unwrap();
    world.git_at(&workspace.path(), &["add", "-A"]);
    world.git_at(&workspace.path(), &["commit", "-q", "-m", "work"]);

    // A folder of the user's, in which the agent would like crew to delete.
    let theirs = world.root().join(".git/refs/heads/theirs.lock");
    put(&theirs, "");
    std::fs::remove_dir_all(git_dir.join("refs")).unwrap();
    std::os::unix::fs::symlink(world.root().join(".git/refs"), git_dir.join("refs")).unwrap();
    workspace.clear_locks().unwrap();
    assert!(theirs.exists());
    std::fs::remove_dir_all(workspace.path()).unwrap();
    assert!(matches!(
        workspace.clear_locks(),
        Err(Error::WorkspaceMissing { .. })
    ));
}

/// The naive version trusts the index that the agent had, or the second and size of a file.
#[test]
fn nothing_of_an_agents_is_in_a_checkout_that_is_used_again() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    type Deed = fn(&World, &std::path::Path);
    let deeds: [(&str, Deed); 4] = [
        ("a commit of the same size", |world, at| {
            put(&at.join("src/lib.txt"), "one\nTWO\nthree\n");
            world.git_at(at, &["commit", "-q", "-a", "-m", "mine"]);
        }),
        ("a new folder, and a file assumed unchanged", |world, at| {
            put(&at.join("deep/er/new.txt"), "new\n");
            world.git_at(at, &["add", "deep"]);
            world.git_at(at, &["update-index", "--assume-unchanged", "README"]);
            world.git_at(at, &["commit", "-q", "-m", "mine"]);
        }),
        ("another name of a file", |_, at| {
            std::fs::hard_link(at.join("src/lib.txt"), at.join("../outside")).unwrap();
        }),
        ("a folder open to everybody", |_, at| {
            std::fs::set_permissions(at.join("src"), std::fs::Permissions::from_mode(0o777)).unwrap();
        }),
    ];
    for (what, deed) in deeds {
        let world = World::new();
        let repository = world.open_locked().pooling_checkouts(1);
        let first = world.workspace(&repository);
        let pooled = world.workspaces().join(".pool/ada-t-1");
        deed(&world, &first.path());
        repository.save(&first, "Leftovers", AT, &limits()).unwrap();
        repository.remove(&first).unwrap();
        assert!(pooled.exists() && !pooled.join("tree/.git").exists(), "{what}");

        let second = repository.prepare(&world.spec("bob", "t-2")).unwrap();
        let at = second.path();
        assert!(!pooled.exists(), "{what}");
        assert_eq!(at.join("src").metadata().unwrap().mode() & 0o022, 0, "{what}");
        assert_eq!(at.join("src/lib.txt").metadata().unwrap().nlink(), 1, "{what}");
        // An index that knows no times has everything read.
        std::fs::remove_file(at.join(".git/index")).unwrap();
        world.git_at(&at, &["read-tree", "HEAD"]);
        let status = ["status", "--porcelain", "--ignored", "--untracked-files=all"];
        assert_eq!(world.git_at(&at, &status), "", "{what}");
        let folders = world.git_at(&at, &["clean", "-n", "-d", "-x"]);
        assert_eq!(folders, "", "{what}");
    }
}
