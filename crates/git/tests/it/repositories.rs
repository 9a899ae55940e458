//! Repositories in which crew works, and its refusals of the others.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use git::{Branch, Error, Git, Identity, Repository, Surroundings, Time};

use crate::support::{World, main_branch, path_variable};

fn refused(world: &World, folder: &Path) -> Error {
    let error = Repository::open(&world.crews_git(), folder).unwrap_err();
    assert!(error.hint().is_some(), "{error}");
    error
}

#[test]
fn it_is_found_from_a_subfolder_and_from_a_linked_worktree() {
    let world = World::new();
    let from_root = world.open();
    assert_eq!(from_root.root(), world.root());
    let from_folder = Repository::open(&world.crews_git(), &world.root().join("src")).unwrap();
    assert_eq!(from_folder.root(), world.root());
    assert_eq!(from_folder.folder_name(), from_root.folder_name());
    let linked = world.folder.path().join("linked\ntree");
    world.git(&["worktree", "add", "-q", "-b", "side", linked.to_str().unwrap()]);
    let from_linked = Repository::open(&world.crews_git(), &linked).unwrap();
    assert_eq!(from_linked.root(), world.root());
    assert_eq!(from_linked.here(), linked);
    assert_eq!(from_linked.lock_path(), from_root.lock_path());
    assert_eq!(from_linked.current_branch().unwrap().unwrap().short(), "side");
    assert_eq!(from_root.require_branch().unwrap(), main_branch());
}

/// Refs are read without git where their files are plain, and must never say something else than git.
#[test]
fn branches_are_what_git_says_they_are_however_they_are_stored() {
    let world = World::new();
    let repository = world.open();
    let first = world.head();
    world.git(&["branch", "packed"]);
    world.git(&["branch", "both"]);
    world.git(&["branch", "deep/er"]);
    world.git(&["pack-refs", "--all"]);
    world.write("more", "more\n");
    let second = world.commit_all("more");
    for name in ["both", "loose", "ends-in-packed"] {
        world.git(&["branch", "-f", name]);
    }
    world.git(&["symbolic-ref", "refs/heads/alias", "refs/heads/packed"]);
    let tip = |name: &str| repository.branch_tip(&Branch::parse(name).unwrap()).unwrap();
    for (name, commit) in [
        ("main", &second),
        ("packed", &first),
        ("both", &second),
        ("loose", &second),
        ("ends-in-packed", &second),
        ("deep/er", &first),
        ("alias", &first),
    ] {
        assert_eq!(tip(name).as_ref(), Some(commit), "{name}");
        assert_eq!(world.oid(&format!("refs/heads/{name}")), *commit, "{name}");
    }
    for name in ["er", "deep", "packed/more", "none"] {
        assert_eq!(tip(name), None, "{name}");
    }
    world.git(&["branch", "-D", "packed", "both"]);
    assert_eq!((tip("packed"), tip("both")), (None, None));
    std::fs::write(world.root().join(".git/refs/heads/loose"), "").unwrap();
    assert_eq!(tip("loose"), None, "git takes a broken ref for none");
}

#[test]
fn one_that_crew_cannot_work_in_is_named() {
    let world = World::new();
    let elsewhere = world.folder.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    assert!(matches!(
        refused(&world, &elsewhere),
        Error::NotARepository { .. }
    ));
    assert!(matches!(
        refused(&world, &elsewhere.join("missing")),
        Error::NotARepository { .. }
    ));

    world.git(&["init", "-q", "--bare", "../bare"]);
    assert!(matches!(
        refused(&world, &world.folder.path().join("bare")),
        Error::Bare { .. }
    ));

    world.git(&["init", "-q", "../empty"]);
    assert!(matches!(
        refused(&world, &world.folder.path().join("empty")),
        Error::Empty { .. }
    ));

    world.commit_all("second");
    let url = format!("file://{}", world.root().display());
    world.git(&["clone", "-q", "--depth=1", &url, "../shallow"]);
    assert!(matches!(
        refused(&world, &world.folder.path().join("shallow")),
        Error::Shallow { .. }
    ));

    world.git(&["config", "uploadpack.allowFilter", "true"]);
    world.git(&[
        "clone",
        "-q",
        "--filter=blob:none",
        "--no-checkout",
        &url,
        "../partial",
    ]);
    assert!(matches!(
        refused(&world, &world.folder.path().join("partial")),
        Error::PartialClone { .. }
    ));
}

#[test]
fn an_agents_workspace_is_no_repository_of_the_users() {
    let world = World::new();
    let workspace = world.workspace(&world.open_locked());
    assert!(matches!(
        refused(&world, &workspace.path()),
        Error::InsideWorkspace { .. }
    ));
}

#[test]
fn a_detached_head_matters_only_where_a_branch_is_needed() {
    let world = World::new();
    world.git(&["checkout", "-q", "--detach"]);
    let repository = world.open();
    assert_eq!(repository.current_branch().unwrap(), None);
    assert!(matches!(repository.require_branch(), Err(Error::Detached { .. })));
    assert_eq!(repository.target(&main_branch()).unwrap(), world.head());
}

#[test]
fn a_missing_target_is_named() {
    let world = World::new();
    let error = world.open().target(&Branch::parse("trunk").unwrap()).unwrap_err();
    assert!(matches!(&error, Error::TargetMissing { branch, .. } if branch == "trunk"));
    assert!(error.to_string().contains("trunk") && error.hint().is_some());
}

#[test]
fn revisions_that_are_options_or_garbage_are_only_names() {
    let world = World::new();
    let repository = world.open();
    assert_eq!(repository.resolve("HEAD").unwrap(), world.head());
    for name in [
        "--help",
        "-x",
        "--output=/nowhere",
        "",
        "nope",
        "HEAD:README",
        "a\nb",
    ] {
        assert!(
            matches!(repository.resolve(name), Err(Error::NoSuchCommit { .. })),
            "{name:?}"
        );
    }
}

fn with_fake_git(script: &str) -> Result<Git, Error> {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("git");
    std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    Git::find(Surroundings {
        path: folder.path().into(),
        ..Surroundings::default()
    })
}

#[test]
fn a_git_that_is_too_old_or_strange_or_missing_is_refused() {
    let error = with_fake_git("echo git version 2.40.1").unwrap_err();
    assert!(matches!(error, Error::GitTooOld { .. }), "{error}");
    assert!(
        error.to_string().contains("git too old") && error.to_string().contains("2.41"),
        "{error}"
    );
    assert!(matches!(
        with_fake_git("echo hello"),
        Err(Error::GitVersion { .. })
    ));
    assert!(matches!(with_fake_git("exit 3"), Err(Error::GitVersion { .. })));
    let nowhere = Surroundings {
        path: "/nonexistent:relative".into(),
        ..Surroundings::default()
    };
    assert!(matches!(Git::find(nowhere), Err(Error::GitMissing)));
    assert!(with_fake_git("echo git version 2.41.0").is_ok());
}

/// The naive version waits for the end of the output, which a grandchild holds open, or for a child that
/// never ends.
#[test]
fn a_call_that_does_not_end_is_ended_and_a_held_pipe_hangs_nothing() {
    let git = with_fake_git("sleep 600 & echo git version 2.45.0").unwrap();
    assert_eq!(git.version().to_string(), "2.45.0");

    let world = World::new();
    let slow = world.folder.path().join("bin");
    std::fs::create_dir(&slow).unwrap();
    let script =
        "#!/bin/sh\ncase \"$*\" in version|*' version') echo git version 2.45.0;; *) sleep 600;; esac\n";
    std::fs::write(slow.join("git"), script).unwrap();
    std::fs::set_permissions(slow.join("git"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut path = slow.into_os_string();
    path.push(":");
    path.push(path_variable());
    let git = Git::find(Surroundings {
        path,
        ..Surroundings::default()
    })
    .unwrap();
    let error = Repository::open(&git.with_deadline(Duration::from_millis(300)), &world.root()).unwrap_err();
    assert!(matches!(error, Error::Deadline { .. }), "{error}");
}

#[test]
fn excluding_is_done_once_and_keeps_what_was_there() {
    let world = World::new();
    let exclude = world.root().join(".git/info/exclude");
    std::fs::write(&exclude, "mine").unwrap();
    let repository = world.open();
    assert!(repository.exclude(&["/.crew/", "/.client/"]).unwrap());
    assert!(!repository.exclude(&["/.crew/"]).unwrap());
    assert_eq!(
        std::fs::read_to_string(exclude).unwrap(),
        "mine\n/.crew/\n/.client/\n"
    );
    world.write(".crew/journal.db", "x");
    assert_eq!(world.status(), "");
}

#[test]
fn one_that_crew_makes_holds_the_folder_and_draws_its_history() {
    let world = World::bare_ground();
    let home = world.home();
    std::fs::create_dir(home.join("hooks")).unwrap();
    let hook = home.join("hooks/pre-commit");
    std::fs::write(&hook, "#!/bin/sh\nexit 1\n").unwrap();
    std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).unwrap();
    let hooks = home.join("hooks").display().to_string();
    let config =
        format!("[commit]\ngpgSign = true\n[core]\nhooksPath = {hooks}\n[init]\ntemplateDir = {hooks}\n");
    std::fs::write(home.join(".gitconfig"), config).unwrap();
    world.write("a/b.txt", "text\n");
    let by = Identity::new("Somebody", "s@example.org");
    let made = Repository::create(
        &world.crews_git(),
        &world.root(),
        &main_branch(),
        &by,
        Time(1),
        "the first",
    );
    let tip = made.unwrap().target(&main_branch()).unwrap();
    let repository = world.open();
    assert_eq!(
        (world.git(&["ls-files"]), world.status()),
        ("a/b.txt".to_owned(), String::new())
    );
    assert_eq!(world.git(&["log", "--format=%an %ct %s"]), "Somebody 1 the first");
    assert!(!world.root().join(".git/pre-commit").exists());
    let graph = repository.graph(&tip, 10).unwrap();
    assert_eq!(graph, [format!("* {} the first", &tip.as_str()[..8])]);
}

#[test]
fn a_linked_worktree_makes_nobody_elses_repository_ones_own() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("not proved here: only root can give a folder to somebody else");
        return;
    }
    let world = World::new();
    let linked = world.folder.path().join("linked");
    world.git(&["worktree", "add", "-q", linked.to_str().unwrap()]);
    let open = |path: &Path| Repository::open(&world.crews_git(), path);
    open(&linked).unwrap();
    // git itself looks at the worktree and at its own git directory only.
    std::os::unix::fs::chown(world.root(), Some(63_219), None).unwrap();
    world.git_at(&linked, &["status"]);
    let root = world.root().canonicalize().unwrap();
    match open(&linked) {
        Err(Error::ForeignOwner { path }) => assert_eq!(path, root),
        other => panic!("{other:?}"),
    }
    let trust = [
        "config",
        "--global",
        "--add",
        "safe.directory",
        root.to_str().unwrap(),
    ];
    world.git_at(&linked, &trust);
    open(&linked).unwrap();
}
