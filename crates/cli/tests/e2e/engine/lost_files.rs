//! Ticket files that git or `git clean` took, or whose status git wrote: no work is paid for twice or given
//! up for that, and each way back works.

use std::fs;

use testkit::world::{Engine, World};

/// Commits something new at each run.
const AGENT: &str = "work \"$CREW_TICKET_ID.$RUN\" x\necho DONE";
/// The same, once a gate is open.
const WAITS: &str =
    "touch \"$GATES/begun\"\nuntil_there \"$GATES/go\"\nwork \"$CREW_TICKET_ID.$RUN\" x\necho DONE";

fn commit_tickets(world: &World, message: &str) {
    world.git(&["add", ".tickets"]);
    world.git(&["commit", "-q", "-m", message]);
}

/// The inbox's entry about a ticket's file.
fn file_item(world: &World, ticket: &str) -> Option<serde_json::Value> {
    let inbox: serde_json::Value = serde_json::from_str(&world.crew(&["--json", "inbox"]).out).unwrap();
    let mut items = inbox["items"].as_array().unwrap().iter();
    items
        .find(|item| item["kind"] == "file" && item["ticket"] == ticket)
        .cloned()
}

/// The commands that an entry offers.
fn typed(item: &serde_json::Value) -> Vec<String> {
    let acts = item["acts"].as_array().unwrap().iter();
    let typed = acts.filter_map(|act| act["typed"].as_str());
    typed
        .filter(|typed| typed.starts_with("crew "))
        .map(str::to_owned)
        .collect()
}

/// A world whose ticket has landed. Its file is open in the branch `old`.
fn landed(is_closed_in_git: bool) -> World {
    let world = World::new();
    world.ticket("t-1").agent(AGENT).write();
    commit_tickets(&world, "a ticket");
    world.git(&["branch", "old"]);
    world.drain_all();
    if is_closed_in_git {
        commit_tickets(&world, "it is closed");
    }
    world
}

/// git puts the file of a landed ticket back as it was.
type Way = (&'static str, bool, &'static [&'static str]);

const WAYS: [Way; 2] = [
    ("switch", true, &["switch", "-q", "old"]),
    ("stash", false, &["stash", "-q"]),
];

#[test]
fn a_status_that_git_wrote_is_no_word_of_the_person_who_then_edits_the_text() {
    for (label, is_closed_in_git, args) in WAYS {
        for with_engine in [false, true] {
            let world = landed(is_closed_in_git);
            let mut engine = with_engine.then(|| world.engine());
            if with_engine {
                world.ticket("t-2").kind("epic").write();
                world.wait("the engine has looked", || world.try_state("t-2").is_some());
            }
            world.git(args);
            world.edit("t-1", |text| text + "\nA typo.\n");
            assert_eq!(world.front("t-1", "status"), "open", "{label}");
            match &mut engine {
                Some(engine) => {
                    world.wait("it is noticed", || world.count("t-1", "file_unheeded") > 0);
                    world.must(&["stop"]);
                    engine.end();
                }
                None => {
                    let looked = world.crew(&["queue"]).out;
                    assert!(!looked.contains("ready"), "{label}: {looked}");
                }
            }
            world.drain_all();
            assert_eq!(
                (world.runs("t-1"), world.count("t-1", "reopened")),
                (1, 0),
                "{label}, {with_engine}"
            );
            assert_eq!(
                world.count("t-1", "edited"),
                1,
                "{label}: the text is the person's"
            );
        }
    }
}

/// A world whose ticket is at work. git does not have its file, but that of another ticket.
fn at_work() -> (World, Engine) {
    let world = World::new();
    world.ticket("t-0").status("closed").write();
    commit_tickets(&world, "an old ticket");
    world.ticket("t-1").body("The text.").agent(WAITS).write();
    let engine = world.engine();
    world.wait("it has begun", || world.path("gates/begun").exists());
    world.wait("it is taken", || world.front("t-1", "status") == "in_progress");
    (world, engine)
}

#[test]
fn a_clean_that_takes_the_only_untracked_file_stops_no_work_and_each_way_out_works() {
    for flags in ["-fd", "-fdx"] {
        let (world, mut engine) = at_work();
        world.git(&["clean", "-q", flags]);
        assert!(!world.ticket_file("t-1").exists());
        world.wait("it is asked", || file_item(&world, "t-1").is_some());
        assert_eq!(world.count("t-1", "stop_ordered"), 0);
        let item = file_item(&world, "t-1").unwrap();
        assert_eq!(
            typed(&item),
            ["crew ticket reopen t-1", "crew merge t-1", "crew drop t-1"],
            "{item}"
        );
        let said = world.must(&["ticket", "reopen", "t-1"]).out;
        assert!(said.contains("its file is written anew"), "{said}");
        let text = fs::read_to_string(world.ticket_file("t-1")).unwrap();
        assert!(text.contains("The text."), "{text}");
        assert_eq!(world.front("t-1", "status"), "in_progress");
        world.wait("nothing is asked any more", || file_item(&world, "t-1").is_none());
        world.open("go");
        world.wait("it lands", || world.is_landed("t-1"));
        world.wait("its file is closed", || world.front("t-1", "status") == "closed");
        world.must(&["stop"]);
        engine.end();
        assert_eq!(
            (world.runs("t-1"), world.count("t-1", "edited")),
            (1, 0),
            "the text is the same"
        );
    }
}

#[test]
fn a_tracked_file_that_a_person_deletes_drops_the_ticket() {
    let (world, mut engine) = at_work();
    commit_tickets(&world, "a new ticket");
    fs::remove_file(world.ticket_file("t-1")).unwrap();
    world.wait("it is dropped", || world.count("t-1", "dropped") == 1);
    world.must(&["stop"]);
    engine.end();
}

/// A world with an open ticket that an engine knows, that nobody has worked on and that git does not have.
fn waiting() -> World {
    let world = World::new();
    world.ticket("t-0").status("closed").write();
    commit_tickets(&world, "an old ticket");
    world
        .ticket("t-1")
        .body("The text.")
        .deps(&["t-9"])
        .agent(AGENT)
        .write();
    world.drain_held();
    world
}

#[test]
fn a_ticket_whose_file_is_stashed_is_named_at_the_end_and_reopened_from_the_stash() {
    let world = waiting();
    world.git(&["stash", "-q", "-u"]);
    let said = world.drain_held();
    assert!(
        said.out.contains("t-1") && said.out.contains("git stash pop"),
        "{said}"
    );
    assert_eq!(world.count("t-1", "dropped"), 0);
    world.must(&["ticket", "reopen", "t-1"]);
    assert_eq!(world.front("t-1", "status"), "open");
    world.must(&["ticket", "undep", "t-1", "t-9"]);
    world.drain_all();
    assert!(world.is_landed("t-1"));
}

#[test]
fn a_reopen_of_a_ticket_whose_text_nothing_has_is_refused_with_the_recipe() {
    let world = waiting();
    world.ticket("t-2").deps(&["t-9"]).write();
    world.drain_held();
    world.git(&["clean", "-q", "-fd"]);
    world.drain_held();
    let said = world.crew(&["ticket", "reopen", "t-1"]);
    assert_ne!(said.code, Some(0), "{said}");
    assert!(
        said.err.contains("status: open") && said.err.contains("id: t-1"),
        "{said}"
    );
    assert!(file_item(&world, "t-1").is_some(), "it is still asked");
    let file = "---\nid: t-1\nstatus: open\n---\n# A title\n\nThe text again.\n";
    fs::write(world.ticket_file("t-1"), file).unwrap();
    world.must(&["drop", "t-2"]);
    world.script("t-1", AGENT);
    world.drain_all();
    assert!(world.is_landed("t-1"));
}

#[test]
fn a_landed_ticket_whose_file_is_gone_is_reopened_with_its_file() {
    for is_in_git in [false, true] {
        let world = World::new();
        let promises =
            "commitments:\n  - says: it is there\n    run: [test, -f, t-1.1]\nacceptance_test: test -f t-1.1";
        let ticket = world.ticket("t-1").body("The text.").line(promises);
        ticket.agent(AGENT).write();
        if is_in_git {
            commit_tickets(&world, "a ticket");
        }
        world.drain_all();
        fs::remove_file(world.ticket_file("t-1")).unwrap();
        world.drain_all();
        world.must(&["ticket", "reopen", "t-1"]);
        world.drain_all();
        assert_eq!(world.runs("t-1"), 2, "{is_in_git}");
        let text = fs::read_to_string(world.ticket_file("t-1")).unwrap();
        assert!(text.contains("The text."), "{text}");
        assert!(text.contains("commitments:"), "{text}");
        assert_eq!(world.state("t-1").commitments.len(), 2, "{text}");
        assert_eq!(world.front("t-1", "status"), "closed");
    }
}
