//! Engines come and go; shims are killed.

use std::fs;
use std::process::Command;

use process::{Error, Reason, Run, Status, Stream, Tail};

use crate::support::{LONG, World, bare_shim, exit, kill, lives, pid_in, shim, shim_of, text, until};

/// Starts a run from a process that is gone when this returns.
fn start_and_die(run: &Run) {
    let engine = Command::new(shim().program)
        .arg("start")
        .arg(run.dir())
        .output()
        .unwrap();
    assert!(
        engine.status.success(),
        "{}",
        String::from_utf8_lossy(&engine.stderr)
    );
}

#[test]
fn another_engine_goes_on_where_the_first_was() {
    let world = World::new();
    let script = "echo one; while [ ! -e go ]; do sleep 0.01; done; echo two; exit 5";
    let run = world.create(&world.sh(script));
    start_and_die(&run);
    let run = Run::open(run.dir()).unwrap();
    let mut tail = Tail::new(&run, Stream::Out, 0);
    until("one", || (tail.read(100).unwrap() == b"one\n").then_some(()));
    let watch = run.watch().unwrap();
    let fd = watch.try_clone_pidfd().unwrap().expect("it runs");
    fs::write(world.path("go"), "").unwrap();
    // The descriptor alone tells an event loop.
    let mut fds = [rustix::event::PollFd::new(&fd, rustix::event::PollFlags::IN)];
    assert_eq!(rustix::event::poll(&mut fds, None).unwrap(), 1);
    assert_eq!(exit(run.status().unwrap()).code, Some(5));
    assert_eq!(tail.read(100).unwrap(), b"two\n");
    // Long over: a watch says so at once.
    assert!(run.watch().unwrap().pidfd().is_none());
    assert_eq!(
        exit(run.watch().unwrap().wait(LONG).unwrap().unwrap()).code,
        Some(5)
    );
}

/// A person moves the repository while a step runs.
#[test]
fn a_run_whose_directory_is_moved_ends_there() {
    let world = World::new();
    let script = "echo one; while [ ! -e go ]; do sleep 0.01; done; echo two; exit 5";
    let run = world.create(&world.sh(script));
    start_and_die(&run);
    let moved = world.path("moved");
    fs::rename(world.path("runs"), &moved).unwrap();
    let run = Run::open(moved.join(run.dir().file_name().unwrap())).unwrap();
    assert!(matches!(run.status().unwrap(), Status::Running { .. }));
    fs::write(world.path("go"), "").unwrap();
    let end = exit(run.watch().unwrap().wait(LONG).unwrap().unwrap());
    assert_eq!((end.reason, end.code), (Reason::Exited, Some(5)));
    assert_eq!(Tail::new(&run, Stream::Out, 0).read(100).unwrap(), b"one\ntwo\n");
    assert!(!world.path("runs").exists(), "nothing is left behind");
}

/// A copy of the directory of a run, as `cp -a` makes it.
fn copied(world: &World, run: &Run) -> Run {
    let copy = world.path("copy");
    let copied = Command::new("cp").arg("-a").arg(run.dir()).arg(&copy).status();
    assert!(copied.unwrap().success());
    Run::open(copy).unwrap()
}

#[test]
fn a_copy_of_a_directory_ends_nothing_of_the_run_that_is_held_in_the_first_one() {
    let world = World::new();
    let run = world.create(
        &world.sh("(setsid sh -c 'echo $$ > daemon; exec sleep 1000' &); echo $$ > program; sleep 1000"),
    );
    run.start(&shim()).unwrap();
    let pids = ["program", "daemon"].map(|name| pid_in(&world.path(name)));
    let copy = copied(&world, &run);
    assert_eq!(copy.elsewhere().unwrap().as_deref(), Some(run.dir()));
    assert_eq!(run.elsewhere().unwrap(), None);
    assert_eq!(copy.find_marked().unwrap(), Vec::<u32>::new());
    // The copy may have been made before the shim had said who it is.
    for is_known in [true, false] {
        if !is_known {
            fs::remove_file(copy.dir().join("shim.json")).unwrap();
            fs::remove_file(copy.dir().join("exit.json")).unwrap();
        }
        copy.stop().unwrap();
        for swept in [copy.end().unwrap(), copy.kill().unwrap(), copy.sweep().unwrap()] {
            assert_eq!((swept.exit.reason, swept.killed), (Reason::Stopped, 0));
        }
    }
    assert!(pids.into_iter().all(lives));
    assert!(matches!(run.status().unwrap(), Status::Running { .. }));
    // Under another path the directory is still the one in which the run is held.
    let moved = world.path("moved");
    fs::rename(run.dir(), &moved).unwrap();
    let run = Run::open(moved).unwrap();
    assert_eq!(run.elsewhere().unwrap(), None);
    assert_eq!(run.end().unwrap().exit.reason, Reason::Stopped);
    assert!(!pids.into_iter().any(lives));
}

/// A move to another file system is a copy, after which the first one is removed.
#[test]
fn a_copy_of_a_directory_that_was_removed_ends_what_was_held_there() {
    let world = World::new();
    let run = world.create(&world.sh("echo $$ > program; sleep 1000"));
    run.start(&shim()).unwrap();
    let pid = pid_in(&world.path("program"));
    let copy = copied(&world, &run);
    fs::remove_dir_all(run.dir()).unwrap();
    assert_eq!(copy.elsewhere().unwrap(), None);
    assert_eq!(copy.sweep().unwrap().exit.reason, Reason::Lost);
    assert!(!lives(pid));
}

#[test]
fn an_adopted_run_is_stopped_by_the_new_engine() {
    let world = World::new();
    let run = world.create(&world.sh("sleep 1000"));
    start_and_die(&run);
    let watch = run.watch().unwrap();
    run.stop().unwrap();
    assert_eq!(exit(watch.wait(LONG).unwrap().unwrap()).reason, Reason::Stopped);
}

#[test]
fn a_killed_shim_is_lost_and_the_sweep_kills_all_it_had() {
    let world = World::new();
    let run = world.create(&world.sh(
        "echo $$ > program; (setsid sh -c 'echo $$ > daemon; exec sleep 1000' &); \
         setsid env -i sh -c 'echo $$ > stripped; exec sleep 1000' & echo said; wait",
    ));
    let watch = run.start(&shim()).unwrap();
    let pids = ["program", "daemon", "stripped"].map(|name| pid_in(&world.path(name)));
    until("it has printed", || {
        (text(&run, Stream::Out) == "said\n").then_some(())
    });
    kill(shim_of(&run));
    let status = watch.wait(LONG).unwrap().unwrap();
    let Status::Lost { started } = &status else {
        panic!("{status:?}")
    };
    assert_eq!(started.child.as_ref().unwrap().pid, pids[0]);
    assert!(status.is_over());
    assert!(pids.into_iter().all(lives), "the sweep has something to do");
    // Lost is for good: it is not started again.
    assert!(matches!(
        run.start(&shim()).unwrap().wait(LONG).unwrap().unwrap(),
        Status::Lost { .. }
    ));

    let swept = run.sweep().unwrap();
    assert_eq!((swept.exit.reason.clone(), swept.killed), (Reason::Lost, 3));
    assert_eq!(swept.exit.out.bytes, 5);
    assert!(!pids.into_iter().any(lives));
    assert_eq!(run.find_marked().unwrap(), Vec::<u32>::new());
    assert_eq!(exit(run.status().unwrap()), swept.exit);
    let again = run.sweep().unwrap();
    assert_eq!((again.killed, again.exit), (0, swept.exit));
}

#[test]
fn a_damaged_record_is_as_good_as_none() {
    for damaged in ["shim.json", "exit.json"] {
        let world = World::new();
        let run =
            world.create(&world.sh("(setsid sh -c 'echo $$ > daemon; exec sleep 1000' &); wait; sleep 1000"));
        run.start(&shim()).unwrap();
        let daemon = pid_in(&world.path("daemon"));
        let its_shim = shim_of(&run);
        fs::write(run.dir().join(damaged), "{").unwrap();
        assert!(matches!(run.status(), Err(Error::Damaged { .. })));
        // It may be at work all the same.
        assert!(matches!(run.sweep(), Err(Error::StillRunning { .. })));
        assert!(lives(daemon));

        kill(its_shim);
        let swept = until("the lock is free", || run.sweep().ok());
        assert_eq!(swept.exit.reason, Reason::Lost);
        assert!(!lives(daemon));
        assert_eq!(exit(run.status().unwrap()), swept.exit);
    }
}

#[test]
fn a_shim_killed_while_it_stops_the_run_counts_as_stopped() {
    let world = World::new();
    let mut spec = world.sh("trap '' TERM; echo $$ > program; while :; do sleep 0.01; done");
    spec.grace_ms = 600_000;
    let run = world.create(&spec);
    let watch = run.start(&shim()).unwrap();
    let program = pid_in(&world.path("program"));
    run.stop().unwrap();
    kill(shim_of(&run));
    assert!(matches!(watch.wait(LONG).unwrap().unwrap(), Status::Lost { .. }));
    assert_eq!(run.sweep().unwrap().exit.reason, Reason::Stopped);
    assert!(!lives(program));
}

#[test]
fn the_killed_program_of_a_living_shim_is_an_ordinary_end() {
    let world = World::new();
    let run = world.create(&world.sh("sleep 1000 & echo $$ > program; wait"));
    let watch = run.start(&shim()).unwrap();
    kill(pid_in(&world.path("program")));
    let exit = exit(watch.wait(LONG).unwrap().unwrap());
    assert_eq!(
        (exit.reason, exit.signal, exit.survivors),
        (Reason::Exited, Some(9), 1)
    );
}

#[test]
fn who_has_the_number_of_a_dead_shim_or_program_is_not_touched() {
    // As it is left by a power cut or by a long life: the numbers are somebody else's now, here our own.
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    for boot in ["an-earlier-boot", boot.trim()] {
        let world = World::new();
        let run = world.create(&world.sh("true"));
        let then = format!(r#"{{"boot":"{boot}","pid":{},"start":1}}"#, std::process::id());
        fs::write(run.dir().join("lock"), "").unwrap();
        let started = format!(r#"{{"shim":{then},"child":{then},"started_at":5}}"#);
        fs::write(run.dir().join("shim.json"), started).unwrap();
        assert!(matches!(run.status().unwrap(), Status::Lost { .. }));
        assert!(run.watch().unwrap().pidfd().is_none());
        run.stop().unwrap();
        let swept = run.sweep().unwrap();
        assert_eq!((swept.killed, swept.exit.started_at), (0, 5));
    }
}

#[test]
fn a_dead_shim_of_ours_does_not_stay_a_zombie() {
    let world = World::new();
    let run = world.create(&world.sh("while [ ! -e go ]; do sleep 0.01; done"));
    let watch = run.start(&shim()).unwrap();
    let pid = shim_of(&run);
    fs::write(world.path("go"), "").unwrap();
    watch.wait(LONG).unwrap().unwrap();
    assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists());
}

#[test]
fn a_shim_killed_at_any_moment_leaves_nothing_and_starts_nothing_twice() {
    let world = World::new();
    let mut seen = std::collections::BTreeMap::<&str, u32>::new();
    for round in 0..12_u32 {
        let ran = world.path(&format!("ran-{round}"));
        let run = world.create(&world.sh(&format!(
            "echo ran >> ran-{round}; (setsid sleep 1000 &); exec sleep 1000"
        )));
        let mut shim_process = bare_shim(&run).spawn().unwrap();
        // Later in its life each round: by looks at its directory, which take about as long as what it does
        // there.
        until("the shim is there", || {
            run.dir().join("lock").exists().then_some(())
        });
        for _ in 0..round * 50 {
            std::hint::black_box(run.dir().join("shim.json").exists());
        }
        kill(shim_process.id());
        shim_process.wait().unwrap();
        let status = until("the lock is free", || match run.status().unwrap() {
            Status::Running { .. } => None,
            status => Some(status),
        });
        match status {
            Status::NotStarted => {
                *seen.entry("before it began").or_default() += 1;
                // Nothing has happened: another shim may do it.
                assert!(!ran.exists());
                let watch = run.start(&shim()).unwrap();
                run.stop().unwrap();
                assert_eq!(exit(watch.wait(LONG).unwrap().unwrap()).reason, Reason::Stopped);
            }
            Status::Lost { .. } => {
                *seen.entry("after it began").or_default() += 1;
                assert_eq!(run.sweep().unwrap().exit.reason, Reason::Lost);
                run.start(&shim()).unwrap();
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(run.find_marked().unwrap(), Vec::<u32>::new());
        assert!(fs::read_to_string(&ran).unwrap_or_default().lines().count() <= 1);
        assert!(!run.dir().join("env.json").exists());
    }
    assert!(seen.contains_key("after it began"), "{seen:?}");
}
