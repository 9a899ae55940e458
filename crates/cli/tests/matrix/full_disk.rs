//! F10: no room on a disk, or no writing to it, at each operation. Nothing new begins, nothing is lost, nobody is blamed, and
//! it goes on by itself when there is room.

use std::fs;

use crate::disk::{BALLAST, Disk, ReadOnly};
use crate::mounts::{cells, is_there};
use crate::support::{DONE, Engine, Said, World};

/// An agent that waits in its work, and says that it is done.
const WAITS: &str = "until_there \"$GATES/go\"\nwork \"$CREW_TICKET_ID.txt\" done\necho DONE\n";

/// What a person reads when there is no room.
const NO_ROOM: [&str; 2] = ["o room", "No space left on device"];

fn says_no_room(said: &Said) -> bool {
    NO_ROOM.iter().any(|words| said.all().contains(words))
}

fn told(world: &World, engine: &Engine) {
    world.wait("the engine says that there is no room", || {
        says_no_room(&engine.said())
    });
}

/// After the fault: it lands once, in its first attempt, by one step, and everything is in order.
fn lands_at_once(world: &World, engine: &mut Engine, id: &str) {
    world.wait_for(id, "done/landed");
    assert!(engine.is_up());
    engine.signal("TERM");
    let said = engine.end();
    assert_eq!(said.code, Some(130), "{said}");
    assert_eq!(world.landed(), [id]);
    assert_eq!(world.state(id).attempts, 1, "an attempt was lost to the disk");
    assert_eq!(world.runs(id), 1, "a step was lost to the disk");
    in_order(world);
}

fn in_order(world: &World) {
    world.drain_all();
    world.must(&["doctor", "--deep"]);
}

fn ticket(world: &World, id: &str, script: &str) {
    world.ticket(id).agent(script).write();
}

cells! {
    fn f10_su_no_space_for_a_ticket() {
        let world = World::new();
        let disk = Disk::over(&world.project(".tickets"));
        disk.fill();
        let said = world.crew(&["ticket", "create", "A title", "-d", &"long ".repeat(2000)]);
        assert_ne!(said.code, Some(0), "{said}");
        assert!(says_no_room(&said), "{said}");
        let left: Vec<_> = fs::read_dir(world.project(".tickets")).unwrap().flatten().collect();
        let known = |name: &std::ffi::OsStr| name == ".lock" || name == BALLAST;
        assert!(left.iter().all(|file| known(&file.file_name())), "{left:?}");
        disk.free();
        world.must(&["ticket", "create", "A title"]);
    }

    fn f10_su_no_space_for_a_command() {
        let world = World::new();
        ticket(&world, "t-1", WAITS);
        let disk = Disk::over(&world.project(".crew"));
        let mut engine = world.engine();
        world.wait_for_run("t-1", 1);
        disk.fill();
        let said = world.crew(&["drop", "t-1", "because"]);
        assert_ne!(said.code, Some(0), "{said}");
        assert!(says_no_room(&said), "{said}");
        disk.free();
        world.open("go");
        lands_at_once(&world, &mut engine, "t-1");
    }

    fn f10_cl_no_space_in_the_journal() {
        let world = World::new();
        let disk = Disk::over(&world.project(".crew"));
        let mut engine = world.engine();
        world.wait("the engine is up", || !world.rows().is_empty());
        disk.fill();
        ticket(&world, "t-1", DONE);
        told(&world, &engine);
        assert!(world.try_state("t-1").is_none_or(|ticket| ticket.attempts == 0));
        disk.free();
        lands_at_once(&world, &mut engine, "t-1");
    }

    fn f10_pr_no_space_for_a_workspace() {
        let world = World::new();
        let disk = Disk::over(&world.path("home/.local/state/crew"));
        let mut engine = world.engine();
        world.wait("the engine is up", || !world.rows().is_empty());
        disk.fill();
        ticket(&world, "t-1", DONE);
        told(&world, &engine);
        assert_eq!(world.state_name("t-1"), "in_progress/preparing");
        disk.free();
        lands_at_once(&world, &mut engine, "t-1");
    }

    fn f10_sp_no_space_for_a_run() {
        let world = World::new();
        let disk = Disk::over(&world.project(".crew/runs"));
        let mut engine = world.engine();
        world.wait("the engine is up", || !world.rows().is_empty());
        disk.fill();
        ticket(&world, "t-1", DONE);
        told(&world, &engine);
        assert_eq!(world.runs("t-1"), 0);
        disk.free();
        lands_at_once(&world, &mut engine, "t-1");
    }

    fn f10_st_no_space_while_an_agent_works() {
        let world = World::new();
        let disk = Disk::over(&world.project(".crew"));
        // It says a lot, and what it says last is what counts.
        let says = "until_there \"$GATES/go\"\nseq 20000\nwork t-1.txt done\necho DONE\n: > \"$GATES/said\"\n";
        ticket(&world, "t-1", says);
        let mut engine = world.engine();
        world.wait_for_run("t-1", 1);
        disk.fill();
        world.open("go");
        world.wait("the agent has said it all", || is_there(&world.path("gates/said")));
        assert!(engine.is_up());
        disk.free();
        lands_at_once(&world, &mut engine, "t-1");
    }

    fn f10_wk_no_space_for_the_branch() {
        let world = World::new();
        let disk = Disk::over(&world.project(".git"));
        ticket(&world, "t-1", WAITS);
        let mut engine = world.engine();
        world.wait_for_run("t-1", 1);
        disk.fill();
        world.open("go");
        told(&world, &engine);
        assert!(!world.is_landed("t-1"));
        disk.free();
        lands_at_once(&world, &mut engine, "t-1");
    }

    fn f10_ga_no_space_for_a_check() {
        let world = World::with(|settings| settings.checks = "commands = [\"test -e t-1.txt || test -e README\"]".to_owned());
        let disk = Disk::over(&world.project(".crew/checks"));
        ticket(&world, "t-1", WAITS);
        let mut engine = world.engine();
        world.wait_for_run("t-1", 1);
        disk.fill();
        world.open("go");
        told(&world, &engine);
        assert!(!world.is_landed("t-1"));
        disk.free();
        lands_at_once(&world, &mut engine, "t-1");
    }

    fn f10_la_no_space_while_landing() {
        let check = World::until_home("checked");
        let world = World::with(|settings| settings.checks = format!("commands = ['''{check}''']"));
        let disk = Disk::over(&world.project(".git"));
        ticket(&world, "t-1", DONE);
        let mut engine = world.engine();
        world.wait_for("t-1", "verify/checking");
        let before = world.git(&["rev-parse", "main"]);
        disk.fill();
        fs::write(world.path("home/checked"), "").unwrap();
        told(&world, &engine);
        assert_eq!(world.git(&["rev-parse", "main"]), before);
        assert_eq!(world.git(&["diff", "--name-only", "main"]), "");
        disk.free();
        lands_at_once(&world, &mut engine, "t-1");
    }

    fn f10_cu_no_space_to_keep_the_work() {
        let world = World::new();
        let disk = Disk::over(&world.project(".git"));
        ticket(&world, "t-1", "echo precious > left.txt\n: > \"$GATES/left\"\nuntil_there \"$GATES/go\"\n");
        let mut engine = world.engine();
        world.wait("the agent has left something", || is_there(&world.path("gates/left")));
        disk.fill();
        world.must(&["drop", "t-1", "not wanted"]);
        told(&world, &engine);
        assert_eq!(world.workspaces().len(), 1, "its work is still to be kept");
        disk.free();
        world.wait("the workspace is removed", || world.workspaces().is_empty());
        let kept = world.git(&["for-each-ref", "--format=%(refname)", "refs/crew/attempts", "refs/crew/rescue"]);
        let [kept] = kept.lines().collect::<Vec<_>>()[..] else { panic!("kept: {kept:?}") };
        assert_eq!(world.git(&["show", &format!("{kept}:left.txt")]), "precious");
        engine.signal("TERM");
        engine.end();
        in_order(&world);
    }

    fn f10_cu_no_space_for_the_ticket_file() {
        let check = World::until_home("checked");
        let world = World::with(|settings| settings.checks = format!("commands = ['''{check}''']"));
        ticket(&world, "t-1", DONE);
        let disk = Disk::over(&world.project(".tickets"));
        let mut engine = world.engine();
        world.wait_for("t-1", "verify/checking");
        disk.fill();
        fs::write(world.path("home/checked"), "").unwrap();
        world.wait_for("t-1", "done/landed");
        assert_ne!(world.front("t-1", "status"), "closed");
        disk.free();
        world.wait("the file is closed", || world.front("t-1", "status") == "closed");
        lands_at_once(&world, &mut engine, "t-1");
    }

    fn f10_re_no_space_when_an_engine_takes_over() {
        let world = World::new();
        let disk = Disk::over(&world.project(".crew"));
        ticket(&world, "t-1", WAITS);
        let first = world.engine();
        world.wait_for_run("t-1", 1);
        drop(first);
        disk.fill();
        let mut second = world.engine();
        told(&world, &second);
        assert!(second.is_up(), "{}", second.said());
        disk.free();
        world.open("go");
        lands_at_once(&world, &mut second, "t-1");
    }

    fn f10_su_read_only_queue() {
        let world = World::new();
        let fixed = ReadOnly::over(&world.project(".tickets"));
        let said = world.crew(&["ticket", "create", "A title"]);
        assert_ne!(said.code, Some(0), "{said}");
        assert!(said.all().contains("Read-only file system"), "{said}");
        drop(fixed);
        world.must(&["ticket", "create", "A title"]);
    }

    fn f10_pr_f10_la_read_only_repository() {
        let world = World::new();
        ticket(&world, "t-1", WAITS);
        let mut engine = world.engine();
        world.wait_for_run("t-1", 1);
        let fixed = ReadOnly::over(&world.project(".git"));
        world.open("go");
        let told = || engine.said().all().contains("Read-only file system");
        world.wait("the engine says that it may not write", told);
        assert!(!world.is_landed("t-1"));
        drop(fixed);
        lands_at_once(&world, &mut engine, "t-1");
    }

    fn f10_re_read_only_journal() {
        let world = World::new();
        ticket(&world, "t-1", DONE);
        world.must(&["queue"]);
        let mut first = world.engine();
        world.wait_for("t-1", "done/landed");
        first.signal("TERM");
        first.end();
        let fixed = ReadOnly::over(&world.project(".crew"));
        let said = world.crew(&["run", "--until-idle"]);
        assert_eq!(said.code, Some(1), "{said}");
        assert!(said.all().contains("Read-only file system"), "{said}");
        drop(fixed);
        in_order(&world);
    }
}
