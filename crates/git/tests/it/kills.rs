//! Kills: every operation is killed at each of its points, by a real SIGKILL, and repeated.
//!
//! The killed process is this test program, started again with the point's name; see [`failpoint`].

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use git::{Checkout, Id, Intent, Landing, Obstacle, Repository, Workspace};

use crate::support::{AT, CLEAN, World, limits, main_branch, merged, put};

/// Runs one of the `killed_…` helpers of this module in a process of its own, to be killed at `point`.
fn killed_at(point: &str, helper: &str, world: &World) -> bool {
    #[expect(
        clippy::disallowed_methods,
        reason = "the test's own program plays the engine that is killed"
    )]
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &format!("kills::{helper}"), "--ignored"])
        .env("CREW_TEST_WORLD", world.folder.path())
        .env("CREW_FAILPOINT_AT", point)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert!(
        status.success() || status.code().is_none(),
        "{helper} failed at {point} instead of being killed"
    );
    !status.success()
}

/// The world of the process that started this one; it does not clean up, being killed.
fn given_world() -> World {
    #[expect(
        clippy::disallowed_methods,
        reason = "the parent test says where its world is"
    )]
    let path = PathBuf::from(std::env::var_os("CREW_TEST_WORLD").unwrap());
    let mut folder = tempfile::tempdir().unwrap();
    folder.disable_cleanup(true);
    std::fs::remove_dir(folder.path()).unwrap();
    symlink(path, folder.path()).unwrap();
    World { folder }
}

/// A world whose `main` can land a change of every kind, with edits of the user's beside it.
fn world_to_land() -> (World, Intent) {
    let world = World::new();
    for name in ["gone.txt", "turns/into/file", "tool", "becomes-folder"] {
        world.write(name, "old\n");
    }
    symlink("README", world.root().join("link")).unwrap();
    world.write("users.txt", "committed\n");
    world.write("staged.txt", "committed\n");
    world.write(".gitignore", "*.secret\n");
    world.write(".gitattributes", "becomes-folder/inside filter=slow\n");
    let old = world.commit_all("old");
    world.git(&["checkout", "-q", "-b", "side"]);
    std::fs::remove_file(world.root().join("gone.txt")).unwrap();
    std::fs::remove_dir_all(world.root().join("turns")).unwrap();
    world.write("turns", "a file now\n");
    std::fs::remove_file(world.root().join("becomes-folder")).unwrap();
    world.write("becomes-folder/inside", "new\n");
    std::fs::set_permissions(world.root().join("tool"), std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::remove_file(world.root().join("link")).unwrap();
    symlink("src", world.root().join("link")).unwrap();
    world.write("src/lib.txt", "one\nTWO\nthree\n");
    world.write("added/deep/new.txt", "new\n");
    let tip = world.commit_all("new");
    world.git(&["checkout", "-q", "main"]);
    let candidate = merged(&world.open(), &old, &tip);
    world.git(&["tag", "candidate", candidate.commit.as_str()]);
    world.write("users.txt", "edited\n");
    world.write("staged.txt", "staged\n");
    world.git(&["add", "staged.txt"]);
    world.write("untracked.txt", "mine\n");
    world.write("key.secret", "mine\n");
    (
        world,
        Intent {
            target: main_branch(),
            old,
            new: candidate.commit,
        },
    )
}

fn intent_of(world: &World) -> Intent {
    let new = world.oid("candidate");
    Intent {
        target: main_branch(),
        old: world.oid("candidate^1"),
        new,
    }
}

fn assert_followed(world: &World, intent: &Intent, point: &str) {
    assert_eq!(world.oid("main"), intent.new, "{point}");
    assert_eq!(
        world.status(),
        "M  staged.txt\n M users.txt\n?? untracked.txt".trim_start(),
        "{point}"
    );
    assert_eq!(world.read("users.txt"), "edited\n", "{point}");
    assert_eq!(world.read("staged.txt"), "staged\n", "{point}");
    assert_eq!(world.read("key.secret"), "mine\n", "{point}");
    assert_eq!(world.read("turns"), "a file now\n", "{point}");
    assert_eq!(world.read("added/deep/new.txt"), "new\n", "{point}");
    let left: Vec<String> = std::fs::read_dir(world.root().join(".git"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|name| {
            let own = ["index.lock", "crew-ready", "crew-follow", "crew-index"];
            own.iter().any(|own| name.starts_with(own))
        })
        .collect();
    assert_eq!(left, [""; 0], "{point}");
}

const LANDING: &[&str] = &[
    "land.index_locked",
    "land.checked",
    "follow.written_out",
    "follow.staged",
    "land.moved",
    "follow.index",
    "follow.moved_aside",
    "follow.moved_aside:3",
    "follow.deleted:2",
    "follow.exchanged",
    "follow.exchanged:3",
    "follow.written",
    "follow.written:4",
    "follow.files",
    "follow.index_built",
    "follow.refreshed",
    "follow.cleaned",
    "land.followed",
];

/// The naive version is `merge --ff-only` or `read-tree -u`: half of those that were killed cannot be
/// repeated.
#[test]
fn landing_and_following_are_killed_anywhere_and_repeated() {
    for point in LANDING {
        let (world, intent) = world_to_land();
        assert!(
            killed_at(point, "killed_landing", &world),
            "{point} is never reached"
        );
        let repository = world.open_locked();
        assert_eq!(
            repository.land(&intent).unwrap(),
            Landing::Landed { left: vec![] },
            "{point}"
        );
        assert_followed(&world, &intent, point);
    }
}

#[test]
fn landing_is_killed_twice_in_a_row() {
    for pair in [
        ["land.moved", "follow.written:2"],
        ["follow.exchanged:2", "follow.staged"],
        ["follow.deleted", "follow.index_built"],
    ] {
        let (world, intent) = world_to_land();
        for point in pair {
            assert!(
                killed_at(point, "killed_landing", &world),
                "{point} is never reached"
            );
        }
        assert_eq!(
            world.open_locked().land(&intent).unwrap(),
            Landing::Landed { left: vec![] }
        );
        assert_followed(&world, &intent, &pair.join(" then "));
    }
}

#[test]
#[ignore = "run, and killed, by the tests above"]
fn killed_landing() {
    let world = given_world();
    world.open_locked().land(&intent_of(&world)).unwrap();
}

/// An editor saves in the instant between looking and replacing, and the engine is killed in the next: the
/// edit stands in crew's staging folder, and must come back.
#[test]
fn an_edit_that_was_caught_between_two_renames_comes_back() {
    let (world, intent) = world_to_land();
    assert!(killed_at("follow.exchanged:2", "killed_landing", &world));
    let staged = world.root().join(".git/crew-follow/new/src/lib.txt");
    assert_eq!(std::fs::read_to_string(&staged).unwrap(), "one\ntwo\nthree\n");
    std::fs::write(&staged, "an edit\n").unwrap();
    match world.open_locked().land(&intent).unwrap() {
        Landing::Landed { left } => {
            assert_eq!(left.len(), 1);
            assert_eq!(left[0].obstacle, Obstacle::Edited);
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(world.read("src/lib.txt"), "an edit\n");
}

/// The same, and before the landing is carried on somebody has taken the change of that path back, in a
/// commit of their own: no change leads to the path any more.
#[test]
fn an_edit_that_was_caught_in_a_path_that_is_as_before_is_kept() {
    let (world, intent) = world_to_land();
    assert!(killed_at("follow.exchanged:2", "killed_landing", &world));
    put(
        &world.root().join(".git/crew-follow/new/src/lib.txt"),
        "an edit\n",
    );
    let elsewhere = world.folder.path().join("elsewhere");
    let shown = elsewhere.display().to_string();
    world.git(&["worktree", "add", "-q", "--detach", &shown, "candidate"]);
    world.git_at(
        &elsewhere,
        &["checkout", "-q", intent.old.as_str(), "--", "src/lib.txt"],
    );
    world.git_at(&elsewhere, &["commit", "-q", "-m", "not that"]);
    let now = world.git_at(&elsewhere, &["rev-parse", "HEAD"]);
    world.git(&["worktree", "remove", "--force", &shown]);
    world.git(&["update-ref", "refs/heads/main", &now]);
    world.open_locked().land(&intent).unwrap();
    let caught = std::fs::read_dir(world.root().join(".git")).unwrap().flatten();
    let mut caught = caught.filter(|entry| entry.file_name().to_string_lossy().starts_with("crew-caught"));
    let kept = caught.next().unwrap().path().join("crew-follow/new/src/lib.txt");
    assert_eq!(std::fs::read_to_string(kept).unwrap(), "an edit\n");
}

/// A rebase whose list is being edited has begun in the moment in which the branch moved; HEAD is still the
/// branch. The naive version leaves the old index to the new HEAD, and the next commit takes back what
/// landed.
#[test]
fn an_operation_that_begins_as_the_branch_moves_does_not_keep_the_index_behind() {
    let (world, intent) = world_to_land();
    assert!(killed_at("land.moved", "killed_landing", &world));
    let begun = world.root().join(".git/rebase-merge");
    put(&begun.join("head-name"), "refs/heads/main\n");
    let landed = Landing::Landed { left: vec![] };
    assert_eq!(world.open_locked().land(&intent).unwrap(), landed);
    std::fs::remove_dir_all(&begun).unwrap();
    assert_followed(&world, &intent, "a rebase");
}

/// The naive version finds the new files of a landing that was killed before the branch moved, and takes them
/// for a person's edits when another landing changes the same paths.
#[test]
fn what_was_made_ready_for_a_landing_that_never_came_is_nobodys_edit() {
    let (world, intent) = world_to_land();
    world.git(&["stash", "-q"]);
    world.git(&["checkout", "-q", "-b", "another"]);
    world.write("src/lib.txt", "one\nanother two\nthree\n");
    let tip = world.commit_all("another");
    world.git(&["checkout", "-q", "main"]);
    world.git(&["stash", "pop", "-q", "--index"]);
    let another = Intent {
        new: merged(&world.open(), &intent.old, &tip).commit,
        ..intent
    };
    assert!(killed_at("follow.staged", "killed_landing", &world));
    let status = world.status();
    let landed = Landing::Landed { left: vec![] };
    assert_eq!(world.open_locked().land(&another).unwrap(), landed);
    assert_eq!(world.read("src/lib.txt"), "one\nanother two\nthree\n");
    assert_eq!(world.status(), status);
}

/// A file in a folder that was left behind when the branch had moved may be an edit, and is kept apart.
#[test]
fn an_edit_that_a_landing_left_behind_which_was_taken_back_is_kept() {
    let (world, intent) = world_to_land();
    let left = world.root().join(".git/crew-follow/new/src/lib.txt");
    std::fs::create_dir_all(left.parent().unwrap()).unwrap();
    std::fs::write(&left, "an edit\n").unwrap();
    let landed = Landing::Landed { left: vec![] };
    assert_eq!(world.open_locked().land(&intent).unwrap(), landed);
    assert_followed(&world, &intent, "the edit of another landing");
    let caught = std::fs::read_dir(world.root().join(".git")).unwrap().flatten();
    let mut caught = caught.filter(|entry| entry.file_name().to_string_lossy().starts_with("crew-caught"));
    let kept = caught.next().unwrap().path().join("crew-follow/new/src/lib.txt");
    assert_eq!(std::fs::read_to_string(kept).unwrap(), "an edit\n");
}

/// git is killed with the engine while it writes the new files: a file that it had half written is not taken
/// for an edit.
#[test]
fn a_file_that_was_half_written_out_is_no_edit() {
    let (world, intent) = world_to_land();
    assert!(killed_at("follow.written_out:1", "killed_landing", &world));
    let half = ready_of(&world).join("half/src/lib.txt");
    assert!(std::fs::read(&half).unwrap().len() > 1);
    std::fs::write(&half, "").unwrap();
    match world.open_locked().land(&intent).unwrap() {
        Landing::Landed { left } => assert!(left.is_empty(), "{left:?}"),
        other => panic!("{other:?}"),
    }
    assert_eq!(
        world.read("src/lib.txt"),
        world.git(&["show", "candidate:src/lib.txt"]) + "\n"
    );
}

/// The folder that a killed try made its files ready in.
fn ready_of(world: &World) -> PathBuf {
    let entries = std::fs::read_dir(world.root().join(".git")).unwrap().flatten();
    let mut ready = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("crew-ready"));
    ready.next().unwrap().path()
}

/// A git of a killed engine, with a slow filter of the user's, goes on writing while the next engine makes
/// the same files ready: here the next engine's own filter plays it, since that runs just then.
#[test]
fn what_a_killed_engines_git_still_writes_is_in_no_later_tries_files() {
    let (world, intent) = world_to_land();
    assert!(killed_at("follow.written_out", "killed_landing", &world));
    let late = ready_of(&world);
    let writes = format!(
        "mkdir -p {0}/half/src && echo late > {0}/half/src/lib.txt; cat",
        late.display()
    );
    world.git(&["config", "filter.slow.smudge", &writes]);
    match world.open_locked().land(&intent).unwrap() {
        Landing::Landed { left } => assert!(left.is_empty(), "{left:?}"),
        other => panic!("{other:?}"),
    }
    assert_eq!(
        std::fs::read_to_string(late.join("half/src/lib.txt")).unwrap(),
        "late\n",
        "it was written late"
    );
    assert_eq!(
        world.read("src/lib.txt"),
        world.git(&["show", "candidate:src/lib.txt"]) + "\n"
    );
    assert_eq!(world.read("added/deep/new.txt"), "new\n");
}

/// A user's git runs while a killed landing's lock stands: it is kept out, so it cannot commit the old index
/// onto the new commit (which would take the landed change back).
#[test]
fn the_user_cannot_commit_between_the_ref_and_the_index() {
    let (world, intent) = world_to_land();
    assert!(killed_at("land.moved", "killed_landing", &world));
    assert!(
        !world
            .try_git_at(&world.root(), &["commit", "-q", "-m", "in between"])
            .status
            .success()
    );
    world.open_locked().land(&intent).unwrap();
    world.git(&["commit", "-q", "-m", "afterwards"]);
    assert_eq!(
        world.git(&["diff", "--name-only", "candidate", "HEAD"]),
        "staged.txt"
    );
}

#[test]
fn an_index_lock_that_was_left_behind_is_given_back_and_a_users_stays() {
    let (world, _) = world_to_land();
    assert!(killed_at("land.index_locked", "killed_landing", &world));
    let lock = world.root().join(".git/index.lock");
    // As an engine leaves it that is killed before the lock has its name.
    let passing = world.root().join(".git/crew-lock-Ab3De9");
    std::fs::copy(&lock, &passing).unwrap();
    let theirs = world.root().join(".git/crew-lock-notes");
    put(&theirs, "a person's\n");
    world.open().release_left_behind().unwrap();
    assert!(
        lock.exists() && passing.exists(),
        "only the holder of the repository's lock may"
    );
    let repository = world.open_locked();
    // It would be waited for, and the next look at the checkouts never end.
    let pipe = world.root().join(".git/crew-lock-x");
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    repository.release_left_behind().unwrap();
    assert!(!lock.exists() && !passing.exists());
    assert!(theirs.exists() && pipe.symlink_metadata().is_ok());
    put(&lock, "DIRC");
    repository.release_left_behind().unwrap();
    assert!(lock.exists());
}

/// A failure that is repeated is reported once, so its words must be the same each time.
#[test]
fn an_index_lock_that_cannot_be_taken_fails_with_the_same_words() {
    let world = World::new();
    let repository = world.open_locked();
    let checkout = Checkout {
        root: world.root(),
        git_dir: world.root().join("gone"),
        operation: None,
    };
    let head = world.head();
    let fails = || match repository.follow(&checkout, &head, &head) {
        Err(error) => format!("{error:?}"),
        Ok(_) => panic!("a lock in a folder that is not there"),
    };
    assert_eq!(fails(), fails());
}

#[test]
fn preparing_is_killed_anywhere_and_repeated() {
    for point in [
        "prepare.refs",
        "prepare.gitdir",
        "prepare.built",
        "prepare.recorded",
        "prepare.renamed",
    ] {
        let world = World::new();
        assert!(
            killed_at(point, "killed_preparing", &world),
            "{point} is never reached"
        );
        assert_eq!(
            world.workspaces().join("ada-t-1").exists(),
            point == "prepare.renamed",
            "{point}"
        );
        let repository = world.open_locked();
        let workspace = world.workspace(&repository);
        assert_eq!(
            world.git_at(&workspace.path(), &["status", "--porcelain"]),
            "",
            "{point}"
        );
        assert_eq!(
            std::fs::read_to_string(workspace.instructions()).unwrap(),
            "do it\n",
            "{point}"
        );
        assert_eq!(
            std::fs::read_dir(world.workspaces()).unwrap().count(),
            2,
            "{point}: rubbish stays"
        );
    }
}

#[test]
#[ignore = "run, and killed, by the test above"]
fn killed_preparing() {
    let world = given_world();
    world.workspace(&world.open_locked());
}

/// Nothing that an agent left in a checkout is in the next workspace, wherever crew is killed meanwhile.
#[test]
fn a_checkout_that_is_kept_is_killed_anywhere_and_leaves_nothing() {
    for point in ["remove.half_pooled", "prepare.pooled", "prepare.built", "none"] {
        let world = World::new();
        let open = || world.open_locked().pooling_checkouts(2);
        let first = world.workspace(&open());
        put(&first.path().join("src/new.txt"), "the agent's\n");
        put(&first.path().join("src/lib.txt"), "the agent's\n");
        open().save(&first, "Work", AT, &limits()).unwrap();
        let dies_removing = point == "remove.half_pooled";
        assert_eq!(
            killed_at(point, "killed_keeping", &world),
            dies_removing,
            "{point}"
        );
        open().clear_half_pooled(&world.workspaces()).unwrap();
        let pooled: Vec<String> = std::fs::read_dir(world.workspaces().join(".pool"))
            .into_iter()
            .flatten()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        assert!(
            pooled.iter().all(|name| !name.ends_with(".half")),
            "{point}: {pooled:?}"
        );
        open().remove(&first).unwrap();
        let target = open().resolve("HEAD").unwrap();
        open().forget_workspace(&first, Some(&target)).unwrap();
        let dies_preparing = point.starts_with("prepare");
        assert_eq!(
            killed_at(point, "killed_preparing_again", &world),
            dies_preparing,
            "{point}"
        );
        let second = open().prepare(&world.spec("bob", "t-2")).unwrap();
        assert_eq!(
            world.git_at(
                &second.path(),
                &["status", "--porcelain", "--ignored", "--untracked-files=all"]
            ),
            "",
            "{point}"
        );
        assert_eq!(
            std::fs::read_to_string(second.path().join("src/lib.txt")).unwrap(),
            "one\ntwo\nthree\n",
            "{point}"
        );
        open().clear_pool(&world.workspaces()).unwrap();
        assert_eq!(
            std::fs::read_dir(world.workspaces()).unwrap().count(),
            2,
            "{point}: rubbish stays"
        );
    }
}

#[test]
#[ignore = "run, and killed, by the test above"]
fn killed_keeping() {
    let world = given_world();
    let repository = world.open_locked().pooling_checkouts(2);
    let first = Workspace::of(&world.spec("ada", "t-1"));
    repository.remove(&first).unwrap();
}

#[test]
#[ignore = "run, and killed, by the test above"]
fn killed_preparing_again() {
    let world = given_world();
    let repository = world.open_locked().pooling_checkouts(2);
    repository.prepare(&world.spec("bob", "t-2")).unwrap();
}

/// The naive version removes the dirty workspace first.
#[test]
fn removing_is_killed_anywhere_and_nothing_is_lost() {
    for point in ["remove.rescued", "remove.renamed"] {
        let world = World::new();
        let workspace = world.workspace(&world.open());
        put(&workspace.path().join("work.txt"), "work\n");
        assert!(
            killed_at(point, "killed_removing", &world),
            "{point} is never reached"
        );
        let repository = world.open_locked();
        assert!(
            repository.remove(&workspace).unwrap().kept.is_empty(),
            "{point}: kept twice"
        );
        assert!(!workspace.exists());
        assert_eq!(
            std::fs::read_dir(world.workspaces()).unwrap().count(),
            0,
            "{point}: rubbish stays"
        );
        let kept = repository.kept(Some(&Id::parse("t-1").unwrap())).unwrap();
        assert_eq!(kept.len(), 1);
        assert_eq!(
            world.git(&["show", &format!("{}:work.txt", kept[0].name)]),
            "work"
        );
    }
}

#[test]
#[ignore = "run, and killed, by the test above"]
fn killed_removing() {
    let world = given_world();
    let repository = world.open_locked();
    let workspace = Workspace::of(&world.spec("ada", "t-1"));
    repository.remove(&workspace).unwrap();
}

#[test]
fn a_check_checkout_is_killed_anywhere_and_repeated() {
    for point in ["check.begun", "check.read"] {
        let world = World::new();
        let folder = world.folder.path().join("check");
        let first = world.head();
        let repository: Repository = world.open();
        drop(repository.check_checkout(&folder, &first, CLEAN).unwrap());
        world.write("README", "second\n");
        let second = world.commit_all("second");
        assert!(
            killed_at(point, "killed_check", &world),
            "{point} is never reached"
        );
        put(&folder.join("index.lock"), "");
        let checkout = repository.check_checkout(&folder, &second, CLEAN).unwrap();
        assert_eq!(
            std::fs::read_to_string(checkout.path().join("README")).unwrap(),
            "second\n"
        );
    }
}

#[test]
#[ignore = "run, and killed, by the test above"]
fn killed_check() {
    let world = given_world();
    world
        .open()
        .check_checkout(&world.folder.path().join("check"), &world.head(), CLEAN)
        .unwrap();
}

/// An earlier round's pin goes when the new one is there: at no moment is there none.
#[test]
fn pinning_a_candidate_is_killed_anywhere_and_repeated() {
    for point in ["candidate.pinned", "candidate.unpinned"] {
        let world = World::new();
        let ticket = Id::parse("t-1").unwrap();
        world.open().pin_candidate(&ticket, 1, &world.head()).unwrap();
        assert!(
            killed_at(point, "killed_pinning", &world),
            "{point} is never reached"
        );
        assert_eq!(world.oid("refs/crew/candidate/t-1/2"), world.head(), "{point}");
        let repository = world.open_locked();
        repository.pin_candidate(&ticket, 2, &world.head()).unwrap();
        let pins = repository.candidate_pins().unwrap();
        assert_eq!(pins.len(), 1, "{point}");
        assert_eq!(pins[0].name, "refs/crew/candidate/t-1/2", "{point}");
        repository.unpin_candidates(&ticket).unwrap();
        assert!(repository.candidate_pins().unwrap().is_empty(), "{point}");
    }
}

#[test]
#[ignore = "run, and killed, by the test above"]
fn killed_pinning() {
    let world = given_world();
    let ticket = Id::parse("t-1").unwrap();
    world
        .open_locked()
        .pin_candidate(&ticket, 2, &world.head())
        .unwrap();
}

/// Saving has no half: it is repeated whole.
#[test]
fn saving_twice_gives_one_commit() {
    let world = World::new();
    let repository = world.open_locked();
    let workspace = world.workspace(&repository);
    put(&workspace.path().join("work.txt"), "work\n");
    let first = repository.save(&workspace, "leftovers", AT, &limits()).unwrap();
    let second = repository.save(&workspace, "leftovers", AT, &limits()).unwrap();
    assert_eq!(first.imported, second.imported);
    assert!(first.leftovers.is_some() && second.leftovers.is_none());
}

/// Without the note, it would be a minute of every engine's life: for those that are killed sooner, for ever.
#[test]
fn the_lock_on_packed_refs_of_a_git_that_died_with_its_engine_goes_as_the_next_one_starts() {
    let world = World::new();
    let lock = world.root().join(".git/packed-refs.lock");
    put(&lock, "");
    // Somebody else's stands as long as a packing may take.
    world.open_locked().release_locks().unwrap();
    assert!(lock.exists());
    let note = world.open().lock_path();
    let says = std::fs::read_to_string(&note).unwrap();
    std::fs::write(&note, format!("{says}deleting=1\n")).unwrap();
    // A second lock that cannot be removed does not keep the first.
    put(&world.root().join(".git/HEAD.lock/x"), "");
    world.open_locked().release_locks().unwrap_err();
    assert!(!lock.exists());
}

/// crew's own gits wait for the lock, for seconds each: there would always be one.
#[test]
fn a_git_that_waits_for_a_dead_ones_lock_does_not_keep_it() {
    let world = World::new();
    let head = world.head();
    put(&world.open().lock_path(), "deleting=1\n");
    let lock = world.root().join(".git/packed-refs.lock");
    put(&lock, "");
    let repository = world.open_locked();
    // A ref is moved, and the lock is seen as it stands in the way.
    repository
        .keep_attempt(&Id::parse("t-1").unwrap(), &head)
        .unwrap();
    let seen = uptime();
    while uptime() < seen + Duration::from_millis(50) {
        std::thread::yield_now();
    }
    #[expect(clippy::disallowed_methods, reason = "the test plays one that waits")]
    let mut waits = Command::new("git")
        .args(["update-ref", "--stdin"])
        .current_dir(world.root())
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    repository.release_locks().unwrap();
    assert!(!lock.exists());
    drop(waits.stdin.take());
    assert!(waits.wait().unwrap().success());
}

/// By the clock that `/proc` counts the starts of processes from.
fn uptime() -> Duration {
    let up = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    Duration::new(
        u64::try_from(up.tv_sec).unwrap(),
        u32::try_from(up.tv_nsec).unwrap(),
    )
}
