//! Files that are unchanged for an agent's own git, and not for crew's: sparse checkouts, hidden edits,
//! filters and line endings of the workspace's own, and ignore rules that are in no commit.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use git::{Error, Refusal, Repository, Saved, Workspace};

use crate::support::{AT, World, limits, put};

fn save(repository: &Repository, workspace: &Workspace) -> Saved {
    repository.save(workspace, "Leftovers", AT, &limits()).unwrap()
}

fn changed(saved: &Saved) -> Vec<String> {
    let changes = saved.imported.changes.iter();
    changes.map(|change| change.path.display().to_string()).collect()
}

fn commit(world: &World, at: &Path) {
    world.git_at(at, &["add", "-A"]);
    world.git_at(at, &["commit", "-q", "-m", "mine"]);
    assert_eq!(world.git_at(at, &["status", "--porcelain"]), "");
}

/// Expects that all is as the agent committed it, however often it is saved, and that nothing is left over
/// when the workspace goes.
fn stays_as_committed(world: &World, repository: &Repository, workspace: &Workspace, expected: &[&str]) {
    let at = workspace.path();
    let head = world.git_at(&at, &["rev-parse", "HEAD"]);
    for _ in 0..2 {
        let saved = save(repository, workspace);
        assert_eq!(saved.leftovers, None);
        assert_eq!(changed(&saved), expected);
        assert_eq!(saved.imported.tip.as_str(), head);
    }
    assert_eq!(repository.remove(workspace).unwrap().kept, []);
}

fn with_folders() -> World {
    let world = World::new();
    world.write("docs/guide.md", "guide\n");
    world.write("src/deep/more.txt", "more\n");
    world.commit_all("folders");
    world
}

/// Ways to make a sparse checkout of a workspace in which `src` is not there.
const SPARSE: [&[&str]; 3] = [
    &["sparse-checkout", "set", "docs"],
    &["sparse-checkout", "set", "--sparse-index", "docs"],
    &["sparse-checkout", "set", "--no-cone", "/*", "!/src/"],
];

/// The naive version looks at the files alone: all that is outside of the sparse checkout is deleted.
#[test]
fn files_outside_of_an_agents_sparse_checkout_stay() {
    for sparse in SPARSE {
        let world = with_folders();
        let repository = world.open_locked();
        let workspace = world.workspace(&repository);
        let at = workspace.path();
        world.git_at(&at, sparse);
        assert!(!at.join("src").exists());
        put(&at.join("README"), "better\n");
        commit(&world, &at);
        stays_as_committed(&world, &repository, &workspace, &["README"]);
    }
}

#[test]
fn an_agent_goes_on_in_its_sparse_checkout_after_its_leftovers_were_saved() {
    for sparse in SPARSE {
        let world = with_folders();
        let repository = world.open_locked();
        let workspace = world.workspace(&repository);
        let at = workspace.path();
        world.git_at(&at, sparse);
        put(&at.join("README"), "better\n");
        put(&at.join("docs/new.md"), "new\n");
        let saved = save(&repository, &workspace);
        assert_eq!(changed(&saved), ["README", "docs/new.md"], "{sparse:?}");
        assert_eq!(world.git_at(&at, &["status", "--porcelain"]), "");
        put(&at.join("docs/new.md"), "newer\n");
        world.git_at(&at, &["commit", "-q", "-a", "-m", "newer"]);
        // A file that is there is work, even outside.
        put(&at.join("src/lib.txt"), "edited\n");
        let saved = save(&repository, &workspace);
        assert_eq!(
            changed(&saved),
            ["README", "docs/new.md", "src/lib.txt"],
            "{sparse:?}"
        );
        assert_eq!(save(&repository, &workspace).leftovers, None);
        assert_eq!(repository.remove(&workspace).unwrap().kept, []);
    }
}

#[test]
fn a_soft_reset_in_a_sparse_checkout_deletes_nothing() {
    let world = with_folders();
    let repository = world.open_locked();
    let workspace = world.workspace(&repository);
    let at = workspace.path();
    put(&at.join("src/lib.txt"), "mine\n");
    commit(&world, &at);
    world.git_at(&at, &["sparse-checkout", "set", "docs"]);
    world.git_at(&at, &["reset", "-q", "--soft", "HEAD~1"]);
    put(&at.join("README"), "better\n");
    let saved = save(&repository, &workspace);
    assert_eq!(changed(&saved), ["README"]);
    let kept = repository.kept(Some(workspace.ticket())).unwrap();
    let holds = |content: &str| {
        kept.iter()
            .any(|one| world.git(&["show", &format!("{}:src/lib.txt", one.name)]) == content)
    };
    assert!(holds("mine"), "{kept:?}");
}

/// A filter of the agent's own: the content is in git in capitals, and in small letters in the file.
fn set_up_filter(world: &World, at: &Path) {
    world.git_at(at, &["config", "filter.vault.clean", "tr a-z A-Z"]);
    world.git_at(at, &["config", "filter.vault.smudge", "tr A-Z a-z"]);
    world.git_at(at, &["config", "filter.vault.required", "true"]);
    put(&at.join(".gitattributes"), "secrets/** filter=vault\n");
    put(&at.join("secrets/key"), "secret\n");
}

/// The naive version commits the files as they are: in clear.
#[test]
fn content_that_went_through_a_filter_of_the_agents_stays_as_it_was_committed() {
    let world = World::new();
    let repository = world.open_locked();
    let workspace = world.workspace(&repository);
    let at = workspace.path();
    set_up_filter(&world, &at);
    commit(&world, &at);
    let secret = |tip: &git::Oid| world.git(&["show", &format!("{tip}:secrets/key")]);
    let saved = save(&repository, &workspace);
    assert_eq!(
        (saved.leftovers, secret(&saved.imported.tip).as_str()),
        (None, "SECRET")
    );
    // The agent's index shows it after other files were saved, too.
    for content in ["one\n", "two\n"] {
        put(&at.join("other.txt"), content);
        for _ in 0..2 {
            let tip = save(&repository, &workspace).imported.tip;
            assert_eq!(secret(&tip), "SECRET");
        }
    }
    assert_eq!(world.git_at(&at, &["status", "--porcelain"]), "");
    let expected = [".gitattributes", "other.txt", "secrets/key"];
    stays_as_committed(&world, &repository, &workspace, &expected);
}

/// The naive version commits the files as they are: in clear.
#[test]
fn content_for_a_filter_of_the_agents_is_refused_where_the_agent_did_not_commit_it() {
    for is_committed in [false, true] {
        let world = World::new();
        let repository = world.open_locked();
        let workspace = world.workspace(&repository);
        let at = workspace.path();
        set_up_filter(&world, &at);
        if is_committed {
            commit(&world, &at);
            put(&at.join("secrets/key"), "another secret\n");
        }
        match repository.save(&workspace, "Leftovers", AT, &limits()) {
            Err(Error::Refused { refusals, .. }) => {
                let expected = Refusal::AgentsFilter {
                    path: "secrets/key".into(),
                    filter: "vault".to_owned(),
                };
                assert_eq!(refusals, [expected]);
            }
            other => panic!("{other:?}"),
        }
        commit(&world, &at);
        save(&repository, &workspace);
    }
}

#[test]
fn line_endings_links_and_modes_of_the_workspaces_own_change_no_file_that_nobody_edited() {
    type Change = fn(&World, &Path);
    let checked_out_anew = |world: &World, at: &Path| {
        world.git_at(at, &["rm", "-q", "--cached", "-r", "."]);
        world.git_at(at, &["reset", "-q", "--hard"]);
    };
    let changes: [(&str, Change); 4] = [
        ("carriage returns", |world, at| {
            world.git_at(at, &["config", "core.autocrlf", "true"]);
        }),
        ("attributes", |_, at| {
            put(&at.join(".git/info/attributes"), "* text eol=crlf\n");
        }),
        ("links", |world, at| {
            world.git_at(at, &["config", "core.symlinks", "false"]);
        }),
        ("modes", |world, at| {
            world.git_at(at, &["config", "core.fileMode", "false"]);
            std::fs::set_permissions(at.join("README"), std::fs::Permissions::from_mode(0o755)).unwrap();
        }),
    ];
    for (what, change) in changes {
        let world = World::new();
        std::os::unix::fs::symlink("README", world.root().join("link")).unwrap();
        world.commit_all("link");
        let repository = world.open_locked();
        let workspace = world.workspace(&repository);
        let at = workspace.path();
        change(&world, &at);
        if what != "modes" {
            checked_out_anew(&world, &at);
        }
        put(&at.join("work.txt"), "work\n");
        commit(&world, &at);
        let saved = save(&repository, &workspace);
        assert_eq!(
            (saved.leftovers.as_ref(), changed(&saved)),
            (None, vec!["work.txt".to_owned()]),
            "{what}"
        );
        put(&at.join("src/lib.txt"), "edited\n");
        assert_eq!(
            changed(&save(&repository, &workspace)),
            ["src/lib.txt", "work.txt"],
            "{what}"
        );
    }
}

/// The naive version knows the rules of the user's only.
#[test]
fn files_that_ignore_rules_of_the_workspace_hide_are_not_saved() {
    let world = World::new();
    put(&world.root().join(".git/info/exclude"), "*.users\n");
    let repository = world.open_locked();
    let workspace = world.workspace(&repository);
    let at = workspace.path();
    let exclude = at.join(".git/info/exclude");
    let before = std::fs::read_to_string(&exclude).unwrap();
    put(&exclude, &format!("{before}local.env\nscratch/\n!mine.users\n"));
    put(&at.join(".git/patterns"), "*.secret\n");
    let patterns = at.join(".git/patterns");
    world.git_at(&at, &["config", "core.excludesFile", patterns.to_str().unwrap()]);
    for hidden in ["local.env", "scratch/x", "my.secret", "mine.users"] {
        put(&at.join(hidden), "token\n");
    }
    put(&at.join("work.txt"), "work\n");
    assert_eq!(changed(&save(&repository, &workspace)), ["work.txt"]);
    assert_eq!(save(&repository, &workspace).leftovers, None);

    // A file outside of the workspace is none of crew's.
    let outside = world.folder.path().join("patterns");
    put(&outside, "more.txt\n");
    std::fs::remove_file(&patterns).unwrap();
    std::os::unix::fs::symlink(&outside, &patterns).unwrap();
    put(&at.join("more.txt"), "more\n");
    std::fs::remove_file(at.join("my.secret")).unwrap();
    assert_eq!(changed(&save(&repository, &workspace)), ["more.txt", "work.txt"]);
}

#[test]
fn files_of_an_agents_sparse_checkout_stay_with_a_split_index() {
    let world = with_folders();
    let repository = world.open_locked();
    let workspace = world.workspace(&repository);
    let at = workspace.path();
    world.git_at(&at, &["sparse-checkout", "set", "docs"]);
    world.git_at(&at, &["update-index", "--split-index"]);
    put(&at.join("README"), "better\n");
    commit(&world, &at);
    stays_as_committed(&world, &repository, &workspace, &["README"]);
}
