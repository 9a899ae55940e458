//! A remote with pull requests, and the people who use it.

use std::fs;
use std::path::PathBuf;

use testkit::world::{World, make_executable, path_variable};

const GH: &str = include_str!("gh.sh");

/// Merges pull request `$at`, as one commit on the target.
const SQUASH: &str = r#"
oid=$(tip "$at")
base=$(remote rev-parse main)
tree=$(remote merge-tree --write-tree main "$oid")
made=$(echo squashed | remote -c user.name=host -c user.email=host@example.com commit-tree "$tree" -p "$base")
remote update-ref refs/heads/main "$made" "$base"
printf '%s' "$made" > "$at/merge"
printf MERGED > "$at/state"
"#;

/// Merges the target into the branch of pull request `$at`, as the button of that name does.
const UPDATE_BRANCH: &str = r#"
oid=$(tip "$at")
tree=$(remote merge-tree --write-tree "$oid" main)
made=$(echo updated | remote -c user.name=host -c user.email=host@example.com commit-tree "$tree" -p "$oid" -p main)
remote update-ref "refs/heads/$(cat "$at/head")" "$made" "$oid"
tip "$at" > /dev/null
"#;

/// A world whose remote is a bare repository beside it, with a host of pull requests.
pub(super) fn with_host(pr: &str) -> World {
    let land = format!("mode = \"pr\"\npr = {{ {pr} }}");
    let world = World::with(|settings| settings.land = land);
    world.git(&["init", "-q", "--bare", "-b", "main", "../remote.git"]);
    world.git(&["remote", "add", "origin", "../remote.git"]);
    world.git(&["push", "-q", "origin", "main"]);
    fs::create_dir_all(world.path("bin")).unwrap();
    fs::write(world.path("bin/gh"), GH).unwrap();
    fs::write(world.path("bin/squash"), SQUASH).unwrap();
    make_executable(&world.path("bin/gh"));
    let path = format!("{}:{}", world.path("bin").display(), path_variable().display());
    world.around("PATH", path);
    world
}

pub(super) fn of_host(world: &World, name: &str) -> PathBuf {
    world.path("host").join(name)
}

pub(super) fn told(world: &World, name: &str) -> String {
    fs::read_to_string(of_host(world, name)).unwrap_or_default()
}

pub(super) fn tell(world: &World, name: &str, text: &str) {
    let path = of_host(world, name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

pub(super) fn at_remote(world: &World, branch: &str) -> String {
    world.git(&["--git-dir=../remote.git", "rev-parse", branch])
}

/// Whether a commit of the remote's holds another one.
pub(super) fn holds(world: &World, whole: &str, part: &str) -> bool {
    let range = format!("{whole}..{part}");
    world
        .git(&["--git-dir=../remote.git", "rev-list", "-1", &range])
        .is_empty()
}

/// The host does something with a pull request.
fn at_host(world: &World, number: u32, script: &str) {
    let functions = GH.split_once("tip() {").unwrap().1.split_once("\n}\n").unwrap().0;
    let script = format!(
        "set -eu\nhome='{}'\nat=\"$home/host/{number}\"\nremote() {{ git --git-dir=\"$home/remote.git\" \"$@\"; }}\n\
         tip() {{{functions}\n}}\n{script}",
        world.path(".").display()
    );
    let status = world.program("sh").args(["-c", &script]).status().unwrap();
    assert!(status.success());
}

/// A person merges a pull request as one commit.
pub(super) fn somebody_squashes(world: &World, number: u32) {
    at_host(world, number, SQUASH);
}

/// A person presses "Update branch" on pull request 1.
pub(super) fn somebody_updates_the_branch(world: &World) {
    at_host(world, 1, UPDATE_BRANCH);
}

/// A person merges the branch of pull request 1 in a clone, and pushes the target.
pub(super) fn somebody_merges_by_hand(world: &World) {
    at_host(world, 1, "tip \"$at\" > /dev/null\n");
    world.git(&["clone", "-q", "../remote.git", "../clone"]);
    let clone = world.path("clone");
    world.git_at(&clone, &["config", "user.name", "Eve"]);
    world.git_at(&clone, &["config", "user.email", "eve@example.org"]);
    world.git_at(
        &clone,
        &["merge", "-q", "--no-ff", "-m", "merged", "origin/crew/t-1"],
    );
    world.git_at(&clone, &["push", "-q"]);
    tell(world, "1/merge", &at_remote(world, "main"));
    tell(world, "1/state", "MERGED");
}

/// A commit of somebody else's comes to the remote's target; the local one stays behind.
pub(super) fn somebody_pushes_to_the_target(world: &World, name: &str) {
    world.commit(name, "theirs\n");
    world.git(&["push", "-q", "origin", "main"]);
    world.git(&["reset", "-q", "--hard", "HEAD~1"]);
}

/// A member reviews the tip that pull request 1 has now.
pub(super) fn somebody_reviews(world: &World, id: u32, state: &str, body: &str) {
    tell(world, "1/reviews", &review(world, id, state, body));
}

/// A review of the tip that pull request 1 has now, by a member.
pub(super) fn review(world: &World, id: u32, state: &str, body: &str) -> String {
    let tip = at_remote(world, "crew/t-1");
    format!(
        "{{\"id\":{id},\"user\":{{\"login\":\"rev\"}},\"body\":\"{body}\",\"state\":\"{state}\",\"commit_id\":\"{tip}\",\
         \"author_association\":\"MEMBER\"}}\n"
    )
}

/// The engine is killed at a failpoint.
pub(super) fn killed_at(world: &World, point: &str) {
    world.around("CREW_FAILPOINT_AT", point);
    let said = world.crew(&["run", "--until-idle"]);
    assert_eq!(said.signal, Some(9), "{point}: {said}");
    world.around("CREW_FAILPOINT_AT", "");
}

/// The ticket has landed by one pull request, and nothing of it is left.
pub(super) fn assert_landed(world: &World) {
    assert_landed_once(world);
    assert!(!of_host(world, "2").exists(), "one pull request");
}

/// The ticket has landed, and nothing of it is left.
pub(super) fn assert_landed_once(world: &World) {
    assert_eq!(world.state_name("t-1"), "done/landed");
    assert_eq!(world.count("t-1", "landed"), 1);
    assert_eq!(at_remote(world, "main"), world.git(&["rev-parse", "main"]));
    assert!(world.on_main("t-1.txt").is_some());
    assert!(world.project("t-1.txt").exists(), "the checkout follows");
    assert!(world.workspaces().is_empty());
    for kept in [
        "refs/crew/proposed",
        "refs/crew/proposing",
        "refs/crew/foreign",
        "refs/crew/candidate",
    ] {
        assert_eq!(world.git(&["for-each-ref", kept]), "");
    }
}
