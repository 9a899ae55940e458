//! What is not tried again for ever: the service's refusals, and the same failure on unchanged input.

use std::path::PathBuf;
use std::time::Duration;

use model::Time;
use model::attempt;
use model::journal::{Fact, Stream};
use model::ticket::Event;

use testkit::world::{DONE, World};

/// Fails on a tree with a file `bad`, saying so and when: no two of its outputs are the same.
const NO_BAD: &str =
    "commands = ['''if [ -e bad ]; then echo \"bad is bad at $(date +%s%N)\"; exit 1; fi''']";

/// A line that says how the step has failed.
fn failure(class: &str) -> String {
    format!(r#"echo '{{"crew":"failure","class":"{class}","message":"the service says no"}}'"#)
}

/// When each step of a ticket was started, and when the first failed.
fn times(world: &World, id: &str) -> (Vec<Time>, Option<Time>) {
    let (mut started, mut failed) = (Vec::new(), None);
    for (stream, at, fact) in world.rows() {
        let Fact::Ticket(Event::Attempt(event)) = fact else {
            continue;
        };
        if !matches!(&stream, Stream::Ticket(of) if of.as_str() == id) {
            continue;
        }
        match event {
            attempt::Event::StepStarted { .. } => started.push(at),
            attempt::Event::StepFailed { .. } if failed.is_none() => failed = Some(at),
            _ => {}
        }
    }
    (started, failed)
}

#[test]
fn done_without_a_commit_three_times_is_held_and_not_paid_again() {
    let world = World::new();
    world.ticket("t-1").agent("echo DONE").write();
    let said = world.drain_held();
    let (why, note) = world.held("t-1");
    assert_eq!((why.as_str(), world.runs("t-1")), ("no_progress", 3));
    assert!(
        note.contains("nothing committed") && note.contains("3 times in a row"),
        "{note}"
    );
    assert!(said.tells_of("t-1", "not paid again"), "{said}");
    assert_eq!(world.state_name("t-1"), "verify/checking (held)");
    assert_eq!(world.crew(&["run", "--until-idle"]).code, Some(3));
    assert_eq!(world.runs("t-1"), 3, "not by itself");

    world.script("t-1", DONE);
    world.must(&["retry", "t-1"]);
    world.drain_all();
    assert_eq!((world.landed(), world.runs("t-1")), (vec!["t-1".to_owned()], 4));
}

#[test]
fn an_agent_that_is_killed_after_each_done_is_held_after_three() {
    let world = World::new();
    world
        .ticket("t-1")
        .agent("[ \"$RUN\" != 1 ] || work t x\necho DONE\nkill -9 $$")
        .write();
    world.drain_held();
    let (why, note) = world.held("t-1");
    assert_eq!((why.as_str(), world.runs("t-1")), ("no_progress", 3));
    assert!(
        note.contains("it said DONE, but signal 9 (KILL) ended it"),
        "{note}"
    );
}

#[test]
fn the_same_check_on_an_unchanged_tip_is_held_after_three() {
    let world = World::with(|s| s.checks = NO_BAD.to_owned());
    world
        .ticket("t-1")
        .agent("[ \"$RUN\" != 1 ] || work bad x\necho DONE")
        .write();
    world.drain_held();
    let (why, note) = world.held("t-1");
    assert_eq!(
        (
            why.as_str(),
            world.runs("t-1"),
            world.count("t-1", "checks_failed")
        ),
        ("no_progress", 3, 3)
    );
    assert!(note.contains("on the same commit"), "{note}");
    let explained = world.must(&["explain", "t-1"]).out;
    assert!(
        explained.contains("3 times in a row") && explained.contains("crew retry t-1"),
        "{explained}"
    );
    let history = world.must(&["history", "t-1"]).out;
    assert!(history.contains("the same 2 of 3 times"), "{history}");

    // Mended on the target: a retry looks first, and pays no step.
    world.write(
        "crew.toml",
        &world.read("crew.toml").replace("-e bad", "-e worse"),
    );
    world.git(&["commit", "-qam", "bad is fine"]);
    world.must(&["retry", "t-1"]);
    world.drain_all();
    assert_eq!((world.landed(), world.runs("t-1")), (vec!["t-1".to_owned()], 3));
}

#[test]
fn a_check_that_fails_on_other_work_each_time_goes_on() {
    let world = World::with(|s| s.checks = NO_BAD.to_owned());
    world
        .ticket("t-1")
        .agent(
            "if [ \"$RUN\" -lt 5 ]; then work bad \"$RUN\"; else git rm -q bad; work good x; fi\necho DONE",
        )
        .write();
    world.drain_all();
    assert_eq!((world.landed(), world.runs("t-1")), (vec!["t-1".to_owned()], 5));
}

#[test]
fn a_new_text_is_another_input() {
    let world = World::new();
    world
        .ticket("t-1")
        .agent("if [ \"$RUN\" = 3 ]; then until_there \"$GATES/edited\"; fi\n[ \"$RUN\" -lt 5 ] || work t x\necho DONE")
        .write();
    let mut engine = world.engine();
    world.wait_for_run("t-1", 3);
    world.edit("t-1", |text| format!("{text}\nMore.\n"));
    world.wait("the edit is seen", || {
        world.facts("t-1").iter().any(|fact| fact == "edited")
    });
    world.open("edited");
    world.wait("t-1 lands", || world.is_landed("t-1"));
    world.must(&["stop"]);
    engine.end();
    assert_eq!(world.runs("t-1"), 5);
}

#[test]
fn the_same_conflict_on_the_same_target_is_held_after_three() {
    let world = World::with(|s| s.run = "conflict_resolutions = 9".to_owned());
    world
        .ticket("t-1")
        .agent("[ \"$RUN\" != 1 ] || { work README mine; until_there \"$GATES/pushed\"; }\necho DONE")
        .write();
    let mut engine = world.engine();
    world.wait_for_run("t-1", 1);
    world.commit("README", "theirs\n");
    world.open("pushed");
    world.wait("it is held", || {
        world.try_state("t-1").is_some_and(|ticket| ticket.held.is_some())
    });
    world.must(&["stop"]);
    engine.end();
    let (why, note) = world.held("t-1");
    assert_eq!((why.as_str(), world.runs("t-1")), ("no_progress", 3));
    assert!(note.contains("conflicts with the same target"), "{note}");
}

#[test]
fn a_branch_refused_for_the_same_reason_is_held_after_three() {
    let world = World::new();
    world
        .ticket("t-1")
        .agent("mkdir -p .crew\necho x > .crew/mine\ngit add -f .crew/mine\ngit commit -q -m mine || true\necho DONE")
        .write();
    world.drain_held();
    let (why, note) = world.held("t-1");
    assert_eq!((why.as_str(), world.runs("t-1")), ("no_progress", 3));
    assert!(note.contains("refused for the same reason"), "{note}");
}

#[test]
fn a_rate_limit_makes_the_harness_wait_and_counts_no_error() {
    let world = World::with(|s| {
        s.run = "max_workers = 1".to_owned();
        s.agents = "count = 2".to_owned();
    });
    world
        .ticket("t-1")
        .priority(0)
        .agent(
            "if [ \"$RUN\" = 1 ]; then\n\
             until_there \"$GATES/go\"\n\
             echo \"{\\\"crew\\\":\\\"failure\\\",\\\"class\\\":\\\"rate_limited\\\",\\\"message\\\":\\\"too much\\\",\
             \\\"until_ms\\\":$(( ($(date +%s) + 15) * 1000 ))}\"\n\
             exit 1\nfi\nwork t x\necho DONE",
        )
        .write();
    let mut engine = world.engine();
    world.wait_for_run("t-1", 1);
    world.ticket("t-2").agent(DONE).write();
    world.wait_for("t-2", "in_progress/ready");
    world.open("go");
    world.wait("the harness is paused", || world.harness_pause().is_some());
    let pause = world.harness_pause().unwrap();
    world.wait("both land", || world.landed().len() == 2);
    world.must(&["stop"]);
    engine.end();
    let until = pause.until.unwrap();
    let (first, failed) = times(&world, "t-1");
    let (second, _) = times(&world, "t-2");
    assert!(
        failed.unwrap() < until && pause.message == "too much",
        "{pause:?}"
    );
    assert!(
        first[1..].iter().chain(&second).all(|at| *at >= until),
        "{first:?} {second:?} {pause:?}"
    );
    assert_eq!((first.len(), second.len()), (2, 1));
    assert!(!world.says("t-1", "in a row"), "no error is counted");
    assert!(world.says("t-1", "rate_limited"));
}

#[test]
fn whoever_looks_sees_why_a_harness_waits_and_may_cut_it_short() {
    let world = World::new();
    world
        .ticket("t-1")
        .agent(
            "if [ \"$RUN\" = 1 ]; then\n\
             echo \"{\\\"crew\\\":\\\"failure\\\",\\\"class\\\":\\\"rate_limited\\\",\\\"message\\\":\\\"too much\\\",\
             \\\"until_ms\\\":$(( ($(date +%s) + 3600) * 1000 ))}\"\n\
             exit 1\nfi\nwork t x\necho DONE",
        )
        .write();
    let mut engine = world.engine();
    world.wait("the harness is paused", || world.harness_pause().is_some());
    for look in [&["ps"][..], &["ps", "--json"], &["explain", "t-1"]] {
        let seen = world.must(look).out;
        assert!(seen.contains("rate_limited"), "{look:?}: {seen}");
    }
    world.must(&["retry", "t-1"]);
    world.wait("it lands", || world.is_landed("t-1"));
    world.must(&["stop"]);
    engine.end();
    assert_eq!(world.runs("t-1"), 2);
}

/// The naive version starts a run that cannot begin, and holds every ticket after three of them.
#[test]
fn a_program_that_is_not_there_is_one_entry_and_all_goes_on_once_it_is_back() {
    let world = World::with(|s| s.agents = "count = 2".to_owned());
    for id in ["t-1", "t-2", "t-3"] {
        world.ticket(id).agent("if [ $RUN = 1 ]; then until_there \"$GATES/go\"; echo 'WAKEUP: 1s soon'; else work t x; echo DONE; fi").write();
    }
    let (program, away) = (world.path("agent.sh"), world.path("away.sh"));
    let mut engine = world.engine();
    world.wait_for_run("t-1", 1);
    world.wait_for_run("t-2", 1);
    std::fs::rename(&program, &away).unwrap();
    world.open("go");
    world.wait("the harness is paused", || world.harness_pause().is_some());
    let inbox = world.crew(&["inbox", "--json"]);
    let inbox: serde_json::Value = serde_json::from_str(&inbox.out).unwrap();
    let items = inbox["items"].as_array().unwrap();
    assert_eq!(items.len(), 1, "{inbox}");
    assert_eq!(items[0]["kind"], "harness", "{inbox}");
    let why = items[0]["why"].as_str().unwrap_or_default();
    assert!(
        why.contains("scripted cannot start") && why.contains("agent.sh"),
        "{why}"
    );
    std::fs::rename(&away, &program).unwrap();
    world.must(&["retry", "t-1"]);
    for id in ["t-1", "t-2", "t-3"] {
        world.wait("it lands", || world.is_landed(id));
        assert_eq!(world.state(id).tries, 1);
    }
    world.must(&["stop"]);
    engine.end();
}

#[test]
fn refused_credentials_are_held_at_once_and_nobody_else_is_sent_into_them() {
    // The only agent is freed, and gets the second ticket.
    let world = World::new();
    world
        .ticket("t-1")
        .priority(0)
        .agent(&format!("{}\nexit 1", failure("auth")))
        .write();
    world.ticket("t-2").agent(DONE).write();
    let said = world.drain_held();
    assert_eq!((world.runs("t-1"), world.runs("t-2")), (1, 0));
    assert_eq!(world.held("t-1").0, "auth");
    assert!(
        said.tells_of("t-1", "the service says no") && said.tells_of("t-2", "crew retry t-1"),
        "{said}"
    );
    let seen = world.must(&["ps"]).out;
    assert!(seen.contains("auth") && seen.contains("crew retry t-1"), "{seen}");
    assert_eq!(world.crew(&["run", "--until-idle"]).code, Some(3));
    assert_eq!((world.runs("t-1"), world.runs("t-2")), (1, 0), "not by itself");

    world.script("t-1", DONE);
    world.must(&["retry", "t-1"]);
    world.drain_all();
    assert_eq!(world.landed().len(), 2);
}

#[test]
fn a_client_that_tries_for_ever_is_stopped_and_a_new_engine_comes_to_the_same_end() {
    let world = World::new();
    world
        .ticket("t-1")
        .agent(&format!(
            "until_there \"$GATES/go\"\n{}\necho said > \"$LOGS/said\"\nsleep 1000",
            failure("auth")
        ))
        .write();
    let mut engine = world.engine();
    world.wait_for_run("t-1", 1);
    engine.signal("KILL");
    engine.end();
    world.open("go");
    world.wait("it has said so", || world.path("logs/said").exists());
    let said = world.drain_held();
    assert_eq!((world.held("t-1").0.as_str(), world.runs("t-1")), ("auth", 1));
    assert!(said.tells_of("t-1", "the service says no"), "{said}");
    assert_eq!(
        (
            world.count("t-1", "stop_ordered"),
            world.count("t-1", "step_failed")
        ),
        (1, 1)
    );
    world.assert_at_rest();
}

#[test]
fn each_class_has_its_rule_and_its_name() {
    // A session that is not known costs no wait, one that is in use a new id.
    for (class, fresh) in [
        ("session_missing", true),
        ("session_in_use", true),
        ("transient", false),
        ("crash", false),
    ] {
        let world = World::new();
        world
            .ticket("t-1")
            .agent(&format!(
                "if [ \"$RUN\" = 1 ]; then {}; exit 1; fi\nwork t x\necho DONE",
                failure(class)
            ))
            .write();
        world.drain_all();
        let id = |n| world.variable("t-1", n, "CREW_SESSION_ID").unwrap();
        assert_eq!(id(1) != id(2), fresh, "{class}");
        assert!(
            world.says("t-1", &format!("({class}, 1 of 5 in a row")),
            "{class}"
        );
        let (started, failed) = times(&world, "t-1");
        let waited = started[1].since(failed.unwrap());
        if class != "session_missing" {
            assert!(waited >= Duration::from_secs(2), "{class}: {waited:?}");
        }
    }
}

#[test]
fn the_same_unreadable_output_three_times_is_held() {
    let world = World::new();
    world
        .ticket("t-1")
        .agent(&format!("{}\nexit 1", failure("malformed_output")))
        .write();
    world.drain_held();
    assert_eq!(
        (world.held("t-1").0.as_str(), world.runs("t-1")),
        ("no_progress", 3)
    );
    let explained = world.must(&["explain", "t-1"]).out;
    assert!(
        explained.contains("malformed_output") && explained.contains("rule: "),
        "{explained}"
    );
}

#[test]
fn a_program_that_ends_three_times_with_the_same_words_is_not_paid_a_fourth_time() {
    let world = World::new();
    world
        .ticket("t-1")
        .agent("echo 'no such model' >&2\nexit 7")
        .write();
    let said = world.drain_held();
    assert_eq!(
        (world.held("t-1").0.as_str(), world.runs("t-1")),
        ("no_progress", 3)
    );
    assert!(said.tells_of("t-1", "no such model"), "{said}");
    // Mended, and a person says so.
    world.script("t-1", DONE);
    world.must(&["retry", "t-1"]);
    world.drain_all();
}

#[test]
fn other_words_each_time_and_a_signal_from_outside_are_tried_again() {
    let world = World::new();
    let other = "[ \"$RUN\" -gt 3 ] || { echo \"step $RUN\" >&2; exit 7; }";
    world.ticket("t-1").agent(&format!("{other}\n{DONE}")).write();
    let killed = "work \"t.$RUN\" x\n[ \"$RUN\" -gt 3 ] || kill -KILL $$";
    world.ticket("t-2").agent(&format!("{killed}\n{DONE}")).write();
    world.drain_all();
    assert_eq!((world.runs("t-1"), world.runs("t-2")), (4, 4));
    assert!(world.says("t-1", "step failed (crash, 3 of 5 in a row"));
    assert!(world.says("t-2", "step failed (lost, 3 of 5 in a row"));
}

#[test]
fn an_agent_that_kills_what_holds_it_is_held_after_three_and_told() {
    let world = World::new();
    for (id, kills) in [("t-1", "kill -KILL $PPID; sleep 60"), ("t-2", "kill -KILL $$")] {
        let script = format!("[ -e {id}.txt ] || work {id}.txt x\n{kills}");
        world.ticket(id).agent(&script).write();
    }
    world.drain_held();
    for id in ["t-1", "t-2"] {
        let (why, note) = world.held(id);
        assert_eq!((why.as_str(), world.runs(id)), ("no_progress", 3), "{id}: {note}");
        assert!(!world.prompt(id, 1).contains("did not end by itself"));
        for run in [2, 3] {
            let told = world.prompt(id, run);
            assert!(told.contains("Your last step did not end by itself"), "{told}");
            assert!(told.contains("pkill -f"), "{told}");
        }
        world.script(id, DONE);
        world.must(&["retry", id]);
    }
    world.drain_all();
    assert_eq!(world.landed(), ["t-1", "t-2"]);
}

#[test]
fn history_that_is_begun_anew_each_time_is_held_after_three_and_can_be_mended() {
    let world = World::new();
    let anew = "rm -rf .git\ngit init -q\ngit config user.name x\ngit config user.email x@example.org\n\
                git config core.excludesFile /dev/null\necho \"$RUN\" > n\ngit add -A\ngit commit -q -m anew\necho DONE";
    world.ticket("t-1").agent(anew).write();
    let mended = "grep '^git ' \"$LOGS/$CREW_TICKET_ID.$RUN.prompt\" > \"$LOGS/mend\"\nsh -e \"$LOGS/mend\"\necho DONE";
    let script = format!("if [ \"$RUN\" = 1 ]; then\n{anew}\nelse\n{mended}\nfi");
    world.ticket("t-2").agent(&script).write();
    world.drain_held();
    let (why, note) = world.held("t-1");
    assert_eq!((why.as_str(), world.runs("t-1")), ("no_progress", 3), "{note}");
    assert!(
        note.contains("refused for the same reason") && note.contains("no common ancestor"),
        "{note}"
    );
    assert_eq!((world.landed(), world.runs("t-2")), (vec!["t-2".to_owned()], 2));
    assert_eq!(world.read("n"), "1\n");
    assert_eq!(world.read("README"), "hello\n");
}

/// A conversation that has the task is told to go on; one of which nobody knows is told it again.
#[test]
fn a_first_step_that_fails_is_gone_on_with_if_its_service_had_answered() {
    let world = World::new();
    let used = "echo '{\"crew\":\"usage\",\"input_tokens\":9,\"output_tokens\":1,\"cost_usd\":0}'";
    for (id, says) in [("t-1", used), ("t-2", ":")] {
        let agent = format!("if [ \"$RUN\" = 1 ]; then {says}; exit 1; fi\n{DONE}");
        world.ticket(id).body("Paint it blue.").agent(&agent).write();
    }
    world.drain_all();
    assert!(
        world.prompt("t-1", 2).contains("Go on with ticket t-1 (step 1"),
        "{}",
        world.prompt("t-1", 2)
    );
    assert!(
        world.prompt("t-2", 2).contains("Paint it blue."),
        "{}",
        world.prompt("t-2", 2)
    );
}

/// A folder stands where the tickets' lock should: no file can be written, and nothing about it passes by
/// itself.
fn without_lock(world: &World) -> PathBuf {
    let lock = world.project(".tickets/.lock");
    drop(std::fs::remove_file(&lock));
    std::fs::create_dir(&lock).unwrap();
    lock
}

#[test]
fn a_ticket_whose_file_cannot_be_written_lands_and_is_told_once() {
    let world = World::new();
    world.ticket("t-1").agent(DONE).write();
    let lock = without_lock(&world);
    let said = world.crew(&["run", "--until-idle"]);
    assert_eq!(said.code, Some(3), "{said}");
    assert_eq!(world.landed(), ["t-1"], "its work does not wait for its file");
    assert_eq!(
        said.all().matches("tried again ever more rarely").count(),
        1,
        "{said}"
    );
    assert!(said.tells_of("t-1", "its file could not be written"), "{said}");
    let asked: [&[&str]; 3] = [&["ps"], &["inbox"], &["explain", "t-1"]];
    let tells = || asked.map(|asks| world.crew(asks).all().contains(".tickets/.lock: Is a directory"));
    assert_eq!(tells(), [true; 3]);
    assert_eq!(world.crew(&["inbox"]).code, Some(3));
    std::fs::remove_dir(lock).unwrap();
    // That it has passed is for an engine to see.
    assert_eq!(tells(), [false, true, true]);
    assert!(
        world
            .crew(&["inbox"])
            .all()
            .contains("its file could not be written")
    );
    world.drain_all();
    assert_eq!((tells(), world.crew(&["inbox"]).code), ([false; 3], Some(0)));
    assert_eq!(world.front("t-1", "status"), "closed");
}

#[test]
fn a_landing_that_fails_each_time_keeps_nobody_waiting_who_waits_for_the_end() {
    let world = World::new();
    let ids = ["t-1", "t-2"];
    for id in ids {
        world.ticket(id).agent(DONE).write();
    }
    // A folder stands where git's lock of the branch should, and is not crew's to remove.
    let lock = world.project(".git/refs/heads/main.lock");
    std::fs::create_dir(&lock).unwrap();
    std::fs::write(lock.join("theirs"), "").unwrap();
    let said = world.crew(&["run", "--until-idle"]);
    assert_eq!(said.code, Some(3), "{said}");
    let inbox = world.crew(&["inbox"]);
    for id in ids {
        assert_eq!(world.held(id).0, "landing");
        assert!(said.tells_of(id, "it could not be landed"), "{said}");
        assert!(inbox.tells_of(id, "it could not be landed"), "{inbox}");
        let explained = world.must(&["explain", id]);
        assert!(explained.out.contains("it could not be landed"), "{explained}");
    }
    std::fs::remove_dir_all(lock).unwrap();
    // The next engine tries them before their time.
    world.drain_all();
    let mut landed = world.landed();
    landed.sort();
    assert_eq!(landed, ids);
}

#[test]
fn work_whose_branch_a_person_looked_at_goes_on_at_the_next_start_after_they_have_left_it() {
    let world = World::new();
    world
        .ticket("t-1")
        .agent("if [ $RUN = 1 ]; then work one.txt one; exit 0; fi\nuntil_there \"$GATES/go\"\nwork two.txt two\necho DONE")
        .write();
    let mut engine = world.engine();
    world.wait_for_run("t-1", 2);
    let branch = world.git(&["for-each-ref", "--format=%(refname:short)", "refs/heads/agent"]);
    world.git(&["switch", "-q", branch.trim()]);
    world.open("go");
    world.wait("it is held", || world.state_name("t-1").contains("held"));
    let inbox = world.crew(&["inbox"]).all();
    assert!(
        inbox.contains("could not be merged on the target: the branch agent/"),
        "{inbox}"
    );
    assert!(inbox.contains("switch to another branch there"), "{inbox}");
    assert!(!inbox.contains("the checks could not be run"), "{inbox}");
    world.git(&["switch", "-q", "main"]);
    world.must(&["stop"]);
    engine.end();
    world.drain_all();
    assert_eq!(world.landed(), ["t-1"]);
    assert_eq!(world.on_main("two.txt").as_deref(), Some("two\n"));
}

#[test]
fn merge_without_an_engine_tells_what_it_waits_for() {
    let world = World::new();
    world
        .ticket("t-1")
        .agent("work t x\necho 'QUESTION: is this enough?'")
        .write();
    world.drain_held();
    let lock = without_lock(&world);
    let said = world.crew(&["merge", "t-1"]);
    assert_eq!(world.landed(), ["t-1"], "{said}");
    assert!(
        said.all().contains("warning: t-1: cannot open the lock"),
        "{said}"
    );
    std::fs::remove_dir(lock).unwrap();
    world.drain_all();
    assert_eq!(world.front("t-1", "status"), "closed");
}

#[test]
fn an_agents_own_note_neither_counts_as_an_edit_nor_gives_new_tries() {
    let world = World::new();
    world.in_session();
    let note = format!(
        "'{}' ticket add-note \"$CREW_TICKET_ID\" \"try $RUN\n\n## Acceptance Criteria\nnone\" >/dev/null\n",
        testkit::world::crew()
    );
    world.ticket("t-1").agent(&format!("{note}echo DONE")).write();
    let said = world.drain_held();
    assert_eq!(
        (world.held("t-1").0.as_str(), world.runs("t-1")),
        ("no_progress", 3),
        "{said}"
    );
    assert_eq!(world.count("t-1", "edited"), 0);
    assert!(!world.prompt("t-1", 2).contains("## Acceptance Criteria"));
    let text = std::fs::read_to_string(world.ticket_file("t-1")).unwrap();
    for n in 1..=3 {
        assert!(text.contains(&format!("\n> try {n}\n")), "{text}");
    }

    // A person's note is an edit, and the same words in a person's process are a person's note.
    world.must(&["ticket", "add-note", "t-1", "try 4"]);
    world.must(&["retry", "t-1"]);
    world.drain_held();
    assert_eq!(world.count("t-1", "edited"), 1);
}
