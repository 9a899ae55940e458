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
