//! What crew may not delete: a folder that another file system is mounted on, or that another user's file is in. It is told of with
//! the ticket that left it, and no other ticket's, no command's, to stumble over.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use crate::few::as_nobody;
use crate::mounts::{cells, must};
use crate::support::{DONE, World};

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

cells! {
    fn f7_pr_a_checkout_that_may_not_be_deleted_is_lent_to_nobody() {
        let world = World::new();
        world.ticket("t-1").agent("work sub/t-1.txt done\necho DONE\n").write();
        let mut engine = world.engine();
        world.wait_for("t-1", "done/landed");
        let kept = spaces(&world).join(".spare");
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

    fn f7_cu_an_agent_that_shuts_its_own_folders_hinders_nobody() {
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
