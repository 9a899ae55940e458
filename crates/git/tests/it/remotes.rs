//! The remote: addresses that are not one, fetches that come at once, and pushes whose end nobody knows.

use git::{Error, Intent, Oid, Remote, Repository, Standing, Trouble};

use crate::support::{World, main_branch, merged, put};

fn origin() -> Remote {
    "origin".parse().unwrap()
}

/// A world with a bare repository at `name` beside the project, which has the target.
fn bare(world: &World, name: &str) -> String {
    let path = world.folder.path().join(name).display().to_string();
    world.git(&["init", "-q", "--bare", "-b", "main", &path]);
    world.git(&["push", "-q", &path, "main"]);
    path
}

fn with_remote() -> World {
    let world = World::new();
    let path = bare(&world, "remote.git");
    world.git(&["remote", "add", "origin", &path]);
    world
}

/// A candidate on the target.
fn built(world: &World, repository: &Repository) -> Intent {
    let old = world.head();
    world.git(&["checkout", "-q", "-b", "side"]);
    world.write("side.txt", "side\n");
    let tip = world.commit_all("side");
    world.git(&["checkout", "-q", "main"]);
    Intent {
        target: main_branch(),
        new: merged(repository, &old, &tip).commit,
        old,
    }
}

fn tip_at(world: &World, path: &str) -> Oid {
    Oid::parse(&world.git(&["--git-dir", path, "rev-parse", "main"])).unwrap()
}

/// Each address gets a push, and only one of them can be asked for the outcome.
#[test]
fn a_remote_with_several_addresses_is_refused() {
    let world = with_remote();
    let repository = world.open_locked();
    repository.require_remote(&origin()).unwrap();
    let other = bare(&world, "other.git");
    world.git(&["remote", "set-url", "--add", "--push", "origin", &other]);
    repository.require_remote(&origin()).unwrap();
    let is_refused = || {
        let refused = repository.require_remote(&origin()).unwrap_err();
        matches!(refused, Error::Remote { trouble, .. } if trouble == Trouble::Addresses)
    };
    world.git(&["remote", "set-url", "--add", "--push", "origin", &other]);
    assert!(is_refused(), "two for a push");
    world.git(&["config", "--unset-all", "remote.origin.pushurl"]);
    repository.require_remote(&origin()).unwrap();
    world.git(&["remote", "set-url", "--add", "origin", &other]);
    assert!(is_refused(), "two for both");
}

/// A fork, where the target is fetched from upstream: the push succeeds, and the target has not moved.
#[test]
fn a_push_that_goes_elsewhere_has_not_landed() {
    let world = with_remote();
    let repository = world.open_locked();
    let intent = built(&world, &repository);
    let other = bare(&world, "other.git");
    world.git(&["remote", "set-url", "--push", "origin", &other]);
    let standing = repository.push(&origin(), &intent).unwrap();
    let is_named = matches!(&standing, Standing::Refused(Error::Remote { trouble, .. }) if *trouble == Trouble::Addresses);
    assert!(is_named, "{standing:?}");
    assert_eq!(
        repository.fetch_target(&origin(), &main_branch()).unwrap(),
        intent.old
    );

    // The same repository by another address is fine.
    let path = world.folder.path().join("remote.git");
    world.git(&[
        "remote",
        "set-url",
        "--push",
        "origin",
        &format!("file://{}", path.display()),
    ]);
    let standing = repository.push(&origin(), &intent).unwrap();
    assert!(matches!(standing, Standing::Landed), "{standing:?}");
    assert_eq!(tip_at(&world, &path.display().to_string()), intent.new);
}

/// Several tickets are built at once, and each fetches.
#[test]
fn fetches_may_come_at_once() {
    let world = with_remote();
    let clone = world.folder.path().join("clone");
    world.git(&["clone", "-q", "../remote.git", "../clone"]);
    let repository = world.open_locked();
    for round in 0..10 {
        put(&clone.join("theirs"), &round.to_string());
        world.git_at(&clone, &["add", "-A"]);
        let who = ["-c", "user.name=Eve", "-c", "user.email=eve@example.org"];
        world.git_at(
            &clone,
            &[who.as_slice(), &["commit", "-q", "-m", "theirs"]].concat(),
        );
        world.git_at(&clone, &["push", "-q"]);
        let tip = world.git_at(&clone, &["rev-parse", "main"]);
        std::thread::scope(|scope| {
            let fetch = || repository.fetch_target(&origin(), &main_branch()).unwrap();
            let fetched: Vec<_> = (0..4).map(|_| scope.spawn(fetch)).collect();
            for one in fetched {
                assert_eq!(one.join().unwrap().as_str(), tip);
            }
        });
    }
}
