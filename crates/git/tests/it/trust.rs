//! What users have and do: branches that are symbolic refs, checkouts without links, an agent's branch in a
//! checkout, commits that were taken off the target, and files that a strict remote refuses.

use git::{Error, Id, Intent, Landing};

use crate::support::{AT, World, limits, main_branch, merged, put};

const BAD_URL: &str = "[submodule \"lib\"]\n\tpath = lib\n\turl = https://github.com:owner/lib.git\n";

fn id() -> Id {
    Id::parse("t-1").unwrap()
}

#[test]
fn a_branch_that_is_a_symbolic_ref_lands_on_the_branch_that_it_leads_to() {
    let world = World::new();
    world.git(&["branch", "-q", "-m", "main", "trunk"]);
    world.git(&["symbolic-ref", "refs/heads/main", "refs/heads/trunk"]);
    for head in ["refs/heads/trunk", "refs/heads/main"] {
        world.git(&["symbolic-ref", "HEAD", head]);
        let repository = world.open_locked();
        let target = repository.followed(&main_branch()).unwrap();
        assert_eq!(target.short(), "trunk");
        let old = world.oid("trunk");
        world.git(&["switch", "-q", "--detach"]);
        world.write("README", head);
        let tip = world.commit_all("side");
        world.git(&["checkout", "-q", "trunk"]);
        world.git(&["symbolic-ref", "HEAD", head]);
        let new = merged(&repository, &old, &tip).commit;
        let intent = Intent { target, old, new };
        assert_eq!(
            repository.land(&intent).unwrap(),
            Landing::Landed { left: vec![] }
        );
        assert_eq!(
            world.git(&["symbolic-ref", "refs/heads/main"]),
            "refs/heads/trunk"
        );
        assert_eq!((world.oid("trunk"), world.status()), (intent.new, String::new()));
        assert_eq!(world.read("README"), head);
    }
}

#[test]
fn a_link_lands_again_and_again_in_a_checkout_without_links() {
    let world = World::new();
    world.git(&["config", "core.symlinks", "false"]);
    for place in ["one", "two", "three"] {
        let old = world.head();
        let repository = world.open_locked();
        let workspace = repository.prepare(&world.spec("ada", place)).unwrap();
        let at = workspace.path().join("link");
        std::fs::remove_file(&at).ok();
        std::os::unix::fs::symlink(place, &at).unwrap();
        let tip = repository
            .save(&workspace, "link", AT, &limits())
            .unwrap()
            .imported
            .tip;
        let new = merged(&repository, &old, &tip).commit;
        let target = main_branch();
        let intent = Intent { target, old, new };
        assert_eq!(
            repository.land(&intent).unwrap(),
            Landing::Landed { left: vec![] }
        );
        assert_eq!(
            (world.read("link"), world.status()),
            (place.to_owned(), String::new())
        );
    }
}

#[test]
fn an_agents_branch_that_a_checkout_shows_does_not_move() {
    let world = World::new();
    let repository = world.open_locked();
    let workspace = world.workspace(&repository);
    let branch = workspace.branch();
    world.git(&["switch", "-q", branch.short()]);
    put(&workspace.path().join("new.txt"), "new\n");
    let (refs, status) = (world.refs(), world.status());
    match repository.save(&workspace, "work", AT, &limits()) {
        Err(Error::BranchInUse {
            branch: shown,
            checkout,
        }) => {
            assert_eq!((shown.as_str(), checkout), (branch.short(), world.root()));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!((world.refs(), world.status()), (refs, status));
    world.git(&["switch", "-q", "main"]);
    repository.save(&workspace, "work", AT, &limits()).unwrap();
    assert_eq!(
        world.git(&["show", &format!("{}:new.txt", branch.short())]),
        "new"
    );
}

/// Whether a tip that has merged a commit is found out, once a person has taken that commit off the target.
fn is_found_out(world: &World) {
    let repository = world.open_locked();
    let base = world.head();
    world.write("secret.txt", "secret\n");
    let secret = world.commit_all("secret");
    repository.note_named(&id(), &secret).unwrap();
    let off = |tip: &git::Oid| {
        let of = |base| repository.taken_off(&main_branch(), &id(), base, tip).unwrap();
        let found = of(None);
        for from in [&base, &secret] {
            assert_eq!(of(Some(from)), found, "of work that began from {from}");
        }
        found
    };
    world.git(&["switch", "-q", "-c", "side", base.as_str()]);
    world.write("work.txt", "work\n");
    let work = world.commit_all("work");
    world.git(&["merge", "-q", "--no-edit", secret.as_str()]);
    let tip = world.head();
    world.git(&["switch", "-q", "-c", "upon", secret.as_str()]);
    world.write("more.txt", "more\n");
    let upon = world.commit_all("more");
    assert_eq!([off(&tip), off(&upon)], [None, None], "the target holds it");
    world.git(&["switch", "-q", "main"]);
    world.git(&["reset", "-q", "--hard", base.as_str()]);
    assert_eq!(
        [off(&tip), off(&upon)],
        [Some(secret.clone()), Some(secret.clone())]
    );
    assert_eq!(off(&work), None);
    repository.forget_named(&id()).unwrap();
    assert!(!world.refs().contains("refs/crew/named"));
}

#[test]
fn a_commit_that_was_taken_off_the_target_is_found_in_a_branch_that_has_merged_it() {
    is_found_out(&World::new());
}

#[test]
fn a_commit_that_was_taken_off_a_target_without_a_reflog_is_found() {
    let world = World::new();
    world.git(&["config", "core.logAllRefUpdates", "false"]);
    std::fs::remove_dir_all(world.root().join(".git/logs")).unwrap();
    is_found_out(&world);
}

#[test]
fn a_commit_that_was_taken_off_a_target_in_a_reftable_is_found() {
    let world = World::new();
    // Not every git can take the reflogs along.
    std::fs::remove_dir_all(world.root().join(".git/logs")).unwrap();
    world.git(&["refs", "migrate", "--ref-format=reftable"]);
    is_found_out(&world);
}

#[test]
fn a_file_that_a_strict_remote_refuses_is_refused_committed_or_not() {
    let world = World::new();
    let repository = world.open_locked();
    let workspace = world.workspace(&repository);
    let (at, refs) = (workspace.path(), world.refs());
    put(&at.join(".gitmodules"), BAD_URL);
    for is_committed in [false, true] {
        if is_committed {
            world.git_at(&at, &["add", "-A"]);
            world.git_at(&at, &["commit", "-q", "-m", "modules"]);
        }
        let error = repository.save(&workspace, "work", AT, &limits()).unwrap_err();
        let said = error.to_string();
        assert!(said.contains("gitmodulesUrl: disallowed submodule url"), "{said}");
        assert_eq!(world.refs(), refs, "committed: {is_committed}");
    }
    put(
        &at.join(".gitmodules"),
        &BAD_URL.replace("com:owner", "com/owner"),
    );
    world.git_at(&at, &["commit", "-q", "-a", "--amend", "-m", "modules"]);
    repository.save(&workspace, "work", AT, &limits()).unwrap();
}

#[test]
fn worktrees_that_an_agent_made_in_its_workspace_are_kept() {
    let world = World::new();
    world.write(".gitignore", ".claude/\n");
    world.commit_all("ignore");
    let repository = world.open_locked();
    let workspace = world.workspace(&repository);
    let at = workspace.path();
    for name in ["edited", "detached", "clean"] {
        let folder = format!(".claude/worktrees/{name}");
        world.git_at(&at, &["worktree", "add", "-q", "--detach", &folder]);
    }
    put(&at.join(".claude/worktrees/edited/edit.txt"), "edit\n");
    let detached = at.join(".claude/worktrees/detached");
    put(&detached.join("commit.txt"), "commit\n");
    world.git_at(&detached, &["add", "-A"]);
    world.git_at(&detached, &["commit", "-q", "-m", "on no branch"]);
    let rescued = repository.remove(&workspace).unwrap();
    assert!(!at.exists());
    let mut kept: Vec<(String, String)> = rescued
        .worktrees
        .iter()
        .map(|one| {
            let files = world.git(&["diff", "--name-only", "main", &one.kept]);
            (one.path.to_string_lossy().into_owned(), files)
        })
        .collect();
    kept.sort();
    let expected = [
        (".claude/worktrees/detached", "commit.txt"),
        (".claude/worktrees/edited", "edit.txt"),
    ];
    assert_eq!(
        kept,
        expected.map(|(path, files)| (path.to_owned(), files.to_owned()))
    );
}
