//! Looks at the processes of a run that runs.

use std::fs;

use crate::support::{LONG, World, shim, until};

#[test]
fn a_look_shows_what_runs_now_and_whether_what_was_seen_is_there_still() {
    let world = World::new();
    let spec = world.sh("while [ ! -e go ]; do sleep 0.01; done; sleep 1000");
    let run = world.create(&spec);
    assert_eq!(run.children(), None, "it has not begun");
    let watch = run.start(&shim()).unwrap();
    let runs = |command: &str| {
        let children = run.children()?;
        children.into_iter().find(|child| child.command == command)
    };
    let first = until("the first program", || runs("sleep 0.01"));
    until("its end", || (!first.is_there()).then_some(()));
    fs::write(world.path("go"), "").unwrap();
    let second = until("the second program", || runs("sleep 1000"));
    assert!(second.is_there());
    let pids = |children: Vec<process::Child>| children.iter().map(|child| child.pid).collect::<Vec<_>>();
    assert_eq!(run.children().map(pids), Some(vec![second.pid]));
    run.stop().unwrap();
    watch.wait(LONG).unwrap();
    assert!(!second.is_there());
    until("the end of the shim", || run.children().is_none().then_some(()));
}
