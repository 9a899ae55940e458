//! Hooks: programs of the user's that get the notices of a crew.

use std::fs;

use serde_json::Value;
use testkit::world::{DONE, World, make_executable};

/// A world in which these keys are in `[hooks]`. `$LOG` in a script is the file that [`notices`] reads.
fn hooked(hooks: &str, scripts: &[(&str, &str)]) -> World {
    let world = World::with(|s| s.land = format!("\n[hooks]\n{hooks}\n"));
    for (name, script) in scripts {
        let (file, log, gates) = (world.path(name), world.path("notices"), world.path("gates"));
        let head = format!(
            "#!/bin/sh\nLOG='{}'\nGATES='{}'\n",
            log.display(),
            gates.display()
        );
        fs::write(&file, head + script).unwrap();
        make_executable(&file);
        let text = world.read("crew.toml");
        let text = text.replace(&format!("@{name}"), &file.display().to_string());
        world.commit("crew.toml", &text);
    }
    world
}

/// The notices that the hooks have noted, in order.
fn notices(world: &World) -> Vec<Value> {
    let text = fs::read_to_string(world.path("notices")).unwrap_or_default();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Kind and ticket of each.
fn told(world: &World) -> Vec<(String, String)> {
    let text = |notice: &Value, key: &str| notice[key].as_str().unwrap_or_default().to_owned();
    let each = notices(world);
    each.iter()
        .map(|notice| (text(notice, "kind"), text(notice, "ticket")))
        .collect()
}

fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    let each = pairs.iter();
    each.map(|(kind, ticket)| ((*kind).to_owned(), (*ticket).to_owned()))
        .collect()
}

#[test]
fn a_hook_gets_each_notice_as_json_in_order_and_only_what_happens_from_then_on() {
    let world = World::new();
    world.ticket("t-0").agent(DONE).write();
    world.drain_all();

    let script = "cat >> \"$LOG\"\nenv > \"$GATES/env\"\npwd > \"$GATES/pwd\"\n";
    let file = world.path("note.sh");
    let (log, gates) = (world.path("notices"), world.path("gates"));
    let head = format!(
        "#!/bin/sh\nLOG='{}'\nGATES='{}'\n",
        log.display(),
        gates.display()
    );
    fs::write(&file, head + script).unwrap();
    make_executable(&file);
    let hooks = format!(
        "{}\n[hooks]\nall = [\"{}\"]\n",
        world.read("crew.toml"),
        file.display()
    );
    world.commit("crew.toml", &hooks);
    world.ticket("t-1").agent(DONE).write();
    world
        .ticket("t-2")
        .deps(&["t-1"])
        .agent("echo 'BLOCKED: no key'")
        .write();
    world.drain_held();

    let expected = [("completed", "t-1"), ("landed", "t-1"), ("held", "t-2")];
    assert_eq!(told(&world), pairs(&expected));
    let each = notices(&world);
    let ids: Vec<u64> = each.iter().map(|notice| notice["id"].as_u64().unwrap()).collect();
    assert!(ids.is_sorted_by(|a, b| a < b), "{ids:?}");
    assert!(each.iter().all(|notice| notice["agent"].is_string()), "{each:?}");
    assert!(each[2]["says"].as_str().unwrap().contains("no key"), "{each:?}");
    let env = fs::read_to_string(world.path("gates/env")).unwrap();
    assert!(env.contains("CREW_HOOK=all") && env.contains("HOME="), "{env}");
    assert!(!env.contains("canary"), "{env}");
    let pwd = fs::read_to_string(world.path("gates/pwd")).unwrap();
    let root = world.path("project").canonicalize().unwrap();
    assert_eq!(pwd.trim(), root.display().to_string());

    // The same, as whoever leads reads it, and from where an earlier look ended.
    let seen = |args: &[&str]| world.json(&[&["events", "--leader"], args].concat());
    let ids_of = |document: &Value| -> Vec<u64> {
        let list = document["notices"].as_array().unwrap();
        list.iter().map(|notice| notice["id"].as_u64().unwrap()).collect()
    };
    let (all, rest) = (seen(&["--all"]), seen(&["--since", &ids[0].to_string()]));
    assert_eq!(ids_of(&all)[2..], ids);
    assert_eq!(ids_of(&rest), ids[1..]);
    assert_eq!(ids_of(&seen(&["-n", "2"])), ids[1..]);
    assert_eq!(rest["notices"][0], each[1]);
    let refused = world.crew(&["events", "--leader", "--since", "100000"]);
    assert_eq!(refused.code, Some(1), "{refused}");
}

#[test]
fn a_notice_outlives_an_engine_that_is_killed_while_its_hook_runs() {
    // The first notice ends its engine, before that can note that it was delivered.
    let script = "cat >> \"$LOG\"\nif [ ! -e \"$GATES/killed\" ]; then\ntries=0\n\
        while [ ! -e \"$GATES/engine\" ]; do tries=$((tries+1)); [ $tries -lt 600 ] || exit 9; sleep 0.1; done\n\
        touch \"$GATES/killed\"\nkill -9 \"$(cat \"$GATES/engine\")\"\nfi\n";
    let world = hooked("completed = [\"@note.sh\"]", &[("note.sh", script)]);
    world.ticket("t-1").agent(DONE).write();
    let mut engine = world.engine();
    fs::write(world.path("gates/pid"), engine.pid().to_string()).unwrap();
    fs::rename(world.path("gates/pid"), world.path("gates/engine")).unwrap();
    engine.end();
    world.ticket("t-2").agent(DONE).write();
    world.drain_all();
    let mut told = told(&world);
    told.dedup();
    assert_eq!(told, pairs(&[("completed", "t-1"), ("completed", "t-2")]));
    assert!(notices(&world).len() <= 3, "at most once more");
    world.drain_all();
    assert!(notices(&world).len() <= 3, "and not again");
}

#[test]
fn a_hook_that_never_ends_is_in_nobodys_way_and_a_person_finds_it() {
    let hooks = "completed = [\"@hang.sh\"]\nall = [\"@note.sh\"]\ntimeout = \"1s\"";
    let scripts = [
        ("hang.sh", "echo here >&2\nexec sleep 1000\n"),
        ("note.sh", "cat >> \"$LOG\"\n"),
    ];
    let world = hooked(hooks, &scripts);
    world.ticket("t-1").agent(DONE).write();
    world.ticket("t-2").agent(DONE).write();
    let said = world.drain_all();
    let expected = [
        ("completed", "t-1"),
        ("landed", "t-1"),
        ("completed", "t-2"),
        ("landed", "t-2"),
    ];
    let (mut told, mut expected) = (told(&world), pairs(&expected));
    told.sort();
    expected.sort();
    assert_eq!(told, expected);
    assert!(
        said.all().contains("the hook `completed` failed on notice"),
        "{said}"
    );
    let ps = world.must(&["ps"]);
    let why = "took longer than 1s, and was stopped ([hooks] timeout): here";
    assert!(
        ps.out.contains("the hook `completed` failed") && ps.out.contains(why),
        "{ps}"
    );
    let failed = &world.json(&["ps"])["failed_hooks"];
    assert_eq!(failed[0]["hook"], "completed", "{failed}");
    // It is told of until it goes well, or is not in the settings any more.
    world.change_settings("completed = ", "stuck = ");
    world.drain_all();
    assert_eq!(
        world.json(&["ps"])["failed_hooks"].as_array().map(Vec::len),
        Some(0)
    );
}

#[test]
fn work_that_changes_the_program_of_a_hook_waits_for_a_person() {
    let world = hooked("landed = [\"sh\", \"./tools/note.sh\"]", &[]);
    world.commit("tools/note.sh", "cat > /dev/null\n");
    world
        .ticket("t-1")
        .agent("work tools/note.sh changed\necho DONE")
        .write();
    world.drain_held();
    let (why, note) = world.held("t-1");
    assert_eq!(why, "paths", "{note}");
    assert!(note.contains("tools/note.sh"), "{note}");

    // The whole path of a link to it is as good.
    std::os::unix::fs::symlink(world.project("tools/note.sh"), world.path("link.sh")).unwrap();
    let link = world.path("link.sh").display().to_string();
    world.change_settings("\"./tools/note.sh\"", &format!("\"{link}\""));
    world.must(&["drop", "t-1"]);
    world
        .ticket("t-2")
        .agent("work tools/note.sh again\necho DONE")
        .write();
    world.drain_held();
    assert_eq!(world.held("t-2").0, "paths");
}

#[test]
fn a_hook_that_notes_each_comment_does_not_start_itself_nor_its_tickets_agent() {
    let crew = testkit::world::crew();
    let script = format!(
        "cat >> \"$LOG\"\nid=$(tail -n 1 \"$LOG\" | sed 's/.*\"ticket\":\"\\([^\"]*\\)\".*/\\1/')\n'{crew}' ticket add-note \"$id\" 'seen: BLOCKED: no'\n"
    );
    let world = hooked("comment = [\"@note.sh\"]", &[("note.sh", &script)]);
    let agent = "case $RUN in 1) touch \"$GATES/began\"; until_there \"$GATES/go\"; echo thinking ;; *) work a x; echo DONE ;; esac";
    world.ticket("t-1").agent(agent).write();
    let mut engine = world.engine();
    world.wait("it works", || world.path("gates/began").exists());
    world.must(&["ticket", "add-note", "t-1", "please hurry"]);
    let has_note = || {
        let file = fs::read_to_string(world.ticket_file("t-1")).unwrap();
        file.contains("Note by the hook comment:\n> seen: BLOCKED: no")
    };
    world.wait("the hook has answered", has_note);
    world.open("go");
    world.wait("t-1 lands", || world.is_landed("t-1"));
    world.must(&["stop"]);
    engine.end();
    assert_eq!(told(&world), pairs(&[("comment", "t-1")]));
    assert_eq!(
        (world.count("t-1", "commented"), world.count("t-1", "edited")),
        (1, 1)
    );
    assert_eq!(world.runs("t-1"), 2);
}

#[test]
fn a_hook_without_a_notice_of_its_kind_does_not_read_the_journal_from_its_beginning_again() {
    let world = hooked(
        "budget = [\"@never.sh\"]",
        &[("never.sh", "echo no >> \"$LOG\"\n")],
    );
    world.ticket("t-1").agent(DONE).write();
    world.drain_all();
    let (place, head) = world
        .journal(async |ledger| {
            let rows = ledger.tail(0, 1000).await.unwrap();
            let landed = rows.iter().rposition(|row| row.fact.name() == "landed").unwrap();
            let place = ledger.delivered("budget").await.unwrap();
            (place.after.unwrap(), rows[landed].seq)
        })
        .unwrap();
    assert!(place >= head, "{place} of {head}");
    assert_eq!(told(&world), pairs(&[]));
}

/// What a hook answers to each time that it is told would be paid for without end.
#[test]
fn a_hook_that_retries_what_is_held_does_so_once_until_a_person_does() {
    let crew = testkit::world::crew();
    let script =
        format!("cat >> \"$LOG\"\n'{crew}' retry t-1 >> \"$GATES/said\" 2>&1\necho $? >> \"$GATES/codes\"\n");
    let world = hooked("held = [\"@retry.sh\"]", &[("retry.sh", &script)]);
    world.ticket("t-1").agent("echo 'BLOCKED: no key'").write();
    let mut engine = world.engine();
    let codes = || fs::read_to_string(world.path("gates/codes")).unwrap_or_default();
    world.wait("the hook was refused", || codes() == "0\n1\n");
    assert_eq!(world.runs("t-1"), 2);
    let said = fs::read_to_string(world.path("gates/said")).unwrap();
    assert!(said.contains("only a person has it tried again now"), "{said}");
    let history = world.must(&["history", "t-1"]).out;
    assert!(history.contains("the hook held"), "{history}");
    world.must(&["retry", "t-1"]);
    world.wait("a person's word counts, and the hook may once more", || {
        codes() == "0\n1\n0\n1\n"
    });
    assert_eq!(world.runs("t-1"), 4);
    world.must(&["stop"]);
    engine.end();
}

#[test]
fn a_hook_neither_gives_tasks_out_nor_opens_what_is_over() {
    let crew = testkit::world::crew();
    let tried = ["delegate ada More", "ticket reopen t-1", "ticket status t-1 open"]
        .map(|command| format!("'{crew}' {command} >> \"$GATES/said\" 2>&1\necho $? >> \"$GATES/codes\"\n"));
    let world = hooked("landed = [\"@again.sh\"]", &[("again.sh", &tried.concat())]);
    world.ticket("t-1").agent("work a a\necho DONE").write();
    world.drain();
    let read = |name: &str| fs::read_to_string(world.path(name)).unwrap_or_default();
    assert_eq!(read("gates/codes"), "1\n1\n1\n", "{}", read("gates/said"));
    assert_eq!(world.landed(), ["t-1"]);
    assert_eq!(world.runs("t-1"), 1);
}

#[test]
fn a_run_that_ends_before_its_hooks_says_what_was_not_delivered() {
    let script = "cat >> \"$LOG\"\nwhile [ ! -e \"$GATES/go\" ]; do sleep 0.1; done\n";
    let world = hooked("all = [\"@slow.sh\"]", &[("slow.sh", script)]);
    world.ticket("t-1").agent(DONE).write();
    let said = world.drain_all();
    let says = "2 notices wait for the hook `all`";
    assert!(said.out.contains(says), "{said}");
    for args in [&["ps"][..], &["doctor"]] {
        let said = world.crew(args);
        assert!(said.out.contains(says), "{args:?}: {said}");
    }
    assert_eq!(world.json(&["ps"])["waiting_hooks"][0]["notices"], 2);
    world.open("go");
    let said = world.drain_all();
    assert!(!said.out.contains("for the hook"), "{said}");
    assert!(
        world.json(&["ps"])["waiting_hooks"]
            .as_array()
            .unwrap()
            .is_empty()
    );
}

#[test]
fn doctor_says_which_hooks_cannot_be_started() {
    let hooks = "completed = [\"no-such-program-of-anybody\"]\nlanded = [\"@closed.sh\"]\nheld = [\"@crlf.sh\"]\n\
        failed = [\"@none.sh\"]\nstuck = [\"@good.sh\"]";
    let world = hooked(
        hooks,
        &[
            ("closed.sh", ""),
            ("crlf.sh", ""),
            ("none.sh", ""),
            ("good.sh", ""),
        ],
    );
    fs::write(world.path("crlf.sh"), "#!/bin/sh\r\ntrue\r\n").unwrap();
    fs::write(world.path("none.sh"), "#!/usr/bin/env no-such-interpreter\n").unwrap();
    fs::remove_file(world.path("closed.sh")).unwrap();
    fs::write(world.path("closed.sh"), "#!/bin/sh\n").unwrap();
    let said = world.crew(&["doctor"]);
    for says in [
        "the hook `completed` cannot be started: ",
        "the hook `landed` cannot be started: ",
        "ends in a carriage return",
        "names an interpreter that cannot be started: ",
    ] {
        assert!(said.out.contains(says), "{says}: {said}");
    }
    assert!(!said.out.contains("`stuck`"), "{said}");
}

#[test]
fn a_follower_that_was_there_before_anything_ran_sees_the_first_notice() {
    let world = World::new();
    let mut follower = world.start_at(&world.path("project"), &["events", "--leader", "-f"]);
    world.ticket("t-1").agent("work a x; echo DONE").write();
    let mut engine = world.engine();
    world.wait("the notice", || follower.said().out.contains("landed as"));
    assert!(follower.is_up(), "{}", follower.said());
    follower.signal("INT");
    assert_eq!(follower.end().code, Some(130));
    world.must(&["stop"]);
    engine.end();
}
