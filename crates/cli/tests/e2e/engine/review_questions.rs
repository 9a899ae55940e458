//! Gatekeepers that ask: the review waits for a person's answer, and goes on with it.

use serde_json::Value;
use testkit::world::World;

use super::tools::TOOL;

const ASKED: &str = "verify/reviewing";
const APPROVE: &str = r#"printf '{"crew":"verdict","run_id":"%s","verdict":"approve","acceptance_test":"read it all"}\n' "$CREW_RUN_ID""#;
const ASKS: &str = "echo 'QUESTION: is a breaking change meant?'";

/// The worker commits a file. The first step of the review does `first`, each later one approves.
fn script(first: &str) -> String {
    let id = "$CREW_TICKET_ID";
    format!(
        "{TOOL}
if [ \"$CREW_ROLE\" = gatekeeper ]; then
  if [ ! -e \"$LOGS/asked-{id}\" ]; then touch \"$LOGS/asked-{id}\"; {first}
  else {APPROVE}; fi
else work \"{id}.txt\" done; echo DONE; fi\n"
    )
}

fn world(run: &str) -> World {
    World::with(|s| {
        "[review]\nwhen = \"always\"\n".clone_into(&mut s.top);
        run.clone_into(&mut s.run);
    })
}

/// The only entry of the inbox.
fn asked(world: &World) -> Value {
    let said = world.crew(&["inbox", "--json"]);
    let document: Value = serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error}: {said}"));
    let items = document["items"].as_array().unwrap();
    assert_eq!(items.len(), 1, "{said}");
    items[0].clone()
}

/// The gatekeeper's steps that were started, and the questions that were asked.
fn counts(world: &World, id: &str) -> (usize, usize) {
    (world.count(id, "review_started"), world.count(id, "review_asked"))
}

#[test]
fn a_gatekeeper_asks_by_a_word_and_approves_with_the_answer() {
    let world = world("");
    world.ticket("t").title("Change it").agent(&script(ASKS)).write();
    let said = world.drain();
    assert_eq!(said.code, Some(3), "{said}");
    assert!(
        said.all()
            .contains("its gatekeeper asks: is a breaking change meant?"),
        "{said}"
    );
    assert_eq!(world.state_name("t"), ASKED);
    let item = asked(&world);
    assert_eq!(
        (&item["kind"], &item["agent"], &item["why"]),
        (
            &"question".into(),
            &"gate-1".into(),
            &"is a breaking change meant?".into()
        )
    );
    assert_eq!(item["acts"][0]["typed"], "crew answer t --question 1 \"…\"");
    for (args, says) in [
        (&["ps"][..], "waits for an answer: is a breaking change meant?"),
        (&["queue"], "gate-1: is a breaking change meant?"),
        (
            &["explain", "t"],
            "`crew answer t --question 1 <text>` answers it",
        ),
        (
            &["events", "--leader"],
            "its gatekeeper asks: is a breaking change meant?",
        ),
        (
            &["history", "t"],
            "its gatekeeper asks: is a breaking change meant?",
        ),
    ] {
        let said = world.crew(args);
        assert!(said.all().contains(says), "{args:?}: {said}");
    }
    let notices = world.json(&["events", "--leader"]);
    let is_question = |one: &&Value| one["kind"] == "question" && one["agent"] == "gate-1";
    let notices = notices["notices"].as_array().unwrap();
    assert_eq!(notices.iter().filter(is_question).count(), 1, "{notices:?}");
    let author = world.agent_of("t");
    let said = world.crew(&["answer", &author, "yes"]);
    assert!(said.err.contains("asks nothing: gate-1 asks about t"), "{said}");
    world.must(&["answer", "t", "no"]);
    // It was not given the answer yet.
    world.must(&["answer", "gate-1", "yes, version 2"]);
    let said = world.must(&["explain", "t"]);
    assert!(
        said.out
            .contains("gate-1 gets it with the next step: yes, version 2"),
        "{said}"
    );
    world.drain_all();
    let told = world.prompt("t", 3);
    for part in [
        "> is a breaking change meant?",
        "Answer: yes, version 2",
        "as the last line of all",
    ] {
        assert_eq!(told.matches(part).count(), 1, "{part}: {told}");
    }
    assert!(!told.contains("Answer: no"), "{told}");
    assert_eq!(counts(&world, "t"), (2, 1));
    assert_eq!(world.count("t", "review_claimed"), 1);
    assert_eq!(world.state("t").questions, 1);
}

#[test]
fn a_gatekeeper_asks_by_the_tool_and_nobody_answers_in_time() {
    let world = world("answer_within = \"1s\"");
    let asks = "tool ask '{\"question\": \"which port?\"}'; tool ask '{\"question\": \"once more?\"}'";
    world.ticket("t").agent(&script(asks)).write();
    world.drain_all();
    let answers = std::fs::read_to_string(world.path("logs/answers")).unwrap();
    assert!(answers.contains("your first result stands (ask)"), "{answers}");
    let told = world.prompt("t", 3);
    for part in [
        "> which port?",
        "Nobody has answered in time",
        "Do not approve what only the answer",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert_eq!(counts(&world, "t"), (2, 1));
    assert_eq!(world.count("t", "review_wait_timed_out"), 1);
}

#[test]
fn a_question_of_a_review_outlives_its_engines_and_is_asked_once() {
    let world = world("");
    world.ticket("t").agent(&script(ASKS)).write();
    let mut engine = world.engine();
    world.wait("it asks", || world.count("t", "review_asked") == 1);
    engine.signal("KILL");
    engine.end();
    // The next engine asks nothing anew.
    assert_eq!(world.drain().code, Some(3));
    assert_eq!(
        asked(&world)["acts"][0]["typed"],
        "crew answer t --question 1 \"…\""
    );
    world.must(&["answer", "t", "--question", "1", "yes"]);
    world.drain_all();
    assert_eq!(counts(&world, "t"), (2, 1));
}

#[test]
fn a_person_who_decides_closes_the_question_and_an_answer_comes_too_late() {
    let world = world("");
    world.ticket("t").agent(&script(ASKS)).write();
    assert_eq!(world.drain().code, Some(3));
    world.must(&["reject", "t", "no breaking change"]);
    let said = world.crew(&["answer", "t", "--question", "1", "yes"]);
    assert_ne!(said.code, Some(0), "{said}");
    assert!(
        said.err.contains("question 1 of gate-1 about t is closed:"),
        "{said}"
    );
    assert!(said.err.contains("has sent the work back"), "{said}");
    let said = world.must(&["history", "t"]);
    assert!(said.out.contains("question 1 of gate-1 is closed:"), "{said}");
    assert!(world.state("t").open_question().is_none());
}

/// There is one gatekeeper, and it waits for a person.
#[test]
fn other_work_is_reviewed_while_a_gatekeeper_waits() {
    let world = world("");
    world.ticket("t-1").priority(0).agent(&script(ASKS)).write();
    assert_eq!(world.drain().code, Some(3));
    world.ticket("t-2").agent(&script(APPROVE)).write();
    assert_eq!(world.drain().code, Some(3));
    assert!(world.is_landed("t-2"));
    world.must(&["answer", "t-1", "yes"]);
    world.drain_all();
    assert!(world.is_landed("t-1"));
}

/// A gatekeeper that asks in every step comes to no verdict.
#[test]
fn a_gatekeeper_that_goes_on_asking_is_held_in_the_end() {
    let world = World::with(|s| {
        s.top = "[review]\nwhen = \"always\"\ntries = 1\n".to_owned();
        s.run = "max_steps = 3\nanswer_within = \"1ms\"".to_owned();
    });
    let agent =
        "if [ \"$CREW_ROLE\" = gatekeeper ]; then echo 'QUESTION: why?'; else work a x; echo DONE; fi";
    world.ticket("t").agent(agent).write();
    assert_eq!(world.drain().code, Some(3));
    let (why, note) = world.held("t");
    assert_eq!(why, "review");
    assert!(
        note.contains("it asks in the last of its 3 steps: why?"),
        "{note}"
    );
    assert_eq!(counts(&world, "t"), (3, 2));
}
