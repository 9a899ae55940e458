//! git changes ticket files: that is no person's word, and what nobody can explain is asked about.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use testkit::world::World;

/// Commits something new at each run.
const AGENT: &str = "work \"$CREW_TICKET_ID.$RUN\" x\necho DONE";
/// The same, once a gate is open.
const WAITS: &str =
    "touch \"$GATES/begun\"\nuntil_there \"$GATES/go\"\nwork \"$CREW_TICKET_ID.$RUN\" x\necho DONE";

const FILE: &str = ".tickets/t-1.md";

fn commit_tickets(world: &World, message: &str) {
    world.git(&["add", ".tickets"]);
    world.git(&["commit", "-q", "-m", message]);
}

/// A world whose ticket has landed. The branch `old` has the ticket open, `main` has it closed.
fn landed() -> World {
    let world = open_in_git();
    commit_tickets(&world, "it is closed");
    world
}

/// A world whose ticket has landed, and whose closed file is not committed.
fn open_in_git() -> World {
    let world = World::new();
    world.ticket("t-1").agent(AGENT).write();
    commit_tickets(&world, "a ticket");
    world.git(&["branch", "old"]);
    world.drain_all();
    assert_eq!(world.front("t-1", "status"), "closed");
    world
}

fn file_item(world: &World) -> Option<serde_json::Value> {
    let inbox: serde_json::Value = serde_json::from_str(&world.crew(&["--json", "inbox"]).out).unwrap();
    let mut items = inbox["items"].as_array().unwrap().iter();
    items.find(|item| item["kind"] == "file").cloned()
}

/// One of the ways in which git puts back the file of a ticket that has landed.
type Way = (&'static str, fn() -> World, fn(&World));

const WAYS: [Way; 8] = [
    ("switch", landed, |world| {
        drop(world.git(&["switch", "-q", "old"]));
    }),
    ("reset", landed, |world| {
        drop(world.git(&["reset", "-q", "--hard", "HEAD~1"]));
    }),
    ("revert", landed, |world| {
        drop(world.git(&["revert", "--no-edit", "HEAD"]));
    }),
    ("rebase", landed, |world| {
        drop(world.git(&["rebase", "-q", "--onto", "old", "HEAD", "main"]));
    }),
    ("stash", open_in_git, |world| drop(world.git(&["stash", "-q"]))),
    ("pull", landed, |world| {
        let (origin, other) = (world.path("origin"), world.path("other"));
        let names = [&origin, &other].map(|path| path.to_str().unwrap().to_owned());
        world.git(&["clone", "-q", "--bare", ".", &names[0]]);
        world.git(&["clone", "-q", &names[0], &names[1]]);
        for args in [
            &["config", "user.name", "Other"][..],
            &["config", "user.email", "other@example.org"],
            &["revert", "--no-edit", "HEAD"],
            &["push", "-q"],
        ] {
            world.git_at(&other, args);
        }
        world.git(&["pull", "-q", &names[0], "main"]);
    }),
    ("bisect", landed, |world| {
        for args in [
            &["bisect", "start"][..],
            &["bisect", "bad", "HEAD"],
            &["bisect", "good", "HEAD~3"],
        ] {
            world.git(args);
        }
    }),
    ("merge", landed, |world| {
        world.git(&["switch", "-q", "-c", "side", "HEAD"]);
        world.git(&["revert", "--no-edit", "HEAD"]);
        world.git(&["switch", "-q", "main"]);
        world.git(&["merge", "-q", "--no-ff", "side", "-m", "merged"]);
    }),
];

#[test]
fn a_ticket_that_landed_is_not_done_again_because_git_put_its_old_file_back_between_two_engines() {
    for (label, world, way) in WAYS {
        let world = world();
        way(&world);
        assert_eq!(world.front("t-1", "status"), "open", "{label}");
        let looked = world.crew(&["queue"]).out;
        assert!(!looked.contains("ready"), "{label}: {looked}");
        world.drain_all();
        assert_eq!(
            (world.runs("t-1"), world.count("t-1", "reopened")),
            (1, 0),
            "{label}"
        );
        assert_eq!(
            world.front("t-1", "status"),
            "open",
            "{label}: crew leaves it alone"
        );
        assert_eq!(file_item(&world), None, "{label}: it is explained");
        let explained = world.crew(&["explain", "t-1"]).out;
        assert!(
            explained.contains("git has changed its file"),
            "{label}: {explained}"
        );
        // A second start finds the same, and a person's word counts.
        world.drain_all();
        assert_eq!(world.runs("t-1"), 1, "{label}");
    }
}

#[test]
fn a_ticket_that_landed_is_not_done_again_because_git_put_its_old_file_back_under_an_engine() {
    for (label, world, way) in WAYS {
        let world = world();
        let mut engine = world.engine();
        world.ticket("t-2").kind("epic").write();
        world.wait("the engine has looked", || world.try_state("t-2").is_some());
        way(&world);
        world.wait("it is noticed", || world.count("t-1", "file_unheeded") > 0);
        world.must(&["stop"]);
        engine.end();
        assert_eq!(
            (world.runs("t-1"), world.count("t-1", "reopened")),
            (1, 0),
            "{label}"
        );
        assert_eq!(file_item(&world), None, "{label}: it is explained");
        assert_eq!(
            world.front("t-1", "status"),
            "open",
            "{label}: crew leaves it alone"
        );
    }
}

#[test]
fn an_old_file_that_came_back_without_a_trace_is_asked_about_and_a_person_settles_that() {
    for (command, runs, status) in [
        (&["ticket", "reopen", "t-1"][..], 2, "closed"),
        (&["ticket", "close", "t-1"], 1, "closed"),
        (&["drop", "t-1"], 1, "closed"),
    ] {
        for with_engine in [false, true] {
            let world = open_in_git();
            let mut engine = with_engine.then(|| world.engine());
            world.git(&["checkout", "-q", "--", FILE]);
            world.wait("it is asked", || file_item(&world).is_some());
            let item = file_item(&world).unwrap();
            let typed: Vec<&str> = item["acts"]
                .as_array()
                .unwrap()
                .iter()
                .filter_map(|act| act["typed"].as_str())
                .collect();
            assert_eq!(
                typed,
                ["crew ticket close t-1", "crew ticket reopen t-1", "crew drop t-1"]
            );
            if let Some(engine) = &mut engine {
                world.must(&["stop"]);
                engine.end();
            }
            let said = world.drain_held();
            assert!(said.err.contains("t-1") || said.out.contains("t-1"), "{said}");
            assert_eq!(world.runs("t-1"), 1);
            world.must(command);
            world.drain_all();
            assert_eq!(
                (world.runs("t-1"), world.front("t-1", "status").as_str()),
                (runs, status),
                "{command:?}"
            );
            assert_eq!(file_item(&world), None, "{command:?}");
        }
    }
}

#[test]
fn a_person_who_opens_a_ticket_again_is_named_also_while_an_engine_runs() {
    let world = landed();
    let engine = world.engine();
    world.wait("an engine runs", || world.json(&["ps"])["engine"].is_object());
    world.must(&["ticket", "reopen", "t-1"]);
    let said = world.must(&["history", "t-1"]).out;
    assert!(said.contains("opened again by "), "{said}");
    assert!(!said.contains("an edit of its file"), "{said}");
    world.must(&["stop"]);
    drop(engine);
}

#[test]
fn a_person_who_opens_a_ticket_again_is_heard_though_git_has_that_content_or_gets_it() {
    // The content of the open file stands in git.
    let world = open_in_git();
    world.must(&["ticket", "reopen", "t-1"]);
    world.drain_all();
    assert_eq!(world.runs("t-1"), 2);
    // An edit that was committed before an engine saw it.
    let world = landed();
    world.edit("t-1", |text| {
        text.replace("status: closed", "status: open")
            .replace("priority: 2", "priority: 1")
    });
    world.git(&["commit", "-q", "-a", "-m", "again"]);
    world.drain_all();
    assert_eq!(world.runs("t-1"), 2);
    // And one that git never had.
    let world = landed();
    world.edit("t-1", |text| {
        text.replace("status: closed", "status: open")
            .replace("priority: 2", "priority: 0")
    });
    world.drain_all();
    assert_eq!(world.runs("t-1"), 2);
}

#[test]
fn new_tickets_that_a_merge_brings_in_are_worked_on() {
    let world = landed();
    world.git(&["switch", "-q", "-c", "side", "old"]);
    world.ticket("t-5").agent(AGENT).write();
    commit_tickets(&world, "another");
    world.git(&["switch", "-q", "main"]);
    world.git(&["merge", "-q", "side", "-m", "merged"]);
    world.drain_all();
    assert_eq!((world.runs("t-1"), world.runs("t-5")), (1, 1));
    assert!(world.is_landed("t-5"));
}

/// A world whose ticket is at work, its file as crew has written it.
fn at_work() -> (World, testkit::world::Engine) {
    let world = World::new();
    world.ticket("t-0").status("closed").write();
    commit_tickets(&world, "an old ticket");
    world.git(&["branch", "old"]);
    world.ticket("t-1").agent(WAITS).write();
    let engine = world.engine();
    world.wait("it has begun", || world.path("gates/begun").exists());
    world.wait("it is taken", || world.front("t-1", "status") == "in_progress");
    (world, engine)
}

/// The ticket goes on, lands, and its file is closed.
fn goes_on(world: &World, engine: &mut testkit::world::Engine, label: &str) {
    assert_eq!(world.count("t-1", "stop_ordered"), 0, "{label}");
    world.open("go");
    world.wait("it lands", || world.is_landed("t-1"));
    world.wait("its file is closed", || world.front("t-1", "status") == "closed");
    world.must(&["stop"]);
    engine.end();
    assert_eq!(
        (world.runs("t-1"), world.count("t-1", "dropped")),
        (1, 0),
        "{label}"
    );
}

#[test]
fn a_ticket_at_work_goes_on_while_git_takes_its_file_away_and_brings_it_back() {
    type Away = (&'static str, fn(&World), fn(&World));
    let ways: [Away; 4] = [
        (
            "switch that is slow to move HEAD",
            |world| {
                commit_tickets(world, "a new ticket");
                // git has given the index back by then, and has not moved HEAD.
                let hook = world.project(".git/hooks/post-index-change");
                fs::create_dir_all(hook.parent().unwrap()).unwrap();
                fs::write(&hook, "#!/bin/sh\nsleep 1\n").unwrap();
                fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
                world.git(&["switch", "-q", "old"]);
                fs::remove_file(&hook).unwrap();
            },
            |world| drop(world.git(&["switch", "-q", "main"])),
        ),
        (
            "stash -u",
            |world| drop(world.git(&["stash", "-q", "-u"])),
            |world| drop(world.git(&["stash", "pop", "-q"])),
        ),
        (
            "switch",
            |world| {
                commit_tickets(world, "a new ticket");
                world.git(&["switch", "-q", "old"]);
            },
            |world| drop(world.git(&["switch", "-q", "main"])),
        ),
        (
            "reset",
            |world| {
                commit_tickets(world, "a new ticket");
                world.git(&["branch", "new"]);
                world.git(&["reset", "-q", "--hard", "HEAD~1"]);
            },
            |world| drop(world.git(&["reset", "-q", "--hard", "new"])),
        ),
    ];
    for (label, away, back) in ways {
        let (world, mut engine) = at_work();
        away(&world);
        assert!(!world.ticket_file("t-1").exists(), "{label}");
        world.wait("it is noticed", || world.count("t-1", "file_unheeded") == 1);
        assert_eq!(file_item(&world), None, "{label}: it is explained");
        let shown = world.crew(&["queue"]).out;
        assert!(shown.contains("git has taken its file away"), "{label}: {shown}");
        back(&world);
        world.wait("it is back", || world.count("t-1", "file_heeded") == 1);
        goes_on(&world, &mut engine, label);
    }
}

#[test]
fn a_ticket_at_work_goes_on_while_git_sets_its_file_back_to_open() {
    let world = World::new();
    world.ticket("t-1").agent(WAITS).write();
    commit_tickets(&world, "a ticket");
    let mut engine = world.engine();
    world.wait("it has begun", || world.path("gates/begun").exists());
    world.wait("it is taken", || world.front("t-1", "status") == "in_progress");
    world.git(&["stash", "-q"]);
    world.wait("it is noticed", || world.count("t-1", "file_unheeded") == 1);
    assert_eq!(world.front("t-1", "status"), "open", "crew leaves it alone");
    goes_on(&world, &mut engine, "stash");
}

#[test]
fn files_that_a_git_clean_deletes_are_asked_about_and_a_single_one_is_a_persons_deletion() {
    let (world, mut engine) = at_work();
    world.ticket("t-2").agent(AGENT).write();
    world.wait("it is seen", || world.try_state("t-2").is_some());
    world.git(&["clean", "-q", "-f", "-d"]);
    world.wait("both are asked about", || {
        ["t-1", "t-2"]
            .iter()
            .all(|id| world.count(id, "file_unheeded") == 1)
    });
    assert!(file_item(&world).is_some());
    assert_eq!(world.count("t-1", "stop_ordered"), 0);
    world.must(&["drop", "t-2"]);
    world.must(&["ticket", "reopen", "t-1"]);
    world.wait("nothing is asked any more", || file_item(&world).is_none());
    world.open("go");
    world.wait("it lands", || world.is_landed("t-1"));
    world.ticket("t-3").agent("until_there \"$GATES/never\"").write();
    world.wait("it is given out", || world.runs("t-3") == 1);
    commit_tickets(&world, "a ticket at work");
    fs::remove_file(world.ticket_file("t-3")).unwrap();
    world.wait("it is dropped", || world.count("t-3", "dropped") == 1);
    world.must(&["stop"]);
    engine.end();
}

/// A world with three tickets that git does not have, the first at work, and one agent.
fn at_work_without_git() -> (World, testkit::world::Engine) {
    let world = World::new();
    world.ticket("t-1").agent(WAITS).write();
    world.ticket("t-2").agent(AGENT).deps(&["t-1"]).write();
    world.ticket("t-3").agent(AGENT).deps(&["t-1"]).write();
    let engine = world.engine();
    world.wait("it has begun", || world.path("gates/begun").exists());
    world.wait("it is taken", || world.front("t-1", "status") == "in_progress");
    world.wait("all are seen", || world.try_state("t-3").is_some());
    (world, engine)
}

#[test]
fn tickets_whose_whole_folder_is_cleaned_away_are_asked_about_and_not_given_out() {
    for is_noticed in [false, true] {
        let (world, mut engine) = at_work_without_git();
        world.git(&["clean", "-q", "-fdx"]);
        assert!(!world.project(".tickets").exists());
        if is_noticed {
            world.wait("the inbox tells of it", || {
                file_item(&world).is_some_and(|item| item["ticket"].is_null())
            });
            world.wait("the engine has noticed it", || {
                engine.said().all().contains("is gone")
            });
        }
        fs::create_dir(world.project(".tickets")).unwrap();
        world.ticket("t-9").agent(AGENT).write();
        world.wait("all are asked about", || {
            ["t-1", "t-2", "t-3"]
                .iter()
                .all(|id| world.count(id, "file_unheeded") == 1)
        });
        world.open("go");
        world.wait("it lands without its file", || world.is_landed("t-1"));
        world.wait("the agent is free for the new ticket", || world.is_landed("t-9"));
        assert_eq!((world.runs("t-2"), world.runs("t-3")), (0, 0), "{is_noticed}");
        assert!(file_item(&world).is_some(), "{is_noticed}");
        world.must(&["stop"]);
        engine.end();
    }
}

#[test]
fn a_ticket_at_work_whose_folder_was_cleaned_away_between_two_engines_is_not_dropped() {
    let world = World::new();
    world.ticket("t-1").agent(WAITS).write();
    let mut engine = world.engine();
    world.wait("it has begun", || world.path("gates/begun").exists());
    world.wait("it is taken", || world.front("t-1", "status") == "in_progress");
    world.git(&["clean", "-q", "-fdx"]);
    engine.signal("KILL");
    engine.end();
    let said = world.crew(&["run"]);
    assert_ne!(said.code, Some(0), "{said}");
    assert!(said.err.contains("crew inbox"), "{said}");
    fs::create_dir(world.project(".tickets")).unwrap();
    world.ticket("t-9").kind("epic").write();
    let mut engine = world.engine();
    world.wait("it is asked about", || world.count("t-1", "file_unheeded") == 1);
    assert_eq!(file_item(&world).unwrap()["ticket"], "t-1");
    world.open("go");
    world.wait("it lands without its file", || world.is_landed("t-1"));
    world.must(&["stop"]);
    engine.end();
    assert_eq!((world.runs("t-1"), world.count("t-1", "dropped")), (1, 0));
}

#[test]
fn a_ticket_at_work_whose_file_is_renamed_is_asked_about_and_goes_on_when_that_is_undone() {
    let (world, mut engine) = at_work();
    fs::rename(world.ticket_file("t-1"), world.ticket_file("t-9")).unwrap();
    world.wait("it is asked", || file_item(&world).is_some());
    let item = file_item(&world).unwrap();
    assert!(
        item["why"]
            .as_str()
            .unwrap()
            .contains("t-9.md seems to be it under another name"),
        "{item}"
    );
    assert!(world.try_state("t-9").is_none(), "no ticket of its own");
    fs::rename(world.ticket_file("t-9"), world.ticket_file("t-1")).unwrap();
    world.wait("nothing is asked any more", || file_item(&world).is_none());
    goes_on(&world, &mut engine, "rename");
}

/// The set-up of the workspace gives the time to rename the file before the first step.
#[test]
fn the_first_step_of_a_ticket_whose_file_was_renamed_has_its_text() {
    let world = World::with(|s| {
        s.land = "[workspace]\nsetup = ['until [ -e \"$GATES/go\" ]; do sleep 0.1; done']".to_owned();
    });
    world.ticket("t-1").body("Count the sheep.").agent(AGENT).write();
    let mut engine = world.engine();
    world.wait("its workspace is prepared", || {
        world
            .try_state("t-1")
            .is_some_and(|state| state.state_name().contains("preparing"))
    });
    // An open file under another name may be a copy, and gives its text to nobody.
    world.wait("its file says so", || {
        world.front("t-1", "status") == "in_progress"
    });
    fs::rename(world.ticket_file("t-1"), world.ticket_file("sheep")).unwrap();
    world.wait("it is asked", || file_item(&world).is_some());
    world.open("go");
    world.wait("it is closed", || world.front("sheep", "status") == "closed");
    world.must(&["stop"]);
    engine.end();
    let prompt = world.prompt("t-1", 1);
    assert!(prompt.contains("Count the sheep."), "{prompt}");
}

#[test]
fn the_file_of_a_landed_ticket_is_closed_under_the_name_that_it_has_now() {
    let (world, mut engine) = at_work();
    fs::rename(world.ticket_file("t-1"), world.ticket_file("login-page")).unwrap();
    world.wait("it is asked", || file_item(&world).is_some());
    world.open("go");
    world.wait("it is closed", || world.front("login-page", "status") == "closed");
    world.must(&["stop"]);
    engine.end();
    assert!(world.is_landed("t-1") && file_item(&world).is_none());
    // The same for a file that lies there when an engine comes.
    let text = fs::read_to_string(world.ticket_file("login-page")).unwrap();
    let left = text.replacen("status: closed", "status: in_progress", 1);
    fs::write(world.ticket_file("front-page"), left).unwrap();
    fs::remove_file(world.ticket_file("login-page")).unwrap();
    world.drain_all();
    assert_eq!(world.front("front-page", "status"), "closed");
    assert!(world.try_state("login-page").is_none() && world.try_state("front-page").is_none());
}

#[test]
fn a_ticket_at_work_goes_on_when_its_file_gets_another_id_or_lies_aside() {
    type Way = fn(&World);
    let ways: [(&str, Way); 2] = [
        ("id", |world| {
            let text = fs::read_to_string(world.ticket_file("t-1")).unwrap();
            let text = text.replacen("id: t-1", "id: login-page", 1);
            fs::write(world.ticket_file("login-page"), text).unwrap();
            fs::remove_file(world.ticket_file("t-1")).unwrap();
        }),
        ("folder", |world| {
            let aside = world.project(".tickets/archive");
            fs::create_dir(&aside).unwrap();
            fs::rename(world.ticket_file("t-1"), aside.join("t-1.md")).unwrap();
        }),
    ];
    for (way, moves) in ways {
        let (world, mut engine) = at_work();
        moves(&world);
        world.wait("it is asked", || world.count("t-1", "file_unheeded") == 1);
        assert!(file_item(&world).is_some(), "{way}");
        world.open("go");
        world.wait("it lands", || world.is_landed("t-1"));
        world.must(&["stop"]);
        engine.end();
        assert_eq!(
            (world.count("t-1", "stop_ordered"), world.runs("t-1")),
            (0, 1),
            "{way}"
        );
    }
}

#[test]
fn a_ticket_whose_file_was_laid_aside_while_no_engine_ran_is_asked_about() {
    let world = World::new();
    world.ticket("t-1").agent("echo 'QUESTION: which?'").write();
    world.drain_held();
    let aside = world.project(".tickets/archive");
    fs::create_dir(&aside).unwrap();
    fs::rename(world.ticket_file("t-1"), aside.join("t-1.md")).unwrap();
    world.crew(&["run", "--until-idle"]);
    assert_eq!(
        (world.count("t-1", "file_unheeded"), world.count("t-1", "dropped")),
        (1, 0)
    );
    assert!(file_item(&world).is_some());
}

#[test]
fn a_ticket_at_work_is_taken_up_again_when_an_engine_and_its_journal_are_gone() {
    let (world, mut engine) = at_work();
    world.ticket("t-2").status("in_progress").write();
    engine.signal("KILL");
    engine.end();
    for name in ["journal.db", "journal.db-wal", "journal.db-shm"] {
        fs::remove_file(world.project(".crew").join(name)).ok();
    }
    world.open("go");
    let said = world.drain_held();
    assert!(said.out.contains("t-2") || said.err.contains("t-2"), "{said}");
    assert_eq!(world.count("t-1", "work_found"), 1);
    assert!(world.is_landed("t-1"));
    // Nobody can tell whether an agent had this one.
    let item = file_item(&world).unwrap();
    assert_eq!(item["ticket"], "t-2");
    world.script("t-2", AGENT);
    world.must(&["ticket", "reopen", "t-2"]);
    world.drain_all();
    assert!(world.is_landed("t-2"));
}

#[test]
fn a_ticket_at_work_is_taken_up_again_when_crews_whole_folder_is_gone() {
    let (world, mut engine) = at_work();
    world.ticket("t-2").status("in_progress").write();
    world.kill_everything();
    engine.end();
    fs::remove_dir_all(world.project(".crew")).unwrap();
    world.open("go");
    let said = world.drain_held();
    assert_eq!(world.count("t-1", "work_found"), 1, "{said}");
    assert!(world.is_landed("t-1"), "{said}");
    assert_eq!(file_item(&world).unwrap()["ticket"], "t-2");
    world.must(&["ticket", "close", "t-2"]);
    world.drain_all();
    world.must(&["doctor"]);
}

#[test]
fn what_landed_before_crews_folder_went_is_explained_by_its_commit() {
    let world = World::new();
    for id in ["t-1", "t-10"] {
        world
            .ticket(id)
            .agent("work \"$CREW_TICKET_ID\" x\necho DONE")
            .write();
        world.drain_all();
    }
    world.ticket("t-2").status("closed").write();
    let as_t_1 = world.git(&["log", "-1", "--format=%H", "--grep=^Ticket: t-1$"]);
    fs::remove_dir_all(world.project(".crew")).unwrap();
    for _ in 0..2 {
        let explained = world.json(&["explain", "t-1"]);
        let says = format!("it landed in {as_t_1}, by an earlier journal");
        assert_eq!(
            (&explained["state"], &explained["says"]),
            (&"landed".into(), &says.into())
        );
        let explained = world.json(&["explain", "t-2"]);
        assert_eq!(explained["state"], "closed");
        world.drain_all();
    }
}

#[test]
fn a_file_that_a_person_has_taken_is_theirs_where_no_agent_was() {
    let world = World::new();
    world.ticket("t-1").status("in_progress").write();
    world.drain_all();
    fs::remove_dir_all(world.project(".crew")).unwrap();
    world.drain_all();
    assert_eq!((file_item(&world), world.runs("t-1")), (None, 0));
}

#[test]
fn a_git_clean_leaves_crews_folder_and_nothing_shows_it() {
    let (world, mut engine) = at_work();
    let linked = world.path("linked");
    world.commit(".gitignore", ".tickets/\nbuild/\n");
    world.git(&["worktree", "add", "-q", "--detach", linked.to_str().unwrap()]);
    let seen = || world.git(&["status", "--porcelain"]);
    for folder in [world.path("project"), linked] {
        for args in [
            &["clean", "-fdX", "-e", "!.tickets"][..],
            &["clean", "-fdx", "-e", ".tickets"],
        ] {
            fs::create_dir_all(folder.join("build")).unwrap();
            fs::write(folder.join("build/made"), "").unwrap();
            world.git_at(&folder, args);
            assert!(!folder.join("build").exists(), "{args:?}");
            assert!(world.project(".crew/journal.db").exists(), "{args:?}");
        }
        assert_eq!(world.crew_at(&folder, &["queue"]).code, Some(0));
    }
    world.git(&["add", "-A"]);
    assert_eq!(seen(), "");
    fs::write(world.project("mine"), "").unwrap();
    for args in [&["stash", "-q", "-u"][..], &["stash", "pop", "-q"]] {
        world.git(args);
        assert!(world.project(".crew/journal.db").exists(), "{args:?}");
    }
    assert_eq!(seen(), "?? mine");
    let said = world.must(&["doctor"]);
    assert!(!said.all().contains(".crew/.git"), "{said}");
    assert_eq!(
        world.crew_at(&world.project(".crew/runs"), &["queue"]).code,
        Some(0)
    );
    goes_on(&world, &mut engine, "clean");
}
