//! Locking: the repository's lock, and the locks of git's own.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, SystemTime};

use git::{Error, Git, Id, Identity, Intent, Landing, Lock, Repository, Spec, Surroundings};

use crate::support::{World, limits, main_branch, merged, path_variable, put};

#[test]
fn a_second_taker_is_told_who_holds_it() {
    let world = World::new();
    let path = world.open().lock_path();
    assert_eq!(Lock::holder(&path).unwrap(), None);
    let lock = Lock::take(&path).unwrap();
    match Lock::take(&path) {
        Err(Error::Held { by, .. }) => {
            assert_eq!(by.pid, Some(std::process::id()));
            assert!(!by.host.is_empty() && by.started.is_some());
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(
        Lock::holder(&path).unwrap().unwrap().pid,
        Some(std::process::id())
    );
    drop(lock);
    assert_eq!(Lock::holder(&path).unwrap(), None);
    Lock::take(&path).unwrap();
}

/// A git that makes a file when it runs and ends when another file is gone, in front of the real one.
fn waiting_git(folder: &Path) -> Git {
    let bin = folder.join("bin");
    std::fs::create_dir(&bin).unwrap();
    let running = folder.join("running");
    let script = format!(
        "#!/bin/sh\nPATH={}\ncase \"$*\" in *update-ref*) echo $$ > '{}'; while [ -e '{}' ]; do sleep 0.02; done;; esac\nexec git \"$@\"\n",
        path_variable().to_str().unwrap(),
        running.display(),
        running.display(),
    );
    std::fs::write(bin.join("git"), script).unwrap();
    std::fs::set_permissions(bin.join("git"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut path = bin.into_os_string();
    path.push(":");
    path.push(path_variable());
    Git::find(Surroundings {
        path,
        ..Surroundings::default()
    })
    .unwrap()
}

/// The naive version gives git children nothing: the engine dies, its git works on, and a new engine begins
/// beside it.
#[test]
fn a_git_child_keeps_the_lock_when_its_engine_is_killed() {
    // One ref, and two in a transaction, which is given to git as input.
    for act in ["keep", "prepare"] {
        killed_while(act);
    }
}

fn killed_while(act: &str) {
    let world = World::new();
    let path = world.open().lock_path();
    let running = world.folder.path().join("running");
    #[expect(
        clippy::disallowed_methods,
        reason = "the test's own program plays the engine that is killed"
    )]
    let mut engine = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "locking::an_engine_that_is_killed", "--ignored"])
        .env("CREW_TEST_WORLD", world.folder.path())
        .env("CREW_TEST_ACT", act)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    wait_until(|| running.metadata().is_ok_and(|meta| meta.len() > 0));
    engine.kill().unwrap();
    engine.wait().unwrap();
    match Lock::take(&path) {
        Err(Error::Held { by, .. }) => assert_eq!(by.pid, Some(engine.id())),
        other => panic!("{other:?}"),
    }
    assert_eq!(world.git(&["for-each-ref", "refs/crew/"]), "");
    std::fs::remove_file(&running).unwrap();
    wait_until(|| Lock::take(&path).is_ok());
    assert_eq!(
        world.git(&["for-each-ref", "refs/crew/"]).lines().count(),
        1,
        "the orphan did its work first"
    );
}

#[test]
#[ignore = "run, and killed, by the test above"]
fn an_engine_that_is_killed() {
    #[expect(clippy::disallowed_methods, reason = "the test above says where its world is")]
    let folder = std::path::PathBuf::from(std::env::var_os("CREW_TEST_WORLD").unwrap());
    let git = waiting_git(&folder);
    let repository = Repository::open(&git, &folder.join("project")).unwrap();
    let lock = Lock::take(&repository.lock_path()).unwrap();
    let head = repository.resolve("HEAD").unwrap();
    let repository = repository.locked(&lock);
    let id = |text| Id::parse(text).unwrap();
    #[expect(clippy::disallowed_methods, reason = "the test above says what is to be done")]
    let act = std::env::var("CREW_TEST_ACT").unwrap();
    if act == "keep" {
        repository.keep_attempt(&id("t-1"), &head).unwrap();
    } else {
        let spec = Spec {
            root: folder.join("workspaces"),
            agent: id("ada"),
            ticket: id("t-1"),
            attempt: 1,
            base: head.clone(),
            start: head,
            identity: Identity::new("ada", "ada@example.org"),
            excludes: Vec::new(),
            instructions: Vec::new(),
        };
        repository.prepare(&spec).unwrap();
    }
}

fn wait_until(fact: impl Fn() -> bool) {
    let limit = SystemTime::UNIX_EPOCH.elapsed().unwrap() + Duration::from_secs(30);
    while !fact() {
        assert!(
            SystemTime::UNIX_EPOCH.elapsed().unwrap() < limit,
            "waited in vain"
        );
        std::thread::yield_now();
    }
}

fn old_file(path: &Path) {
    put(path, "");
    backdate(path);
}

fn backdate(path: &Path) {
    let file = std::fs::File::options().write(true).open(path).unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000))
        .unwrap();
}

/// The naive version either fails for ever on a lock that a killed git left, or removes one that is in use.
#[test]
fn a_stale_ref_lock_goes_only_for_the_holder_and_only_when_it_is_old() {
    goes_only_for_the_holder_and_when_it_is_old("refs/heads/main.lock");
}

/// git locks HEAD too as it moves the branch that HEAD names.
#[test]
fn a_stale_lock_of_head_goes_only_for_the_holder_and_only_when_it_is_old() {
    goes_only_for_the_holder_and_when_it_is_old("HEAD.lock");
}

#[test]
fn a_lock_of_head_that_a_killed_git_left_goes_at_the_start() {
    let world = World::new();
    let lock = world.root().join(".git/HEAD.lock");
    old_file(&lock);
    world.open().release_locks().unwrap();
    assert!(lock.exists(), "only the holder may");
    let locked = world.open_locked();
    locked.release_locks().unwrap();
    assert!(!lock.exists());
    std::fs::write(&lock, "").unwrap();
    locked.release_locks().unwrap();
    assert!(lock.exists(), "one from after the start is somebody's");
}

fn goes_only_for_the_holder_and_when_it_is_old(lock: &str) {
    let world = World::new();
    let stale = world.root().join(".git").join(lock);
    let (plain, intent) = to_land(&world);

    old_file(&stale);
    assert!(matches!(plain.land(&intent), Err(Error::RefBusy { .. })));
    assert!(stale.exists());

    let locked = world.open_locked();
    std::fs::write(&stale, "").unwrap();
    assert!(
        matches!(locked.land(&intent), Err(Error::RefBusy { .. })),
        "a young lock is somebody's"
    );
    assert!(stale.exists());

    old_file(&stale);
    assert!(matches!(locked.land(&intent), Ok(Landing::Landed { .. })));
    assert_eq!(world.head(), intent.new);
    assert!(!stale.exists());
}

/// The repository without its lock, and what an agent's work is to land as.
fn to_land(world: &World) -> (Repository, Intent) {
    let old = world.head();
    let plain = world.open();
    let workspace = plain.prepare(&world.spec("ada", "t-1")).unwrap();
    put(&workspace.path().join("new.txt"), "new\n");
    let tip = plain
        .save(&workspace, "work", crate::support::AT, &limits())
        .unwrap()
        .imported
        .tip;
    let new = merged(&plain, &old, &tip).commit;
    let target = main_branch();
    (plain, Intent { target, old, new })
}

/// The naive version gives up: the engine that is started at once after a kill meets the lock of the git that
/// died with it.
#[test]
fn a_lock_from_just_before_is_outlasted() {
    let world = World::new();
    let stale = world.root().join(".git/refs/heads/agent/ada-t-1.lock");
    put(&stale, "");
    let file = std::fs::File::options().write(true).open(&stale).unwrap();
    let written = file.metadata().unwrap().modified().unwrap();
    file.set_modified(written - Duration::from_millis(50)).unwrap();
    drop(file);
    let locked = world.open_locked();
    locked.prepare(&world.spec("ada", "t-1")).unwrap();
    assert!(!stale.exists());
}

/// The naive version sees that the branch is gone and is content: the lock stays for ever, and the agent's
/// next branch of that name cannot be made.
#[test]
fn a_git_killed_as_it_deletes_a_ref_leaves_no_lock_for_good() {
    let world = World::new();
    let spec = world.spec("ada", "t-1");
    let workspace = world.open_locked().prepare(&spec).unwrap();
    let branch = world.root().join(".git/refs/heads/agent/ada-t-1.lock");
    let pin = world.root().join(".git/refs/crew/base/t-1/1.lock");
    // Both gone or only the branch, as the git got to.
    for gone in [2, 1] {
        let refs = ["refs/heads/agent/ada-t-1", "refs/crew/base/t-1/1"];
        for name in &refs[..gone] {
            world.git(&["update-ref", "-d", name]);
        }
        for lock in [&branch, &pin] {
            put(lock, "");
            let file = std::fs::File::options().write(true).open(lock).unwrap();
            let written = file.metadata().unwrap().modified().unwrap();
            file.set_modified(written - Duration::from_millis(50)).unwrap();
        }
        let locked = world.open_locked();
        if gone == 2 {
            locked
                .forget_locks(&spec.agent, &spec.ticket, spec.attempt)
                .unwrap();
            drop(locked);
            world.open_locked().prepare(&spec).unwrap();
        } else {
            locked.forget_workspace(&workspace, Some(&world.head())).unwrap();
        }
        assert!(!branch.exists() && !pin.exists());
    }
}

/// A hook runs while the refs are locked, for as long as it likes, and a living git holds its lock whatever
/// the clock says of the file. The naive version goes by the file's time, removes the lock and moves the ref
/// under the other's feet.
#[test]
fn the_lock_of_a_git_that_lives_stays_and_goes_when_that_git_is_killed() {
    for told in [
        "git",
        "git --git-dir={root}/.git",
        "cd / && GIT_DIR={root}/.git git",
    ] {
        let world = World::new();
        let (_, intent) = to_land(&world);
        let waiting = world.folder.path().join("waiting");
        let hook = world.root().join(".git/hooks/reference-transaction");
        // In one rename: it is whole when it is there.
        let text = format!(
            "#!/bin/sh\ntest \"$1\" = prepared || exit 0\necho $PPID >{0}.new && mv {0}.new {0}\nwhile test -e {0}; do sleep 0.1; done\n",
            waiting.display()
        );
        put(&hook, &text);
        std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).unwrap();
        let told = told.replace("{root}", &world.root().display().to_string());
        #[expect(clippy::disallowed_methods, reason = "a test plays the user")]
        let mut shell = std::process::Command::new("/bin/sh")
            .args([
                "-c",
                &format!("{told} update-ref refs/heads/main {} & wait", intent.new),
            ])
            .current_dir(world.root())
            .env("HOME", world.home())
            .spawn()
            .unwrap();
        wait_until(|| waiting.exists());
        let lock = world.root().join(".git/refs/heads/main.lock");
        backdate(&lock);
        let locked = world.open_locked();
        assert!(
            matches!(locked.land(&intent), Err(Error::RefBusy { .. })),
            "{told}"
        );
        assert!(lock.exists(), "{told}");
        assert_eq!(world.oid("main"), intent.old, "{told}");

        let git = std::fs::read_to_string(&waiting).unwrap();
        let pid = rustix::process::Pid::from_raw(git.trim().parse().unwrap()).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
        shell.wait().unwrap();
        std::fs::remove_file(&hook).unwrap();
        assert!(lock.exists(), "a killed git leaves it");
        assert!(
            matches!(locked.land(&intent), Ok(Landing::Landed { .. })),
            "{told}"
        );
        assert!(!lock.exists(), "{told}");
        std::fs::remove_file(&waiting).unwrap();
    }
}

/// A git of an agent's stands under the user's repository and works in another, and one that reads locks
/// nothing: neither keeps a dead one's lock in place.
#[test]
fn a_git_that_lives_elsewhere_or_only_reads_keeps_no_lock() {
    let world = World::new();
    let (_, intent) = to_land(&world);
    let inside = world.root().join(".crew/workspace");
    std::fs::create_dir_all(&inside).unwrap();
    world.git_at(&inside, &["init", "-q"]);
    #[expect(clippy::disallowed_methods, reason = "a test plays the user")]
    let start = |folder: &Path, command: &str| {
        std::process::Command::new("/bin/sh")
            .args(["-c", &format!("exec 3<&0; git {command} <&3 & wait")])
            .current_dir(folder)
            .env("HOME", world.home())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap()
    };
    let head = world.head();
    let mut elsewhere = start(&inside, "update-ref --stdin");
    let mut reads = start(&world.root(), "cat-file --batch");
    for (child, asks, says) in [
        (&mut elsewhere, "start\n".to_owned(), "start: ok".to_owned()),
        (&mut reads, format!("{head}\n"), format!("{head} commit")),
    ] {
        std::io::Write::write_all(child.stdin.as_mut().unwrap(), asks.as_bytes()).unwrap();
        let line = BufReader::new(child.stdout.as_mut().unwrap()).lines().next();
        assert!(line.unwrap().unwrap().starts_with(&says));
    }
    let lock = world.root().join(".git/HEAD.lock");
    old_file(&lock);
    let locked = world.open_locked();
    locked.release_locks().unwrap();
    assert!(!lock.exists());
    assert!(matches!(locked.land(&intent), Ok(Landing::Landed { .. })));
    for mut child in [elsewhere, reads] {
        drop(child.stdin.take());
        child.wait().unwrap();
    }
}

/// A killed `git` leaves its lock; the test shows it with the real one.
#[test]
fn the_lock_of_a_git_that_was_killed_is_one() {
    let world = World::new();
    #[expect(clippy::disallowed_methods, reason = "a test plays the user")]
    let mut child = std::process::Command::new("git")
        .args(["update-ref", "--stdin"])
        .current_dir(world.root())
        .env("HOME", world.home())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let text = format!("start\nupdate refs/heads/main {0} {0}\nprepare\n", world.head());
    std::io::Write::write_all(child.stdin.as_mut().unwrap(), text.as_bytes()).unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "start: ok");
    assert_eq!(lines.next().unwrap().unwrap(), "prepare: ok");
    child.kill().unwrap();
    child.wait().unwrap();
    let lock = world.root().join(".git/refs/heads/main.lock");
    assert!(lock.exists());
    assert!(
        !world
            .try_git_at(&world.root(), &["commit", "-q", "--allow-empty", "-m", "x"])
            .status
            .success()
    );
}
