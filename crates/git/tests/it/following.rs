//! Following: the user's checkout comes to the landed commit, and no edit is lost.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::Path;

use git::{Blocked, Checkout, Intent, Landing, Obstacle, Operation, Repository};

use crate::support::{World, main_branch, merged};

/// Commits what `change` does on a branch and makes the merge that would land.
fn to_land(world: &World, change: impl Fn(&World)) -> Intent {
    let old = world.oid("main");
    world.git(&["checkout", "-q", "-b", "side"]);
    change(world);
    // Forced, so that ignored files can be part of the branch.
    world.git(&["add", "-A", "-f"]);
    world.git(&["commit", "-q", "-m", "side"]);
    let tip = world.head();
    world.git(&["checkout", "-q", "main"]);
    let candidate = merged(&world.open(), &old, &tip);
    Intent {
        target: main_branch(),
        old,
        new: candidate.commit,
    }
}

fn in_the_way(repository: &Repository, intent: &Intent) -> Vec<Blocked> {
    match repository.land(intent).unwrap() {
        Landing::InTheWay(blocked) => blocked,
        other => panic!("{other:?}"),
    }
}

fn main_checkout(repository: &Repository) -> Checkout {
    repository.checkouts_of(&main_branch()).unwrap().remove(0)
}

/// One obstacle keeps the ref where it is and everything as it was; without it the same intent lands.
fn waits_then_lands(world: &World, intent: &Intent, path: &str, obstacle: Obstacle, clear: impl Fn(&World)) {
    let repository = world.open_locked();
    let (status, refs) = (world.status(), world.refs());
    let blocked = in_the_way(&repository, intent);
    let expected = Blocked {
        checkout: world.root(),
        path: Some(path.into()),
        obstacle,
    };
    assert_eq!(blocked, [expected]);
    assert_eq!((world.status(), world.refs()), (status, refs), "something moved");
    clear(world);
    assert_eq!(repository.land(intent).unwrap(), Landing::Landed { left: vec![] });
    assert_eq!(world.head(), intent.new);
    assert!(!world.root().join(".git/index.lock").exists());
}

#[test]
fn an_edited_file_waits() {
    let world = World::new();
    let intent = to_land(&world, |world| world.write("README", "theirs\n"));
    world.write("README", "mine\n");
    waits_then_lands(&world, &intent, "README", Obstacle::Edited, |world| {
        assert_eq!(world.read("README"), "mine\n");
        world.git(&["checkout", "-q", "--", "README"]);
    });
    assert_eq!(world.status(), "");
}

#[test]
fn a_deleted_file_waits() {
    let world = World::new();
    let intent = to_land(&world, |world| world.write("README", "theirs\n"));
    std::fs::remove_file(world.root().join("README")).unwrap();
    waits_then_lands(&world, &intent, "README", Obstacle::Edited, |world| {
        world.git(&["checkout", "-q", "--", "README"]);
    });
}

#[test]
fn a_staged_file_waits() {
    let world = World::new();
    let intent = to_land(&world, |world| world.write("README", "theirs\n"));
    world.write("README", "mine\n");
    world.git(&["add", "README"]);
    world.write("README", "hello\n");
    waits_then_lands(&world, &intent, "README", Obstacle::Staged, |world| {
        assert_eq!(world.git(&["show", ":README"]), "mine");
        world.git(&["reset", "-q"]);
    });
}

#[test]
fn an_untracked_file_waits() {
    let world = World::new();
    let intent = to_land(&world, |world| world.write("new.txt", "theirs\n"));
    world.write("new.txt", "mine\n");
    waits_then_lands(&world, &intent, "new.txt", Obstacle::Untracked, |world| {
        assert_eq!(world.read("new.txt"), "mine\n");
        std::fs::remove_file(world.root().join("new.txt")).unwrap();
    });
}

/// The branch adds `.env`, which the user has and ignores. The naive version, `merge --ff-only` (or
/// `read-tree -u`), overwrites it without a word; the test lets it.
#[test]
fn an_ignored_file_is_not_overwritten() {
    let world = World::new();
    world.write(".gitignore", ".env\n:odd\n");
    world.commit_all("ignore");
    let intent = to_land(&world, |world| world.write(".env", "from the branch\n"));
    world.write(".env", "my password\n");
    let naive = world.folder.path().join("naive");
    world.git(&["clone", "-q", "--no-local", ".", naive.to_str().unwrap()]);
    world.git_at(&naive, &["fetch", "-q", "origin", "side"]);
    std::fs::write(naive.join(".env"), "my password\n").unwrap();
    world.git_at(&naive, &["merge", "-q", "--ff-only", "FETCH_HEAD"]);
    assert_eq!(
        std::fs::read_to_string(naive.join(".env")).unwrap(),
        "from the branch\n"
    );

    waits_then_lands(&world, &intent, ".env", Obstacle::Ignored, |world| {
        assert_eq!(world.read(".env"), "my password\n");
        std::fs::remove_file(world.root().join(".env")).unwrap();
    });
}

#[test]
fn an_untracked_file_that_is_the_new_one_already_is_accepted() {
    let world = World::new();
    let intent = to_land(&world, |world| world.write("new.txt", "same\n"));
    world.write("new.txt", "same\n");
    assert_eq!(
        world.open_locked().land(&intent).unwrap(),
        Landing::Landed { left: vec![] }
    );
    assert_eq!(world.status(), "");
}

#[test]
fn a_folder_where_a_file_comes_waits() {
    let world = World::new();
    let intent = to_land(&world, |world| world.write("name", "a file\n"));
    world.write("name/mine.txt", "mine\n");
    waits_then_lands(&world, &intent, "name/mine.txt", Obstacle::Untracked, |world| {
        std::fs::remove_file(world.root().join("name/mine.txt")).unwrap();
        std::fs::create_dir(world.root().join("name/empty")).unwrap();
    });
    assert_eq!(world.read("name"), "a file\n");
}

#[test]
fn a_file_where_a_folder_comes_waits() {
    let world = World::new();
    let intent = to_land(&world, |world| world.write("name/inside/deep", "new\n"));
    world.write("name", "mine\n");
    waits_then_lands(&world, &intent, "name", Obstacle::Untracked, |world| {
        std::fs::remove_file(world.root().join("name")).unwrap();
    });
}

/// The naive version writes through the user's symlink, out of the checkout.
#[test]
fn a_symlink_where_a_folder_comes_waits_and_is_not_followed() {
    let world = World::new();
    let intent = to_land(&world, |world| world.write("name/inside", "new\n"));
    symlink(world.home(), world.root().join("name")).unwrap();
    waits_then_lands(&world, &intent, "name", Obstacle::Untracked, |world| {
        assert!(!world.home().join("inside").exists());
        std::fs::remove_file(world.root().join("name")).unwrap();
    });
}

#[test]
fn a_staged_file_under_a_new_files_name_waits() {
    let world = World::new();
    let intent = to_land(&world, |world| world.write("name", "a file\n"));
    world.write("name/mine.txt", "mine\n");
    world.git(&["add", "name/mine.txt"]);
    std::fs::remove_dir_all(world.root().join("name")).unwrap();
    waits_then_lands(&world, &intent, "name/mine.txt", Obstacle::Staged, |world| {
        world.git(&["reset", "-q"]);
    });
}

#[test]
fn patches_under_way_wait_and_are_no_rebase() {
    let world = World::new();
    world.git(&["checkout", "-q", "-b", "other"]);
    world.write("src/lib.txt", "other\n");
    world.commit_all("other");
    world.git(&["checkout", "-q", "main"]);
    world.write("src/lib.txt", "main\n");
    world.commit_all("main");
    let intent = to_land(&world, |world| world.write("new.txt", "new\n"));
    let patch = world.git(&["format-patch", "-1", "other", "-o", "../patches"]);
    assert!(
        !world
            .try_git_at(&world.root(), &["am", patch.trim()])
            .status
            .success()
    );
    let repository = world.open_locked();
    let blocked = in_the_way(&repository, &intent);
    assert_eq!(blocked[0].obstacle, Obstacle::Operation(Operation::Am));
    world.git(&["am", "--abort"]);
    assert!(matches!(
        repository.land(&intent).unwrap(),
        Landing::Landed { .. }
    ));
}

#[test]
fn a_merge_or_rebase_under_way_waits() {
    for (command, operation) in [
        ("merge", Operation::Merge),
        ("rebase", Operation::Rebase),
        ("cherry-pick", Operation::CherryPick),
    ] {
        let world = World::new();
        world.git(&["checkout", "-q", "-b", "other"]);
        world.write("src/lib.txt", "other\n");
        world.commit_all("other");
        world.git(&["checkout", "-q", "main"]);
        world.write("src/lib.txt", "main\n");
        world.commit_all("main");
        let intent = to_land(&world, |world| world.write("new.txt", "new\n"));
        assert!(
            !world
                .try_git_at(&world.root(), &[command, "other"])
                .status
                .success()
        );
        let repository = world.open_locked();
        let blocked = in_the_way(&repository, &intent);
        assert_eq!(blocked[0].obstacle, Obstacle::Operation(operation), "{command}");
        assert_eq!(world.oid("main"), intent.old);
        world.git(&[command, "--abort"]);
        assert_eq!(
            repository.land(&intent).unwrap(),
            Landing::Landed { left: vec![] }
        );
        assert_eq!(world.status(), "");
    }
}

/// The naive version gives the lock back when it fails: the branch is ahead of the index, and the user's next
/// commit takes back what landed.
#[test]
fn a_landing_that_fails_half_way_keeps_the_users_git_out_until_it_is_carried_on() {
    let world = World::new();
    let intent = to_land(&world, |world| {
        world.write(".gitattributes", "new.txt filter=broken\n");
        world.write("new.txt", "new\n");
    });
    let repository = world.open_locked();
    // As if an engine was killed when the branch had moved; and a filter that the user's git insists on does
    // not work.
    world.git(&["update-ref", "refs/heads/main", intent.new.as_str()]);
    world.git(&["config", "filter.broken.required", "true"]);
    world.git(&["config", "filter.broken.clean", "cat"]);
    world.git(&["config", "filter.broken.smudge", "false"]);
    repository.land(&intent).unwrap_err();
    assert_eq!(world.head(), intent.new);
    let commit = ["commit", "-q", "-m", "all of the index", "--allow-empty"];
    let refused = world.try_git_at(&world.root(), &commit);
    assert!(
        String::from_utf8_lossy(&refused.stderr).contains("index.lock"),
        "{refused:?}"
    );
    world.git(&["config", "filter.broken.smudge", "cat"]);
    repository.land(&intent).unwrap();
    world.git(&commit);
    assert_eq!(world.git(&["show", "HEAD:new.txt"]), "new");
    assert_eq!(world.status(), "");
}

#[test]
fn a_landing_that_nobody_wants_any_more_keeps_no_checkout() {
    let world = World::new();
    let intent = to_land(&world, |world| world.write("new.txt", "new\n"));
    let repository = world.open_locked();
    let lock = world.root().join(".git/index.lock");
    // As if an engine was killed before the branch moved.
    std::fs::write(&lock, "crew follows the landed branch here\n").unwrap();
    assert!(!repository.end_landing(&intent).unwrap());
    assert!(!lock.exists());
    assert_eq!(
        (world.head(), world.status()),
        (intent.old.clone(), String::new())
    );
    // And afterwards: a commit of the user's would take back what landed.
    world.git(&["update-ref", "refs/heads/main", intent.new.as_str()]);
    std::fs::write(&lock, "crew follows the landed branch here\n").unwrap();
    assert!(repository.end_landing(&intent).unwrap());
    assert!(!lock.exists());
    assert_eq!(
        (world.head(), world.status()),
        (intent.new.clone(), String::new())
    );
    // Another git's stays.
    std::fs::write(&lock, "").unwrap();
    repository.release_left_behind().unwrap();
    assert!(lock.exists());
}

#[test]
fn an_index_that_the_users_git_holds_waits_and_its_lock_stays() {
    let world = World::new();
    let intent = to_land(&world, |world| world.write("new.txt", "new\n"));
    let lock = world.root().join(".git/index.lock");
    std::fs::write(&lock, "").unwrap();
    let repository = world.open_locked();
    assert_eq!(
        in_the_way(&repository, &intent)[0].obstacle,
        Obstacle::IndexLocked
    );
    assert!(lock.exists());
    assert_eq!(world.oid("main"), intent.old);
    std::fs::remove_file(&lock).unwrap();
    assert_eq!(
        repository.land(&intent).unwrap(),
        Landing::Landed { left: vec![] }
    );
}

#[test]
fn every_checkout_of_the_branch_follows_and_no_other() {
    let world = World::new();
    world.git(&["checkout", "-q", "-b", "elsewhere"]);
    let linked = world.folder.path().join("linked");
    world.git(&["worktree", "add", "-q", linked.to_str().unwrap(), "main"]);
    let old = world.oid("main");
    let side = world.folder.path().join("side");
    world.git(&[
        "worktree",
        "add",
        "-q",
        "-b",
        "side",
        side.to_str().unwrap(),
        "main",
    ]);
    std::fs::write(side.join("new.txt"), "new\n").unwrap();
    world.git_at(&side, &["add", "-A"]);
    world.git_at(&side, &["commit", "-q", "-m", "side"]);
    let repository = world.open_locked();
    let candidate = merged(&repository, &old, &world.oid("side"));
    let checkouts = repository.checkouts_of(&main_branch()).unwrap();
    assert_eq!(
        checkouts.iter().map(|one| one.root.clone()).collect::<Vec<_>>(),
        std::slice::from_ref(&linked)
    );
    let intent = Intent {
        target: main_branch(),
        old,
        new: candidate.commit,
    };
    assert_eq!(
        repository.land(&intent).unwrap(),
        Landing::Landed { left: vec![] }
    );
    assert_eq!(world.git_at(&linked, &["status", "--porcelain"]), "");
    assert!(linked.join("new.txt").exists());
    assert!(!world.root().join("new.txt").exists());
    assert_eq!(world.status(), "");
}

#[test]
fn line_endings_and_filters_are_the_users() {
    let world = World::new();
    // A filter from the user's own settings, as git-lfs has it.
    world.git(&["config", "--global", "filter.rot.smudge", "tr a-z b-za"]);
    world.git(&["config", "--global", "filter.rot.clean", "tr b-za a-z"]);
    world.write(".gitattributes", "*.bat text eol=crlf\n*.rot filter=rot\n");
    world.write("run.bat", "echo\r\n");
    world.write("word.rot", "bcd\n");
    world.commit_all("attributes");
    let intent = to_land(&world, |world| {
        world.write("run.bat", "echo two\r\n");
        world.write("word.rot", "bcde\n");
        world.write("new.bat", "new\r\n");
    });
    assert_eq!(world.git(&["show", "side:word.rot"]), "abcd");
    assert_eq!(world.read("word.rot"), "bcd\n");
    assert_eq!(
        world.open_locked().land(&intent).unwrap(),
        Landing::Landed { left: vec![] }
    );
    assert_eq!(world.read("run.bat"), "echo two\r\n");
    assert_eq!(world.read("new.bat"), "new\r\n");
    assert_eq!(world.read("word.rot"), "bcde\n");
    assert_eq!(world.status(), "");
}

#[test]
fn names_of_any_bytes_follow() {
    let world = World::new();
    let odd = OsStr::from_bytes(b"a\n\"b\xff\\");
    let magic = Path::new(":(top)x");
    std::fs::write(world.root().join(odd), "old\n").unwrap();
    world.commit_all("odd");
    let intent = to_land(&world, |world| {
        std::fs::write(world.root().join(odd), "new\n").unwrap();
        std::fs::write(world.root().join(magic), "new\n").unwrap();
    });
    let repository = world.open_locked();
    std::fs::write(world.root().join(magic), "mine\n").unwrap();
    assert_eq!(in_the_way(&repository, &intent)[0].path.as_deref(), Some(magic));
    std::fs::remove_file(world.root().join(magic)).unwrap();
    assert_eq!(
        repository.land(&intent).unwrap(),
        Landing::Landed { left: vec![] }
    );
    assert_eq!(std::fs::read_to_string(world.root().join(odd)).unwrap(), "new\n");
    assert_eq!(world.status(), "");
}

#[test]
fn a_submodule_moves_in_the_index_and_its_folder_is_left() {
    let world = World::new();
    let first = world.head();
    world.commit_all("second");
    let second = world.head();
    let cache = format!("160000,{first},module");
    world.git(&["update-index", "--add", "--cacheinfo", &cache]);
    world.git(&["commit", "-q", "-m", "module"]);
    world.write("module/users.txt", "mine\n");
    let old = world.head();
    let next = format!("160000,{second},module");
    world.git(&["update-index", "--cacheinfo", &next]);
    let tree = world.git(&["write-tree"]);
    let commit = world.git(&["commit-tree", "-p", "HEAD", "-m", "moved", &tree]);
    world.git(&["reset", "-q"]);
    let intent = Intent {
        target: main_branch(),
        old,
        new: git::Oid::parse(&commit).unwrap(),
    };
    assert_eq!(
        world.open_locked().land(&intent).unwrap(),
        Landing::Landed { left: vec![] }
    );
    assert_eq!(
        world.git(&["ls-files", "-s", "module"]),
        format!("160000 {second} 0\tmodule")
    );
    assert_eq!(world.read("module/users.txt"), "mine\n");
}

#[test]
fn a_sparse_checkout_stays_sparse() {
    let world = World::new();
    let intent = to_land(&world, |world| {
        world.write("src/lib.txt", "changed\n");
        world.write("README", "changed\n");
    });
    world.git(&["sparse-checkout", "set", "--no-cone", "/README"]);
    assert!(!world.root().join("src/lib.txt").exists());
    assert_eq!(
        world.open_locked().land(&intent).unwrap(),
        Landing::Landed { left: vec![] }
    );
    assert_eq!(world.read("README"), "changed\n");
    assert!(!world.root().join("src/lib.txt").exists());
    assert_eq!(world.status(), "");
}

/// A repository with a submodule that is filled, and a landing that removes it, with `instead` in its place.
fn without_submodule(world: &World, instead: impl Fn(&World)) -> Intent {
    let cache = format!("160000,{},module", world.head());
    world.git(&["update-index", "--add", "--cacheinfo", &cache]);
    world.git(&["commit", "-q", "-m", "module"]);
    let intent = to_land(world, |world| {
        world.git(&["rm", "-q", "--cached", "module"]);
        std::fs::remove_dir_all(world.root().join("module")).ok();
        instead(world);
    });
    world.write("module/users.txt", "mine\n");
    world.git_at(&world.root().join("module"), &["init", "-q"]);
    intent
}

#[test]
fn the_folder_of_a_submodule_that_is_removed_stays_as_git_leaves_it() {
    let world = World::new();
    let intent = without_submodule(&world, |_| {});
    assert_eq!(
        world.open_locked().land(&intent).unwrap(),
        Landing::Landed { left: vec![] }
    );
    assert_eq!(world.git(&["ls-files", "module"]), "");
    assert_eq!(world.read("module/users.txt"), "mine\n");
}

#[test]
fn files_in_the_place_of_a_submodule_wait_for_it_to_go() {
    let world = World::new();
    let intent = without_submodule(&world, |world| world.write("module/users.txt", "theirs\n"));
    waits_then_lands(
        &world,
        &intent,
        "module/users.txt",
        Obstacle::Submodule,
        |world| {
            assert_eq!(world.read("module/users.txt"), "mine\n");
            std::fs::remove_dir_all(world.root().join("module")).unwrap();
        },
    );
    assert_eq!(world.read("module/users.txt"), "theirs\n");
}

#[test]
fn an_edit_that_is_hidden_from_git_waits_under_that_name() {
    for (hide, show) in [
        ("--skip-worktree", "--no-skip-worktree"),
        ("--assume-unchanged", "--no-assume-unchanged"),
    ] {
        let world = World::new();
        let intent = to_land(&world, |world| world.write("README", "theirs\n"));
        world.git(&["update-index", hide, "README"]);
        world.write("README", "mine\n");
        waits_then_lands(&world, &intent, "README", Obstacle::Hidden, |world| {
            world.git(&["update-index", show, "README"]);
            world.git(&["checkout", "-q", "--", "README"]);
        });
    }
}

/// git adds entries to a folder that the index holds as a whole, and leaves that in.
#[test]
fn a_folded_folder_of_a_sparse_index_gets_what_landed() {
    let world = World::new();
    world.write("out/sub/old.txt", "old\n");
    world.commit_all("more folders");
    let intent = to_land(&world, |world| {
        world.write("out/sub/old.txt", "changed\n");
        world.write("out/new.txt", "new\n");
    });
    world.git(&["sparse-checkout", "set", "--cone", "--sparse-index", "src"]);
    assert!(world.git(&["ls-files", "--sparse"]).contains("out/"));
    assert_eq!(
        world.open_locked().land(&intent).unwrap(),
        Landing::Landed { left: vec![] }
    );
    assert_eq!(world.status(), "");
    assert_eq!(
        world.git(&["write-tree"]),
        world.git(&["rev-parse", "HEAD^{tree}"])
    );
    assert!(!world.root().join("out").exists());
    world.git(&["fsck", "--strict"]);
}

/// The ref moved (by an engine that was killed then), and the user edits before the next one comes.
#[test]
fn an_edit_made_after_the_ref_moved_is_left_and_reported() {
    let world = World::new();
    let intent = to_land(&world, |world| {
        world.write("README", "theirs\n");
        world.write("new.txt", "new\n");
    });
    world.git(&[
        "update-ref",
        "refs/heads/main",
        intent.new.as_str(),
        intent.old.as_str(),
    ]);
    world.write("README", "mine\n");
    let repository = world.open_locked();
    let followed = repository
        .follow(&main_checkout(&repository), &intent.old, &intent.new)
        .unwrap();
    assert_eq!(
        followed.left.iter().map(|one| one.obstacle).collect::<Vec<_>>(),
        [Obstacle::Edited]
    );
    assert_eq!(followed.updated, 1);
    assert_eq!(world.read("README"), "mine\n");
    assert_eq!(
        world.status(),
        " M README",
        "only the edit, not the landed change taken back"
    );
}

/// An editor saves between the look and the replacement. The naive version looks, then writes: the edit is
/// gone. Here a filter of the user's plays the editor, since it runs just then.
#[test]
fn an_edit_made_while_it_follows_is_left_and_reported() {
    let world = World::new();
    world.write(".gitattributes", "*.slow filter=slow\n");
    world.write("gone.txt", "old\n");
    world.commit_all("attributes");
    let intent = to_land(&world, |world| {
        world.write("a.slow", "slow\n");
        world.write("README", "theirs\n");
        std::fs::remove_file(world.root().join("gone.txt")).unwrap();
    });
    world.git(&[
        "config",
        "filter.slow.smudge",
        "echo mine > README; echo mine > gone.txt; echo mine > src/lib.txt; cat",
    ]);
    let Landing::Landed { left } = world.open_locked().land(&intent).unwrap() else {
        panic!()
    };
    let mut paths: Vec<_> = left.iter().map(|one| one.path.clone().unwrap()).collect();
    paths.sort();
    assert_eq!(paths, [Path::new("README"), Path::new("gone.txt")]);
    assert!(left.iter().all(|one| one.obstacle == Obstacle::Edited));
    assert_eq!(
        (world.read("README"), world.read("gone.txt")),
        ("mine\n".to_owned(), "mine\n".to_owned())
    );
    assert_eq!(world.read("a.slow"), "slow\n");
}
