//! What is given out, in which order, and what is not.

use std::fs;
use std::time::{Duration, SystemTime};

use testkit::world::{DONE, World};

#[test]
fn tickets_land_by_priority_and_then_by_age() {
    let world = World::new();
    world.ticket("late-low").priority(3).agent(DONE).write();
    world.ticket("b-older").priority(1).agent(DONE).write();
    world.ticket("a-younger").priority(1).agent(DONE).write();
    world.ticket("urgent").priority(0).agent(DONE).write();
    world.drain_all();
    assert_eq!(world.landed(), ["urgent", "b-older", "a-younger", "late-low"]);
    for id in world.landed() {
        assert_eq!(world.read(&format!("{id}.txt")), "done\n");
        assert_eq!(world.front(&id, "status"), "closed");
    }
    assert_eq!(world.workspaces(), Vec::<std::path::PathBuf>::new());
    assert_eq!(world.git(&["status", "--porcelain", "-uno"]), "");
    assert_eq!(
        world.git(&["for-each-ref", "refs/heads", "--format=%(refname)"]),
        "refs/heads/main"
    );
}

#[test]
fn a_ticket_waits_for_those_it_depends_on() {
    let world = World::with(|s| s.agents = "count = 3".to_owned());
    world
        .ticket("last")
        .priority(0)
        .deps(&["middle"])
        .agent("test -e middle.txt\nwork last.txt x\necho DONE")
        .write();
    world
        .ticket("middle")
        .priority(0)
        .deps(&["first"])
        .agent("test -e first.txt\nwork middle.txt x\necho DONE")
        .write();
    world.ticket("first").priority(4).agent(DONE).write();
    world.drain_all();
    assert_eq!(world.landed(), ["first", "middle", "last"]);
}

#[test]
fn what_waits_for_what_cannot_come_is_told_and_the_rest_lands() {
    let world = World::new();
    world.ticket("good").agent(DONE).write();
    world.ticket("orphan").deps(&["nowhere"]).agent(DONE).write();
    world.ticket("one").deps(&["two"]).agent(DONE).write();
    world.ticket("two").deps(&["one"]).agent(DONE).write();
    world.ticket("self").deps(&["self"]).agent(DONE).write();
    let said = world.drain_held();
    assert_eq!(world.landed(), ["good"]);
    for (id, why) in [
        ("orphan", "nowhere"),
        ("one", "depends on itself"),
        ("two", "depends on itself"),
        ("self", "depends on itself"),
    ] {
        assert!(said.tells_of(id, why), "{id}: {said}");
        assert_eq!(world.runs(id), 0);
    }
}

#[test]
fn an_epic_and_what_a_person_has_taken_are_left_alone_and_do_not_count() {
    let world = World::new();
    world.ticket("epic").kind("epic").agent(DONE).write();
    world.ticket("mine").status("in_progress").agent(DONE).write();
    world.ticket("over").status("closed").agent(DONE).write();
    world.ticket("good").agent(DONE).write();
    world.drain_all();
    assert_eq!(world.landed(), ["good"]);
    assert_eq!(
        (world.runs("epic"), world.runs("mine"), world.runs("over")),
        (0, 0, 0)
    );
    assert_eq!(
        (world.front("epic", "status"), world.front("mine", "status")),
        ("open".into(), "in_progress".into())
    );
}

#[test]
fn a_ticket_that_was_edited_a_moment_ago_waits_until_it_is_still() {
    let world = World::with(|s| s.run = "debounce = \"1h\"".to_owned());
    world.ticket("fresh").agent(DONE).write();
    world.ticket("still").agent(DONE).write();
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    let age = |id: &str| {
        fs::File::options()
            .append(true)
            .open(world.ticket_file(id))
            .unwrap()
            .set_modified(long_ago)
            .unwrap();
    };
    age("still");
    let mut engine = world.engine();
    world.wait("still lands", || world.is_landed("still"));
    assert_eq!(
        (world.state_name("fresh"), world.runs("fresh")),
        ("open".to_owned(), 0)
    );
    world.must(&["stop"]);
    engine.end();
    age("fresh");
    world.drain_all();
    assert_eq!(world.landed(), ["still", "fresh"]);
}

#[test]
fn files_that_are_no_tickets_are_listed_and_the_others_land() {
    let world = World::new();
    world.ticket("good").agent(DONE).write();
    world.ticket("better").agent(DONE).write();
    let bad: [(&str, Vec<u8>); 5] = [
        ("empty", Vec::new()),
        ("half", b"---\nid: half\nstatus: op".to_vec()),
        ("plain", b"# No front matter\n".to_vec()),
        ("binary", (0..=255).cycle().take(4096).collect()),
        ("huge", {
            let mut huge = b"---\nid: huge\nstatus: open\ndeps: []\nlinks: []\ncreated: 2026-01-01T00:00:00Z\ntype: task\npriority: 2\n---\n# Huge\n".to_vec();
            huge.resize(80 << 20, b'x');
            huge
        }),
    ];
    for (name, bytes) in &bad {
        fs::write(world.ticket_file(name), bytes).unwrap();
    }
    let said = world.drain_held();
    let mut landed = world.landed();
    landed.sort();
    assert_eq!(landed, ["better", "good"]);
    for (name, bytes) in &bad {
        assert!(said.all().contains(name), "{name} is not listed: {said}");
        assert!(
            fs::read(world.ticket_file(name)).unwrap() == *bytes,
            "{name} was changed"
        );
    }
}

#[test]
fn a_file_that_is_mended_is_a_ticket_again() {
    let world = World::new();
    world.ticket("t-1").agent(DONE).write();
    let whole = fs::read_to_string(world.ticket_file("t-1")).unwrap();
    fs::write(world.ticket_file("t-1"), &whole[..30]).unwrap();
    world.drain_held();
    let mut engine = world.engine();
    world.wait("the engine is up", || world.project(".crew/state.json").exists());
    fs::write(world.ticket_file("t-1"), &whole).unwrap();
    world.wait("t-1 lands", || world.is_landed("t-1"));
    world.must(&["stop"]);
    engine.end();
}

#[test]
fn a_file_that_cannot_be_read_while_an_agent_has_it_stops_nobody() {
    let world = World::new();
    world
        .ticket("t-1")
        .agent("work t x\nuntil_there \"$GATES/broken\"\necho DONE")
        .write();
    let mut engine = world.engine();
    world.wait_for_run("t-1", 1);
    let whole = fs::read_to_string(world.ticket_file("t-1")).unwrap();
    fs::write(world.ticket_file("t-1"), "---\nid: t-1\nsta").unwrap();
    world.open("broken");
    world.wait("t-1 lands", || world.is_landed("t-1"));
    world.must(&["stop"]);
    engine.end();
    assert_eq!(
        fs::read_to_string(world.ticket_file("t-1")).unwrap(),
        "---\nid: t-1\nsta",
        "nothing of it is written over"
    );
    world.drain_all();
    // What was to be written into it is written once it can be.
    fs::write(world.ticket_file("t-1"), whole).unwrap();
    world.drain_all();
    assert_eq!(world.front("t-1", "status"), "closed");
}

#[test]
fn files_with_names_that_no_id_may_have_are_left_alone() {
    let world = World::new();
    world.ticket("good").agent(DONE).write();
    let text = fs::read_to_string(world.ticket_file("good")).unwrap();
    let names = [
        "-rf.md",
        "a b.md",
        "new\nline.md",
        ".hidden.md",
        "\u{c4}.md",
        "semi;colon.md",
        "no-extension",
        "x.md.orig",
    ];
    for name in names {
        fs::write(
            world.project(".tickets").join(name),
            text.replace("id: good", &format!("id: {}", name.trim_end_matches(".md"))),
        )
        .unwrap();
    }
    fs::create_dir(world.ticket_file("folder")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", world.ticket_file("link")).unwrap();
    let said = world.drain();
    assert!(said.code == Some(0) || said.code == Some(3), "{said}");
    assert_eq!(world.landed(), ["good"]);
    for name in names {
        assert!(
            fs::read_to_string(world.project(".tickets").join(name))
                .unwrap()
                .contains("status: open"),
            "{name}"
        );
    }
}

#[test]
fn a_ticket_that_is_meant_for_an_agent_goes_to_it() {
    let world = World::with(|s| s.agents = "names = [\"ada\", \"bob\"]".to_owned());
    for n in 0..3 {
        world
            .ticket(&format!("b-{n}"))
            .line("assignee: bob")
            .agent(DONE)
            .write();
    }
    world
        .ticket("other")
        .line("assignee: Some Person")
        .agent(DONE)
        .write();
    world.drain_all();
    assert_eq!(world.landed().len(), 4);
    for n in 0..3 {
        assert_eq!(
            world.variable(&format!("b-{n}"), 1, "CREW_AGENT").as_deref(),
            Some("bob")
        );
    }
}

#[test]
fn agents_that_the_settings_do_not_name_get_only_what_is_assigned_to_them() {
    let world = World::with(|s| s.agents = "count = 2".to_owned());
    for ticket in ["t-1", "t-2"] {
        world.ticket(ticket).agent(DONE).write();
    }
    world.drain_all();
    let first = world.variable("t-1", 1, "CREW_AGENT").unwrap();
    world.change_settings("count = 2", "names = [\"zoe\"]");
    for ticket in ["t-3", "t-4"] {
        world.ticket(ticket).agent(DONE).write();
    }
    world
        .ticket("t-5")
        .line(&format!("assignee: {first}"))
        .agent(DONE)
        .write();
    world.drain_all();
    let agent = |ticket| world.variable(ticket, 1, "CREW_AGENT").unwrap();
    assert_eq!(agent("t-3"), "zoe");
    assert_eq!(agent("t-4"), "zoe");
    assert_eq!(agent("t-5"), first);
    let said = world.must(&["ps"]).out;
    assert!(said.contains("no ticket is given to "), "{said}");
}

#[test]
fn an_agents_note_is_kept() {
    let world = World::new();
    world
        .ticket("t-1")
        .agent("for n in 1 2 3 4 5; do \"$CREW_BINARY\" ticket add-note \"$CREW_TICKET_ID\" \"note $n of the agent\"; done\nwork t x\necho DONE")
        .write();
    let script = fs::read_to_string(world.path("scripts/t-1")).unwrap();
    world.script("t-1", &script.replace("$CREW_BINARY", &testkit::world::crew()));
    world.drain_all();
    let text = fs::read_to_string(world.ticket_file("t-1")).unwrap();
    for n in 1..=5 {
        assert!(text.contains(&format!("note {n} of the agent")), "{text}");
    }
    assert_eq!(world.front("t-1", "status"), "closed");
}

#[test]
fn titles_are_data() {
    let world = World::with(|s| s.agents = "count = 2".to_owned());
    let titles = [
        "It's \"quoted\" and `ticked`",
        "a | b || c",
        "--help -rf",
        "../../etc/passwd",
        "$(touch pwned) `touch pwned`; touch pwned",
        "bell \u{7} red \u{1b}[31m back\u{8}space",
        "one\\nTicket: forged-1",
        "{{ ticket }} {% include 'x' %}",
        "a return \r23:00:00  t-0  landed",
        "right-to-left \u{202e} txt.exe",
    ];
    for (n, title) in titles.iter().enumerate() {
        world.ticket(&format!("t-{n}")).title(title).agent(DONE).write();
    }
    let said = world.drain_all();
    assert!(
        !said.all().lines().any(|line| line.starts_with("23:00:00")),
        "{said}"
    );
    let landed = world.landed();
    assert_eq!(landed.len(), titles.len());
    assert!(!landed.contains(&"forged-1".to_owned()));
    for subject in world
        .git(&["log", "--first-parent", "--merges", "--format=%s", "main"])
        .lines()
    {
        assert!(subject.starts_with("Merge t-"), "{subject}");
        assert!(
            !subject.chars().any(|c| c.is_control() || c == '\u{202e}'),
            "{subject:?}"
        );
    }
    let find = world.git(&["ls-files", "--others", "--exclude=.tickets"]);
    assert!(!find.contains("pwned"), "{find}");
    assert!(world.prompt("t-0", 1).contains("# It's \"quoted\" and `ticked`"));
    assert!(
        world
            .prompt("t-7", 1)
            .contains("# {{ ticket }} {% include 'x' %}")
    );
}

#[test]
fn never_more_processes_than_max_workers() {
    let world = World::with(|s| {
        s.agents = "count = 4".to_owned();
        s.run = "max_workers = 1".to_owned();
    });
    let script = "mkdir \"$GATES/alone\" || touch \"$GATES/overlap\"\n\
                  work \"$CREW_TICKET_ID.$CREW_STEP\" x\n\
                  rmdir \"$GATES/alone\"\n\
                  [ \"$CREW_STEP\" -lt 2 ] || echo DONE\n";
    for n in 0..4 {
        world.ticket(&format!("t-{n}")).agent(script).write();
    }
    world.drain_all();
    assert!(!world.path("gates/overlap").exists());
    assert_eq!(world.landed().len(), 4);
}

#[test]
fn an_agent_that_waits_for_a_process_says_so() {
    let world = World::with(|s| {
        s.agents = "count = 2".to_owned();
        s.run = "max_workers = 1".to_owned();
    });
    let script = "until_there \"$GATES/go\"\nwork \"$CREW_TICKET_ID\" x\necho DONE\n";
    for n in 0..2 {
        world.ticket(&format!("t-{n}")).agent(script).write();
    }
    let mut engine = world.engine();
    let says = |n: u32| world.crew(&["explain", &format!("t-{n}")]).out;
    let waits = |n: u32| says(n).contains("as many agent processes run as may: [run] max_workers = 1");
    world.wait("one of two waits", || waits(0) != waits(1));
    world.open("go");
    world.wait("both landed", || world.is_landed("t-0") && world.is_landed("t-1"));
    engine.signal("INT");
    engine.end();
}

#[test]
fn as_many_agents_are_busy_as_the_settings_say() {
    let world = World::with(|s| s.agents = "count = 2".to_owned());
    // The first two are done only when both have begun; never are three at work.
    let script = "touch \"$GATES/begun-$CREW_TICKET_ID\"\n\
                  mkdir \"$GATES/slot-1\" 2>/dev/null && slot=1 || { mkdir \"$GATES/slot-2\" 2>/dev/null && slot=2 || touch \"$GATES/third\"; }\n\
                  case $CREW_TICKET_ID in t-0) until_there \"$GATES/begun-t-1\" ;; t-1) until_there \"$GATES/begun-t-0\" ;; esac\n\
                  work \"$CREW_TICKET_ID.txt\" x\n\
                  rmdir \"$GATES/slot-$slot\"\n\
                  echo DONE\n";
    for n in 0..5 {
        world.ticket(&format!("t-{n}")).agent(script).write();
    }
    world.drain_all();
    assert!(!world.path("gates/third").exists());
    assert_eq!(world.landed().len(), 5);
}

#[test]
fn an_edit_reaches_the_agent_at_its_next_step() {
    let world = World::new();
    world.in_session();
    world
        .ticket("t-1")
        .body("Make it blue.")
        .agent("if [ \"$RUN\" = 1 ]; then until_there \"$GATES/edited\"; else work t x; echo DONE; fi")
        .write();
    let mut engine = world.engine();
    world.wait_for_run("t-1", 1);
    world.edit("t-1", |text| text.replace("Make it blue.", "Make it green."));
    world.wait("the edit is heard", || world.count("t-1", "edited") == 1);
    world.open("edited");
    world.wait("t-1 lands", || world.is_landed("t-1"));
    world.must(&["stop"]);
    engine.end();
    assert!(world.prompt("t-1", 1).contains("Make it blue."));
    let second = world.prompt("t-1", 2);
    assert!(
        second.contains("was edited") && second.contains("Make it green."),
        "{second}"
    );
    assert!(
        fs::read_to_string(world.ticket_file("t-1"))
            .unwrap()
            .contains("Make it green.")
    );
}

#[test]
fn a_ticket_written_while_the_engine_runs_is_taken() {
    let world = World::new();
    let mut engine = world.engine();
    world.wait("the engine is up", || world.project(".crew/state.json").exists());
    world.ticket("t-1").agent(DONE).write();
    world.wait("t-1 lands", || world.is_landed("t-1"));
    world.must(&["stop"]);
    assert_eq!(engine.end().code, Some(0));
}

#[test]
fn a_file_closed_by_hand_while_an_agent_has_it_submits_the_work() {
    let world = World::new();
    world
        .ticket("t-1")
        .agent("work t x\nuntil_there \"$GATES/closed\"")
        .write();
    let mut engine = world.engine();
    world.wait_for_run("t-1", 1);
    world.edit("t-1", |text| {
        text.replace("status: in_progress", "status: closed")
    });
    world.open("closed");
    world.wait("t-1 lands", || world.is_landed("t-1"));
    world.must(&["stop"]);
    engine.end();
    assert_eq!((world.landed(), world.runs("t-1")), (vec!["t-1".to_owned()], 1));
    world.wait("the file is closed", || world.front("t-1", "status") == "closed");
}

#[test]
fn a_file_deleted_while_an_agent_has_it_drops_the_ticket_and_keeps_the_work() {
    let world = World::new();
    world
        .ticket("t-1")
        .agent("work t x\ntouch \"$GATES/worked\"\nuntil_there \"$GATES/never\"")
        .write();
    let mut engine = world.engine();
    world.wait("it has worked", || world.path("gates/worked").exists());
    // git has it: whoever deletes it can have it back.
    world.git(&["add", ".tickets"]);
    fs::remove_file(world.ticket_file("t-1")).unwrap();
    world.wait_for("t-1", "done/dropped");
    world.wait("the work is kept", || world.kept("t-1", 1).is_some());
    world.must(&["stop"]);
    engine.end();
    world.assert_at_rest();
    assert_eq!(world.git(&["show", "refs/crew/attempts/t-1/1:t"]), "x");
    assert!(world.landed().is_empty());
    let command = "git log refs/crew/attempts/t-1/1 --not --branches";
    for shows in [
        &["explain", "t-1"][..],
        &["history", "t-1"],
        &["--json", "explain", "t-1"],
        &["--json", "history", "t-1"],
    ] {
        let shown = world.must(shows).out;
        assert!(shown.contains(command), "{shows:?}: {shown}");
    }
    let work = &world.json(&["explain", "t-1"])["kept"][0];
    assert_eq!(work["place"], "refs/crew/attempts/t-1/1", "{work}");
    let args: Vec<&str> = command.split(' ').skip(1).collect();
    assert!(world.git(&args).contains("work on t"));
}

#[test]
fn a_landed_ticket_that_is_opened_again_is_done_again() {
    let world = World::new();
    world.ticket("t-1").agent("work \"t.$RUN\" x\necho DONE").write();
    world.drain_all();
    world.edit("t-1", |text| text.replace("status: closed", "status: open"));
    world.drain_all();
    assert_eq!(world.landed(), ["t-1", "t-1"]);
    assert_eq!(world.count("t-1", "reopened"), 1);
    assert!(
        world.prompt("t-1", 2).contains("Your task is ticket t-1"),
        "{}",
        world.prompt("t-1", 2)
    );
    assert_eq!(
        (world.read("t.1"), world.read("t.2")),
        ("x\n".to_owned(), "x\n".to_owned())
    );
}

#[test]
fn a_recovery_ticket_is_needed_only_when_its_ticket_failed() {
    let world = World::with(|s| s.run = "max_steps = 1\nattempts = 1".to_owned());
    world.ticket("works").agent(DONE).write();
    world.ticket("fails").agent(":").write();
    world
        .ticket("rescue-works")
        .line("recovers: works")
        .agent(DONE)
        .write();
    world
        .ticket("rescue-fails")
        .line("recovers: fails")
        .agent(DONE)
        .write();
    world.drain_held();
    let mut landed = world.landed();
    landed.sort();
    assert_eq!(landed, ["rescue-fails", "works"]);
    assert_eq!(world.state_name("rescue-works"), "done/not_needed");
    assert_eq!(world.runs("rescue-works"), 0);
}

#[test]
fn outputs_of_tickets_that_were_closed_long_ago_can_be_removed() {
    let world = World::with(|s| s.checks = "commands = [\"true\"]".to_owned());
    world.anyway();
    world.ticket("t-1").agent(DONE).write();
    world.drain_all();
    world.ticket("t-2").agent("echo 'BLOCKED: no'").write();
    world.drain_held();
    let runs = || {
        let names = |folder: &str| {
            let entries = fs::read_dir(world.project(folder))
                .into_iter()
                .flatten()
                .flatten();
            let mut names: Vec<String> = entries
                .map(|entry| entry.file_name().into_string().unwrap())
                .collect();
            names.sort();
            names
        };
        (names(".crew/runs"), names(".crew/checks/runs").len())
    };
    let before = runs();
    assert_eq!((before.0.len(), before.1), (2, 1), "{before:?}");
    let said = world.must(&["clean", "--older", "1d"]).out;
    assert!(said.contains("nothing to remove"), "{said}");
    assert_eq!(runs(), before);
    assert_eq!(world.crew(&["clean", "--older", "soon"]).code, Some(2));

    let said = world.must(&["clean", "--older", "0s"]).out;
    assert!(
        said.contains("removed the outputs of 1 step and 1 check: ") && said.contains(" freed"),
        "{said}"
    );
    let (left, checks) = runs();
    assert_eq!((left.len(), checks), (1, 0), "{left:?}");
    assert!(left[0].starts_with("t-2."), "the open ticket's is kept: {left:?}");
    assert!(world.project(".crew/journal.db").exists());
    world.must(&["history", "t-1"]);
    world.must(&["retry", "t-2"]);
}

#[test]
fn commits_that_are_kept_for_long_closed_tickets_are_listed_and_forgotten_only_on_demand() {
    let world = World::new();
    for id in ["t-1", "t-2"] {
        world
            .ticket(id)
            .agent("work $CREW_TICKET_ID.txt half\necho 'BLOCKED: no'")
            .write();
    }
    world.drain_held();
    world.must(&["drop", "t-1", "no longer needed"]);
    let is_kept = |id| world.kept(id, 1).is_some();
    assert!(is_kept("t-1") && is_kept("t-2"));

    let young = world.must(&["clean", "--older", "1d", "--yes"]).out;
    assert!(!young.contains("refs/crew"), "{young}");
    let said = world.must(&["clean", "--older", "0s"]).out;
    assert!(
        said.contains("refs/crew/attempts/t-1/1") && said.contains("crew clean --older 0s --yes"),
        "{said}"
    );
    assert!(!said.contains("t-2"), "{said}");
    assert!(is_kept("t-1"), "nobody said yes");

    let said = world.must(&["clean", "--older", "0s", "--yes"]).out;
    assert!(said.contains("refs/crew/attempts/t-1/1"), "{said}");
    assert!(!is_kept("t-1"));
    assert!(is_kept("t-2"), "it is open");
    assert!(world.project(".crew/journal.db").exists());
    world.must(&["doctor", "--deep"]);
}

#[test]
fn a_ticket_whose_file_was_deleted_while_no_engine_ran_is_dropped_before_an_engine_is_idle() {
    let world = World::with(|settings| settings.run = "debounce = \"300ms\"".to_owned());
    world.ticket("t-1").agent("echo BLOCKED: no key\n").write();
    world.drain_held();
    world.git(&["add", ".tickets"]);
    fs::remove_file(world.ticket_file("t-1")).unwrap();
    world.drain_all();
    assert_eq!(world.state_name("t-1"), "done/dropped");
}
