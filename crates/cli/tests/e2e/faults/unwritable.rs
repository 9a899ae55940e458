//! Files of the user's checkout that cannot be written: found before the branch moves, and where the branch
//! has moved all the same, named until they are new.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use crate::faults::mounts::{cells, is_there, must};
use testkit::world::World;

fn mount(words: &[&str], paths: &[&Path]) {
    let words = words.iter().map(OsStr::new);
    let all: Vec<&OsStr> = words.chain(paths.iter().map(|path| path.as_os_str())).collect();
    must("mount", &all);
}

fn unmount(at: &Path) {
    must("umount", &[at.as_os_str()]);
}

fn make_read_only(folder: &Path) {
    mount(&["--bind"], &[folder, folder]);
    mount(&["-o", "remount,bind,ro"], &[folder]);
}

/// A world with files in a folder, and a ticket that changes, deletes and adds some there.
fn world() -> World {
    let world = World::new();
    fs::create_dir(world.project("held")).unwrap();
    for name in ["held/a.txt", "held/b.txt"] {
        world.write(name, "old\n");
    }
    world.git(&["add", "."]);
    world.git(&["commit", "-qm", "files"]);
    world
        .ticket("t-1")
        .agent(
            "echo new > held/a.txt; git rm -q held/b.txt; mkdir held/deep; echo new > held/deep/c.txt\n\
             echo new > top.txt; git add -A; git commit -qm new; echo DONE",
        )
        .priority(0)
        .write();
    world
}

/// The entries of the inbox.
fn inbox(world: &World) -> Vec<serde_json::Value> {
    let said = world.crew(&["inbox", "--json"]);
    let all: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    all["items"].as_array().unwrap().clone()
}

/// The files of the checkout are those of its commit.
fn assert_followed(world: &World) {
    assert_eq!(world.git(&["status", "--porcelain", "--", ":!.tickets"]), "");
    assert_eq!(world.read("held/a.txt"), "new\n");
    assert_eq!(world.read("held/deep/c.txt"), "new\n");
    assert!(!is_there(&world.project("held/b.txt")));
    world.assert_at_rest();
}

/// Each thing that may stand in the way, and the path at which it is mounted.
type Plant = fn(&World) -> std::path::PathBuf;

const OBSTACLES: [(&str, Plant); 5] = [
    ("a read-only folder", |world| {
        let at = world.project("held");
        make_read_only(&at);
        at
    }),
    ("a folder that is mounted", |world| {
        let at = world.project("held");
        mount(&["--bind"], &[&at, &at]);
        at
    }),
    ("a file that is held by a mount", |world| {
        let at = world.project("held/a.txt");
        mount(&["--bind"], &[&at, &at]);
        at
    }),
    ("a file to be deleted that is held by a mount", |world| {
        let at = world.project("held/b.txt");
        mount(&["--bind"], &[&at, &at]);
        at
    }),
    ("a directory in the way of a new file", |world| {
        let at = world.project("top.txt");
        fs::create_dir(&at).unwrap();
        mount(&["-t", "tmpfs", "crew-matrix"], &[&at]);
        at
    }),
];

cells! {
    fn what_cannot_be_written_is_found_before_the_branch_moves_and_others_land() {
        for (what, plant) in OBSTACLES {
            let world = world();
            let at = plant(&world);
            world
                .ticket("t-2")
                .agent("until_there \"$GATES/go\"\nwork own x\necho DONE")
                .write();
            let mut engine = world.engine();
            world.wait("it is found", || {
                let inbox = world.crew(&["inbox"]).out;
                inbox.contains("checkout") && inbox.contains("cannot be written")
            });
            assert_eq!(world.on_main("top.txt"), None, "{what}: the branch has moved");
            assert!(!is_there(&world.project(".git/index.lock")), "{what}");
            world.open("go");
            world.wait_for("t-2", "done/landed");
            assert_eq!(world.landed(), ["t-2"], "{what}");
            assert!(!is_there(&world.project(".git/index.lock")), "{what}");
            // It is tried again every few seconds, and says while it is that it merges.
            world.wait("explain says why", || {
                world.must(&["explain", "t-1"]).out.contains("cannot be written")
            });
            unmount(&at);
            // The engine may have tried again by itself since then.
            let said = world.crew(&["merge", "t-1"]);
            assert!(said.code == Some(0) || said.err.contains("t-1 is done (landed)"), "{what}: {said}");
            world.wait_for("t-1", "done/landed");
            world.must(&["stop"]);
            assert_eq!(engine.end().code, Some(0));
            assert_followed(&world);
        }
    }

    fn an_index_that_cannot_be_replaced_is_found_before_the_branch_moves() {
        let world = world();
        let index = world.project(".git/index");
        let before = world.git(&["rev-parse", "main"]);
        mount(&["--bind"], &[&index, &index]);
        let said = world.drain();
        assert_eq!(said.code, Some(3), "{said}");
        assert!(said.out.contains(".git/index (cannot be written)"), "{said}");
        assert_eq!(world.git(&["rev-parse", "main"]), before, "the branch has moved");
        assert_eq!(world.git(&["diff", "--cached", "--name-only"]), "");
        assert!(!is_there(&world.project(".git/index.lock")));
        unmount(&index);
        world.drain();
        assert_eq!(world.landed(), ["t-1"]);
        assert_followed(&world);
    }

    fn a_checkout_that_cannot_follow_after_all_is_named_and_keeps_no_lock_through_every_kill() {
        for again in ["", "follow.staged", "follow.index", "follow.files", "follow.cleaned"] {
            let world = world();
            let lock = world.project(".git/index.lock");
            world.around("CREW_FAILPOINT_AT", "land.moved");
            let said = world.crew(&["run", "--until-idle"]);
            assert_eq!(said.signal, Some(9), "{said}");
            assert!(world.on_main("top.txt").is_some() && is_there(&lock), "killed between ref and files");
            make_read_only(&world.project("held"));
            if !again.is_empty() {
                world.around("CREW_FAILPOINT_AT", again);
                let said = world.crew(&["run", "--until-idle"]);
                assert_eq!(said.signal, Some(9), "{again}: {said}");
            }
            world.around("CREW_FAILPOINT_AT", "");
            let said = world.drain();
            assert_eq!(world.landed(), ["t-1"], "{again}: {said}");
            assert_eq!(world.state_name("t-1"), "done/landed");
            assert!(!is_there(&lock), "{again}: the user's git is kept out");
            // What can follow has, and the index is that of the branch.
            assert_eq!(world.read("top.txt"), "new\n", "{again}");
            assert_eq!(world.git(&["diff", "--cached", "--name-only"]), "", "{again}");
            let items = inbox(&world);
            assert_eq!(items.len(), 1, "{again}: {items:?}");
            assert_eq!(items[0]["kind"], "unwritten", "{again}: {items:?}");
            let why = items[0]["why"].as_str().unwrap();
            for file in ["old: held/a.txt, held/deep/c.txt", "deleted since: held/b.txt"] {
                assert!(why.contains(file), "{again}: {why}");
            }
            let doctor = world.crew(&["doctor"]);
            assert!(
                doctor.code == Some(1) && doctor.out.contains("deleted since: held/b.txt"),
                "{again}: {doctor}"
            );
            // The user's git works, and takes nothing back; another ticket lands.
            world.git(&["commit", "-q", "--allow-empty", "-m", "mine"]);
            world.ticket("t-2").agent("work own x\necho DONE").write();
            world.drain();
            assert_eq!(world.landed(), ["t-1", "t-2"], "{again}");
            assert_eq!(world.on_main("held/a.txt").as_deref(), Some("new\n"));
            // By the words of the inbox.
            unmount(&world.project("held"));
            world.git(&["restore", "held/a.txt", "held/deep/c.txt"]);
            fs::remove_file(world.project("held/b.txt")).unwrap();
            assert_eq!(inbox(&world), Vec::<serde_json::Value>::new());
            world.must(&["doctor"]);
            assert_followed(&world);
        }
    }
}
