//! Checkouts that cannot follow although the branch has moved.

use git::{Behind, Intent};

use crate::support::{World, main_branch, merged};

/// A landing of which the branch has moved, and nothing else: as if an engine was killed there. `new.txt` is
/// made with a filter that the user insists on and that does not work, `gone.txt` is deleted.
fn moved(world: &World) -> Intent {
    world.write("gone.txt", "gone\n");
    world.commit_all("gone");
    let old = world.head();
    world.git(&["checkout", "-q", "-b", "side"]);
    world.write(".gitattributes", "new.txt filter=broken\n");
    world.write("new.txt", "new\n");
    std::fs::remove_file(world.root().join("gone.txt")).unwrap();
    let tip = world.commit_all("side");
    world.git(&["checkout", "-q", "main"]);
    let new = merged(&world.open(), &old, &tip).commit;
    world.git(&["update-ref", "refs/heads/main", new.as_str()]);
    world.git(&["config", "filter.broken.required", "true"]);
    world.git(&["config", "filter.broken.clean", "cat"]);
    world.git(&["config", "filter.broken.smudge", "false"]);
    Intent {
        target: main_branch(),
        old,
        new,
    }
}

#[test]
fn where_the_files_cannot_follow_the_index_does_and_the_lock_goes_and_the_old_files_are_named() {
    let world = World::new();
    let intent = moved(&world);
    let repository = world.open_locked();
    repository.land(&intent).unwrap_err();
    let lock = world.root().join(".git/index.lock");
    assert!(lock.exists(), "it is to be carried on");
    assert!(repository.end_landing(&intent).unwrap());
    assert!(!lock.exists());
    let expected = Behind {
        checkout: world.root(),
        index: false,
        old: vec![".gitattributes".into(), "new.txt".into()],
        deleted: vec!["gone.txt".into()],
    };
    assert_eq!(repository.behind().unwrap(), [expected]);
    // A commit of the user's takes nothing back.
    world.git(&["commit", "-q", "--allow-empty", "-m", "mine"]);
    assert_eq!(world.git(&["show", "HEAD:new.txt"]), "new");
    // The user mends it by the words of the inbox.
    world.git(&["config", "filter.broken.smudge", "cat"]);
    world.git(&["restore", ".gitattributes", "new.txt"]);
    std::fs::remove_file(world.root().join("gone.txt")).unwrap();
    assert_eq!(repository.behind().unwrap(), []);
    repository.catch_up(&main_branch()).unwrap();
    assert!(!world.root().join(".git/crew-behind").exists());
    assert_eq!(world.status(), "");
}

#[test]
fn an_index_that_another_git_holds_for_good_follows_when_that_has_let_go() {
    let world = World::new();
    let intent = moved(&world);
    world.git(&["config", "filter.broken.smudge", "cat"]);
    let repository = world.open_locked();
    let lock = world.root().join(".git/index.lock");
    std::fs::write(&lock, "").unwrap();
    assert!(repository.end_landing(&intent).unwrap());
    assert!(lock.exists(), "it is not crew's");
    let behind = repository.behind().unwrap();
    assert!(matches!(behind.as_slice(), [one] if one.index), "{behind:?}");
    // As long as it is held nothing changes.
    repository.catch_up(&main_branch()).unwrap();
    assert_eq!(repository.behind().unwrap(), behind);
    std::fs::remove_file(&lock).unwrap();
    repository.catch_up(&main_branch()).unwrap();
    assert_eq!(repository.behind().unwrap(), []);
    assert_eq!((world.status(), world.head()), (String::new(), intent.new));
}

#[test]
fn a_worktree_that_was_away_when_the_branch_moved_follows_when_it_is_back() {
    let world = World::new();
    let intent = moved(&world);
    world.git(&["config", "filter.broken.smudge", "cat"]);
    let (old, new) = (intent.old.as_str(), intent.new.as_str());
    world.git(&["update-ref", "refs/heads/main", old]);
    world.git(&["switch", "-q", "--detach", "main"]);
    let (there, away) = (
        world.folder.path().join("linked"),
        world.folder.path().join("away"),
    );
    world.git(&["worktree", "add", "-q", there.to_str().unwrap(), "main"]);
    world.git(&["worktree", "lock", there.to_str().unwrap()]);
    std::fs::rename(&there, &away).unwrap();
    let repository = world.open_locked();
    assert_eq!(
        repository.land(&intent).unwrap(),
        git::Landing::Landed { left: vec![] }
    );
    assert_eq!(
        repository.behind().unwrap(),
        [],
        "nobody can do anything about it there"
    );
    std::fs::rename(&away, &there).unwrap();
    let behind = repository.behind().unwrap();
    assert!(matches!(behind.as_slice(), [one] if one.index), "{behind:?}");
    repository.catch_up(&main_branch()).unwrap();
    assert_eq!(repository.behind().unwrap(), []);
    assert_eq!(world.git_at(&there, &["rev-parse", "HEAD"]), new);
    assert_eq!(world.git_at(&there, &["status", "--porcelain"]), "");
    assert!(there.join("new.txt").exists());
}
