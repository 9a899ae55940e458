//! F11: no further process. The kernel says EAGAIN to whoever forks; root is not asked, so crew runs as
//! somebody else. Root in a namespace of one's own is asked as anybody is: there crew runs as it is.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::faults::mounts::{cells, inside, must};
use crate::faults::struck::{self, At, in_order};
use testkit::world::{Engine, World, crew};

/// A user that no machine has.
const NOBODY: &str = "63219";

/// Whether this is the machine's own root, and not one of a user namespace.
pub(crate) fn is_root_of_the_machine() -> bool {
    let map = fs::read_to_string("/proc/self/uid_map").unwrap();
    map.split_whitespace().eq(["0", "0", "4294967295"])
}

/// Makes everything of a world's the user's, and has every program run as they do; not where the kernel asks
/// this one too.
pub(crate) fn as_nobody(world: &World) {
    if !is_root_of_the_machine() {
        return;
    }
    let program = inside().join("bin/crew");
    fs::write(&program, "").unwrap();
    // Where it was built may be its owner's alone.
    must(
        "mount",
        &[OsStr::new("--bind"), OsStr::new(&crew()), program.as_os_str()],
    );
    for folder in [inside(), inside().join("bin"), world.path("")] {
        must("chmod", &[OsStr::new("755"), folder.as_os_str()]);
    }
    own(&world.path(""));
    within(world, &[]);
}

/// Has every program run as the user, and started by this one.
fn within(world: &World, by: &[&str]) {
    if !is_root_of_the_machine() {
        let by = if by.is_empty() { &["env"] } else { by };
        return world.run_as(by, crew().as_ref());
    }
    let user = format!("--reuid={NOBODY}");
    let group = format!("--regid={NOBODY}");
    let setpriv = ["setpriv", &user, &group, "--clear-groups"];
    world.run_as(&[&setpriv, by].concat(), &inside().join("bin/crew"));
}

/// Makes a folder the user's, with all that is in it.
pub(crate) fn own(folder: &Path) {
    if !is_root_of_the_machine() {
        return;
    }
    let user = format!("{NOBODY}:{NOBODY}");
    must(
        "chown",
        &[OsStr::new("-R"), OsStr::new(&user), folder.as_os_str()],
    );
}

/// How many processes and threads the user may have when the engine asks for one more. The user says it: the
/// engine is theirs.
fn limit(world: &World, engine: &Engine, limit: &str) {
    let (pid, limit) = (format!("--pid={}", engine.pid()), format!("--nproc={limit}:"));
    let said = world.program("prlimit").args([pid, limit]).output().unwrap();
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
}

fn without_processes(at: At) {
    let world = struck::world(at);
    as_nobody(&world);
    let mut engine = struck::bring(&world, at);
    limit(&world, &engine, "1");
    struck::go_on(&world, at);
    own(&world.project(".tickets"));
    world.wait("it says what it lacks", || {
        let said = engine.said().all();
        said.contains("Resource temporarily unavailable") || said.contains("journal")
    });
    if let At::Checks = at {
        // What the checks said was heard; to land, it would need a git.
        world.wait("it cannot land", || {
            world.state_name("t-1") == "verify/landing"
                && engine.said().all().contains("no thread can be started")
        });
        assert!(world.landed().is_empty());
    }
    assert!(engine.is_up(), "{}", engine.said());
    limit(&world, &engine, "4000");
    world.wait_for("t-1", "done/landed");
    engine.signal("TERM");
    engine.end();
    assert_eq!(world.landed(), ["t-1"]);
    assert_eq!((world.state("t-1").attempts, world.runs("t-1")), (1, 1));
    in_order(&world);
}

/// Stops the engine and what runs, where there is not even a thread to do it with.
fn stopped_without_processes(at: At, run: impl Fn(&World) -> PathBuf) {
    let world = struck::world(at);
    as_nobody(&world);
    let mut engine = struck::bring(&world, at);
    limit(&world, &engine, "1");
    world.must(&["stop", "--kill"]);
    let said = engine.end();
    assert_eq!(said.code, Some(0), "{said}");
    let exit = fs::read_to_string(run(&world).join("exit.json")).unwrap();
    assert!(exit.contains("stopped"), "{exit}");
    struck::go_on(&world, at);
    world.drain_all();
    assert_eq!(world.landed(), ["t-1"]);
    in_order(&world);
}

cells! {
    fn no_process_while_work_is_given_out() {
        without_processes(At::Queue);
    }

    fn no_process_while_an_agent_works() {
        without_processes(At::Work);
    }

    fn no_process_while_checks_run() {
        without_processes(At::Checks);
    }

    fn an_engine_that_gets_no_process_loses_nothing() {
        let world = struck::world(At::Work);
        as_nobody(&world);
        drop(struck::bring(&world, At::Work));
        struck::go_on(&world, At::Work);
        world.wait("the step has ended", || {
            world.project(".crew/runs/t-1.1.1/exit.json").exists()
        });
        within(&world, &["prlimit", "--nproc=1:"]);
        let said = world.crew(&["run", "--until-idle"]);
        assert!(
            said.code == Some(1) && said.all().contains("Resource temporarily unavailable"),
            "{said}"
        );
        within(&world, &[]);
        world.drain_all();
        assert_eq!(world.landed(), ["t-1"]);
        assert_eq!((world.state("t-1").attempts, world.runs("t-1")), (1, 1));
        in_order(&world);
    }

    fn a_stop_needs_no_thread_that_is_not_there() {
        stopped_without_processes(At::Work, |world| world.project(".crew/runs/t-1.1.1"));
    }

    fn a_check_is_ended_without_a_thread() {
        stopped_without_processes(At::Checks, |world| {
            let current = fs::read_to_string(world.project(".crew/checks/current.1")).unwrap();
            world.project(".crew/checks/runs").join(current)
        });
    }

    fn a_clean_that_may_not_look_into_a_folder_takes_nothing_away() {
        if !is_root_of_the_machine() {
            eprintln!("not proved here: a namespace's own root may look into every folder");
            return;
        }
        let world = struck::world(At::Work);
        as_nobody(&world);
        drop(struck::bring(&world, At::Work));
        let runs = world.project(".crew/runs");
        let may = |mode: u32| fs::set_permissions(&runs, fs::Permissions::from_mode(mode)).unwrap();
        may(0);
        let said = world.crew(&["clean", "--yes"]);
        assert!(
            said.code == Some(1) && said.err.contains("cannot list") && said.err.contains(".crew/runs"),
            "{said}"
        );
        assert!(world.project(".crew/journal.db").exists());
        assert_eq!(world.workspaces().len(), 1);
        may(0o700);
        world.must(&["clean", "--yes"]);
        assert!(!world.project(".crew").exists());
        assert!(world.processes().is_empty() && world.workspaces().is_empty());
    }
}
