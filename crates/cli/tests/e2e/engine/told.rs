//! What people tell agents at work: words, that the next step is the last, that it is over; and tickets that
//! are taken back.

use serde_json::Value;
use testkit::world::{DONE, World};

/// Works at a gate first, then does what its prompt asks.
const AT_A_GATE: &str =
    "if [ \"$RUN\" = 1 ]; then work a first; until_there \"$GATES/go\"; else work b second; echo DONE; fi";

fn count(prompt: &str, words: &str) -> usize {
    prompt.matches(words).count()
}

#[test]
fn words_stand_in_the_next_prompt_once_and_in_the_one_after_a_kill_again() {
    let world = World::new();
    let agent = "case $RUN in
        1) work a first; until_there \"$GATES/go\" ;;
        2) work b second; kill -KILL $$ ;;
        3) work c third ;;
        *) work d fourth; echo DONE ;;
        esac";
    world.ticket("t-1").agent(agent).write();
    let mut engine = world.engine();
    world.wait_for_run("t-1", 1);
    let told = world.must(&["say", "t-1", "look", "at the log"]);
    assert!(told.out.contains("one is running"), "{told}");
    world.must(&["say", "t-1", "and be quick"]);
    engine.signal("KILL");
    engine.end();
    world.open("go");
    world.drain_all();
    let first = world.prompt("t-1", 1);
    assert_eq!(count(&first, "look at the log"), 0, "{first}");
    // Something killed the second step: nobody knows whether the agent has read them.
    for run in [2, 3] {
        let prompt = world.prompt("t-1", run);
        assert_eq!(count(&prompt, "look at the log"), 1, "{prompt}");
        assert_eq!(count(&prompt, "and be quick"), 1, "{prompt}");
        assert_eq!(count(&prompt, " tells you:"), 2, "{prompt}");
    }
    let last = world.prompt("t-1", 4);
    assert_eq!(count(&last, "look at the log"), 0, "{last}");
}

#[test]
fn an_agent_that_is_done_is_told_first_what_a_person_said_meanwhile() {
    let world = World::new();
    let agent = "work \"f$RUN\" x; [ \"$RUN\" != 1 ] || until_there \"$GATES/go\"; echo DONE";
    world.ticket("t-1").agent(agent).write();
    let mut engine = world.engine();
    world.wait_for_run("t-1", 1);
    world.must(&["say", "t-1", "write f2 too"]);
    world.open("go");
    world.wait("t-1 has landed", || world.is_landed("t-1"));
    engine.signal("TERM");
    engine.end();
    let prompt = world.prompt("t-1", 2);
    assert_eq!(count(&prompt, "write f2 too"), 1, "{prompt}");
    assert!(world.on_main("f2").is_some());
}

#[test]
fn words_do_not_wake_whoever_waits_and_are_refused_where_nobody_reads_them() {
    let world = World::new();
    let asks = "if [ \"$RUN\" = 1 ]; then echo 'QUESTION: which?'; else work b second; echo DONE; fi";
    world.ticket("t-1").agent(asks).write();
    world.drain_held();
    let told = world.must(&["say", "t-1", "take your time"]);
    assert!(
        told.out.contains("waits for an answer") && told.out.contains("crew answer t-1"),
        "{told}"
    );
    assert_eq!(world.state_name("t-1"), "in_progress/waiting_for_input");
    let explained = world.must(&["explain", "t-1"]);
    assert!(explained.out.contains("take your time"), "{explained}");
    for n in 1..20 {
        world.must(&["say", "t-1", &format!("more {n}")]);
    }
    let refused = world.crew(&["say", "t-1", "too much"]);
    assert!(
        refused.code == Some(1)
            && refused
                .err
                .contains("which are the most: `crew explain t-1` shows them"),
        "{refused}"
    );
    let long = world.crew(&["say", "t-1", &"x".repeat(5_000)]);
    assert!(long.code == Some(2) && long.err.contains("4 KiB"), "{long}");
    world.must(&["answer", "t-1", "the first"]);
    world.drain_all();
    let prompt = world.prompt("t-1", 2);
    assert!(
        prompt.contains("the first") && prompt.contains("take your time") && prompt.contains("more 19"),
        "{prompt}"
    );
    let nobody = world.crew(&["say", "t-1", "hello"]);
    assert_eq!(nobody.code, Some(1), "{nobody}");
}

#[test]
fn whoever_is_baited_gets_one_step_that_says_so_and_submits() {
    let world = World::new();
    world.ticket("t-1").agent(AT_A_GATE).write();
    let mut engine = world.engine();
    world.wait_for_run("t-1", 1);
    let baited = world.must(&["bait", "t-1"]);
    assert!(baited.out.contains("one step more"), "{baited}");
    let again = world.must(&["bait", "t-1"]);
    assert!(again.out.contains("already"), "{again}");
    world.open("go");
    world.wait("t-1 has landed", || world.is_landed("t-1"));
    engine.signal("TERM");
    engine.end();
    let prompt = world.prompt("t-1", 2);
    assert!(
        prompt.contains("This is the last step") && prompt.contains("wants it to come to an end"),
        "{prompt}"
    );
    assert_eq!(world.runs("t-1"), 2);
}

#[test]
fn whoever_is_baited_while_it_sleeps_and_does_not_submit_gives_the_work_back() {
    let world = World::new();
    let agent = "case $RUN in
        1) work a first; echo 'WAKEUP: 2h a build' ;;
        2) echo 'QUESTION: may I go on?' ;;
        *) work b second; echo DONE ;;
        esac";
    world.ticket("t-1").agent(agent).write();
    let mut engine = world.engine();
    world.wait_for("t-1", "in_progress/waiting_for_wakeup");
    world.must(&["bait", "t-1"]);
    world.wait("its work is back in the queue", || {
        world.state_name("t-1") == "open"
    });
    assert_eq!(world.runs("t-1"), 2);
    assert!(
        world.must(&["history", "t-1"]).out.contains("agent-incomplete")
            || world.count("t-1", "step_finished") == 2
    );
    engine.signal("KILL");
    engine.end();
}

#[test]
fn whoever_is_reaped_is_stopped_and_retired_and_its_work_kept() {
    let world = World::new();
    world.ticket("t-1").agent(AT_A_GATE).write();
    let mut engine = world.engine();
    world.wait_for_run("t-1", 1);
    world.wait("it has committed", || {
        !world.git(&["log", "--all", "--oneline"]).is_empty()
    });
    let agent = world.agent_of("t-1");
    let reaped = world.must(&["reap", &agent]);
    assert!(reaped.out.contains("retired"), "{reaped}");
    world.wait("t-1 is held", || world.state_name("t-1") == "open (held)");
    assert_eq!(world.held("t-1").0, "reaped");
    let spawned = world.crew(&["spawn", &agent]);
    assert!(spawned.err.contains("was retired"), "{spawned}");
    world.open("go");
    world.must(&["retry", "t-1"]);
    world.wait("t-1 has landed", || world.is_landed("t-1"));
    engine.signal("TERM");
    engine.end();
    let ps: Value = world.json(&["ps"]);
    let names: Vec<&str> = ps["agents"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|one| one["name"].as_str())
        .collect();
    assert!(!names.contains(&agent.as_str()), "{names:?}");
}

#[test]
fn a_ticket_that_is_taken_back_begins_at_the_commit_of_that_moment() {
    let world = World::new();
    // What it submits first is right; then it makes it worse.
    let agent = "case $RUN in
        1) work good first; echo DONE ;;
        2) git rm -q good; git commit -qm worse; work bad second; echo 'BLOCKED: I do not know on' ;;
        *) ls > \"$LOGS/seen\"; work more third; echo DONE ;;
        esac";
    let world_agent = world.ticket("t-1").agent(agent);
    world_agent.write();
    world.must(&["commit-to", "t-1", "there is more", "--", "test", "-e", "more"]);
    world.drain_held();
    assert_eq!(world.state_name("t-1"), "open (held)");
    let history: Value = world.json(&["history", "t-1"]);
    let events = history["events"].as_array().unwrap();
    let submitted = events
        .iter()
        .find(|event| event["kind"] == "candidate_built")
        .expect("it was submitted once");
    let at = submitted["seq"].to_string();
    let early = world.crew(&["rewind", "t-1", "--at", "1"]);
    assert!(
        early.code == Some(1) && early.err.contains("no commit"),
        "{early}"
    );
    let rewound = world.must(&["rewind", "t-1", "--at", &at]);
    assert!(rewound.out.contains("next attempt begins at"), "{rewound}");
    world.drain_all();
    let seen = std::fs::read_to_string(world.path("logs/seen")).unwrap();
    assert!(
        seen.lines().any(|line| line == "good") && !seen.lines().any(|line| line == "bad"),
        "{seen}"
    );
    assert!(
        world.on_main("good").is_some() && world.on_main("bad").is_none() && world.on_main("more").is_some()
    );
    assert!(
        world.kept("t-1", 1).is_some(),
        "the work of the attempt before is kept"
    );
}

#[test]
fn nothing_is_told_to_an_agent_without_a_ticket() {
    let world = World::new();
    world.ticket("t-1").agent(DONE).write();
    world.drain_all();
    let ps: Value = world.json(&["ps"]);
    let idle = ps["agents"][0]["name"].as_str().unwrap().to_owned();
    for args in [
        &["say", &idle, "x"][..],
        &["bait", &idle],
        &["mode", &idle, "plan"],
    ] {
        let refused = world.crew(args);
        assert!(
            refused.code == Some(1) && refused.err.contains("idle"),
            "{refused}"
        );
    }
    let mistyped = world.crew(&["mode", &idle, "plann"]);
    assert!(
        mistyped.code == Some(2) && mistyped.err.contains("did you mean plan"),
        "{mistyped}"
    );
    world.must(&["reap", &idle]);
    let gone = world.crew(&["reap", &idle]);
    assert_ne!(gone.code, Some(0), "{gone}");
}

#[test]
fn what_led_to_a_state_is_listed_over_all_tickets() {
    let world = World::new();
    for id in ["t-1", "t-2"] {
        world.ticket(id).agent("echo 'BLOCKED: no'").write();
    }
    world.ticket("t-3").agent(DONE).write();
    world.drain_held();
    let held = world.must(&["history", "--to", "held"]);
    assert!(
        held.out.contains("t-1") && held.out.contains("t-2") && !held.out.contains("t-3"),
        "{held}"
    );
    let document: Value = world.json(&["history", "--to", "landed"]);
    assert_eq!(document["events"].as_array().map(Vec::len), Some(1), "{document}");
}
