//! A shim that is frozen: it holds its run, and does nothing.

use process::{Life, Reason, Run, Status, Stream, life};
use rustix::process::Signal;

use crate::support::{World, exit, lives, pid_in, shim, shim_of, signal, text, until};

/// Suspends the shim of a run; returns when it stands still, with its process id.
fn freeze(run: &Run) -> u32 {
    let pid = shim_of(run);
    signal(pid, Signal::STOP);
    until("the shim stands still", || {
        (life(pid) == Life::Stopped).then_some(())
    });
    pid
}

#[test]
fn a_frozen_shim_is_ended_with_all_that_it_has_started() {
    let world = World::new();
    // The last one has neither the run's marker nor a parent below the program: only the shim still has it.
    let run = world.create(&world.sh(
        "echo $$ > program; (setsid sh -c 'echo $$ > daemon; exec sleep 1000' &); \
         (setsid env -i sh -c 'echo $$ > stripped; exec sleep 1000' &); echo said; sleep 1000",
    ));
    let watch = run.start(&shim()).unwrap();
    let pids = ["program", "daemon", "stripped"].map(|name| pid_in(&world.path(name)));
    until("it has printed", || {
        (text(&run, Stream::Out) == "said\n").then_some(())
    });
    let its_shim = freeze(&run);
    assert!(matches!(run.status().unwrap(), Status::Running { .. }));
    assert!(pids.into_iter().all(lives), "there is something to be ended");

    let ended = run.end().unwrap();
    assert_eq!(
        (ended.exit.reason.clone(), ended.exit.code),
        (Reason::Stopped, None)
    );
    assert_eq!(ended.exit.out.bytes, 5);
    assert!(ended.by_force && ended.killed >= 3, "{ended:?}");
    assert!(!pids.into_iter().any(lives));
    assert_eq!(life(its_shim), Life::Gone);
    assert_eq!(run.find_marked().unwrap(), Vec::<u32>::new());
    assert_eq!(
        exit(watch.wait(crate::support::LONG).unwrap().unwrap()),
        ended.exit
    );
    // Again: nothing changes.
    assert_eq!(run.end().unwrap().exit, ended.exit);
    assert_eq!(run.kill().unwrap().exit, ended.exit);
    assert_eq!(run.sweep().unwrap().killed, 0);
}

#[test]
fn a_frozen_shim_that_goes_on_within_its_grace_ends_its_run_itself() {
    let world = World::new();
    let mut spec = world.sh("echo $$ > program; exec sleep 1000");
    spec.grace_ms = 600_000;
    let run = world.create(&spec);
    run.start(&shim()).unwrap();
    pid_in(&world.path("program"));
    let its_shim = freeze(&run);
    let ended = std::thread::scope(|scope| {
        let ending = scope.spawn(|| run.end().unwrap());
        until("it is asked to stop", || {
            run.is_stop_wished().unwrap().then_some(())
        });
        signal(its_shim, Signal::CONT);
        ending.join().unwrap()
    });
    // Only the shim can know by which signal its program ended.
    assert_eq!(
        (ended.exit.reason, ended.exit.signal),
        (Reason::Stopped, Some(15))
    );
}

#[test]
fn a_shim_that_waits_for_its_program_is_not_taken_for_a_frozen_one() {
    let world = World::new();
    let mut spec = world.sh("trap '' TERM; echo $$ > program; while :; do sleep 0.01; done");
    // Its next heartbeat is far off: it runs because it is asked.
    spec.beat_ms = 600_000;
    let run = world.create(&spec);
    run.start(&shim()).unwrap();
    pid_in(&world.path("program"));
    let ended = run.end().unwrap();
    assert!(!ended.by_force);
    assert_eq!((ended.exit.reason, ended.exit.signal), (Reason::Stopped, Some(9)));
}

#[test]
fn the_pulse_moves_until_the_shim_is_frozen() {
    let world = World::new();
    let run = world.create(&world.sh("sleep 1000"));
    assert_eq!(run.pulse().unwrap(), None, "nobody knows who its shim will be");
    run.start(&shim()).unwrap();
    let first = run.pulse().unwrap();
    until("its pulse moves", || {
        (run.pulse().unwrap() != first).then_some(())
    });
    let its_shim = freeze(&run);
    let last = run.pulse().unwrap();
    let beat = run.beat().unwrap();
    // Neither a signal lets it run, nor as much time as another shim needs to beat three times.
    signal(its_shim, Signal::TERM);
    let other = world.create(&world.sh("sleep 1000"));
    other.start(&shim()).unwrap();
    for _ in 0..3 {
        let last = other.beat().unwrap();
        until("the other beats", || {
            (other.beat().unwrap() != last).then_some(())
        });
    }
    assert_eq!(run.pulse().unwrap(), last);
    assert_eq!(run.beat().unwrap(), beat);
    signal(its_shim, Signal::CONT);
    until("its pulse moves again", || {
        (run.pulse().unwrap() != last).then_some(())
    });
}

#[test]
fn two_that_end_the_same_frozen_run_agree() {
    let world = World::new();
    let run = world.create(&world.sh("echo $$ > program; exec sleep 1000"));
    run.start(&shim()).unwrap();
    let program = pid_in(&world.path("program"));
    freeze(&run);
    let [one, other] = std::thread::scope(|scope| {
        let ending = [(); 2].map(|()| scope.spawn(|| run.end().unwrap().exit));
        ending.map(|ending| ending.join().unwrap())
    });
    assert_eq!(one.reason, Reason::Stopped);
    assert_eq!(one, other);
    assert_eq!(exit(run.status().unwrap()), one);
    assert!(!lives(program));
}
