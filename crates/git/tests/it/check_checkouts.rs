//! Check checkouts: clean ones, whatever a check left there.

use git::Error;

use crate::support::{World, put};

#[test]
fn tracked_files_are_exact_ignored_ones_stay_and_the_rest_goes() {
    let world = World::new();
    world.write(".gitignore", "target/\n");
    let first = world.commit_all("first");
    let repository = world.open_locked();
    let folder = world.folder.path().join("check");
    let checkout = repository.check_checkout(&folder, &first).unwrap();
    assert!(checkout.is_fresh());
    let tree = checkout.path().to_owned();
    assert_eq!(world.git_at(&tree, &["rev-parse", "HEAD"]), first.as_str());
    assert_eq!(world.git_at(&tree, &["status", "--porcelain"]), "");
    assert!(matches!(
        repository.check_checkout(&folder, &first),
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
    let checkout = repository.check_checkout(&folder, &second).unwrap();
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
        let checkout = repository.check_checkout(&folder, commit).unwrap();
        std::fs::read_to_string(checkout.path().join("run.bat")).unwrap()
    };
    assert_eq!(read(&first), "echo\n");
    assert_eq!(read(&second), "echo\r\n");
    assert_eq!(read(&first), "echo\n");
}

#[test]
fn a_broken_one_is_made_anew() {
    let world = World::new();
    let head = world.head();
    let repository = world.open();
    let folder = world.folder.path().join("check");
    drop(repository.check_checkout(&folder, &head).unwrap());
    put(&folder.join("index"), "garbage");
    put(&folder.join("index.lock"), "");
    let checkout = repository.check_checkout(&folder, &head).unwrap();
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
        .check_checkout(&world.folder.path().join("check"), &head)
        .unwrap();
    assert!(checkout.path().join("src/lib.txt").exists());
    assert!(!checkout.path().join("untracked.txt").exists());
    assert_eq!(world.status(), "?? untracked.txt");
}
