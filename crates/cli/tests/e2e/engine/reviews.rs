//! Reviews: a gatekeeper looks at the work before it lands.

use std::fs;
use std::path::PathBuf;

use testkit::world::World;

/// The worker commits a file; the gatekeeper does `review`.
fn script(work: &str, review: &str) -> String {
    format!("if [ \"$CREW_ROLE\" = gatekeeper ]; then\n{review}\nelse\n{work}\necho DONE\nfi\n")
}

const APPROVE: &str = r#"echo '{"crew":"verdict","verdict":"approve","acceptance_test":"read it all"}'"#;

const WORK: &str = "work \"$CREW_TICKET_ID.txt\" done";

/// Every piece of work is reviewed.
fn world(more: &str) -> World {
    World::with(|s| s.top = format!("[review]\nwhen = \"always\"\n{more}"))
}

#[test]
fn a_rejection_reaches_the_next_attempt_whose_work_is_approved_and_lands() {
    let world = world("");
    let work = "grep -q 'write a test' \"$LOGS/$CREW_TICKET_ID.$RUN.prompt\" && work test.txt yes\n\
                work \"$CREW_TICKET_ID.txt\" \"$RUN\"";
    let work = format!(
        "echo SUMMARY: wrote it\n{}",
        work.replace("yes\n", "yes || true\n")
    );
    let review = format!(
        "if [ -e test.txt ]; then {APPROVE}\nelse echo '{}'\nfi",
        r#"{"crew":"verdict","verdict":"reject","reason":"no test","feedback":"write a test"}"#
    );
    world.ticket("t").agent(&script(&work, &review)).write();
    world.drain();
    assert!(world.is_landed("t"));
    assert_eq!(world.on_main("test.txt").as_deref(), Some("yes\n"));
    for (fact, times) in [
        ("review_claimed", 2),
        ("verdict_noted", 2),
        ("rejected", 1),
        ("approved", 1),
    ] {
        assert_eq!(world.count("t", fact), times, "{fact}");
    }
    let prompt = world.prompt("t", 2);
    for told in [
        "a gatekeeper",
        "wrote it",
        "+1",
        "as the last line of all",
        "git diff ",
    ] {
        assert!(prompt.contains(told), "{told}: {prompt}");
    }
    assert_eq!(world.variable("t", 2, "CREW_ROLE").as_deref(), Some("gatekeeper"));
    assert_eq!(world.variable("t", 2, "CREW_AGENT").as_deref(), Some("gate-1"));
}

#[test]
fn a_gatekeeper_that_says_nothing_that_counts_is_held_after_its_tries_and_a_person_decides() {
    let world = world("tries = 1\n");
    let fenced = format!("{APPROVE}\necho and so on\necho DONE");
    world.ticket("says").agent(&script(WORK, &fenced)).write();
    world
        .ticket("crashes")
        .agent(&script(WORK, &format!("{APPROVE}\nexit 3")))
        .write();
    world.drain_held();
    assert_eq!(world.held("says").0, "review");
    assert_eq!(world.held("crashes").0, "review");
    assert!(world.front("says", "tags").contains("evaluator-incomplete"));
    assert!(world.front("crashes", "tags").contains("evaluator-error"));
    let inbox = world.crew(&["inbox"]).all();
    assert!(
        inbox.contains("crew approve says") && inbox.contains("crew reject says"),
        "{inbox}"
    );
    world.must(&["approve", "says"]);
    world.must(&["reject", "crashes", "say why"]);
    world.script("crashes", &script("work more.txt more", APPROVE));
    world.drain();
    assert!(world.is_landed("says") && world.is_landed("crashes"));
    let story = world.prompt("crashes", 3);
    assert!(story.contains("say why"), "{story}");
    assert_eq!(world.count("says", "review_claimed"), 1);
}

#[test]
fn a_target_that_moves_during_a_review_asks_for_no_other_and_what_a_gatekeeper_edits_is_gone() {
    let world = world("");
    let review = format!(
        "echo spoilt > t.txt\necho new > extra.txt\ngit add -A\ngit commit -qm mine\n\
         touch \"$LOGS/reviewing\"\nuntil_there \"$GATES/go\"\n{APPROVE}"
    );
    world.ticket("t").agent(&script(WORK, &review)).write();
    let mut engine = world.engine();
    let reviewing = world.path("logs/reviewing");
    world.wait("it is in review", || reviewing.exists());
    let agents = world.json(&["ps"]).to_string();
    assert!(
        agents.contains("\"role\":\"gatekeeper\"") && agents.contains("◎"),
        "{agents}"
    );
    world.commit("pushed", "one\n");
    world.commit("pushed", "two\n");
    world.open("go");
    world.wait("it lands", || world.is_landed("t"));
    world.must(&["stop"]);
    engine.end();
    assert_eq!(world.count("t", "review_claimed"), 1);
    assert_eq!(world.on_main("t.txt").as_deref(), Some("done\n"));
    assert_eq!(world.on_main("extra.txt"), None);
    assert_eq!(world.on_main("pushed").as_deref(), Some("two\n"));
    world.assert_at_rest();
}

/// The folder with the checkouts of gatekeepers.
fn checkouts(world: &World) -> Option<PathBuf> {
    let entries = fs::read_dir(world.path("home/.local/state/crew")).unwrap();
    let mut folders = entries.map(|entry| entry.unwrap().path());
    folders.find(|folder| folder.to_string_lossy().ends_with(".reviews"))
}

#[test]
fn a_review_without_an_engine_is_no_leftover_until_it_is_over_and_a_clean_removes_every_checkout() {
    let world = world("");
    let review = format!("touch \"$LOGS/reviewing\"\nuntil_there \"$GATES/go\"\n{APPROVE}");
    world.ticket("t").agent(&script(WORK, &review)).write();
    let mut engine = world.engine();
    let reviewing = world.path("logs/reviewing");
    world.wait("it is in review", || reviewing.exists());
    engine.signal("KILL");
    engine.end();
    let folder = checkouts(&world).unwrap();
    let left = folder.join("gate-7-t");
    fs::create_dir_all(left.join("checkout")).unwrap();
    let found = world.crew(&["doctor"]).all();
    assert!(found.contains("1 step runs on without an engine"), "{found}");
    assert!(
        found.contains("gate-7-t: the checkout of a review that is over") && !found.contains("gate-1-t:"),
        "{found}"
    );
    world.must(&["doctor", "--fix"]);
    assert!(!left.exists() && folder.join("gate-1-t").exists());
    let said = world.crew(&["clean", "--yes"]).all();
    assert!(
        said.contains("removed the checkouts of reviews: gate-1-t"),
        "{said}"
    );
    assert_eq!(checkouts(&world), None);
}

#[test]
fn a_review_outlives_a_killed_engine_and_is_adopted() {
    let world = world("");
    let review = format!("touch \"$LOGS/reviewing\"\nuntil_there \"$GATES/go\"\n{APPROVE}");
    world.ticket("t").agent(&script(WORK, &review)).write();
    let mut engine = world.engine();
    let reviewing = world.path("logs/reviewing");
    world.wait("it is in review", || reviewing.exists());
    engine.signal("KILL");
    engine.end();
    world.open("go");
    world.drain();
    assert!(world.is_landed("t"));
    assert_eq!(world.count("t", "review_claimed"), 1);
    assert_eq!(world.count("t", "review_started"), 1);
    assert_eq!(world.runs("t"), 2, "the worker's and the gatekeeper's");
}

/// There is one gatekeeper. Its first checkout has many files, so that it is still being removed as the next
/// review begins.
#[test]
fn the_checkout_of_the_last_review_is_removed_and_that_of_the_next_one_stays() {
    let world = world("");
    let first =
        format!("until_there \"$GATES/second\"\nmkdir junk\n(cd junk; seq 20000 | xargs touch)\n{APPROVE}");
    let second = format!(
        "touch \"$LOGS/reviewing\"\nuntil_there \"$GATES/go\"\n\
         {{ test -e README && test -e t-2.txt; }} || touch \"$LOGS/gone\"\n{APPROVE}"
    );
    world.ticket("t-1").agent(&script(WORK, &first)).write();
    let mut engine = world.engine();
    world.wait_for("t-1", "verify/reviewing");
    world.ticket("t-2").agent(&script(WORK, &second)).write();
    world.wait_for("t-2", "verify/reviewing");
    world.open("second");
    world.wait("the second review has begun", || {
        world.path("logs/reviewing").exists()
    });
    world.wait("the first one is over", || world.is_landed("t-1"));
    world.open("go");
    world.wait("the second one is over", || world.is_landed("t-2"));
    world.must(&["stop"]);
    engine.end();
    assert!(!world.path("logs/gone").exists(), "its checkout is gone");
    assert_eq!(world.count("t-2", "review_claimed"), 1);
    assert_eq!(world.count("t-2", "review_failed"), 0);
    world.assert_at_rest();
}

#[test]
fn work_is_reviewed_for_a_path_that_it_changes_or_for_its_size_and_other_work_is_not() {
    let when = "[review]\nwhen = { paths = [\"keys\", \"nowhere\"], lines = 5 }\n";
    let world = World::with(|s| s.top = when.to_owned());
    world.commit("long.txt", "1\n2\n3\n");
    let tickets = [
        ("small", "work small.txt done"),
        ("path", "work keys/one.txt done"),
        // Three lines go and two come.
        ("lines", "printf 'a\\nb\\n' > long.txt"),
        // A byte that makes git take it for a binary file hides none of its lines.
        ("binary", "printf '\\0\\n1\\n2\\n3\\n4\\n' > data.bin"),
    ];
    for (id, work) in tickets {
        world.ticket(id).agent(&script(work, APPROVE)).write();
    }
    let said = world.drain_all();
    for (id, times) in [("small", 0), ("path", 1), ("lines", 1), ("binary", 1)] {
        assert!(world.is_landed(id), "{id}");
        assert_eq!(world.count(id, "review_claimed"), times, "{id}");
    }
    let warning = "the paths of [review] when match no file on main: keys, nowhere";
    assert!(said.all().contains(warning), "{said}");
    let doctor = world.crew(&["doctor"]).all();
    assert!(
        doctor.contains("the paths of [review] when match no file on main: nowhere"),
        "{doctor}"
    );
}

#[test]
fn an_approval_counts_for_the_tip_that_the_person_has_looked_at() {
    let world = world("tries = 1\n");
    world.ticket("t").agent(&script(WORK, "echo DONE")).write();
    world.drain_held();
    let tip = world.git(&["rev-parse", "refs/crew/candidate/t/1^2"]);
    let tip = tip.trim();
    let other = "0123456789abcdef";
    let refused = world.crew(&["approve", "t", "--tip", other]);
    assert_eq!(refused.code, Some(1), "{refused}");
    assert!(refused.all().contains(tip), "{refused}");
    for bad in ["main", "012345", "HEAD^{}"] {
        assert_eq!(world.crew(&["approve", "t", "--tip", bad]).code, Some(2), "{bad}");
    }
    assert_eq!(world.held("t").0, "review");
    let approved = world.must(&["approve", "t", "--tip", &tip[..7]]);
    assert!(approved.all().contains(&tip[..8]), "{approved}");
    world.drain_all();
    assert!(world.is_landed("t"));
}

#[test]
fn only_the_last_line_of_a_gatekeeper_is_its_verdict_and_a_worker_has_none() {
    let world = world("tries = 1\n");
    let reject = r#"{"crew":"verdict","verdict":"reject","reason":"it is spoilt","feedback":""}"#;
    let contradicts = format!(
        "if [ -e mended.txt ]; then {APPROVE}\nelse echo 'I approve of it.'\n{APPROVE}\necho '{reject}'\nfi"
    );
    let mends = "if grep -q 'it is spoilt' \"$LOGS/$CREW_TICKET_ID.$RUN.prompt\"; then work mended.txt yes; \
                 else work spoilt.txt yes; fi";
    world
        .ticket("contradicts")
        .agent(&script(mends, &contradicts))
        .write();
    let claims = format!("{WORK}\n{APPROVE}");
    world
        .ticket("worker")
        .agent(&script(&claims, "echo DONE"))
        .write();
    world.ticket("silent").agent(&script(WORK, ":")).write();
    world.drain_held();
    assert!(world.is_landed("contradicts"));
    assert_eq!(world.count("contradicts", "rejected"), 1);
    assert_eq!(world.count("contradicts", "approved"), 1);
    for id in ["worker", "silent"] {
        assert_eq!(world.held(id).0, "review", "{id}");
        assert_eq!(world.count(id, "verdict_noted"), 0, "{id}");
        assert!(world.front(id, "tags").contains("evaluator-incomplete"), "{id}");
    }
}

#[test]
fn no_engine_starts_with_gatekeepers_whose_program_is_not_there() {
    let world =
        world("harness = \"gone\"\n[harness.gone]\nkind = \"command\"\ncommand = [\"/nowhere/agent\"]\n");
    world.ticket("t").agent(&script(WORK, APPROVE)).write();
    let refused = world.crew(&["run", "--until-idle"]);
    assert_eq!(refused.code, Some(1), "{refused}");
    assert!(refused.all().contains("/nowhere/agent"), "{refused}");
    assert!(refused.all().contains("[harness.gone]"), "{refused}");
    assert_eq!(world.on_main("t.txt"), None);
}
