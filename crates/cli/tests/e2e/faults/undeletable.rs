//! What crew may not delete: a folder that another file system is mounted on, or that another user's file is
//! in. It is told of with the ticket that left it, and no other ticket's, no command's, to stumble over.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};

use crate::faults::few::{as_nobody, is_root_of_the_machine};
use crate::faults::mounts::{cells, is_there, must};
use testkit::world::{DONE, World};

/// An agent that makes a folder and waits, so that somebody can have a hand in it.
const MAKES_ROOM: &str =
    "mkdir out\n: > \"$GATES/made\"\nuntil_there \"$GATES/go\"\nwork t-1.txt done\necho DONE\n";

/// The folder that the workspaces stand in.
fn spaces(world: &World) -> PathBuf {
    let mut found = fs::read_dir(world.path("home/.local/state/crew")).unwrap();
    found.next().unwrap().unwrap().path()
}

/// What is left in it.
fn left(world: &World) -> Vec<PathBuf> {
    let entries = fs::read_dir(spaces(world)).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

/// What stands in a folder for t-1.
fn of_t1(folder: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names = entries.filter(|entry| {
        let name = entry.file_name().into_string().unwrap();
        !name.starts_with('.') && (name.ends_with("-t-1") || name.ends_with("-t-1~1"))
    });
    names.next().map(|entry| entry.path())
}

fn mount(at: &Path) {
    let words = ["-t", "tmpfs", "crew-matrix"].map(OsStr::new);
    must("mount", &[&words[..], &[at.as_os_str()]].concat());
}

fn unmount(at: &Path) {
    must("umount", &[at.as_os_str()]);
}

/// An agent leaves something that may not be deleted, by `plant` in its folder `out`; `mend` is given what is
/// left of that.
fn left_behind(world: &World, plant: impl Fn(&Path), mend: impl Fn(&Path)) {
    let mut engine = world.engine();
    world.wait("there is a folder", || is_there(&world.path("gates/made")));
    plant(&of_t1(&spaces(world)).unwrap().join("out"));
    world.open("go");
    for id in ["t-1", "t-2", "t-3"] {
        world.wait_for(id, "done/landed");
    }
    let all = spaces(world).join(".undeletable");
    world.wait("it is out of the way", || of_t1(&all).is_some());
    let out = of_t1(&all).unwrap().join("out");
    let says = "-t-1 left what crew may not delete";
    let how = format!("sudo rm -r --one-file-system {}", of_t1(&all).unwrap().display());
    world.wait("it is told", || engine.said().all().contains(&how));
    engine.signal("TERM");
    let said = engine.end();
    let told = said.all().matches(says).count();
    assert!(
        told == 1 && said.all().contains(&out.display().to_string()),
        "{said}"
    );
    for id in ["t-1", "t-2", "t-3"] {
        assert_eq!(world.state(id).attempts, 1, "an attempt of {id} was lost\n{said}");
    }
    // A later engine ends as it should, and so does all of a clean but what it may not.
    let said = world.crew(&["run", "--until-idle"]);
    assert!(said.code == Some(0) && !said.all().contains("error="), "{said}");
    assert_eq!(left(world), [all.as_path()], "all else is gone");
    let said = world.crew(&["doctor"]);
    let has_told = |all: &str| all.contains(says) && all.contains(&how);
    assert!(said.code == Some(1) && has_told(&said.all()), "{said}");
    for _ in 0..2 {
        let said = world.crew(&["clean", "--yes"]);
        assert!(said.code == Some(1) && has_told(&said.err), "{said}");
        assert!(is_there(&out) && !is_there(&world.project(".crew")));
    }
    mend(&out);
    world.must(&["clean", "--yes"]);
    assert!(!is_there(all.parent().unwrap()), "nothing is left");
}

fn three_tickets() -> World {
    let world = World::new();
    world.ticket("t-1").agent(MAKES_ROOM).write();
    world.ticket("t-2").agent(DONE).write();
    world.ticket("t-3").agent(DONE).write();
    world
}

cells! {
    fn what_is_mounted_in_a_workspace_is_nobody_elses_and_told() {
        left_behind(&three_tickets(), mount, unmount);
    }

    fn what_another_user_wrote_into_a_workspace_is_nobody_elses_and_told() {
        if !is_root_of_the_machine() {
            eprintln!("not proved here: a namespace has one user");
            return;
        }
        let world = three_tickets();
        as_nobody(&world);
        let write = |out: &Path| {
            fs::write(out.join("file"), "another's\n").unwrap();
            chown(out, Some(0), Some(0)).unwrap();
        };
        left_behind(&world, write, |out| fs::remove_dir_all(out).unwrap());
    }

    fn a_checkout_that_may_not_be_deleted_is_lent_to_nobody() {
        let world = World::new();
        world.ticket("t-1").agent("work sub/t-1.txt done\necho DONE\n").write();
        let mut engine = world.engine();
        world.wait_for("t-1", "done/landed");
        let kept = spaces(&world).join(".pool");
        world.wait("its checkout is kept", || of_t1(&kept).is_some());
        mount(&of_t1(&kept).unwrap().join("tree/sub"));
        world.ticket("t-2").agent(DONE).write();
        world.wait_for("t-2", "done/landed");
        let all = spaces(&world).join(".undeletable");
        let sub = of_t1(&all).unwrap().join("tree/sub");
        let told = sub.display().to_string();
        world.wait("it is told", || engine.said().all().contains(&told));
        engine.signal("TERM");
        let said = engine.end();
        assert!(said.all().contains("-t-1 left what crew may not delete"), "{said}");
        assert_eq!((world.state("t-2").attempts, world.runs("t-2")), (1, 1), "{said}");
        unmount(&sub);
        world.drain_all();
        assert_eq!(left(&world), Vec::<PathBuf>::new());
    }

    fn an_agent_that_shuts_its_own_folders_hinders_nobody() {
        let world = World::new();
        let shuts = "mkdir -p out/in\nwork t-1.txt done\nchmod 0 out/in out .\necho DONE\n";
        world.ticket("t-1").agent(shuts).write();
        // To root, nothing is shut.
        as_nobody(&world);
        world.drain_all();
        assert_eq!(world.landed(), ["t-1"]);
        assert_eq!(left(&world), Vec::<PathBuf>::new());
    }
}
