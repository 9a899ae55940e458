//! Being stopped, with all that belongs to it.

use std::fs;
use std::time::Duration;

use process::{Error, Reason, Status, Stream};

use crate::support::{LONG, World, bare_shim, exit, lives, pid_in, shim, text, until};

/// A program that answers TERM, once it can.
const POLITE: &str = "trap 'echo bye; exit 3' TERM; echo ready; while :; do sleep 0.01; done";

#[test]
fn a_program_may_answer_term() {
    let world = World::new();
    let mut spec = world.sh(POLITE);
    spec.grace_ms = 60_000;
    let run = world.create(&spec);
    let watch = run.start(&shim()).unwrap();
    until("it is ready", || {
        text(&run, Stream::Out).contains("ready").then_some(())
    });
    assert_eq!(watch.wait(Duration::ZERO).unwrap(), None);
    run.stop().unwrap();
    let exit = exit(watch.wait(LONG).unwrap().unwrap());
    assert_eq!(
        (exit.reason, exit.code, exit.signal),
        (Reason::Stopped, Some(3), None)
    );
    assert!(text(&run, Stream::Out).ends_with("bye\n"));
    // Again: nothing changes.
    run.stop().unwrap();
    assert!(matches!(run.status().unwrap(), Status::Ended(_)));
}

#[test]
fn a_program_that_ignores_term_is_killed_after_the_grace() {
    let world = World::new();
    let run = world.create(&world.sh("trap '' TERM INT HUP; echo ready; while :; do sleep 0.01; done"));
    let watch = run.start(&shim()).unwrap();
    until("it is ready", || {
        text(&run, Stream::Out).contains("ready").then_some(())
    });
    run.stop().unwrap();
    let exit = exit(watch.wait(LONG).unwrap().unwrap());
    assert_eq!(
        (exit.reason, exit.code, exit.signal),
        (Reason::Stopped, None, Some(9))
    );
    assert!(exit.ended_at - exit.started_at >= 300, "not before the grace");
}

#[test]
fn daemons_and_other_sessions_die_with_it() {
    let world = World::new();
    // One that left the session and lost its parent, one that also ignores TERM, one in the group.
    let run = world.create(
        &world.sh("(setsid sh -c 'echo $$ > daemon; exec sleep 1000' &) \n\
         (setsid sh -c \"trap '' TERM; echo \\$\\$ > deaf; while :; do sleep 0.05; done\" &) \n\
         sleep 1000 & echo $! > group; \n\
         echo ready; wait"),
    );
    let watch = run.start(&shim()).unwrap();
    let pids = ["daemon", "deaf", "group"].map(|name| pid_in(&world.path(name)));
    assert!(pids.into_iter().all(lives));
    // While it begins another program it has no environment.
    until("the daemon is known by its mark", || {
        run.find_marked().unwrap().contains(&pids[0]).then_some(())
    });
    run.stop().unwrap();
    let exit = exit(watch.wait(LONG).unwrap().unwrap());
    assert_eq!(exit.reason, Reason::Stopped);
    assert!(exit.survivors >= 2, "{exit:?}");
    assert!(!pids.into_iter().any(lives));
    assert_eq!(run.sweep().unwrap().killed, 0);
}

#[test]
fn a_daemon_that_dropped_its_environment_is_found_by_the_tree() {
    let world = World::new();
    let daemon = "(setsid env -i sh -c 'echo $$ > stripped; exec sleep 1000' &)";
    let (_, exit) = world.run(&world.sh(&format!("{daemon}; while [ ! -s stripped ]; do sleep 0.01; done")));
    assert_eq!((exit.code, exit.survivors), (Some(0), 1));
    assert!(!lives(pid_in(&world.path("stripped"))));
}

#[test]
fn a_suspended_program_is_stopped() {
    let world = World::new();
    let run = world.create(&world.sh("echo $$ > pid; kill -STOP $$"));
    let watch = run.start(&shim()).unwrap();
    pid_in(&world.path("pid"));
    run.stop().unwrap();
    assert_eq!(exit(watch.wait(LONG).unwrap().unwrap()).reason, Reason::Stopped);
}

#[test]
fn the_hard_timeout_stops_it() {
    let world = World::new();
    let mut spec = world.sh("sleep 1000");
    spec.timeout_ms = Some(50);
    let (_, exit) = world.run(&spec);
    assert_eq!((exit.reason, exit.signal), (Reason::TimedOut, Some(15)));
}

#[test]
fn a_stop_before_the_start_means_it_never_starts() {
    let world = World::new();
    // By a shim that comes later …
    let run = world.create(&world.sh("echo ran > ran"));
    run.stop().unwrap();
    let exit = exit(run.start(&shim()).unwrap().wait(LONG).unwrap().unwrap());
    assert_eq!((exit.reason, exit.code), (Reason::Stopped, None));
    // … and by none at all.
    let run = world.create(&world.sh("echo ran > ran"));
    run.stop().unwrap();
    assert_eq!(run.status().unwrap(), Status::NotStarted);
    assert_eq!(run.sweep().unwrap().exit.reason, Reason::Stopped);
    assert_eq!(bare_shim(&run).status().unwrap().code(), Some(3));
    assert!(!world.path("ran").exists());
}

#[test]
fn a_stop_at_any_moment_of_the_start_is_heard() {
    let world = World::new();
    for round in 0..20 {
        let run = world.create(&world.sh("sleep 1000"));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                // As the shim gets under way, a little later each round: in the middle of its set-up sooner
                // or later.
                until("the shim is there", || {
                    run.dir().join("lock").exists().then_some(())
                });
                (0..round * 20).for_each(|_| {
                    std::hint::black_box(run.dir().join("lock").exists());
                });
                run.stop().unwrap();
            });
            let watch = run.start(&shim()).unwrap();
            let status = watch.wait(LONG).unwrap().expect("the stop is heard");
            assert_eq!(exit(status).reason, Reason::Stopped);
        });
    }
}

#[test]
fn what_runs_is_not_swept() {
    let world = World::new();
    let run = world.create(&world.sh("sleep 1000"));
    run.start(&shim()).unwrap();
    assert!(matches!(run.sweep(), Err(Error::StillRunning { .. })));
    assert!(matches!(run.status().unwrap(), Status::Running { .. }));
}

#[test]
fn a_signal_to_the_shim_from_elsewhere_stops_the_run_in_order() {
    let world = World::new();
    let run = world.create(&world.sh(POLITE));
    let watch = run.start(&shim()).unwrap();
    until("it is ready", || {
        text(&run, Stream::Out).contains("ready").then_some(())
    });
    let Status::Running {
        started: Some(started),
    } = run.status().unwrap()
    else {
        panic!()
    };
    let pid = rustix::process::Pid::from_raw(i32::try_from(started.shim.pid).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::HUP).unwrap();
    assert_eq!(exit(watch.wait(LONG).unwrap().unwrap()).reason, Reason::Stopped);
}

#[test]
fn processes_that_multiply_are_killed_all() {
    let world = World::new();
    // Each generation begets the next in a session of its own and ends; four at a time, for ever.
    let breed = ": > bred-$1\nsleep 0.01\nsetsid sh breed.sh $1 &\nexit 0\n";
    fs::write(world.path("breed.sh"), breed).unwrap();
    let run = world.create(&world.sh("for i in 1 2 3 4; do setsid sh breed.sh $i & done; sleep 1000"));
    let watch = run.start(&shim()).unwrap();
    for lineage in 1..=4 {
        until("each breeds", || {
            world.path(&format!("bred-{lineage}")).exists().then_some(())
        });
    }
    run.stop().unwrap();
    let exit = exit(watch.wait(LONG).unwrap().unwrap());
    assert!(exit.reason == Reason::Stopped && exit.survivors >= 4, "{exit:?}");
    assert_eq!(run.find_marked().unwrap(), Vec::<u32>::new());
    assert_eq!(run.sweep().unwrap().killed, 0);
}
