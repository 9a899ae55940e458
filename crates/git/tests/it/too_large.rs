//! Saving within limits: what is too large or too much, by itself or together.

use git::{Error, Limits, Refusal};

use crate::support::{AT, World, limits, put};

fn names(world: &World, revision: &str) -> std::collections::BTreeSet<String> {
    let names = world.git(&["ls-tree", "-r", "--name-only", revision]);
    names.lines().map(str::to_owned).collect()
}

#[test]
fn what_is_too_much_stays_and_is_named() {
    let world = World::new();
    let repository = world.open_locked();
    let workspace = world.workspace(&repository);
    put(&workspace.path().join("small.txt"), "s\n");
    let big = std::fs::File::create(workspace.path().join("big.bin")).unwrap();
    big.set_len(2 << 30).unwrap();
    let saved = repository.save(&workspace, "Leftovers", AT, &limits()).unwrap();
    assert_eq!(saved.unsaved.len(), 1);
    assert_eq!(saved.unsaved[0].path.to_str(), Some("big.bin"));
    assert!(names(&world, saved.imported.tip.as_str()).contains("small.txt"));
    assert!(matches!(
        repository.remove(&workspace),
        Err(Error::Unsaved { .. })
    ));
    assert!(workspace.path().join("big.bin").exists());
}

/// The naive version saves as many as fit, and at the next call the rest.
#[test]
fn files_that_are_too_large_together_are_not_saved_in_parts() {
    let world = World::new();
    let repository = world.open_locked();
    let workspace = world.workspace(&repository);
    let at = workspace.path();
    put(&at.join("work.txt"), "work\n");
    world.git_at(&at, &["add", "-A"]);
    world.git_at(&at, &["commit", "-q", "-m", "work"]);
    for number in 0..12 {
        put(&at.join(format!("data/{number}.bin")), &"x".repeat(1000 + number));
    }
    let limits = Limits {
        bytes: 10_000,
        ..limits()
    };
    for _ in 0..3 {
        let saved = repository.save(&workspace, "Leftovers", AT, &limits);
        let Err(Error::Refused { refusals, .. }) = saved else {
            panic!("{saved:?}")
        };
        let [refusal] = &refusals[..] else {
            panic!("{refusals:?}")
        };
        let words = refusal.to_string();
        assert!(
            words.contains("too large to be saved together (12066 bytes, 10000 are allowed)"),
            "{words}"
        );
        assert!(
            words.contains("The largest: \"data/11.bin\", \"data/10.bin\""),
            "{words}"
        );
    }
    assert_eq!(world.git(&["log", "-1", "--format=%s", "agent/ada-t-1"]), "work");
    assert_eq!(world.git(&["for-each-ref", "refs/crew/rescue"]), "");
    for number in 9..12 {
        std::fs::remove_file(at.join(format!("data/{number}.bin"))).unwrap();
    }
    let saved = repository.save(&workspace, "Leftovers", AT, &limits).unwrap();
    assert!(saved.unsaved.is_empty());
    assert_eq!(names(&world, saved.imported.tip.as_str()).len(), 2 + 1 + 9);
}

#[test]
fn too_many_objects_are_refused() {
    let world = World::new();
    let repository = world.open_locked();
    let workspace = world.workspace(&repository);
    for number in 0..50 {
        put(
            &workspace.path().join(format!("f/{number}")),
            &format!("{number}\n"),
        );
    }
    world.git_at(&workspace.path(), &["add", "-A"]);
    world.git_at(&workspace.path(), &["commit", "-q", "-m", "many"]);
    let refused = |limits: Limits| match repository.import(&workspace, &limits) {
        Err(Error::Refused { refusals, .. }) => match refusals[0] {
            Refusal::TooMuch { what, .. } => what,
            ref other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    };
    assert_eq!(
        refused(Limits {
            objects: 20,
            ..limits()
        }),
        "objects"
    );
    assert_eq!(
        refused(Limits {
            bytes: 100,
            ..limits()
        }),
        "bytes"
    );
    assert_eq!(
        refused(Limits {
            paths: 20,
            ..limits()
        }),
        "paths"
    );
    assert_eq!(world.oid("refs/heads/agent/ada-t-1"), world.head());
    assert_eq!(repository.import(&workspace, &limits()).unwrap().commits, 1);
}

#[test]
fn too_many_paths_are_refused_with_the_folder_that_has_most_of_them() {
    let world = World::new();
    let repository = world.open_locked();
    let workspace = world.workspace(&repository);
    put(&workspace.path().join("a.txt"), "a\n");
    for number in 0..50 {
        let folder = ["web/modules/x", "web/modules/y"][number % 2];
        put(&workspace.path().join(format!("{folder}/{number}")), "x\n");
    }
    world.git_at(&workspace.path(), &["add", "-A"]);
    world.git_at(&workspace.path(), &["commit", "-q", "-m", "many"]);
    let few = Limits {
        paths: 20,
        ..limits()
    };
    match repository.import(&workspace, &few) {
        Err(Error::Refused { refusals, .. }) => {
            let said = refusals[0].to_string();
            assert!(
                said.starts_with("51 paths, 20 are allowed; 50 of them are in "),
                "{said}"
            );
            assert!(
                said.contains("web/modules\"") || said.contains("web/modules”"),
                "{said}"
            );
        }
        other => panic!("{other:?}"),
    }
}

const MIB: usize = 1 << 20;

/// A limit of one MiB for a file.
fn a_mib() -> Limits {
    Limits {
        file_bytes: MIB as u64,
        ..limits()
    }
}

fn zeros(bytes: usize) -> String {
    "\0".repeat(bytes)
}

fn refused(saved: Result<git::Saved, Error>) -> Vec<Refusal> {
    match saved {
        Err(Error::Refused { refusals, .. }) => refusals,
        other => panic!("{other:?}"),
    }
}

fn large(path: &str, bytes: usize) -> Refusal {
    Refusal::LargeFile {
        path: path.into(),
        bytes: bytes as u64,
        limit: MIB as u64,
    }
}

/// The naive version looks at the tip: a host refuses the push for the commit before it.
#[test]
fn a_large_file_is_refused_in_any_commit_of_the_branch_and_not_committed_too() {
    let world = World::new();
    let repository = world.open_locked();
    let workspace = world.workspace(&repository);
    let at = workspace.path();
    let commit = |what: &str| {
        world.git_at(&at, &["add", "-A"]);
        world.git_at(&at, &["commit", "-q", "-m", what]);
    };
    put(&at.join("exact.bin"), &zeros(MIB));
    put(&at.join("data/dump one.bin"), &zeros(MIB + 1));
    put(&at.join("core"), &zeros(2 * MIB));
    let save = || repository.save(&workspace, "Leftovers", AT, &a_mib());
    let both = [large("core", 2 * MIB), large("data/dump one.bin", MIB + 1)];
    assert_eq!(refused(save()), both);
    commit("dump");
    assert_eq!(refused(save()), both);
    world.git_at(&at, &["rm", "-q", "core", "data/dump one.bin"]);
    commit("no dump");
    assert_eq!(refused(save()), both);
    assert_eq!(world.oid("refs/heads/agent/ada-t-1"), world.head());
    let remedy = both[1].remedy(&world.head()).unwrap();
    for part in [
        ".gitignore",
        "git lfs track 'data/dump one.bin'",
        "max_file_mib of [land]",
        "git rm --cached 'data/dump one.bin'",
    ] {
        assert!(remedy.contains(part), "{part}: {remedy}");
    }
    assert_eq!(
        both[1].to_string(),
        "\"data/dump one.bin\" has 1.1 MiB, and a file may have 1 MiB"
    );
    world.git_at(&at, &["reset", "-q", "--soft", world.head().as_str()]);
    commit("without it");
    assert_eq!(save().unwrap().imported.commits, 1);
}

#[test]
fn a_large_file_of_the_target_is_no_concern() {
    let world = World::new();
    world.write("assets.bin", &zeros(2 * MIB));
    world.commit_all("assets");
    let repository = world.open_locked();
    let workspace = world.workspace(&repository);
    let at = workspace.path();
    // Another version of it, and one that came onto the target meanwhile and is merged.
    put(&at.join("assets.bin"), &"\u{1}".repeat(2 * MIB));
    world.write("later.bin", &zeros(3 * MIB));
    let later = world.commit_all("later");
    world.git_at(&at, &["commit", "-q", "-a", "-m", "assets"]);
    world.git_at(
        &at,
        &["fetch", "-q", world.root().to_str().unwrap(), later.as_str()],
    );
    world.git_at(&at, &["merge", "-q", "--no-edit", "FETCH_HEAD"]);
    let of_main = Limits {
        target: Some(crate::support::main_branch()),
        ..a_mib()
    };
    repository.save(&workspace, "Leftovers", AT, &of_main).unwrap();
}

#[test]
fn work_that_is_only_kept_may_have_large_files() {
    let world = World::new();
    let repository = world.open_locked();
    let workspace = world.workspace(&repository);
    let inside = workspace.path().join("sub");
    put(&inside.join("model.bin"), &zeros(2 * MIB));
    world.git_at(&inside, &["init", "-q"]);
    world.git_at(&inside, &["add", "-A"]);
    let who = ["-c", "user.name=x", "-c", "user.email=x@x"];
    world.git_at(&inside, &[&who[..], &["commit", "-q", "-m", "inner"]].concat());
    let saved = repository.save(&workspace, "Leftovers", AT, &a_mib()).unwrap();
    assert_eq!(saved.nested.len(), 1);
    assert_eq!(
        world.git(&["log", "-1", "--format=%s", &saved.nested[0].kept]),
        "inner"
    );
    put(&workspace.path().join("dump.bin"), &zeros(2 * MIB));
    let rescued = repository.remove(&workspace).unwrap();
    assert!(names(&world, &rescued.kept[0].name).contains("dump.bin"));
}
