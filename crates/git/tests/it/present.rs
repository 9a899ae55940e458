//! What a person sees of a workspace while its agent works, and of every change: nothing of the user's
//! repository changes for it, and nothing that an agent writes runs.

use std::os::unix::fs::PermissionsExt;

use git::{FileChange, FileChangeKind, PatchForm, Repository};

use crate::support::{World, limits, put};

/// Each file in a word, with its lines.
fn words(files: &[FileChange]) -> Vec<String> {
    let word = |file: &FileChange| {
        let from = file
            .moved_from
            .as_ref()
            .map(|from| format!("{} > ", from.display()));
        let lines = file
            .lines
            .map_or("binary".to_owned(), |(new, old)| format!("+{new} -{old}"));
        let kind = match file.kind {
            FileChangeKind::Added => "A",
            FileChangeKind::Deleted => "D",
            FileChangeKind::Modified => "M",
            FileChangeKind::Renamed => "R",
            FileChangeKind::Type => "T",
        };
        format!(
            "{kind} {}{} {lines}",
            from.unwrap_or_default(),
            file.path.display()
        )
    };
    files.iter().map(word).collect()
}

fn objects(world: &World) -> String {
    world.git(&["count-objects", "-v"])
}

fn patch(repository: &Repository, old: &git::Oid, new: &git::Oid, form: PatchForm) -> String {
    String::from_utf8_lossy(&repository.patch_for_people(old, new, form).unwrap()).into_owned()
}

#[test]
fn the_files_of_a_workspace_are_seen_whether_they_are_committed_or_not() {
    let world = World::new();
    world.write(".gitignore", "target/\n");
    world.commit_all("ignored");
    let repository = world.open_locked();
    let workspace = world.workspace(&repository);
    let at = workspace.path();
    put(&at.join("committed"), "one\n");
    world.git_at(&at, &["add", "-A"]);
    world.git_at(&at, &["commit", "-q", "-m", "one"]);
    put(&at.join("staged"), "two\n");
    world.git_at(&at, &["add", "staged"]);
    put(&at.join("README"), "hello\nworld\n");
    put(&at.join("target/built"), "no\n");
    world.git_at(&at, &["mv", "src/lib.txt", "src/moved.txt"]);
    let status = world.git_at(&at, &["status", "--porcelain"]);

    // Somebody else has landed meanwhile: their work is not the agent's.
    let fork = world.head();
    world.write("other", "landed\n");
    let target = world.commit_all("other");
    let (before, refs) = (objects(&world), world.refs());
    let present = repository.present(&workspace, &target, &limits()).unwrap();
    assert_eq!((&present.base, present.has_uncommitted), (&fork, Some(true)));
    let files = present
        .repository
        .files_changed(&present.base, &present.tree)
        .unwrap();
    assert_eq!(
        words(&files),
        [
            "M README +1 -0",
            "A committed +1 -0",
            "R src/lib.txt > src/moved.txt +0 -0",
            "A staged +1 -0"
        ]
    );
    assert_eq!(
        (objects(&world), world.refs()),
        (before, refs),
        "to look writes nothing"
    );
    assert_eq!(world.git_at(&at, &["status", "--porcelain"]), status);

    // What the agent merges of the target is not its work either.
    world.git_at(&at, &["add", "-A"]);
    world.git_at(&at, &["commit", "-q", "-m", "all"]);
    world.git_at(&at, &["fetch", "-q", world.root().to_str().unwrap(), "main"]);
    world.git_at(&at, &["merge", "-q", "--no-edit", "FETCH_HEAD"]);
    let present = repository.present(&workspace, &target, &limits()).unwrap();
    assert_eq!((&present.base, present.has_uncommitted), (&target, Some(false)));
    let files = present
        .repository
        .files_changed(&present.base, &present.tree)
        .unwrap();
    assert_eq!(files.len(), 4, "{:?}", words(&files));
}

#[test]
fn nothing_that_an_agent_has_chosen_runs_for_a_look() {
    let world = World::new();
    let repository = world.open_locked();
    let workspace = world.workspace(&repository);
    let at = workspace.path();
    let evil = world.folder.path().join("evil.sh");
    put(&evil, "#!/bin/sh\ntouch \"${0%/*}/ran\"\ncat \"$@\"\n");
    std::fs::set_permissions(&evil, std::fs::Permissions::from_mode(0o755)).unwrap();
    let evil = evil.to_str().unwrap();
    put(
        &at.join(".gitattributes"),
        "* diff=evil filter=evil merge=evil\n*.bin -diff\n",
    );
    for key in [
        "diff.external",
        "diff.evil.command",
        "diff.evil.textconv",
        "filter.evil.clean",
        "filter.evil.smudge",
        "core.fsmonitor",
        "core.pager",
    ] {
        world.git_at(&at, &["config", key, evil]);
    }
    put(&at.join("README"), "seen\n");
    put(&at.join("a.bin"), "text\n");
    let present = repository.present(&workspace, &world.head(), &limits()).unwrap();
    let patch = patch(&present.repository, &present.base, &present.tree, PatchForm::Read);
    assert!(patch.contains("+seen") && patch.contains("+text"), "{patch}");
    assert!(!world.folder.path().join("ran").exists());
    assert_eq!(repository.git().users_pager(), None);
    world.git_at(world.folder.path(), &["config", "--global", "core.pager", "more"]);
    assert_eq!(repository.git().users_pager().as_deref(), Some("more"));
}

#[test]
fn every_kind_of_change_is_counted_and_a_patch_can_be_applied() {
    let world = World::new();
    world.write("bin", "a\0b\n");
    world.write("link", "is a file\n");
    world.write("gone", "x\n");
    let old = world.commit_all("before");
    std::fs::remove_file(world.root().join("link")).unwrap();
    std::os::unix::fs::symlink("README", world.root().join("link")).unwrap();
    std::fs::remove_file(world.root().join("gone")).unwrap();
    world.write("bin", "a\0c\n");
    world.write("odd\u{1b}[31m\nname\t", "one\ntwo\n");
    world.git(&["mv", "src/lib.txt", "lib.txt"]);
    world.git(&[
        "update-index",
        "--add",
        "--cacheinfo",
        &format!("160000,{old},sub"),
    ]);
    std::fs::create_dir(world.root().join("sub")).unwrap();
    let new = world.commit_all("after");
    let repository = world.open();
    let files = repository.files_changed(&old, &new).unwrap();
    assert_eq!(
        words(&files),
        [
            "M bin binary",
            "D gone +0 -1",
            "R src/lib.txt > lib.txt +0 -0",
            "T link +1 -1",
            "A odd\u{1b}[31m\nname\t +2 -0",
            "A sub +1 -0"
        ]
    );
    let submodules: Vec<bool> = files.iter().map(|file| file.is_submodule).collect();
    assert_eq!(submodules, [false, false, false, false, false, true]);
    let read = patch(&repository, &old, &new, PatchForm::Read);
    assert!(read.contains("Binary files a/bin and b/bin differ"), "{read}");
    assert!(read.contains("rename from src/lib.txt"), "{read}");
    put(
        &world.folder.path().join("patch"),
        &patch(&repository, &old, &new, PatchForm::Apply),
    );
    world.git(&["checkout", "-q", "--detach", old.as_str()]);
    world.git(&["apply", "--index", "../patch"]);
    assert_eq!(
        world.git(&["write-tree"]),
        world.git(&["rev-parse", &format!("{new}^{{tree}}")])
    );
    assert!(repository.files_changed(&old, &old).unwrap().is_empty());
}
