//! Removing: a workspace is deleted only when its work is kept, every kind of work one by one.

use std::path::Path;

use crate::support::{World, limits, put};

/// Work that an agent leaves in its workspace, and the file with which it must be found under a kept ref.
struct Kind {
    name: &'static str,
    leave: fn(&World, &Path),
    file: &'static str,
    says: &'static str,
}

fn commit(world: &World, at: &Path) {
    world.git_at(at, &["add", "-A"]);
    let who = ["-c", "user.name=x", "-c", "user.email=x@x"];
    world.git_at(at, &[&who[..], &["commit", "-q", "-m", "work"]].concat());
}

const KINDS: [Kind; 14] = [
    Kind {
        name: "committed and not landed",
        leave: |world, at| {
            put(&at.join("new.txt"), "committed\n");
            commit(world, at);
        },
        file: "new.txt",
        says: "committed\n",
    },
    Kind {
        name: "not committed",
        leave: |_, at| put(&at.join("README"), "edited\n"),
        file: "README",
        says: "edited\n",
    },
    Kind {
        name: "staged",
        leave: |world, at| {
            put(&at.join("new.txt"), "staged\n");
            world.git_at(at, &["add", "new.txt"]);
        },
        file: "new.txt",
        says: "staged\n",
    },
    Kind {
        name: "staged, and edited since",
        leave: |world, at| {
            put(&at.join("README"), "staged\n");
            world.git_at(at, &["add", "README"]);
            put(&at.join("README"), "edited\n");
        },
        file: "README",
        says: "staged\n",
    },
    Kind {
        name: "staged, and deleted since",
        leave: |world, at| {
            put(&at.join("deep/new.txt"), "staged\n");
            world.git_at(at, &["add", "deep/new.txt"]);
            std::fs::remove_dir_all(at.join("deep")).unwrap();
        },
        file: "deep/new.txt",
        says: "staged\n",
    },
    Kind {
        name: "staged in an index of version 4, and edited or deleted since",
        leave: |world, at| {
            let long = format!("deep/{}.txt", "long".repeat(40));
            for name in ["README", "deep/a.txt", long.as_str(), "deep/new.txt"] {
                put(&at.join(name), "staged\n");
                world.git_at(at, &["add", name]);
            }
            world.git_at(at, &["update-index", "--index-version", "4"]);
            put(&at.join("README"), "edited\n");
            std::fs::remove_dir_all(at.join("deep")).unwrap();
        },
        file: "deep/new.txt",
        says: "staged\n",
    },
    Kind {
        name: "untracked, in a folder of its own",
        leave: |_, at| put(&at.join("deep/er/new.txt"), "untracked\n"),
        file: "deep/er/new.txt",
        says: "untracked\n",
    },
    Kind {
        name: "on another branch",
        leave: |world, at| {
            world.git_at(at, &["checkout", "-q", "-b", "other"]);
            put(&at.join("new.txt"), "elsewhere\n");
            commit(world, at);
            world.git_at(at, &["checkout", "-q", "agent/ada-t-1"]);
        },
        file: "new.txt",
        says: "elsewhere\n",
    },
    Kind {
        name: "on no branch",
        leave: |world, at| {
            world.git_at(at, &["checkout", "-q", "--detach"]);
            put(&at.join("new.txt"), "detached\n");
            commit(world, at);
        },
        file: "new.txt",
        says: "detached\n",
    },
    Kind {
        name: "under a tag alone",
        leave: |world, at| {
            world.git_at(at, &["checkout", "-q", "--detach"]);
            put(&at.join("new.txt"), "tagged\n");
            commit(world, at);
            world.git_at(at, &["tag", "mine"]);
            world.git_at(at, &["checkout", "-q", "agent/ada-t-1"]);
        },
        file: "new.txt",
        says: "tagged\n",
    },
    Kind {
        name: "stashed, what was staged too",
        leave: |world, at| {
            put(&at.join("README"), "stashed\n");
            world.git_at(at, &["add", "README"]);
            world.git_at(at, &["stash", "-q"]);
        },
        file: "README",
        says: "stashed\n",
    },
    Kind {
        name: "committed in a repository inside",
        leave: |world, at| {
            let inside = at.join("inside");
            put(&inside.join("new.txt"), "nested\n");
            world.git_at(&inside, &["init", "-q"]);
            commit(world, &inside);
        },
        file: "new.txt",
        says: "nested\n",
    },
    Kind {
        name: "edited in a repository inside",
        leave: |world, at| {
            let inside = at.join("inside");
            put(&inside.join("new.txt"), "first\n");
            world.git_at(&inside, &["init", "-q"]);
            commit(world, &inside);
            put(&inside.join("new.txt"), "nested and edited\n");
        },
        file: "new.txt",
        says: "nested and edited\n",
    },
    Kind {
        name: "committed in a submodule",
        leave: |world, at| {
            let other = world.home().join("other");
            put(&other.join("theirs.txt"), "theirs\n");
            world.git_at(&other, &["init", "-q"]);
            commit(world, &other);
            let (from, allow) = (other.to_str().unwrap(), "protocol.file.allow=always");
            world.git_at(at, &["-c", allow, "submodule", "--quiet", "add", from, "module"]);
            commit(world, at);
            let module = at.join("module");
            put(&module.join("new.txt"), "in the submodule\n");
            commit(world, &module);
        },
        file: "new.txt",
        says: "in the submodule\n",
    },
];

/// Whether a kept ref has the file with this content.
fn is_kept(world: &World, file: &str, says: &str) -> bool {
    let refs = world.git(&[
        "for-each-ref",
        "--format=%(refname)",
        "refs/crew/rescue/",
        "refs/crew/attempts/",
    ]);
    refs.lines().any(|name| {
        let said = world.try_git_at(&world.root(), &["show", &format!("{name}:{file}")]);
        said.status.success() && String::from_utf8_lossy(&said.stdout) == says
    })
}

#[test]
fn a_workspace_goes_only_when_every_kind_of_work_in_it_is_kept() {
    for kind in KINDS {
        let world = World::new();
        let repository = world.open_locked();
        let workspace = world.workspace(&repository);
        (kind.leave)(&world, &workspace.path());
        assert!(!is_kept(&world, kind.file, kind.says), "{}", kind.name);

        let rescued = repository.remove(&workspace).unwrap();
        assert!(rescued.unsaved.is_empty(), "{}: {:?}", kind.name, rescued.unsaved);
        assert!(!workspace.exists(), "{}", kind.name);
        assert!(is_kept(&world, kind.file, kind.says), "{}", kind.name);
        world.git(&["gc", "-q", "--prune=now"]);
        assert!(is_kept(&world, kind.file, kind.says), "{}, after gc", kind.name);
        world.git(&["fsck", "--strict"]);
    }
}

#[test]
fn what_the_project_ignores_goes_with_the_workspace() {
    let world = World::new();
    world.write(".gitignore", "*.log\n");
    world.commit_all("ignore logs");
    let repository = world.open_locked();
    let workspace = world.workspace(&repository);
    put(&workspace.path().join("run.log"), "noise\n");
    assert_eq!(repository.remove(&workspace).unwrap(), git::Rescued::default());
    assert!(!workspace.exists());
}

/// Clones a repository into a folder of the workspace.
fn hide(world: &World, at: &Path, args: &[&str], from: &Path, folder: &str) -> std::path::PathBuf {
    let from = format!("file://{}", from.display());
    let inside = at.join(folder);
    let clone = [&["clone", "-q"], args, &[&from, inside.to_str().unwrap()]].concat();
    world.git_at(at, &clone);
    inside
}

/// A repository of somebody else's, with three commits and a tag at the second.
fn dependency(world: &World) -> std::path::PathBuf {
    let other = world.home().join("other");
    put(&other.join("theirs.txt"), "one\n");
    world.git_at(&other, &["init", "-q", "-b", "main"]);
    commit(world, &other);
    put(&other.join("theirs.txt"), "two\n");
    commit(world, &other);
    world.git_at(&other, &["tag", "v1"]);
    put(&other.join("theirs.txt"), "three\n");
    commit(world, &other);
    other
}

/// The naive version looks for repositories where git does, which names none in an ignored folder.
#[test]
fn what_was_committed_in_a_clone_below_an_ignored_folder_is_kept_and_no_clean_clone_is() {
    let world = World::new();
    world.write(".gitignore", ".claude/\n.deps/\n");
    world.commit_all("ignore");
    let other = dependency(&world);
    let repository = world.open_locked();
    let workspace = world.workspace(&repository);
    let at = workspace.path();

    // Clones of dependencies, as package managers make them.
    let clean = hide(&world, &at, &[], &other, ".deps/clean");
    world.git_at(&clean, &["checkout", "-q", "--detach", "HEAD~1"]);
    hide(&world, &at, &["--depth=1"], &other, ".deps/shallow");
    hide(&world, &at, &["--depth=1", "--branch=v1"], &other, ".deps/tagged");
    let fetched = at.join(".deps/fetched");
    std::fs::create_dir_all(&fetched).unwrap();
    world.git_at(&fetched, &["init", "-q"]);
    let from = format!("file://{}", other.display());
    world.git_at(&fetched, &["fetch", "-q", "--depth=1", &from, "main"]);
    world.git_at(&fetched, &["checkout", "-q", "FETCH_HEAD"]);
    // A clone of the workspace that nobody worked in.
    hide(&world, &at, &[], &at, ".claude/idle");

    let mine = hide(&world, &at, &[], &at, ".claude/deep/er/mine");
    put(&mine.join("new.txt"), "in a clone\n");
    commit(&world, &mine);
    let patched = hide(&world, &at, &[], &other, ".deps/patched");
    world.git_at(&patched, &["checkout", "-q", "-b", "side"]);
    put(&patched.join("patch.txt"), "on a side branch\n");
    commit(&world, &patched);
    world.git_at(&patched, &["checkout", "-q", "main"]);

    let rescued = repository.remove(&workspace).unwrap();
    assert!(!workspace.exists());
    assert_eq!(rescued.unsaved, []);
    let hidden: Vec<_> = rescued
        .hidden
        .iter()
        .map(|one| one.path.to_str().unwrap())
        .collect();
    assert_eq!(hidden, [".deps/patched", ".claude/deep/er/mine"]);
    assert!(is_kept(&world, "new.txt", "in a clone\n"));
    assert!(is_kept(&world, "patch.txt", "on a side branch\n"));
    assert_eq!(repository.kept(None).unwrap().len(), 2);
}

#[test]
fn commits_on_a_shallow_history_keep_the_workspace() {
    let world = World::new();
    world.write(".gitignore", ".deps/\n");
    world.commit_all("ignore");
    let other = dependency(&world);
    let repository = world.open_locked();
    let workspace = world.workspace(&repository);
    let inside = hide(&world, &workspace.path(), &["--depth=1"], &other, ".deps/shallow");
    put(&inside.join("new.txt"), "mine\n");
    commit(&world, &inside);
    match repository.remove(&workspace) {
        Err(git::Error::Unsaved { left, .. }) => assert_eq!(left[0].path.to_str(), Some(".deps/shallow")),
        other => panic!("{other:?}"),
    }
    assert!(inside.join("new.txt").exists());
}

#[test]
fn what_was_staged_and_edited_since_is_kept_when_the_rest_is_committed() {
    let world = World::new();
    let repository = world.open_locked();
    let workspace = world.workspace(&repository);
    let file = workspace.path().join("new.txt");
    put(&file, "staged\n");
    world.git_at(&workspace.path(), &["add", "new.txt"]);
    put(&file, "edited\n");
    let save = || {
        repository
            .save(&workspace, "leftovers", git::Time(7), &limits())
            .unwrap()
    };
    let tip = save().imported.tip;
    assert_eq!(world.git(&["show", &format!("{tip}:new.txt")]), "edited");
    assert!(is_kept(&world, "new.txt", "staged\n"));
    let kept = repository.kept(None).unwrap();
    save();
    repository.remove(&workspace).unwrap();
    assert_eq!(repository.kept(None).unwrap(), kept, "it was kept twice");
}

#[test]
fn an_index_that_names_what_is_not_there_or_may_not_be_keeps_nothing_back() {
    let world = World::new();
    let repository = world.open_locked();
    let workspace = world.workspace(&repository);
    let at = workspace.path();
    let nowhere = "100644,1111111111111111111111111111111111111111,gone.txt";
    world.git_at(&at, &["update-index", "--add", "--cacheinfo", nowhere]);
    put(&at.join("meant.txt"), "meant\n");
    world.git_at(&at, &["add", "-N", "meant.txt"]);
    std::fs::remove_file(at.join("meant.txt")).unwrap();
    let rescued = repository.remove(&workspace).unwrap();
    assert_eq!(rescued, git::Rescued::default());

    let workspace = world.workspace(&repository);
    put(&workspace.path().join(".git/index"), "DIRC and no more");
    assert_eq!(repository.remove(&workspace).unwrap(), git::Rescued::default());
}
