//! Failure and recovery: what a failed ticket's file says, what becomes of the tickets that depend on it, and
//! the tickets that recover it.

use std::fs;

use serde_json::Value;
use testkit::world::{DONE, World};

/// The agent cannot use its session: the second time in a row is one too many.
const CRASHES: &str = "echo '{\"crew\":\"failure\",\"class\":\"session_in_use\",\"message\":\"it is another'\"'\"'s\"}'\nexit 1";

/// Fails three times with the same words, and does it at the fourth.
const FAILS_THREE_TIMES: &str =
    "if [ \"$RUN\" -le 3 ]; then echo boom; exit 1; fi\nwork t-1.txt x\necho DONE";

/// The tags of a ticket's file, with those that are crew's.
fn tags(world: &World, id: &str) -> (Vec<String>, Vec<String>) {
    let text = fs::read_to_string(world.ticket_file(id)).unwrap();
    let list = |key: &str| {
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix(&format!("{key}: [")));
        let items = line.and_then(|line| line.strip_suffix(']')).unwrap_or_default();
        let items = items.split(", ").filter(|item| !item.is_empty());
        items.map(|item| item.trim_matches('"').to_owned()).collect()
    };
    (list("tags"), list("crew_tags"))
}

#[track_caller]
fn assert_tags(world: &World, id: &str, expected: &[&str]) {
    let (all, crews) = tags(world, id);
    assert_eq!(
        (all.as_slice(), crews.as_slice()),
        (&strings(expected)[..], &strings(expected)[..])
    );
}

fn strings(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// An engine that is stopped once the ticket's file is open with these tags.
fn until_open_with(world: &World, id: &str, expected: &[&str]) {
    let mut engine = world.engine();
    world.wait("its file says so", || {
        world.front(id, "status") == "open" && tags(world, id).0 == strings(expected)
    });
    world.must(&["stop", "--wait"]);
    engine.end();
}

fn item(world: &World, ticket: &str) -> Option<Value> {
    let said = world.crew(&["inbox", "--json"]);
    let inbox: Value = serde_json::from_str(&said.out).unwrap();
    let mut items = inbox["items"].as_array().unwrap().iter();
    items.find(|item| item["ticket"] == ticket).cloned()
}

/// The failed ticket is retried, its agent does it, and its file has no tag of crew's any more.
fn goes_well(world: &World, id: &str) {
    world.script(id, DONE);
    world.must(&["retry", id]);
    world.drain_all();
    assert!(world.is_landed(id));
    assert_tags(world, id, &[]);
}

#[test]
fn a_crashed_agent_is_shown_in_the_file_until_the_work_lands() {
    let world = World::with(|s| s.run = "attempts = 2\nrecoveries = 0".to_owned());
    world.ticket("t-1").agent(CRASHES).write();
    until_open_with(&world, "t-1", &["agent-error"]);

    let world = World::with(|s| s.run = "attempts = 1\nrecoveries = 0".to_owned());
    world.ticket("t-1").agent(CRASHES).write();
    world.drain_held();
    assert_eq!(world.front("t-1", "status"), "open");
    assert_tags(&world, "t-1", &["agent-error", "failed", "held"]);
    goes_well(&world, "t-1");
}

#[test]
fn an_agent_that_does_nothing_is_shown_in_the_file_until_the_work_lands() {
    let world = World::with(|s| s.run = "attempts = 2\nmax_steps = 1".to_owned());
    world.ticket("t-1").agent(":").write();
    until_open_with(&world, "t-1", &["agent-incomplete"]);

    let world = World::with(|s| s.run = "attempts = 1\nmax_steps = 1".to_owned());
    world.ticket("t-1").agent(":").write();
    world.drain_held();
    assert_eq!(world.front("t-1", "status"), "open");
    assert_tags(&world, "t-1", &["agent-incomplete", "failed", "held"]);
    goes_well(&world, "t-1");
}

/// The command by which a gatekeeper gives a verdict with these parts.
fn verdict(parts: &str) -> String {
    format!("printf '{{\"crew\":\"verdict\",\"run_id\":\"%s\",%s}}\\n' \"$CREW_RUN_ID\" '{parts}'")
}

/// The worker commits a file, and the gatekeeper does one thing in its first review and approves in others.
fn reviewed(first: &str) -> String {
    let approve = verdict(r#""verdict":"approve","acceptance_test":"read it""#);
    format!(
        "if [ \"$CREW_ROLE\" != gatekeeper ]; then\n\
         [ \"$RUN\" -eq 1 ] || until_there \"$GATES/go\"\nwork \"t-$RUN.txt\" x\necho DONE\n\
         elif [ \"$RUN\" -le 2 ]; then {first}\nelse {approve}\nfi"
    )
}

/// The first review of t-1 ends as `first` says and its file has the label; another one approves, and the
/// label is gone.
#[track_caller]
fn shown_until_a_gatekeeper_decides(first: &str, label: &str) {
    let world = World::with(|s| s.top = "[review]\nwhen = \"always\"\ntries = 1\n".to_owned());
    world.ticket("t-1").agent(&reviewed(first)).write();
    world.drain_held();
    let crews = tags(&world, "t-1").1;
    assert!(crews.contains(&label.to_owned()), "{crews:?}");
    assert!(crews.contains(&"held".to_owned()), "{crews:?}");
    world.must(&["retry", "t-1"]);
    world.drain_all();
    assert!(world.is_landed("t-1"));
    assert_tags(&world, "t-1", &[]);
}

#[test]
fn a_review_that_crashed_is_shown_in_the_file_until_a_gatekeeper_decides() {
    shown_until_a_gatekeeper_decides("exit 3", "evaluator-error");
}

#[test]
fn a_review_without_a_verdict_is_shown_in_the_file_until_a_gatekeeper_decides() {
    shown_until_a_gatekeeper_decides("echo DONE", "evaluator-incomplete");
}

#[test]
fn rejected_work_is_shown_in_the_file_until_work_is_submitted_again() {
    let world = World::with(|s| s.top = "[review]\nwhen = \"always\"\n".to_owned());
    let reject = verdict(r#""verdict":"reject","reason":"no test""#);
    world.ticket("t-1").agent(&reviewed(&reject)).write();
    let mut engine = world.engine();
    world.wait("its file says so", || {
        world.front("t-1", "status") == "in_progress" && tags(&world, "t-1").1 == ["rejected"]
    });
    world.open("go");
    world.wait("it lands", || world.is_landed("t-1"));
    world.wait("its file is closed", || world.front("t-1", "status") == "closed");
    assert_tags(&world, "t-1", &[]);
    world.must(&["stop", "--wait"]);
    engine.end();
}

#[test]
fn a_ticket_at_work_whose_journal_is_lost_is_shown_as_recovered_until_it_is_submitted() {
    let world = World::new();
    world
        .ticket("t-1")
        .agent("until_there \"$GATES/go\"\nwork t.txt x\necho DONE")
        .write();
    let mut engine = world.engine();
    world.wait("it is taken", || world.front("t-1", "status") == "in_progress");
    world.wait_for_run("t-1", 1);
    world.kill_everything();
    engine.end();
    for name in ["journal.db", "journal.db-wal", "journal.db-shm"] {
        fs::remove_file(world.project(".crew").join(name)).ok();
    }
    let mut engine = world.engine();
    world.wait("it is taken again", || {
        world.front("t-1", "status") == "in_progress" && tags(&world, "t-1").0 == ["auto-recovered"]
    });
    world.open("go");
    world.wait("it lands", || world.is_landed("t-1"));
    world.wait("its file is closed", || world.front("t-1", "status") == "closed");
    assert_tags(&world, "t-1", &[]);
    world.must(&["stop", "--wait"]);
    engine.end();
}

#[test]
fn a_ticket_whose_claim_lost_its_workspace_is_open_again_and_shown_as_recovered() {
    let world = World::with(|s| s.run = "attempts = 2".to_owned());
    world.ticket("t-1").agent("cd /\nrm -rf \"$OLDPWD\"").write();
    until_open_with(&world, "t-1", &["auto-recovered"]);
}

#[test]
fn a_persons_own_tag_of_the_same_word_is_kept_apart() {
    let world = World::with(|s| s.run = "attempts = 1\nmax_steps = 1".to_owned());
    world
        .ticket("t-1")
        .line("tags: [ui, failed, verify]")
        .agent(":")
        .write();
    world.drain_held();
    let words = |all: &[&str], crews: &[&str]| (strings(all), strings(crews));
    assert_eq!(
        tags(&world, "t-1"),
        words(
            &["ui", "failed", "verify", "agent-incomplete", "held"],
            &["agent-incomplete", "held"]
        )
    );
    world.script("t-1", DONE);
    world.must(&["retry", "t-1"]);
    world.drain_all();
    assert_eq!(tags(&world, "t-1"), words(&["ui", "failed", "verify"], &[]));
}

#[test]
fn a_ticket_is_created_with_a_tag_that_crew_uses_too() {
    let world = World::new();
    let said = world.must(&["ticket", "create", "Mine", "--tags", "recovery,failed,mine"]);
    let expected = (strings(&["recovery", "failed", "mine"]), Vec::new());
    assert_eq!(tags(&world, said.out.trim()), expected);
}

#[test]
fn a_ticket_behind_a_dropped_one_waits_and_is_in_the_inbox_until_a_person_decides() {
    let world = World::new();
    world.ticket("base").agent(DONE).write();
    world.ticket("next").deps(&["base"]).agent(DONE).write();
    world.must(&["drop", "base", "not wanted"]);
    let said = world.drain_held();
    assert!(
        said.tells_of("next", "it depends on base, which was dropped"),
        "{said}"
    );
    assert_eq!(world.runs("next"), 0);

    let explained = world.json(&["explain", "next"]);
    assert_eq!(explained["says"], "it depends on base, which was dropped");
    assert_eq!(explained["refusal"]["why"], "dependency_failed");
    assert_eq!(explained["refusal"]["outcome"], "dropped");
    let shown = world.must(&["explain", "next"]).out;
    assert!(
        shown.contains("since: ") && shown.contains("crew ticket undep next base"),
        "{shown}"
    );
    let queue = world.must(&["queue"]).out;
    assert!(queue.contains("it depends on base, which was dropped"), "{queue}");
    let item = item(&world, "next").unwrap();
    assert_eq!(item["kind"], "dependency_failed");
    assert!(item["since"].is_string(), "{item}");

    world.must(&["ticket", "undep", "next", "base"]);
    world.drain_all();
    assert_eq!(world.landed(), ["next"]);
}

#[test]
fn a_recovery_that_lands_has_the_failed_ticket_done_again_and_its_agent_told() {
    let world = World::new();
    world.ticket("t-1").agent(FAILS_THREE_TIMES).write();
    world
        .ticket("fix")
        .line("tags: [recovers:t-1]")
        .agent(DONE)
        .write();
    world.ticket("behind").deps(&["t-1"]).agent(DONE).write();
    world.drain_all();
    assert_eq!(world.landed(), ["fix", "t-1", "behind"]);
    assert_eq!((world.runs("t-1"), world.count("t-1", "recovery_landed")), (4, 1));
    let commit = world.git(&["log", "-1", "--format=%H", "--grep=^Ticket: fix$"]);
    let told = world.prompt("t-1", 4);
    assert!(told.contains("fix") && told.contains(&commit), "{told}");
    let history = world.must(&["history", "t-1"]).out;
    assert!(history.contains("open again, with fresh attempts"), "{history}");
    assert_tags(&world, "t-1", &[]);
}

#[test]
fn a_recovery_that_replaces_closes_the_failed_ticket_and_lets_go_of_those_behind_it() {
    let world = World::with(|s| s.run = "attempts = 1\nmax_steps = 1".to_owned());
    world.ticket("t-1").agent(":").write();
    world
        .ticket("instead")
        .line("recovers: t-1")
        .line("recovers_by: replaces")
        .agent(DONE)
        .write();
    world.ticket("behind").deps(&["t-1"]).agent(DONE).write();
    world.drain_all();
    assert_eq!(world.landed(), ["instead", "behind"]);
    assert_eq!(world.state_name("t-1"), "done/replaced");
    assert_eq!(world.front("t-1", "status"), "closed");
    assert_tags(&world, "t-1", &[]);
    let explained = world.must(&["explain", "t-1"]).out;
    assert!(explained.contains("replaced"), "{explained}");
}

#[test]
fn a_recovery_of_nothing_or_of_itself_is_told_with_what_to_do() {
    let world = World::new();
    world.ticket("lost").line("recovers: nowhere").agent(DONE).write();
    world.ticket("self").line("recovers: self").agent(DONE).write();
    world.ticket("two").line("recovers: one").agent(DONE).write();
    world.ticket("one").deps(&["two"]).agent(DONE).write();
    let said = world.drain_held();
    for (id, why) in [
        ("lost", "it recovers nowhere, and there is no such ticket"),
        ("self", "it waits for itself: self → self"),
        ("one", "it waits for itself: one → two → one"),
        ("two", "it waits for itself: two → one → two"),
    ] {
        assert!(said.tells_of(id, why), "{id}: {said}");
        let item = item(&world, id).unwrap();
        assert_eq!(item["kind"], "dependency", "{item}");
        assert!(!item["acts"].as_array().unwrap().is_empty(), "{item}");
    }
}

#[test]
fn a_held_ticket_that_its_person_closes_is_over_without_work_and_lands_with_it() {
    const WORKS_AND_CRASHES: &str = "[ \"$RUN\" = 1 ] && work t-2.txt x\necho boom; exit 1";
    let world = World::new();
    world.ticket("t-1").agent("echo boom; exit 1").write();
    world.ticket("t-2").agent(WORKS_AND_CRASHES).write();
    world.drain_held();
    assert_eq!(world.held("t-1").0, "no_progress");
    assert_eq!(world.held("t-2").0, "no_progress");
    let runs = || (world.runs("t-1"), world.runs("t-2"));
    let paid = runs();
    for id in ["t-1", "t-2"] {
        let said = world.must(&["ticket", "close", id]).out;
        assert!(said.contains("its work is submitted"), "{said}");
        assert!(said.contains(&format!("`crew drop {id}` gives it up")), "{said}");
    }
    world.drain_all();
    assert_eq!(world.state_name("t-1"), "done/closed_by_person");
    assert_eq!(world.front("t-1", "status"), "closed");
    assert!(world.is_landed("t-2"));
    assert_eq!(runs(), paid, "nobody is paid for what was closed");
}
