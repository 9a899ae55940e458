//! `crew revert`: what a ticket has landed is taken back by a ticket of its own.

use testkit::world::{DONE, World};

/// The one ticket that is not this one.
fn other(world: &World, than: &str) -> String {
    let files = std::fs::read_dir(world.project(".tickets")).unwrap();
    let names = files.filter_map(|file| file.ok()?.file_name().into_string().ok());
    let ids = names.filter_map(|name| name.strip_suffix(".md").map(str::to_owned));
    let mut others = ids.filter(|id| id != than);
    others.next().unwrap()
}

#[test]
fn what_a_ticket_landed_is_taken_back_without_an_agent_and_what_came_after_stays() {
    let world = World::new();
    world.ticket("t-1").agent(DONE).write();
    world.drain_all();
    world.commit("later", "stays\n");
    world.must(&["revert", "t-1"]);
    let revert = other(&world, "t-1");
    // A second person says the same.
    let said = world.crew(&["revert", "t-1"]);
    let expected = format!("{revert} takes t-1 back already");
    assert!(said.code == Some(1) && said.err.contains(&expected), "{said}");
    world.drain_all();
    assert_eq!(world.landed().len(), 2);
    assert_eq!((world.runs(&revert), world.count(&revert, "submitted")), (0, 1));
    assert_eq!(world.state_name(&revert), "done/landed");
    assert_eq!(world.on_main("t-1.txt"), None);
    assert!(!world.project("t-1.txt").exists());
    assert!(world.on_main("later").is_some());
    // It is there no more, so it cannot be taken back again.
    let said = world.crew(&["revert", "t-1"]);
    assert_eq!(said.code, Some(1), "{said}");
}

#[test]
fn a_revert_passes_the_same_checks_and_an_agent_mends_what_they_find() {
    let world = World::new();
    world.ticket("t-1").agent(DONE).write();
    world.drain_all();
    world.change_settings(
        "[checks]",
        "[checks]\ncommands = [\"test -e t-1.txt || test -e instead\"]",
    );
    world.anyway();
    world.must(&["revert", "t-1"]);
    let revert = other(&world, "t-1");
    world.script(&revert, "work instead of-it\necho DONE\n");
    world.drain_all();
    assert_eq!(
        (world.runs(&revert), world.count(&revert, "checks_failed")),
        (1, 1)
    );
    assert_eq!(world.on_main("t-1.txt"), None);
    assert!(world.on_main("instead").is_some());
}

#[test]
fn a_revert_on_which_later_work_builds_is_refused() {
    let world = World::new();
    world.ticket("t-1").agent("work same one\necho DONE").write();
    world.drain_all();
    world.commit("same", "two\n");
    let said = world.crew(&["revert", "t-1"]);
    assert_eq!(said.code, Some(1), "{said}");
    assert!(said.err.contains("builds on it, in same"), "{said}");
    let said = world.crew(&["revert", "t-2"]);
    assert_eq!(said.code, Some(1), "{said}");
}

#[test]
fn work_that_the_target_has_already_says_so_and_is_not_taken_back() {
    let world = World::with(|s| s.agents = "count = 2".to_owned());
    for (ticket, other) in [("t-1", "t-2"), ("t-2", "t-1")] {
        let both_have_begun =
            format!("touch \"$GATES/{ticket}\"; until [ -e \"$GATES/{other}\" ]; do sleep 0.05; done");
        world
            .ticket(ticket)
            .agent(&format!("{both_have_begun}\nwork same one\necho DONE"))
            .write();
    }
    let run = world.drain_all();
    let says = "brought nothing";
    assert_eq!(run.all().matches(says).count(), 1, "{run}");
    let brought_nothing = |ticket: &&str| world.must(&["explain", ticket]).out.contains(says);
    let tickets = ["t-1", "t-2"];
    let empty: Vec<&str> = tickets.into_iter().filter(brought_nothing).collect();
    let [empty] = empty.as_slice() else {
        panic!("{empty:?}")
    };
    assert!(world.must(&["history", empty]).out.contains(says));
    let files = || std::fs::read_dir(world.project(".tickets")).unwrap().count();
    let before = files();
    let said = world.crew(&["revert", empty]);
    assert_eq!(said.code, Some(1), "{said}");
    assert!(
        said.err.contains(says) && said.err.contains("`git diff "),
        "{said}"
    );
    assert_eq!(files(), before, "no ticket was made");
}
