//! The files of submodules in workspaces and in the checkout of checks: as the user's own git writes them.

use std::fs;
use std::path::{Path, PathBuf};

use testkit::world::World;

/// Fails unless git, which must read every file of the submodule again, sees no change.
const CLEAN: &str = "find lib -name .git -prune -o -type f -exec touch {} +\n\
                     test -z \"$(git -C lib status --porcelain)\" || exit 9\n";

/// A world with the submodule `lib`, whose files and attributes are these. Its origin is gone. `settings`:
/// the global settings of the user.
fn world(settings: &[[&str; 2]], files: &[(&str, &[u8])]) -> World {
    let world = World::with(|s| {
        s.checks = "commands = [\"mkdir -p \\\"$HOME/checked\\\" && cp -r lib/. \\\"$HOME/checked\\\" && cd lib && test -z \\\"$(git status --porcelain)\\\"\"]".to_owned();
    });
    for [key, value] in settings {
        world.git(&["config", "--global", key, value]);
    }
    let outer = world.path("outer");
    fs::create_dir_all(&outer).unwrap();
    world.git_at(&outer, &["init", "-q", "-b", "main"]);
    world.git_at(&outer, &["config", "user.name", "User"]);
    world.git_at(&outer, &["config", "user.email", "user@example.org"]);
    for (name, content) in files {
        fs::write(outer.join(name), content).unwrap();
    }
    world.git_at(&outer, &["add", "."]);
    world.git_at(&outer, &["commit", "-q", "-m", "files"]);
    let url = format!("file://{}", outer.display());
    let allow = ["-c", "protocol.file.allow=always"];
    let add = ["submodule", "add", "-q", url.as_str(), "lib"];
    world.git(&[&allow[..], &add].concat());
    world.git(&["commit", "-q", "-m", "a submodule"]);
    fs::remove_dir_all(outer).unwrap();
    world
}

/// What an agent and a check find in the submodule.
fn seen(world: &World) -> [PathBuf; 2] {
    let script = format!("{CLEAN}cp -r lib/. \"$HOME/seen\"\nwork own x\necho DONE");
    world.ticket("t-1").agent(&script).write();
    world.drain_all();
    assert_eq!(world.landed(), ["t-1"]);
    assert_eq!(world.git(&["for-each-ref", "refs/crew/rescue"]), "");
    world.assert_at_rest();
    [world.path("home/seen"), world.path("home/checked")]
}

fn assert_same(world: &World, folders: &[PathBuf], names: &[&str]) {
    let users = world.project("lib");
    let read = |folder: &Path, name: &str| fs::read(folder.join(name)).unwrap();
    for folder in folders {
        for name in names {
            assert_eq!(
                String::from_utf8_lossy(&read(folder, name)),
                String::from_utf8_lossy(&read(&users, name)),
                "{name} in {}",
                folder.display()
            );
        }
    }
}

#[test]
fn filters_and_line_endings_hold_in_a_submodule() {
    let attributes = b"*.txt text eol=crlf\n*.up filter=case\nraw -text\n*.id ident\n";
    let world = world(
        &[
            ["core.autocrlf", "true"],
            ["filter.case.clean", "tr a-z A-Z"],
            ["filter.case.smudge", "tr A-Z a-z"],
            ["filter.case.required", "true"],
        ],
        &[
            (".gitattributes", attributes),
            ("a.txt", b"one\n"),
            ("b.up", b"LOUD\n"),
            ("c.md", b"auto\n"),
            ("raw", b"raw\n"),
            ("d.id", b"$Id$\n"),
        ],
    );
    let users = |name: &str| fs::read_to_string(world.project("lib").join(name)).unwrap();
    assert_eq!(
        (users("a.txt").as_str(), users("b.up").as_str()),
        ("one\r\n", "loud\r\n")
    );
    let seen = seen(&world);
    assert_same(&world, &seen, &["a.txt", "b.up", "c.md", "raw", "d.id"]);
    // What the submodule's own configuration says counts in it.
    world.git_at(&world.project("lib"), &["config", "core.autocrlf", "false"]);
    for name in ["b.up", "c.md"] {
        fs::remove_file(world.project("lib").join(name)).unwrap();
    }
    world.git_at(&world.project("lib"), &["checkout", "-q", "--", "."]);
    assert_eq!(users("c.md"), "auto\n");
    fs::remove_dir_all(world.path("home/seen")).unwrap();
    world
        .ticket("t-2")
        .agent(&format!(
            "{CLEAN}cp -r lib/. \"$HOME/seen\"\nwork other x\necho DONE"
        ))
        .write();
    world.drain_all();
    assert_same(&world, &seen, &["a.txt", "b.up", "c.md", "raw"]);
}

#[test]
fn lfs_content_of_a_submodule_is_there_and_what_was_never_fetched_stays_a_pointer() {
    let world = world(
        &[
            ["filter.lfs.clean", "git-lfs clean -- %f"],
            ["filter.lfs.smudge", "git-lfs smudge -- %f"],
            ["filter.lfs.process", "git-lfs filter-process"],
            ["filter.lfs.required", "true"],
        ],
        &[
            (".gitattributes", b"*.bin filter=lfs diff=lfs merge=lfs -text\n"),
            ("a.bin", b"one\n"),
            ("b.bin", b"two\n"),
        ],
    );
    let lib = world.project("lib");
    assert_eq!(fs::read_to_string(lib.join("a.bin")).unwrap(), "one\n");
    let pointer = world.git_at(&lib, &["cat-file", "blob", "HEAD:b.bin"]);
    let object = pointer.lines().find_map(|line| line.strip_prefix("oid sha256:"));
    let object = object.unwrap();
    let place = format!(
        ".git/modules/lib/lfs/objects/{}/{}/{object}",
        &object[..2],
        &object[2..4]
    );
    fs::remove_file(world.project(&place)).unwrap();
    let [seen, checked] = seen(&world);
    for folder in [seen, checked] {
        let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
        assert_eq!(read("a.bin"), "one\n");
        assert_eq!(read("b.bin").trim_end(), pointer.trim_end());
    }
}

#[test]
fn a_filter_that_a_submodule_needs_and_that_fails_is_said_and_nobody_is_paid() {
    let world = world(
        &[
            ["filter.case.clean", "cat"],
            ["filter.case.smudge", "cat"],
            ["filter.case.required", "true"],
        ],
        &[(".gitattributes", b"*.up filter=case\n"), ("b.up", b"LOUD\n")],
    );
    world.anyway();
    world.change_settings("[run]\n", "[run]\nattempts = 1\n");
    world.git(&["config", "--global", "filter.case.smudge", "no-such-program"]);
    world.ticket("t-1").agent("echo DONE").write();
    world.drain_held();
    let (_, note) = world.held("t-1");
    assert!(note.contains("smudge filter case failed"), "{note}");
    assert_eq!(world.runs("t-1"), 0);
}
