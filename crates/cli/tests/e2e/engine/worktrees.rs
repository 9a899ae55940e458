//! Repositories whose checkouts stand elsewhere: linked worktrees, git directories apart, bare ones with
//! worktrees beside.

use std::fs;
use std::path::Path;

use testkit::world::{Said, World};

/// An agent of one step.
fn agent(world: &World) -> String {
    let path = world.path("one-step.sh");
    let script = "#!/bin/sh\necho x > \"$CREW_TICKET_ID\"\ngit add -A\ngit commit -q -m work\necho DONE\n";
    fs::write(&path, script).unwrap();
    testkit::world::make_executable(&path);
    path.display().to_string()
}

fn must(world: &World, folder: &Path, args: &[&str]) -> Said {
    let said = world.crew_at(folder, args);
    assert_eq!(said.code, Some(0), "crew {args:?}: {said}");
    said
}

/// Makes a crew ready in a folder, by what it prints too.
fn init(world: &World, folder: &Path) -> Said {
    let said = must(world, folder, &["init", "--yes", "--agent", &agent(world)]);
    let add = said.out.lines().find(|line| line.contains("git add")).unwrap();
    let file = add
        .trim()
        .strip_prefix("git add ")
        .unwrap()
        .split(' ')
        .next()
        .unwrap();
    world.git_at(folder, &["add", file]);
    world.git_at(folder, &["commit", "-q", "-m", "Add crew.toml"]);
    said
}

/// Makes a ticket in one folder, lands it from another, and gives the ticket's id.
fn land(world: &World, made_in: &Path, run_in: &Path) -> String {
    let said = must(world, made_in, &["ticket", "create", "Do it"]);
    let id = said.out.trim().to_owned();
    must(world, run_in, &["run", "--until-idle"]);
    id
}

#[test]
fn the_worktree_where_init_ran_is_the_place_for_everything_and_all_others_know_it() {
    let world = World::bare();
    let main = world.path("project");
    let linked = world.path("linked");
    world.git(&["worktree", "add", "-q", "../linked", "-b", "feature"]);
    let sub = linked.join("a/b");
    fs::create_dir_all(&sub).unwrap();
    let said = init(&world, &sub);
    assert!(said.out.contains("git add ../../crew.toml"), "{said}");
    let id = land(&world, &main, &sub);
    assert!(linked.join(".tickets").join(format!("{id}.md")).exists());
    assert!(
        linked.join(".crew").exists() && linked.join(&id).exists(),
        "it follows what landed"
    );
    for name in ["crew.toml", ".tickets", ".crew", &id] {
        assert!(!main.join(name).exists(), "{name}");
    }
    assert_eq!(world.git(&["ls-tree", "--name-only", "feature", &id]), id);
    assert_eq!(world.git(&["ls-tree", "--name-only", "main"]), "README");
    assert_eq!(
        world.git_at(&linked, &["status", "--porcelain", "--untracked-files=no"]),
        ""
    );
    // Moved by git, it still is; once it is gone, the main checkout is the place.
    world.git(&["worktree", "unlock", "../linked"]);
    world.git(&["worktree", "move", "../linked", "../moved"]);
    let queue = must(&world, &main, &["history", &id]);
    assert!(queue.out.contains("landed"), "{queue}");
    world.git(&["worktree", "remove", "--force", "../moved"]);
    assert_eq!(world.crew_at(&main, &["queue"]).code, Some(2));
    init(&world, &main);
    let id = land(&world, &main, &main);
    assert!(main.join(&id).exists());
}

#[test]
fn a_crew_works_where_the_git_directory_stands_apart() {
    let world = World::bare();
    let linked = world.path("linked");
    world.git(&["init", "-q", "--separate-git-dir", "../git-of-project"]);
    world.git_at(
        &world.path("project"),
        &["worktree", "add", "-q", "../linked", "-b", "side"],
    );
    let said = world.crew_at(&linked, &["init", "--yes", "--agent", &agent(&world)]);
    assert_eq!(said.code, Some(1), "{said}");
    assert!(
        said.err.contains("run `crew init` in the main checkout"),
        "{said}"
    );
    init(&world, &world.path("project"));
    let id = land(&world, &linked, &linked);
    assert!(world.project(&id).exists(), "the main checkout has followed");
    assert_eq!(world.git(&["status", "--porcelain", "--untracked-files=no"]), "");
    // Where it was moved, its worktrees do not know that before crew has run in it.
    let moved = world.path("moved");
    fs::rename(world.path("project"), &moved).unwrap();
    let said = world.crew_at(&linked, &["queue"]);
    assert!(said.err.contains("`crew run` if it was moved"), "{said}");
    must(&world, &moved, &["run", "--until-idle"]);
    let id = land(&world, &linked, &linked);
    assert!(moved.join(&id).exists());
}

/// `git worktree remove` deletes ignored files without asking.
#[test]
fn the_worktree_with_the_journal_is_not_removed_before_a_clean() {
    let world = World::bare();
    let linked = world.path("linked");
    let remove = ["worktree", "remove", "--force", "../linked"];
    world.git(&["worktree", "add", "-q", "../linked", "-b", "feature"]);
    init(&world, &linked);
    land(&world, &linked, &linked);
    let said = world
        .program("git")
        .current_dir(world.path("project"))
        .args(remove)
        .output()
        .unwrap();
    let why = String::from_utf8_lossy(&said.stderr).into_owned();
    assert!(
        !said.status.success() && why.contains("crew's journal is in it"),
        "{why}"
    );
    assert!(linked.join(".crew").exists());
    must(&world, &linked, &["clean", "--yes"]);
    world.git(&remove);
    assert!(!linked.exists());
}

#[test]
fn a_crew_works_in_the_worktrees_of_a_bare_repository() {
    let world = World::bare();
    let hub = world.path("hub");
    fs::create_dir_all(&hub).unwrap();
    let project = world.path("project").display().to_string();
    world.git_at(&hub, &["clone", "-q", "--bare", &project, ".bare"]);
    let bare = hub.join(".bare");
    world.git_at(&bare, &["config", "user.name", "User"]);
    world.git_at(&bare, &["config", "user.email", "user@example.org"]);
    world.git_at(&bare, &["worktree", "add", "-q", "../main", "main"]);
    world.git_at(&bare, &["worktree", "add", "-q", "../other", "-b", "other"]);
    fs::write(hub.join(".git"), "gitdir: ./.bare\n").unwrap();
    let said = world.crew_at(&hub, &["init", "--yes", "--agent", &agent(&world)]);
    assert_eq!(said.code, Some(1), "{said}");
    assert!(said.err.contains("run this in one of its worktrees"), "{said}");
    let main = hub.join("main");
    init(&world, &main);
    let id = land(&world, &hub.join("other"), &main);
    assert!(main.join(&id).exists(), "it has followed");
    assert!(!hub.join("other").join(".crew").exists());
    assert_eq!(
        world.git_at(&main, &["status", "--porcelain", "--untracked-files=no"]),
        ""
    );
    must(&world, &hub.join("other"), &["doctor"]);
}
