//! Saving: leftovers, rescue and removal.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;

use git::{Error, KeptKind, Refusal, Repository, Saved, Spec, Workspace};

use crate::support::{AT, World, limits, merged, put};

fn save(repository: &Repository, workspace: &Workspace) -> Saved {
    repository.save(workspace, "Leftovers", AT, &limits()).unwrap()
}

fn names(world: &World, revision: &str) -> Vec<String> {
    world
        .git(&["ls-tree", "-r", "--name-only", revision])
        .lines()
        .map(str::to_owned)
        .collect()
}

#[test]
fn modified_staged_untracked_and_deleted_are_committed_and_ignored_is_not() {
    let world = World::new();
    world.write(".gitignore", "*.log\n");
    world.commit_all("ignore");
    let repository = world.open_locked();
    let workspace = world.workspace(&repository);
    let at = workspace.path();
    put(&at.join("committed.txt"), "c\n");
    world.git_at(&at, &["add", "-A"]);
    world.git_at(&at, &["commit", "-q", "-m", "mine"]);
    put(&at.join("src/lib.txt"), "modified\n");
    put(&at.join("staged.txt"), "staged\n");
    world.git_at(&at, &["add", "staged.txt"]);
    put(&at.join("untracked/deep.txt"), "untracked\n");
    put(&at.join("noise.log"), "noise\n");
    put(&at.join(".client/state"), "excluded\n");
    std::fs::remove_file(at.join("README")).unwrap();
    std::fs::write(at.join(OsStr::from_bytes(b"odd\n\xff")), "odd\n").unwrap();
    std::os::unix::fs::symlink("src", at.join("link")).unwrap();
    std::fs::set_permissions(at.join("staged.txt"), std::fs::Permissions::from_mode(0o755)).unwrap();

    let saved = save(&repository, &workspace);
    assert_eq!(saved.imported.commits, 2);
    assert!(saved.leftovers.is_some() && saved.unsaved.is_empty() && saved.lost_head.is_none());
    let tip = saved.imported.tip.as_str();
    let expected = [
        ".gitignore",
        "committed.txt",
        "link",
        "\"odd\\n\\377\"",
        "src/lib.txt",
        "staged.txt",
        "untracked/deep.txt",
    ];
    assert_eq!(names(&world, tip), expected);
    assert!(world.git(&["ls-tree", tip, "staged.txt"]).starts_with("100755"));
    assert_eq!(world.git(&["log", "-1", "--format=%an %s", tip]), "ada Leftovers");
    // The agent goes on from there, its work clean.
    assert_eq!(world.git_at(&at, &["status", "--porcelain"]), "");
    assert_eq!(world.git_at(&at, &["rev-parse", "HEAD"]), tip);
    put(&at.join("more.txt"), "more\n");
    world.git_at(&at, &["add", "-A"]);
    world.git_at(&at, &["commit", "-q", "-m", "more"]);
    let after = save(&repository, &workspace);
    assert_eq!((after.imported.commits, after.imported.replaced), (3, None));
}

/// The naive version runs `git add -A` in the workspace: a repository inside becomes an empty link, its files
/// are nowhere.
#[test]
fn repositories_inside_are_saved_apart() {
    let world = World::new();
    let repository = world.open_locked();
    let workspace = world.workspace(&repository);
    let inside = workspace.path().join("sub/project");
    put(&inside.join("file.txt"), "committed\n");
    world.git_at(&inside, &["init", "-q"]);
    world.git_at(&inside, &["add", "-A"]);
    world.git_at(
        &inside,
        &[
            "-c",
            "user.name=x",
            "-c",
            "user.email=x@x",
            "commit",
            "-q",
            "-m",
            "inner",
        ],
    );
    put(&inside.join("file.txt"), "edited\n");
    put(&inside.join("deeper/more.txt"), "more\n");
    world.git_at(&inside.join("deeper"), &["init", "-q"]);
    put(&workspace.path().join("own.txt"), "own\n");

    let saved = save(&repository, &workspace);
    assert_eq!(
        names(&world, saved.imported.tip.as_str()),
        ["README", "own.txt", "src/lib.txt"]
    );
    assert_eq!(saved.nested.len(), 2);
    let of = |name: &str| saved.nested.iter().find(|one| one.path.ends_with(name)).unwrap();
    let outer = of("sub/project");
    assert_eq!(
        world.git(&["show", &format!("{}:file.txt", outer.kept)]),
        "edited"
    );
    assert_eq!(
        world.git(&["log", "-1", "--format=%s", &format!("{}^", outer.kept)]),
        "inner"
    );
    assert_eq!(
        world.git(&["show", &format!("{}:more.txt", of("deeper").kept)]),
        "more"
    );
    // Nothing is kept twice.
    assert_eq!(save(&repository, &workspace).nested, saved.nested);
    assert_eq!(repository.kept(Some(workspace.ticket())).unwrap().len(), 2);

    // The naive version.
    world.git_at(&workspace.path(), &["add", "-A"]);
    assert!(
        world
            .git_at(&workspace.path(), &["ls-files", "-s", "sub"])
            .starts_with("160000")
    );
}

#[test]
fn an_agent_that_rewrites_its_branch_loses_nothing() {
    let world = World::new();
    let repository = world.open_locked();
    let workspace = world.workspace(&repository);
    put(&workspace.path().join("a.txt"), "a\n");
    let first = save(&repository, &workspace);
    world.git_at(&workspace.path(), &["reset", "-q", "--hard", "HEAD~1"]);
    put(&workspace.path().join("b.txt"), "b\n");
    let second = save(&repository, &workspace);
    let replaced = second.imported.replaced.unwrap();
    assert_eq!(world.oid(&replaced), first.imported.tip);
    assert_eq!(
        names(&world, second.imported.tip.as_str()),
        ["README", "b.txt", "src/lib.txt"]
    );
}

#[test]
fn a_workspace_without_its_git_directory_is_saved_as_files() {
    let world = World::new();
    let repository = world.open_locked();
    let workspace = world.workspace(&repository);
    put(&workspace.path().join("a.txt"), "a\n");
    let first = save(&repository, &workspace);
    std::fs::remove_dir_all(workspace.path().join(".git")).unwrap();
    put(&workspace.path().join("b.txt"), "b\n");
    let second = save(&repository, &workspace);
    assert!(second.lost_head.is_some());
    assert!(
        repository
            .is_ancestor(&first.imported.tip, &second.imported.tip)
            .unwrap()
    );
    assert_eq!(
        names(&world, second.imported.tip.as_str()),
        ["README", "a.txt", "b.txt", "src/lib.txt"]
    );
    assert!(
        matches!(repository.import(&workspace, &limits()), Err(Error::Refused { refusals, .. }) if matches!(refusals[0], Refusal::Head { .. }))
    );
}

#[test]
fn removing_keeps_commits_of_other_branches_stashes_and_leftovers() {
    let world = World::new();
    let repository = world.open_locked();
    let workspace = world.workspace(&repository);
    let at = workspace.path();
    world.git_at(&at, &["checkout", "-q", "-b", "experiment"]);
    put(&at.join("experiment.txt"), "e\n");
    world.git_at(&at, &["add", "-A"]);
    world.git_at(&at, &["commit", "-q", "-m", "experiment"]);
    world.git_at(&at, &["checkout", "-q", "agent/ada-t-1"]);
    put(&at.join("README"), "stashed\n");
    world.git_at(&at, &["stash", "-q"]);
    put(&at.join("amended.txt"), "1\n");
    world.git_at(&at, &["add", "-A"]);
    world.git_at(&at, &["commit", "-q", "-m", "before amending"]);
    world.git_at(&at, &["commit", "-q", "--amend", "-m", "after amending"]);
    world.git_at(&at, &["pack-refs", "--all"]);
    put(&at.join("leftover.txt"), "left\n");

    let rescued = repository.remove(&workspace).unwrap();
    assert!(rescued.unsaved.is_empty());
    let kept: Vec<String> = rescued.kept.iter().map(|one| one.name.clone()).collect();
    let holds = |path: &str, content: &str| {
        kept.iter().any(|name| {
            let said = world.try_git_at(&world.root(), &["show", &format!("{name}:{path}")]);
            said.status.success() && String::from_utf8_lossy(&said.stdout) == content
        })
    };
    assert!(
        holds("experiment.txt", "e\n") && holds("README", "stashed\n") && holds("leftover.txt", "left\n")
    );
    let subjects = world.git(&["log", "--all", "--format=%s"]);
    assert!(subjects.contains("before amending") && subjects.contains("after amending"));
    assert!(!workspace.exists());
    assert_eq!(repository.remove(&workspace).unwrap(), git::Rescued::default());
    world.git(&["gc", "-q", "--prune=now"]);
    world.git(&["fsck", "--strict"]);
}

#[test]
fn work_that_is_saved_already_is_not_kept_again() {
    let world = World::new();
    let repository = world.open_locked();
    let workspace = world.workspace(&repository);
    put(&workspace.path().join("a.txt"), "a\n");
    let saved = save(&repository, &workspace);
    assert!(repository.remove(&workspace).unwrap().kept.is_empty());

    // The next attempt starts from the kept tip of the first.
    let tip = saved.imported.tip;
    let kept = repository.keep_attempt(workspace.ticket(), &tip).unwrap();
    assert_eq!(
        (kept.kind, kept.number, kept.name.as_str()),
        (KeptKind::Attempt, 1, "refs/crew/attempts/t-1/1")
    );
    assert_eq!(repository.keep_attempt(workspace.ticket(), &tip).unwrap(), kept);
    let proof = repository
        .prove(workspace.ticket(), &tip, Some(&world.head()))
        .unwrap();
    assert_eq!(
        repository.kept(None).unwrap(),
        std::slice::from_ref(&kept),
        "it was kept before"
    );
    repository.delete_branch(&workspace.branch(), &proof).unwrap();
    repository.delete_branch(&workspace.branch(), &proof).unwrap();
    let second = Spec {
        attempt: 2,
        start: tip.clone(),
        ..world.spec("bob", "t-1")
    };
    let workspace = repository.prepare(&second).unwrap();
    assert_eq!(
        std::fs::read_to_string(workspace.path().join("a.txt")).unwrap(),
        "a\n"
    );
    let imported = repository.import(&workspace, &limits()).unwrap();
    assert_eq!((imported.tip, imported.commits), (tip, 1));
    repository.forget(&kept).unwrap();
    assert!(repository.kept(None).unwrap().is_empty());
    repository.unpin(&workspace).unwrap();
    assert_eq!(world.git(&["for-each-ref", "refs/crew/base/t-1/2"]), "");
}

#[test]
fn where_an_attempt_began_is_not_kept_when_it_made_nothing() {
    let world = World::new();
    let repository = world.open_locked();
    let workspace = world.workspace(&repository);
    // A person takes back the commit on which the attempt was begun.
    world.git(&["commit", "-q", "--amend", "--allow-empty", "-m", "another first"]);
    assert!(repository.remove(&workspace).unwrap().kept.is_empty());
    repository
        .forget_workspace(&workspace, Some(&world.head()))
        .unwrap();
    assert_eq!(repository.kept(None).unwrap(), []);
    assert_eq!(
        world.git(&["for-each-ref", "refs/heads/agent", "refs/crew/base"]),
        ""
    );
}

#[test]
fn a_branch_that_moved_is_not_deleted() {
    let world = World::new();
    let repository = world.open_locked();
    let workspace = world.workspace(&repository);
    let seen = world.head();
    put(&workspace.path().join("a.txt"), "a\n");
    let saved = save(&repository, &workspace);
    let proof = repository.prove(workspace.ticket(), &seen, Some(&seen)).unwrap();
    match repository.delete_branch(&workspace.branch(), &proof) {
        Err(Error::RefMoved { now, .. }) => assert_eq!(now, Some(saved.imported.tip)),
        other => panic!("{other:?}"),
    }
}

#[test]
fn folders_that_forbid_deletion_are_deleted() {
    let world = World::new();
    world.write(".gitignore", "cache/\n");
    world.commit_all("ignore");
    let repository = world.open_locked();
    let workspace = world.workspace(&repository);
    put(&workspace.path().join("cache/go/mod/file"), "x");
    std::fs::set_permissions(
        workspace.path().join("cache/go/mod"),
        std::fs::Permissions::from_mode(0o555),
    )
    .unwrap();
    repository.remove(&workspace).unwrap();
    assert!(!workspace.exists());
}

/// The naive version trusts a file's size and the second of its time: what an agent writes at once is then
/// not seen.
#[test]
fn an_edit_is_seen_at_once_whatever_its_size() {
    type Edit = fn(&std::path::Path);
    let edits: [(&str, Edit); 8] = [
        ("the same size", |at| {
            put(&at.join("src/lib.txt"), "one\nTWO\nthree\n");
        }),
        ("the same size, of what it committed", |at| {
            put(&at.join("committed.txt"), "C\n");
        }),
        ("an old time", |at| {
            let path = at.join("src/lib.txt");
            let old = path.metadata().unwrap().modified().unwrap();
            put(&path, "one\nTWO\nthree\n");
            let file = std::fs::File::options().write(true).open(&path).unwrap();
            file.set_modified(old).unwrap();
        }),
        ("a mode", |at| {
            let executable = std::fs::Permissions::from_mode(0o755);
            std::fs::set_permissions(at.join("src/lib.txt"), executable).unwrap();
        }),
        ("a deletion", |at| {
            std::fs::remove_file(at.join("committed.txt")).unwrap();
        }),
        ("an empty file", |at| put(&at.join("new"), "")),
        ("a link for a file", |at| {
            std::fs::remove_file(at.join("committed.txt")).unwrap();
            std::os::unix::fs::symlink("c\n", at.join("committed.txt")).unwrap();
        }),
        ("a link for a folder", |at| {
            std::fs::rename(at.join("src"), at.join("moved")).unwrap();
            std::os::unix::fs::symlink("moved", at.join("src")).unwrap();
        }),
    ];
    for (what, edit) in edits {
        let world = World::new();
        let repository = world.open_locked();
        let workspace = world.workspace(&repository);
        let at = workspace.path();
        put(&at.join("committed.txt"), "c\n");
        world.git_at(&at, &["add", "-A"]);
        world.git_at(&at, &["commit", "-q", "-m", "mine"]);
        assert_eq!(save(&repository, &workspace).leftovers, None, "{what}");
        edit(&at);
        let saved = save(&repository, &workspace);
        assert!(saved.leftovers.is_some(), "{what} was not seen");
        assert_eq!(save(&repository, &workspace).leftovers, None, "{what}");
        assert!(repository.remove(&workspace).unwrap().kept.is_empty(), "{what}");
    }
}

#[test]
fn an_edit_in_the_moment_of_the_making_is_seen() {
    for _ in 0..5 {
        let world = World::new();
        let repository = world.open_locked();
        let workspace = world.workspace(&repository);
        put(&workspace.path().join("src/lib.txt"), "one\nTWO\nthree\n");
        assert!(save(&repository, &workspace).leftovers.is_some());
    }
}

#[test]
fn what_somebody_commits_to_a_branch_after_it_landed_is_kept_when_the_branch_goes() {
    let world = World::new();
    let repository = world.open_locked();
    let workspace = world.workspace(&repository);
    put(&workspace.path().join("a.txt"), "a\n");
    let landed = save(&repository, &workspace).imported.tip;
    world.git(&["merge", "--quiet", "--ff-only", landed.as_str()]);
    // A person goes on from the agent's branch, in the repository itself.
    let tree = format!("{landed}^{{tree}}");
    let theirs = world.git(&["commit-tree", "-p", landed.as_str(), "-m", "theirs", &tree]);
    let branch = workspace.branch();
    world.git(&["update-ref", &branch.full(), theirs.trim()]);
    repository.remove(&workspace).unwrap();
    repository
        .forget_workspace(&workspace, Some(&world.head()))
        .unwrap();
    let kept = repository.kept(None).unwrap();
    let commits: Vec<&str> = kept.iter().map(|kept| kept.commit.as_str()).collect();
    assert_eq!(commits, [theirs.trim()]);
    assert_eq!(repository.branch_tip(&branch).unwrap(), None);
}

#[test]
fn a_branch_that_has_landed_leaves_nothing_behind() {
    let world = World::new();
    let repository = world.open_locked();
    let workspace = world.workspace(&repository);
    put(&workspace.path().join("a.txt"), "a\n");
    let landed = save(&repository, &workspace).imported.tip;
    world.git(&["merge", "--quiet", "--ff-only", landed.as_str()]);
    repository.remove(&workspace).unwrap();
    repository
        .forget_workspace(&workspace, Some(&world.head()))
        .unwrap();
    assert!(repository.kept(None).unwrap().is_empty());
}

#[test]
fn a_branch_that_a_person_has_checked_out_stays() {
    let world = World::new();
    let repository = world.open_locked();
    let workspace = world.workspace(&repository);
    put(&workspace.path().join("a.txt"), "a\n");
    let tip = save(&repository, &workspace).imported.tip;
    world.git(&["merge", "--quiet", "--ff-only", tip.as_str()]);
    let branch = workspace.branch();
    let theirs = world.folder.path().join("theirs");
    world.git(&["worktree", "add", "-q", theirs.to_str().unwrap(), branch.short()]);
    repository.remove(&workspace).unwrap();
    let target = Some(world.head());
    repository.forget_workspace(&workspace, target.as_ref()).unwrap();
    let proof = repository
        .prove(workspace.ticket(), &tip, target.as_ref())
        .unwrap();
    repository.delete_branch(&branch, &proof).unwrap();
    assert_eq!(repository.branch_tip(&branch).unwrap(), Some(tip));
    assert_eq!(world.git_at(&theirs, &["status", "--porcelain"]), "");
    assert_eq!(world.git(&["for-each-ref", "refs/crew/base"]), "");

    // Once they have left it, it goes.
    world.git_at(&theirs, &["checkout", "-q", "--detach"]);
    repository.delete_branch(&branch, &proof).unwrap();
    assert_eq!(repository.branch_tip(&branch).unwrap(), None);
}

#[test]
fn a_workspace_is_forgotten_though_the_target_is_gone() {
    let world = World::new();
    let repository = world.open_locked();
    let workspace = world.workspace(&repository);
    put(&workspace.path().join("a.txt"), "a\n");
    let landed = save(&repository, &workspace).imported.tip;
    repository.remove(&workspace).unwrap();
    repository.forget_workspace(&workspace, None).unwrap();
    let kept = repository.kept(None).unwrap();
    assert_eq!(kept.len(), 1, "it is in no branch any more");
    assert_eq!((&kept[0].commit, kept[0].kind), (&landed, KeptKind::Attempt));
    assert_eq!(repository.branch_tip(&workspace.branch()).unwrap(), None);
}

/// git names them in its errors; a machine that has no room is another thing.
#[test]
fn a_file_of_an_agents_cannot_pass_for_a_full_disk() {
    let world = World::new();
    world.write("write error", "mine\n");
    world.write("a: No space left on device", "mine\n");
    world.commit_all("names");
    let repository = world.open();
    let workspace = world.workspace(&repository);
    for name in ["write error", "a: No space left on device"] {
        let file = workspace.path().join(name);
        std::fs::remove_file(&file).unwrap();
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &file,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RUSR,
            0,
        )
        .unwrap();
    }
    put(&workspace.path().join("work"), "done\n");
    let saved = save(&repository, &workspace);
    let left: Vec<_> = saved
        .unsaved
        .iter()
        .map(|one| one.path.display().to_string())
        .collect();
    assert_eq!(left, ["a: No space left on device", "write error"]);
    assert!(saved.leftovers.is_some());
}

/// Attributes under which git reads a file otherwise than it wrote it show the file as edited in every
/// checkout. The naive version commits it with each ticket.
#[test]
fn a_file_that_git_reads_otherwise_than_it_wrote_it_is_nobodys_work_until_it_is_written_to() {
    let world = World::new();
    let large = "x".repeat(300 << 10);
    for (name, content) in [("small.bin", "a\0\r\r\nb\r\r\r\n"), ("large.bin", &large)] {
        world.write(name, &format!("\0\r\r\n{content}"));
    }
    world.commit_all("binaries");
    world.write(".gitattributes", "* text eol=lf\n");
    world.git(&["add", ".gitattributes"]);
    world.git(&["commit", "-q", "-m", "attributes"]);
    let repository = world.open_locked();
    let workspace = world.workspace(&repository);
    let at = workspace.path();
    put(&at.join("work.txt"), "work\n");
    let saved = save(&repository, &workspace);
    let changed = |saved: &Saved| -> Vec<String> {
        let changes = saved.imported.changes.iter();
        changes.map(|change| change.path.display().to_string()).collect()
    };
    assert_eq!(changed(&saved), ["work.txt"]);
    // The agent's own git does not take it for one either.
    put(&at.join("more.txt"), "more\n");
    assert_eq!(world.git_at(&at, &["status", "--porcelain"]), "?? more.txt");
    world.git_at(&at, &["add", "-A"]);
    world.git_at(&at, &["commit", "-q", "-m", "more"]);
    assert_eq!(changed(&save(&repository, &workspace)), ["more.txt", "work.txt"]);
    assert!(repository.remove(&workspace).unwrap().kept.is_empty());

    let again = Spec {
        attempt: 2,
        ..world.spec("bob", "t-2")
    };
    let workspace = repository.prepare(&again).unwrap();
    put(&workspace.path().join("small.bin"), "\0\r\r\nmine\n");
    assert_eq!(changed(&save(&repository, &workspace)), ["small.bin"]);
}

/// An attempt that goes on with earlier work: its files were made from an older commit of the target than the
/// one that it is compared with.
#[test]
fn the_commands_for_broken_objects_take_nothing_back_that_has_landed_since_the_earlier_attempt_began() {
    let world = World::new();
    let repository = world.open_locked();
    let began = world.head();
    let earlier = world.workspace(&repository);
    put(&earlier.path().join("earlier.txt"), "earlier\n");
    let start = save(&repository, &earlier).imported.tip;
    repository.keep_attempt(earlier.ticket(), &start).unwrap();
    repository.remove(&earlier).unwrap();
    world.write("landed.txt", "landed\n");
    let later = world.commit_all("landed meanwhile");
    let workspace = repository
        .prepare(&Spec {
            attempt: 2,
            start: start.clone(),
            ..world.spec("ada", "t-1")
        })
        .unwrap();
    let at = workspace.path();
    assert_eq!(workspace.base(), &later);
    put(&at.join("own.txt"), "own\n");
    world.git_at(&at, &["add", "-A"]);
    world.git_at(&at, &["commit", "-q", "-m", "own"]);
    let tree = world.git_at(&at, &["rev-parse", "HEAD^{tree}"]);
    let (fan, rest) = tree.split_at(2);
    std::fs::remove_file(at.join(".git/objects").join(fan).join(rest)).unwrap();

    let why = save(&repository, &workspace).lost_head.unwrap();
    assert!(!why.contains(later.as_str()), "{why}");
    let command = format!("git reset --soft {began} && git add -A && git commit");
    assert!(why.contains(&command), "{why}");

    // The branch has the files meanwhile; an agent that follows the commands has one sound commit of them.
    world.git_at(&at, &["reset", "-q", "--soft", began.as_str()]);
    world.git_at(&at, &["add", "-A"]);
    world.git_at(&at, &["commit", "-q", "-m", "mended"]);
    let saved = save(&repository, &workspace);
    assert_eq!(saved.lost_head, None);
    let candidate = merged(&repository, &later, &saved.imported.tip);
    assert_eq!(
        names(&world, candidate.commit.as_str()),
        ["README", "earlier.txt", "landed.txt", "own.txt", "src/lib.txt"]
    );
}
