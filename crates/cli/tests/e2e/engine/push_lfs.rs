//! The content of files in Git LFS is at the remote before the commits that point to it.

use std::fs;
use std::os::unix::fs::symlink;

use crate::engine::push::{at_remote, with_remote};
use testkit::world::{World, path_variable};

/// An agent that brings a new file in Git LFS, and changes another one.
const BRINGS: &str = "echo more >> a.bin\nhead -c 5000 /dev/urandom > new.bin\ncp new.bin \"$LOGS/new\"\n\
                      git add -A\ngit commit -qm lfs\necho left > left.bin\necho DONE";

/// A world whose remote has a file in Git LFS.
fn with_lfs() -> World {
    let world = with_remote();
    world.git(&["lfs", "install", "--skip-repo"]);
    world.commit(".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n");
    world.commit("a.bin", "one\n");
    world.git(&["lfs", "push", "--all", "origin"]);
    world.git(&["push", "-q", "--no-verify", "origin", "main"]);
    world
}

#[test]
fn a_clone_of_the_remote_has_the_content_that_an_agent_made() {
    let world = with_lfs();
    world.ticket("t-1").agent(BRINGS).write();
    world.drain_all();
    assert_eq!(world.landed(), ["t-1"]);
    // A second time nothing is to be sent.
    world.ticket("t-2").agent("cp a.bin copy.bin\necho DONE").write();
    world.drain_all();
    world.git(&["clone", "-q", "../remote.git", "../fresh"]);
    let fresh = world.path("fresh");
    assert_eq!(fs::read(fresh.join("a.bin")).unwrap(), b"one\nmore\n");
    assert_eq!(fs::read(fresh.join("left.bin")).unwrap(), b"left\n");
    assert_eq!(
        fs::read(fresh.join("new.bin")).unwrap(),
        fs::read(world.path("logs/new")).unwrap()
    );
}

#[test]
fn work_that_says_where_content_goes_waits_for_a_person() {
    let world = with_lfs();
    world
        .ticket("t-1")
        .agent("git config -f .lfsconfig lfs.url https://127.0.0.1:9/elsewhere\necho two > a.bin\necho DONE")
        .write();
    world.drain_held();
    let (why, note) = world.held("t-1");
    assert!(why == "paths" && note.contains(".lfsconfig"), "{why}: {note}");

    // A person lets it land, and so it counts: nobody answers there, and nothing is pushed.
    let before = at_remote(&world);
    world.must(&["approve", "t-1"]);
    world.run_until_held("t-1");
    let (_, note) = world.held("t-1");
    assert!(
        note.contains("cannot be reached") && note.contains("elsewhere"),
        "{note}"
    );
    assert_eq!(at_remote(&world), before);
    // The settings of the person are stronger.
    world.git(&[
        "config",
        "lfs.url",
        &format!("file://{}", world.path("remote.git").display()),
    ]);
    world.must(&["retry", "t-1"]);
    world.drain_all();
    assert_eq!(world.landed(), ["t-1"]);
}

#[test]
fn the_checkout_does_not_say_where_content_goes() {
    let world = with_lfs();
    fs::write(
        world.project(".lfsconfig"),
        "[lfs]\n\turl = https://127.0.0.1:9/elsewhere\n",
    )
    .unwrap();
    world.ticket("t-1").agent(BRINGS).write();
    world.drain_all();
    assert_eq!(world.landed(), ["t-1"]);
}

#[test]
fn without_git_lfs_nothing_is_pushed_and_the_work_is_held() {
    let world = with_lfs();
    // The agent and the filters find it by its whole name; crew does not.
    let programs = world.path("programs");
    fs::create_dir_all(&programs).unwrap();
    for program in [
        "git", "sh", "env", "head", "cp", "cat", "rm", "mkdir", "touch", "sleep", "mv", "ln", "chmod",
    ] {
        let real = which(program);
        symlink(real, programs.join(program)).unwrap();
    }
    let lfs = which("git-lfs");
    for (key, what) in [
        ("clean", "clean -- %f"),
        ("smudge", "smudge -- %f"),
        ("process", "filter-process"),
    ] {
        world.git(&[
            "config",
            "--global",
            &format!("filter.lfs.{key}"),
            &format!("{lfs} {what}"),
        ]);
    }
    world.around("PATH", &programs);
    let before = at_remote(&world);
    world.ticket("t-1").agent(BRINGS).write();
    world.drain_held();
    let (why, note) = world.held("t-1");
    assert!(
        why == "landing" && note.contains("install git-lfs"),
        "{why}: {note}"
    );
    assert_eq!(at_remote(&world), before);
}

/// The path of a program.
fn which(program: &str) -> String {
    let path = path_variable();
    let mut found = std::env::split_paths(&path).map(|folder| folder.join(program));
    let found = found.find(|file| file.exists());
    found.unwrap().display().to_string()
}
