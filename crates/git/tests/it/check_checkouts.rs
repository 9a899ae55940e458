//! Check checkouts: clean ones, whatever a check left there.

use std::path::Path;

use git::{Error, Id, Made, Stay};

use crate::support::{CLEAN, NOTHING_MADE, World, merged, put};

#[test]
fn tracked_files_are_exact_kept_folders_stay_and_the_rest_goes() {
    let world = World::new();
    world.write(".gitignore", "target/\n");
    let first = world.commit_all("first");
    let repository = world.open_locked();
    let folder = world.folder.path().join("check");
    let checkout = repository.check_checkout(&folder, &first, CLEAN).unwrap();
    assert!(checkout.is_fresh());
    let tree = checkout.path().to_owned();
    assert_eq!(world.git_at(&tree, &["rev-parse", "HEAD"]), first.as_str());
    assert_eq!(world.git_at(&tree, &["status", "--porcelain"]), "");
    assert!(matches!(
        repository.check_checkout(&folder, &first, CLEAN),
        Err(Error::CheckBusy { .. })
    ));
    drop(checkout);

    // Things that a check may leave behind, kindly or not.
    put(&tree.join("target/cache"), "cache");
    put(&tree.join("report.txt"), "rubbish");
    put(&tree.join("nested/.git/HEAD"), "ref: refs/heads/x\n");
    put(&tree.join("README"), "forged\n");
    std::fs::remove_file(tree.join("src/lib.txt")).unwrap();
    let proof = world.folder.path().join("ran");
    put(
        &tree.join(".git/config"),
        &format!(
            "[core]\n\tfsmonitor = touch '{}'\n\thooksPath = hooks\n",
            proof.display()
        ),
    );
    world.write("README", "second\n");
    world.write("report.txt", "tracked now\n");
    let second = world.commit_all("second");
    let stay = Stay::Named {
        files: NOTHING_MADE,
        folders: &["target".to_owned()],
    };
    let checkout = repository.check_checkout(&folder, &second, stay).unwrap();
    assert!(!checkout.is_fresh());
    assert!(!proof.exists());
    assert_eq!(std::fs::read_to_string(tree.join("README")).unwrap(), "second\n");
    assert_eq!(
        std::fs::read_to_string(tree.join("report.txt")).unwrap(),
        "tracked now\n"
    );
    assert_eq!(
        std::fs::read_to_string(tree.join("src/lib.txt")).unwrap(),
        "one\ntwo\nthree\n"
    );
    assert_eq!(
        std::fs::read_to_string(tree.join("target/cache")).unwrap(),
        "cache"
    );
    assert!(!tree.join("nested").exists());
    assert_eq!(world.git_at(&tree, &["rev-parse", "HEAD"]), second.as_str());
    assert_eq!(world.git_at(&tree, &["status", "--porcelain"]), "");
}

#[test]
fn attributes_count_and_a_change_of_them_alone_too() {
    let world = World::new();
    world.write("run.bat", "echo\n");
    let first = world.commit_all("first");
    world.write(".gitattributes", "*.bat text eol=crlf\n");
    let second = world.commit_all("second");
    let repository = world.open();
    let folder = world.folder.path().join("check");
    let read = |commit| {
        let checkout = repository.check_checkout(&folder, commit, CLEAN).unwrap();
        std::fs::read_to_string(checkout.path().join("run.bat")).unwrap()
    };
    assert_eq!(read(&first), "echo\n");
    assert_eq!(read(&second), "echo\r\n");
    assert_eq!(read(&first), "echo\n");
    // A check leaves attributes behind, and the next commit changes the file.
    put(&folder.join("tree/.gitattributes"), "*.bat text eol=crlf\n");
    world.git(&["rm", "-q", ".gitattributes"]);
    world.write("run.bat", "echo two\n");
    let third = world.commit_all("third");
    assert_eq!(read(&third), "echo two\n");
}

#[test]
fn a_broken_one_is_made_anew() {
    let world = World::new();
    let head = world.head();
    let repository = world.open();
    let folder = world.folder.path().join("check");
    drop(repository.check_checkout(&folder, &head, CLEAN).unwrap());
    put(&folder.join("index"), "garbage");
    put(&folder.join("index.lock"), "");
    let checkout = repository.check_checkout(&folder, &head, CLEAN).unwrap();
    assert!(checkout.is_fresh());
    assert_eq!(
        std::fs::read_to_string(checkout.path().join("README")).unwrap(),
        "hello\n"
    );
}

/// The user's own sparse checkout and files say nothing about it.
#[test]
fn the_users_checkout_does_not_leak_in() {
    let world = World::new();
    world.git(&["sparse-checkout", "set", "--no-cone", "/README"]);
    world.write("untracked.txt", "mine\n");
    let head = world.head();
    let checkout = world
        .open()
        .check_checkout(&world.folder.path().join("check"), &head, CLEAN)
        .unwrap();
    assert!(checkout.path().join("src/lib.txt").exists());
    assert!(!checkout.path().join("untracked.txt").exists());
    assert_eq!(world.status(), "?? untracked.txt");
}

/// The blob has carriage returns which the attributes take out: every clone shows the file as changed.
#[test]
fn a_file_whose_rule_came_after_it_is_as_git_writes_it() {
    let world = World::new();
    world.write("windows.txt", "one\r\ntwo\r\n");
    world.commit_all("a file");
    world.write(".gitattributes", "windows.txt text eol=lf\n");
    world.git(&["add", ".gitattributes"]);
    world.git(&["commit", "-q", "-m", "a rule"]);
    let (repository, head) = (world.open(), world.head());
    let folder = world.folder.path().join("check");
    let stay = || Stay::Named {
        files: NOTHING_MADE,
        folders: &[],
    };
    let first = repository.check_checkout(&folder, &head, CLEAN).unwrap();
    let path = first.path().join("windows.txt");
    let as_written = std::fs::read(&path).unwrap();
    drop(first);
    std::fs::write(&path, "of a check\n").unwrap();
    let again = repository.check_checkout(&folder, &head, stay()).unwrap();
    assert!(!again.is_fresh(), "nothing had to be set up anew");
    assert_eq!(std::fs::read(&path).unwrap(), as_written);
}

#[test]
fn of_ignored_files_only_those_stay_that_set_up_made_or_that_lie_in_a_kept_folder() {
    let world = World::new();
    world.write(".gitignore", "target/\nout/\n.deps\nnode_modules/\n");
    world.write("crate/src/lib.rs", "of the commit\n");
    world.write(
        "web/src/target/keep.txt",
        "of the commit, though its folder is named so\n",
    );
    world.git(&["add", "--force", "."]);
    let head = world.commit_all("first");
    let repository = world.open();
    let folder = world.folder.path().join("check");
    let checkout = repository.check_checkout(&folder, &head, Stay::Nothing).unwrap();
    let tree = checkout.path().to_owned();
    drop(checkout);
    // The set-up.
    put(&tree.join(".deps"), "v1");
    put(&tree.join("node_modules/a/index.js"), "a");
    std::fs::create_dir_all(tree.join("out/empty")).unwrap();
    let made = repository.check_additions(&folder).unwrap();
    let names: Vec<&str> = made
        .iter()
        .map(|path| std::str::from_utf8(path).unwrap())
        .collect();
    assert_eq!(names, [".deps", "node_modules/a/index.js", "out/empty"]);
    // A check.
    put(&tree.join("node_modules/.cache/b"), "b");
    put(&tree.join("out/app"), "built");
    put(&tree.join("crate/target/debug/app"), "built");
    put(&tree.join("removed-crate/target/debug/app"), "built");
    put(&tree.join("build/cache/a"), "cached");
    put(&tree.join("build/app"), "built");
    put(&tree.join("web/src/target/stale.txt"), "stale");
    put(&tree.join("notes.txt"), "not ignored");
    let stay = Stay::Everything;
    drop(repository.check_checkout(&folder, &head, stay).unwrap());
    assert!(tree.join("out/app").exists(), "the next command goes on in it");
    let stay = Stay::Named {
        files: &made,
        folders: &["target".to_owned(), "build/cache".to_owned()],
    };
    let checkout = repository.check_checkout(&folder, &head, stay).unwrap();
    assert!(!checkout.is_fresh());
    let mut expected = made.clone();
    expected.insert(b"crate/target/debug/app".to_vec());
    expected.insert(b"build/cache/a".to_vec());
    drop(checkout);
    assert_eq!(repository.check_additions(&folder).unwrap(), expected);
    drop(repository.check_checkout(&folder, &head, Stay::Nothing).unwrap());
    assert_eq!(repository.check_additions(&folder).unwrap(), *NOTHING_MADE);
}

#[test]
fn what_the_set_up_made_is_known_as_changed_and_what_a_check_adds_goes() {
    let world = World::new();
    world.write(".gitignore", "deps/\ntarget/\ntmp/\n");
    let head = world.commit_all("first");
    let repository = world.open();
    let folder = world.folder.path().join("check");
    let checkout = repository.check_checkout(&folder, &head, Stay::Nothing).unwrap();
    let tree = checkout.path().to_owned();
    drop(checkout);
    put(&tree.join("deps/a"), "a1");
    put(&tree.join("target/built"), "b1");
    put(&world.folder.path().join("store"), "s1");
    std::fs::hard_link(world.folder.path().join("store"), tree.join("deps/linked")).unwrap();
    std::fs::create_dir_all(tree.join("tmp")).unwrap();
    let made = repository.made_by_set_up(&folder).unwrap();
    let kept = ["target".to_owned()];
    let changed = || made.first_changed(&folder, &kept);
    assert_eq!(Made::read(&made.to_bytes()), made);
    assert_eq!(changed(), None);
    // Another project links the same file of the store.
    std::fs::hard_link(tree.join("deps/linked"), world.folder.path().join("other")).unwrap();
    // A check adds files, and builds in a folder that is kept.
    put(&tree.join("deps/cache"), "c");
    put(&tree.join("tmp/left"), "left");
    put(&tree.join("target/built"), "b2");
    assert_eq!(changed(), None);
    let files = made.paths();
    let stay = Stay::Named {
        files: &files,
        folders: &kept,
    };
    drop(repository.check_checkout(&folder, &head, stay).unwrap());
    assert!(!tree.join("deps/cache").exists() && !tree.join("tmp/left").exists());
    assert!(tree.join("tmp").is_dir() && tree.join("target/built").exists());
    assert_eq!(changed(), None);
    // A check writes what is as long, and gives it the time that it had.
    let path = tree.join("deps/a");
    let time = std::fs::metadata(&path).unwrap().modified().unwrap();
    put(&path, "a2");
    let file = std::fs::File::options().write(true).open(&path).unwrap();
    file.set_modified(time).unwrap();
    assert_eq!(changed().as_deref(), Some(Path::new("deps/a")));
    let made = repository.made_by_set_up(&folder).unwrap();
    assert_eq!(made.first_changed(&folder, &kept), None);
    std::fs::remove_file(&path).unwrap();
    assert_eq!(
        made.first_changed(&folder, &kept).as_deref(),
        Some(Path::new("deps/a"))
    );
}

#[test]
fn files_that_a_check_left_in_a_submodule_go_and_those_of_the_set_up_stay() {
    let world = World::new();
    let other = world.head();
    world.git(&[
        "update-index",
        "--add",
        "--cacheinfo",
        &format!("160000,{other},lib"),
    ]);
    world.git(&["commit", "-q", "-m", "a submodule"]);
    let head = world.head();
    let repository = world.open();
    let folder = world.folder.path().join("check");
    let tree = repository
        .check_checkout(&folder, &head, Stay::Nothing)
        .unwrap()
        .path()
        .to_owned();
    put(&tree.join("lib/a.c"), "a");
    let made = repository.check_additions(&folder).unwrap();
    put(&tree.join("lib/build/a.o"), "built");
    let stay = Stay::Named {
        files: &made,
        folders: &[],
    };
    drop(repository.check_checkout(&folder, &head, stay).unwrap());
    assert!(tree.join("lib/a.c").exists() && !tree.join("lib/build").exists());
    let submodules: Vec<_> = repository.tree_files(&head).unwrap();
    let submodules: Vec<_> = submodules.iter().filter(|file| file.is_submodule()).collect();
    assert_eq!(submodules.len(), 1);
    assert_eq!(submodules[0].path, b"lib");
}

/// In the train, the commit below a candidate is another agent's, and has not landed.
#[test]
fn a_filter_that_only_an_entry_ahead_names_does_not_run() {
    let world = World::new();
    let proof = world.folder.path().join("ran");
    let filter = format!("touch '{}'; cat", proof.display());
    world.git(&["config", "--global", "filter.mine.smudge", &filter]);
    let repository = world.open_locked();
    let target = world.head();
    let mut below = target.clone();
    for (ticket, path) in [("t-1", ".gitattributes"), ("t-2", "note.txt")] {
        world.git(&["checkout", "-q", "-b", ticket, target.as_str()]);
        world.write(path, "* filter=mine\n");
        let tip = world.commit_all(ticket);
        world.git(&["checkout", "-q", "main"]);
        below = merged(&repository, &below, &tip).commit;
        repository
            .pin_candidate(&Id::parse(ticket).unwrap(), 1, &below)
            .unwrap();
    }
    let folder = world.folder.path().join("check");
    let checkout = repository.check_checkout(&folder, &below, CLEAN).unwrap();
    assert!(checkout.path().join("note.txt").exists());
    assert!(!proof.exists());
}
