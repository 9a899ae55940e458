//! Leftovers that are no work: secrets, folders of dependencies and core dumps stay out of the branch.

use git::{NoWork, Repository, Workspace};

use crate::support::{AT, World, limits, put};

fn save(repository: &Repository, workspace: &Workspace) -> git::Saved {
    repository.save(workspace, "Leftovers", AT, &limits()).unwrap()
}

fn left(saved: &git::Saved) -> Vec<(&str, NoWork)> {
    let of = saved.left_behind.iter();
    of.map(|one| (one.path.to_str().unwrap(), one.why)).collect()
}

#[test]
fn what_is_no_work_is_left_behind_and_the_rest_is_committed_and_named() {
    let world = World::new();
    let repository = world.open_locked();
    let workspace = world.workspace(&repository);
    let at = workspace.path();
    put(&at.join("notes.txt"), "work\n");
    put(&at.join(".env"), "KEY=secret\n");
    put(&at.join(".env.example"), "KEY=\n");
    put(&at.join("tls/server.key"), "key\n");
    put(&at.join("web/node_modules/x/node_modules/y/i.js"), "y\n");
    put(&at.join("web/node_modules/x/server.key"), "x\n");
    put(&at.join("core.1234"), "dump\n");
    put(
        &at.join("out/CACHEDIR.TAG"),
        "Signature: 8a477f597d28d172789f06886806bc55\n",
    );
    put(&at.join("out/a.o"), "a\n");
    put(&at.join("other/CACHEDIR.TAG"), "not a tag\n");

    let saved = save(&repository, &workspace);
    let expected = [
        (".env", NoWork::Secret),
        ("core.1234", NoWork::CoreDump),
        ("out", NoWork::MadeAnew),
        ("tls/server.key", NoWork::Secret),
        ("web/node_modules", NoWork::MadeAnew),
    ];
    assert_eq!(left(&saved), expected);
    assert!(saved.unsaved.is_empty());
    let base = workspace.base();
    let paths = repository
        .saved_paths(base, &saved.imported.tip, "Leftovers")
        .unwrap();
    let paths: Vec<_> = paths.iter().map(|path| path.to_str().unwrap()).collect();
    assert_eq!(paths, [".env.example", "notes.txt", "other/CACHEDIR.TAG"]);
    assert!(
        repository
            .saved_paths(base, &saved.imported.tip, "Left")
            .unwrap()
            .is_empty()
    );
    // The files are where they were, and repeating it changes nothing.
    assert!(at.join(".env").exists() && at.join("web/node_modules").exists());
    let again = save(&repository, &workspace);
    assert_eq!(
        (left(&again), again.leftovers.as_ref()),
        (expected.to_vec(), None)
    );
    assert_eq!(again.imported.tip, saved.imported.tip);

    // Nothing is lost with the workspace that only it may have; what is made anew goes.
    let rescued = repository.remove(&workspace).unwrap();
    let files = world.git(&["ls-tree", "-r", "--name-only", &rescued.tip.unwrap()]);
    assert!(
        files.contains(".env\n") && files.contains("tls/server.key"),
        "{files}"
    );
    assert!(
        !files.contains("node_modules") && !files.contains("core.1234"),
        "{files}"
    );
}

#[test]
fn what_the_branch_records_is_work_whatever_its_name_and_so_are_its_neighbours() {
    let world = World::new();
    world.write("node_modules/vendored/a.js", "a\n");
    world.write(".env", "MODE=test\n");
    world.commit_all("vendored");
    let repository = world.open_locked();
    let workspace = world.workspace(&repository);
    let at = workspace.path();
    put(&at.join("node_modules/vendored/b.js"), "b\n");
    put(&at.join(".env"), "MODE=live\n");
    put(&at.join("mine.pem"), "committed by the agent\n");
    world.git_at(&at, &["add", "mine.pem"]);
    world.git_at(&at, &["commit", "-q", "-m", "mine"]);

    let saved = save(&repository, &workspace);
    assert_eq!(left(&saved), []);
    let files = world.git(&["ls-tree", "-r", "--name-only", saved.imported.tip.as_str()]);
    assert!(files.contains("node_modules/vendored/b.js") && files.contains("mine.pem"));
    let env = world.git(&["show", &format!("{}:.env", saved.imported.tip)]);
    assert_eq!(env, "MODE=live");
}
