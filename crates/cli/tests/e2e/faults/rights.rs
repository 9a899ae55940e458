//! Rights that crew lacks: F10, it may not write where git keeps its refs; F7, an agent shut what it made.
//! Root may do everything, so crew runs as somebody else.

use std::ffi::OsStr;

use crate::faults::few::{as_nobody, is_root_of_the_machine, own};
use crate::faults::mounts::{cells, must};
use crate::faults::struck::{self, At};
use testkit::world::World;

const SAYS: &str = "cannot be written (Permission denied): nothing new begins";

/// Takes the right to write from all folders of refs, or gives it back.
fn refs(world: &World, right: &str) {
    let refs = world.project(".git/refs");
    must("chmod", &[OsStr::new("-R"), OsStr::new(right), refs.as_os_str()]);
}

/// It waits, says so on every command, and costs nobody anything.
fn without_refs(at: At) {
    if !is_root_of_the_machine() {
        eprintln!("not proved here: a namespace's own root may write in every folder");
        return;
    }
    let world = struck::world(at);
    as_nobody(&world);
    let mut engine = struck::bring(&world, at);
    refs(&world, "a-w");
    struck::go_on(&world, at);
    own(&world.project(".tickets"));
    world.wait("it says what it may not", || engine.said().all().contains(SAYS));
    for command in [&["inbox"][..], &["ps"], &["explain", "t-1"], &["doctor"]] {
        let said = world.crew(command);
        assert!(said.all().contains(SAYS), "{command:?}: {said}");
    }
    assert!(world.landed().is_empty());
    refs(&world, "u+w");
    struck::lands_at_once(&world, &mut engine, "t-1");
    assert_eq!(world.crew(&["inbox"]).code, Some(0));
}

cells! {
    fn refs_that_cannot_be_written_while_work_is_given_out() {
        without_refs(At::Queue);
    }

    fn refs_that_cannot_be_written_while_an_agent_works() {
        without_refs(At::Work);
    }

    fn what_an_agent_shut_is_saved_like_the_rest() {
        let world = World::new();
        world.commit("kept/file", "a person's\n");
        as_nobody(&world);
        let shut = "mkdir -p shut/in/it; echo 1 > shut/in/it/file; echo 2 > unread; chmod 0 kept shut/in/it/file shut/in/it shut/in shut unread";
        world.ticket("t-1").agent(&format!("{shut}\necho DONE\n")).write();
        own(&world.project(".tickets"));
        world.drain_all();
        assert_eq!(world.landed(), ["t-1"]);
        for (file, content) in [("shut/in/it/file", "1"), ("unread", "2"), ("kept/file", "a person's")] {
            assert_eq!(world.git(&["show", &format!("main:{file}")]).trim(), content);
        }
        struck::in_order(&world);
    }

    fn refs_that_cannot_be_written_while_checks_run() {
        without_refs(At::Checks);
    }
}
