//! F10: no room on a disk, or no writing to it, at each operation. Nothing new begins, nothing is lost,
//! nobody is blamed, and it goes on by itself when there is room.

use std::fs;
use std::path::Path;

use crate::faults::disk::{BALLAST, Disk, ReadOnly};
use crate::faults::mounts::{cells, is_there};
use crate::faults::struck::{self, At, WAITS, in_order, lands_at_once};
use testkit::world::{DONE, Engine, Said, World};

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

/// Makes a journal of an older crew, without an event.
fn older_journal(path: &Path) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime
        .block_on(store::samples::older_schema(path, "id"))
        .unwrap();
}

fn ticket(world: &World, id: &str, script: &str) {
    world.ticket(id).agent(script).write();
}

/// A disk that is full while a ticket goes on.
pub(crate) struct Full {
    /// The folder that is on it.
    pub(crate) over: &'static str,
    /// Where the ticket is when it fills up.
    pub(crate) at: At,
    /// What is so as long as there is no room.
    pub(crate) holds: fn(&World) -> bool,
}

impl Full {
    pub(crate) fn strike(&self) {
        let world = struck::world(self.at);
        let disk = Disk::over(&world.path(self.over));
        let mut engine = struck::bring(&world, self.at);
        let before = world.git(&["rev-parse", "main"]);
        disk.fill();
        struck::go_on(&world, self.at);
        told(&world, &engine);
        assert!((self.holds)(&world), "{}", world.state_name("t-1"));
        assert_eq!(world.git(&["rev-parse", "main"]), before);
        assert_eq!(world.git(&["diff", "--name-only", "main"]), "");
        disk.free();
        lands_at_once(&world, &mut engine, "t-1");
    }
}

cells! {
    fn no_space_in_the_journal() {
        let holds = |world: &World| world.try_state("t-1").is_none_or(|ticket| ticket.attempts == 0);
        Full { over: "project/.crew", at: At::Queue, holds }.strike();
    }

    fn no_space_for_a_workspace() {
        let holds = |world: &World| world.state_name("t-1") == "in_progress/preparing";
        Full { over: "home/.local/state/crew", at: At::Queue, holds }.strike();
    }

    fn no_space_for_a_run() {
        Full { over: "project/.crew/runs", at: At::Queue, holds: |world| world.runs("t-1") == 0 }.strike();
    }

    fn no_space_for_the_branch() {
        Full { over: "project/.git", at: At::Work, holds: |world| !world.is_landed("t-1") }.strike();
    }

    fn no_space_for_a_check() {
        Full { over: "project/.crew/checks", at: At::Work, holds: |world| !world.is_landed("t-1") }.strike();
    }

    fn no_space_for_a_ticket() {
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

    fn no_space_for_a_command() {
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

    fn no_space_while_an_agent_works() {
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

    fn no_space_to_keep_the_work() {
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

    fn no_space_for_the_ticket_file() {
        let check = World::until_home("checked");
        let world = World::with(|settings| settings.checks = format!("commands = ['''{check}''']"));
        world.anyway();
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

    fn no_space_when_an_engine_takes_over() {
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

    fn read_only_queue() {
        let world = World::new();
        let fixed = ReadOnly::over(&world.project(".tickets"));
        let said = world.crew(&["ticket", "create", "A title"]);
        assert_ne!(said.code, Some(0), "{said}");
        assert!(said.all().contains("Read-only file system"), "{said}");
        drop(fixed);
        world.must(&["ticket", "create", "A title"]);
    }

    fn read_only_repository() {
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

    fn read_only_journal() {
        let world = World::new();
        ticket(&world, "t-1", DONE);
        world.must(&["queue"]);
        let mut first = world.engine();
        world.wait_for("t-1", "done/landed");
        first.signal("TERM");
        first.end();
        // Nothing of it is left open.
        for beside in ["-wal", "-shm"] {
            let beside = format!(".crew/journal.db{beside}");
            assert!(!is_there(&world.project(&beside)), "{beside}");
        }
        let fixed = ReadOnly::over(&world.project(".crew"));
        let said = world.crew(&["run", "--until-idle"]);
        assert_eq!(said.code, Some(1), "{said}");
        assert!(said.all().contains("Read-only file system"), "{said}");
        // Who only looks needs to write nothing: the engine ended in good order.
        let looks: [(&[&str], &str); 5] = [
            (&["ps"], "1 landed"),
            (&["queue", "--landed"], "t-1"),
            (&["events"], "landed as"),
            (&["history", "t-1"], "landed as"),
            (&["inbox"], ""),
        ];
        for (look, wanted) in looks {
            let said = world.must(look);
            assert!(said.all().contains(wanted), "{look:?}: {said}");
        }
        let said = world.crew(&["retry", "t-1"]);
        assert_eq!(said.code, Some(1), "{said}");
        drop(fixed);
        in_order(&world);
    }

    fn read_only_journal_of_an_older_crew() {
        let world = World::new();
        older_journal(&world.project(".crew/journal.db"));
        let fixed = ReadOnly::over(&world.project(".crew"));
        let looks = [&["ps"][..], &["queue"], &["events"], &["history", "t-1"]];
        for look in looks {
            let said = world.crew(look);
            assert_eq!(said.code, Some(1), "{look:?}: {said}");
            assert!(
                said.all().contains("of an older crew") && said.all().contains("copy the repository"),
                "{look:?}: {said}"
            );
        }
        drop(fixed);
        // One look is enough.
        world.must(&["ps"]);
        let _fixed = ReadOnly::over(&world.project(".crew"));
        for look in [&["ps"][..], &["queue"], &["events"]] {
            world.must(look);
        }
    }

    fn read_only_journal_of_a_killed_engine() {
        let world = World::new();
        ticket(&world, "t-1", WAITS);
        let first = world.engine();
        world.wait_for_run("t-1", 1);
        drop(first);
        let shared = world.project(".crew/journal.db-shm");
        // A copy may come without it: SQLite makes it anew, where it can write.
        fs::remove_file(shared).unwrap();
        let fixed = ReadOnly::over(&world.project(".crew"));
        for look in [&["ps"][..], &["queue"], &["events"], &["history", "t-1"]] {
            let said = world.crew(look);
            assert_eq!(said.code, Some(1), "{look:?}: {said}");
            assert!(
                said.all().contains("the last writes are in its -wal") && said.all().contains("copy the repository"),
                "{look:?}: {said}"
            );
        }
        drop(fixed);
        world.open("go");
        world.drain_all();
        in_order(&world);
    }
}
