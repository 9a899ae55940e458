//! Repositories that an agent made inside its workspace, and those of them that have work.

use std::path::Path;

use git::{Refusal, Repository, Saved, Workspace};

use crate::support::{AT, World, git_in, limits, put};

fn save(repository: &Repository, workspace: &Workspace) -> Saved {
    repository.save(workspace, "Leftovers", AT, &limits()).unwrap()
}

fn commit(world: &World, at: &Path, message: &str) {
    world.git_at(at, &["add", "-A"]);
    let who = ["-c", "user.name=A", "-c", "user.email=a@example.org"];
    world.git_at(at, &[&who[..], &["commit", "-q", "-m", message]].concat());
}

#[test]
fn what_has_no_work_of_its_own_is_neither_named_nor_kept() {
    let world = World::new();
    let repository = world.open_locked();
    let workspace = world.workspace(&repository);
    let at = workspace.path();
    world.git_at(&at, &["init", "-q", "empty"]);
    put(&at.join("cache/.gitignore"), "*\n");
    put(&at.join("cache/file"), "cached\n");
    world.git_at(&at, &["init", "-q", "cache"]);
    world.git_at(&at, &["clone", "-q", ".", "clone"]);
    world.git_at(&at, &["worktree", "add", "-q", "--detach", "worktree", "HEAD"]);
    let saved = save(&repository, &workspace);
    assert_eq!((saved.nested, saved.submodules), (vec![], vec![]));
    assert_eq!(repository.kept(None).unwrap(), []);
    // Each has some once it is worked in.
    for name in ["empty", "cache", "clone", "worktree"] {
        put(&at.join(name).join("new.txt"), "new\n");
    }
    put(&at.join("cache/.gitignore"), "");
    let nested = save(&repository, &workspace).nested;
    let refusals: Vec<Refusal> = nested.iter().map(git::NestedWork::refusal).collect();
    let nested = |path: &str| Refusal::Nested { path: path.into() };
    let worktree = Refusal::Worktree {
        path: "worktree".into(),
    };
    assert_eq!(
        refusals,
        [nested("cache"), nested("clone"), nested("empty"), worktree]
    );
    // A worktree is kept with its history.
    let kept = save(&repository, &workspace).nested.pop().unwrap().kept;
    assert_eq!(
        world.git(&["rev-parse", &format!("{kept}^")]),
        world.head().as_str()
    );
}

#[test]
fn the_commands_for_a_repository_inside_bring_its_files_whatever_its_name_and_state() {
    for (name, has_commit, is_staged) in [
        ("web", false, false),
        ("my web's", true, false),
        ("deep/web", true, true),
    ] {
        let world = World::new();
        let repository = world.open_locked();
        let workspace = world.workspace(&repository);
        let at = workspace.path();
        put(&at.join(name).join("page"), "page\n");
        world.git_at(&at.join(name), &["init", "-q"]);
        if has_commit {
            commit(&world, &at.join(name), "made");
        }
        if is_staged {
            world.git_at(&at, &["add", "-A"]);
        }
        let saved = save(&repository, &workspace);
        let remedy = saved.nested[0].refusal().remedy(workspace.base()).unwrap();
        let (_, commands) = remedy.split_once(": ").unwrap();
        let (commands, _) = commands.split_once(". ").unwrap();
        let script = format!("alias.mend=!{commands} -q -m mended");
        let output = git_in(
            &at,
            &world.home(),
            &["-c", &script, "mend"].map(std::ffi::OsStr::new),
        );
        assert!(output.status.success(), "{script}: {output:?}");
        let saved = save(&repository, &workspace);
        assert_eq!((saved.nested, saved.leftovers), (vec![], None), "{name}");
        let page = format!("{}:{name}/page", saved.imported.tip);
        assert_eq!(world.git(&["show", &page]), "page", "{name}");
    }
}
