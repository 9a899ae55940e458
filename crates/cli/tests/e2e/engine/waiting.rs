//! People in the loop: questions, answers, wakeups, the inbox and what was done, with engines that are killed
//! in between.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use model::attempt;
use model::ticket::Ticket;
use serde_json::Value;

use testkit::world::{DONE, Engine, World};

/// Asks first, and goes on when it was answered.
const ASKS: &str = "if [ \"$RUN\" = 1 ]; then work a first; echo 'QUESTION: red or blue?'; else work b second; echo DONE; fi";
/// Sleeps first, for so long that nobody waits for it.
const SLEEPS: &str = "if [ \"$RUN\" = 1 ]; then work a first; echo 'WAKEUP: 2h the build runs'; else work b second; echo DONE; fi";
/// Sleeps first, for a moment.
const NAPS: &str =
    "if [ \"$RUN\" = 1 ]; then echo 'WAKEUP: 1s the build runs'; else work b second; echo DONE; fi";

const ASKING: &str = "in_progress/waiting_for_input";
const ASLEEP: &str = "in_progress/waiting_for_wakeup";

/// The entries of the inbox.
fn inbox(world: &World) -> Vec<Value> {
    let said = world.crew(&["inbox", "--json"]);
    let document: Value = serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error}: {said}"));
    let items = document["items"].as_array().unwrap().clone();
    let wanted = if items.is_empty() { 0 } else { 3 };
    assert_eq!(said.code, Some(wanted), "{said}");
    items
}

/// What can be done about an entry: a line to type, or words where nothing can be typed.
fn typed(item: &Value) -> Vec<&str> {
    let acts = item["acts"].as_array().unwrap();
    acts.iter()
        .map(|act| act["typed"].as_str().or(act["by_hand"].as_str()).unwrap())
        .collect()
}

fn kill(mut engine: Engine) {
    engine.signal("KILL");
    engine.end();
}

/// When a ticket's agent is to be woken.
fn wakes_at(ticket: &Ticket) -> i64 {
    match &ticket.attempt().unwrap().state {
        attempt::State::WaitingForWakeup { at, .. } => at.0,
        other => panic!("it is {}", other.name()),
    }
}

/// That a run was told the question and its answer, each once.
fn was_told(world: &World, run: u32) {
    let prompt = world.prompt("t-1", run);
    for told in ["red or blue?", "a dark GREEN"] {
        assert_eq!(prompt.matches(told).count(), 1, "{prompt}");
    }
}

#[test]
fn another_attempt_is_told_what_was_answered_to_the_one_before() {
    let world = World::new();
    world.ticket("t-1").agent(ASKS).write();
    assert_eq!(world.drain().code, Some(3));
    let agent = world.agent_of("t-1");
    world.must(&["answer", "t-1", "a dark GREEN"]);
    world.must(&["kill", &agent]);
    world.must(&["retry", "t-1"]);
    world.drain_all();
    was_told(&world, 2);
    assert_eq!(world.state("t-1").attempts, 2);
}

#[test]
fn a_conversation_that_broke_on_the_answer_is_begun_anew_with_the_question() {
    let world = World::new();
    world.in_session();
    let agent = "case $RUN in
        1) echo 'QUESTION: red or blue?' ;;
        2) echo '{\"crew\":\"failure\",\"class\":\"session_missing\",\"message\":\"no such\"}' ;;
        3) work b second; echo DONE ;;
        esac";
    world.ticket("t-1").agent(agent).write();
    assert_eq!(world.drain().code, Some(3));
    world.must(&["answer", "t-1", "a dark GREEN"]);
    world.drain_all();
    assert!(
        !world.prompt("t-1", 2).contains("red or blue?"),
        "the agent asked it"
    );
    was_told(&world, 3);
}

#[test]
fn a_question_is_answered_through_every_death_of_the_engine() {
    let world = World::new();
    world.ticket("t-1").title("Paint it").agent(ASKS).write();
    let engine = world.engine();
    world.wait_for("t-1", ASKING);
    kill(engine);
    let items = inbox(&world);
    let [item] = items.as_slice() else {
        panic!("{items:?}")
    };
    assert_eq!(
        (
            item["kind"].as_str(),
            item["ticket"].as_str(),
            item["why"].as_str()
        ),
        (Some("question"), Some("t-1"), Some("red or blue?"))
    );
    assert_eq!(typed(item)[0], "crew answer t-1 --question 1 \"…\"");
    let said = world.crew(&["inbox"]);
    assert!(
        said.tells_of("t-1", "red or blue?") && said.out.contains("crew answer t-1"),
        "{said}"
    );

    let engine = world.engine();
    world.must(&["answer", "t-1", "blue", "of course"]);
    kill(engine);
    assert!(inbox(&world).is_empty(), "it has its answer");
    world.drain_all();
    assert_eq!(world.landed(), ["t-1"]);
    let told = world.prompt("t-1", 2);
    assert!(told.contains("blue of course") && told.contains("t-1"), "{told}");
    assert_eq!(
        (
            world.count("t-1", "answered"),
            world.count("t-1", "step_finished")
        ),
        (1, 2)
    );
    assert!(world.crew(&["inbox"]).out.contains("nothing waits for you"));
}

#[test]
fn an_answer_is_given_once_and_to_what_was_asked() {
    let world = World::new();
    world.ticket("t-1").agent(ASKS).write();
    let said = world.crew(&["answer", "t-1", "too early"]);
    assert!(
        said.code == Some(1) && said.err.contains("no engine has seen it yet"),
        "{said}"
    );
    world.drain_held();
    let empty = world.crew(&["answer", "t-1", " "]);
    assert_eq!(empty.code, Some(2), "{empty}");
    let nothing = world.crew_fed(&["answer", "t-1"], " \n");
    assert_eq!(nothing.code, Some(2), "{nothing}");
    let long = world.crew_fed(&["answer", "t-1"], &"x".repeat(70_000));
    assert!(long.code == Some(2) && long.err.contains("64 KiB"), "{long}");
    let fed = world.crew_fed(&["answer", "t-1"], "blue,\nand a little red\n");
    assert_eq!(fed.code, Some(0), "{fed}");
    // It is replaced, and replaced again, until the agent has been given it.
    for again in [&["answer", "t-1", "red"][..], &["answer", "t-1"]] {
        let again = world.crew_fed(again, "blue,\nand a little red\n");
        assert!(
            again.code == Some(0) && again.out.contains("and not the answer before it"),
            "{again}"
        );
    }
    let asleep = world.crew(&["wake", "t-1"]);
    assert!(
        asleep.code == Some(1) && asleep.err.contains("does not sleep"),
        "{asleep}"
    );
    world.drain_all();
    assert!(
        world.prompt("t-1", 2).contains("blue,\nand a little red"),
        "{}",
        world.prompt("t-1", 2)
    );
    let over = world.crew(&["answer", "t-1", "red"]);
    assert!(over.code == Some(1) && over.err.contains("done/landed"), "{over}");
}

#[test]
fn two_agents_ask_at_once_and_each_gets_its_own_answer() {
    let world = World::with(|s| s.agents = "names = [\"ada\", \"bob\"]".to_owned());
    world.ticket("t-1").agent(ASKS).write();
    world.ticket("t-2").agent(ASKS).write();
    world.drain_held();
    assert_eq!(inbox(&world).len(), 2);
    let said = world.crew(&["answer", "t", "which"]);
    assert!(said.code == Some(2) && said.err.contains("t-1, t-2"), "{said}");
    let first = world.agent_of("t-1");
    world.must(&["answer", &first, "for the first"]);
    world.must(&["answer", "t-2", "for the second"]);
    world.drain_all();
    assert!(world.prompt("t-1", 2).contains("for the first"));
    assert!(world.prompt("t-2", 2).contains("for the second"));
}

#[test]
fn a_question_of_ten_thousand_characters_that_plays_with_the_terminal_is_text() {
    let world = World::new();
    let script = "printf 'QUESTION: \\033[2J\\033]0;owned\\007red\\r or\\342\\200\\256 blue? '\nhead -c 10000 /dev/zero | tr '\\0' x\necho";
    world.ticket("t-1").agent(script).write();
    world.drain_held();
    for args in [&["inbox"][..], &["ps"], &["queue"], &["inbox", "--json"]] {
        let said = world.crew(args);
        let hides = |c: char| c == '\u{202e}' || c.is_control() && c != '\n';
        assert!(!said.out.contains(hides), "{args:?}: {said}");
        assert!(said.out.contains("t-1"), "{args:?}: {said}");
    }
    let why = inbox(&world)[0]["why"].as_str().unwrap().to_owned();
    assert!(why.starts_with("red") && why.chars().count() < 5_000, "{why}");
}

#[test]
fn nobody_answers_in_time_and_the_agent_is_told() {
    let world = World::with(|s| s.run = "answer_within = \"1s\"".to_owned());
    world.ticket("t-1").agent(ASKS).write();
    world.drain_all();
    assert_eq!(
        (world.landed(), world.count("t-1", "wait_timed_out")),
        (vec!["t-1".to_owned()], 1)
    );
    let told = world.prompt("t-1", 2);
    assert!(
        told.contains("red or blue?") && told.contains("Nobody has answered"),
        "{told}"
    );
}

#[test]
fn asking_is_no_way_to_go_on_for_ever() {
    let world = World::with(|s| s.run = "max_steps = 3\nattempts = 1\nanswer_within = \"1ms\"".to_owned());
    world.ticket("t-1").agent("echo 'QUESTION: again?'").write();
    world.drain_held();
    assert_eq!((world.held("t-1").0.as_str(), world.runs("t-1")), ("failed", 4));
}

#[test]
fn a_short_sleep_is_waited_for() {
    let world = World::new();
    world.ticket("t-1").agent(NAPS).write();
    world.drain_all();
    assert_eq!(
        (world.landed(), world.count("t-1", "woken")),
        (vec!["t-1".to_owned()], 1)
    );
    let told = world.prompt("t-1", 2);
    assert!(told.contains("You asked to be woken: the build runs"), "{told}");
}

#[test]
fn a_sleep_is_over_while_no_engine_runs() {
    let world = World::new();
    world.ticket("t-1").agent(NAPS).write();
    let engine = world.engine();
    // It may have been woken already when it is looked at.
    world.wait("it has slept", || {
        world.runs("t-1") >= 1 && world.count("t-1", "step_finished") >= 1
    });
    kill(engine);
    world.drain_all();
    assert_eq!(
        (world.landed(), world.count("t-1", "woken")),
        (vec!["t-1".to_owned()], 1)
    );
}

#[test]
fn a_long_sleep_outlives_the_engine_and_ends_with_a_word() {
    let world = World::new();
    world.ticket("t-1").agent(SLEEPS).write();
    let engine = world.engine();
    world.wait_for("t-1", ASLEEP);
    let at = wakes_at(&world.state("t-1"));
    kill(engine);
    assert!(inbox(&world).is_empty(), "nobody is needed");
    let mut engine = world.engine();
    world.wait("the engine is up", || {
        world.crew(&["ps"]).out.contains("engine: process")
    });
    assert_eq!(
        (world.state_name("t-1").as_str(), wakes_at(&world.state("t-1"))),
        (ASLEEP, at)
    );
    let said = world.crew(&["answer", "t-1", "what?"]);
    assert!(
        said.code == Some(1) && said.err.contains("sleeps until"),
        "{said}"
    );
    world.must(&["wake", "t-1"]);
    world.wait("t-1 lands", || world.is_landed("t-1"));
    world.must(&["stop"]);
    engine.end();
    world.assert_at_rest();
    assert_eq!(
        (world.count("t-1", "woken_early"), world.count("t-1", "woken")),
        (1, 0)
    );
    assert!(world.prompt("t-1", 2).contains("the build runs"));
}

#[test]
fn a_sleeper_is_woken_without_an_engine() {
    let world = World::new();
    world.ticket("t-1").agent(SLEEPS).write();
    let engine = world.engine();
    world.wait_for("t-1", ASLEEP);
    kill(engine);
    world.must(&["wake", &world.agent_of("t-1")]);
    let again = world.crew(&["wake", "t-1"]);
    assert_eq!(again.code, Some(1), "{again}");
    world.drain_all();
    assert_eq!(
        (world.landed(), world.count("t-1", "woken_early")),
        (vec!["t-1".to_owned()], 1)
    );
}

#[test]
fn a_sleep_counts_from_the_end_of_its_step_however_late_that_is_read() {
    let world = World::new();
    world
        .ticket("t-1")
        .agent("touch \"$GATES/on\"\nuntil_there \"$GATES/go\"\necho 'WAKEUP: 2h x'")
        .write();
    let mut engine = world.engine();
    world.wait("it is at work", || world.path("gates/on").exists());
    world.must(&["stop", "--leave"]);
    engine.end();
    world.open("go");
    world.wait("it has ended", || world.processes().is_empty());
    // After the end, and before anybody reads of it. A file's time would be some milliseconds behind this
    // clock.
    let over = jiff::Timestamp::now().as_millisecond();
    let engine = world.engine();
    world.wait_for("t-1", ASLEEP);
    let asked = wakes_at(&world.state("t-1")) - 2 * 60 * 60 * 1000;
    assert!(asked <= over, "{asked} {over}");
    kill(engine);
    world.must(&["drop", "t-1"]);
}

#[test]
fn a_queue_behind_sleeping_and_asking_agents_goes_on() {
    let world = World::new();
    world.ticket("t-1").priority(0).agent(SLEEPS).write();
    world.ticket("t-2").priority(0).agent(ASKS).write();
    world.ticket("t-3").priority(0).agent(ASKS).write();
    world.ticket("t-4").agent(DONE).write();
    let mut engine = world.engine();
    world.wait("t-4 lands", || world.is_landed("t-4"));
    assert_eq!(
        ["t-1", "t-2", "t-3"].map(|id| world.state_name(id)),
        [ASLEEP, ASKING, ASKING]
    );
    world.must(&["stop"]);
    engine.end();
}

#[test]
fn what_cannot_be_a_ticket_is_told_with_the_reason_wherever_one_looks() {
    let world = World::new();
    fs::write(
        world.ticket_file("t-1"),
        "---\nstatus: open\ntitle: [\n---\n# Broken\n",
    )
    .unwrap();
    fs::write(world.project(".tickets/my notes.md"), "milk\n").unwrap();
    world.ticket("t-2").deps(&["t-3"]).agent(DONE).write();
    world.ticket("t-3").deps(&["t-2"]).agent(DONE).write();
    let ps = world.must(&["ps"]);
    assert!(ps.out.contains("queue: 2 open"), "{ps}");
    let said = world.drain_held();
    assert!(said.tells_of("t-1", "malformed front matter"), "{said}");
    assert!(said.tells_of("t-2", "crew ticket undep t-2 t-3"), "{said}");
    assert!(said.out.contains("'my notes' cannot be a ticket's id"), "{said}");
    let kinds: Vec<String> = inbox(&world)
        .iter()
        .map(|item| item["id"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(
        kinds,
        ["dependency:t-2", "dependency:t-3", "file:my notes", "file:t-1"]
    );
}

#[test]
fn held_tickets_and_edits_in_the_way_are_told_with_what_helps() {
    let world = World::new();
    world.ticket("t-1").agent("echo 'BLOCKED: no key'").write();
    world
        .ticket("t-2")
        .agent("echo '# mine' >> crew.toml\ngit commit -qam settings\necho DONE")
        .write();
    world.ticket("t-3").agent("work README theirs\necho DONE").write();
    world.write("README", "mine, and not committed\n");
    let said = world.drain_held();
    let mut lines = said.out.lines().map(str::trim);
    lines.find(|line| *line == "→ write what it lacks into the ticket, then");
    assert_eq!(lines.next(), Some("→ crew retry t-1"), "{said}");
    let items = inbox(&world);
    let told: Vec<(&str, &str)> = items
        .iter()
        .map(|item| (item["kind"].as_str().unwrap(), typed(item)[0]))
        .collect();
    let approve = world.state("t-2").approve_command();
    assert!(approve.starts_with("crew approve t-2 --tip "), "{approve}");
    assert_eq!(
        told,
        [
            ("paths", approve.as_str()),
            (
                "checkout",
                "git commit or git stash there: it goes on when an engine runs again (`crew run`)"
            ),
            ("blocked", "write what it lacks into the ticket, then"),
        ]
    );
}

#[test]
fn what_each_agent_did_is_told_in_its_own_words_or_in_gits() {
    let world = World::with(|s| s.agents = "names = [\"ada\"]".to_owned());
    world
        .ticket("t-1")
        .agent("work a x\necho 'SUMMARY: painted it blue'\necho DONE")
        .write();
    world
        .ticket("t-2")
        .agent("work src/b y 'mend the roof'\necho DONE")
        .write();
    world
        .ticket("t-3")
        .agent("work c z 'look into it'\necho 'BLOCKED: no key'")
        .write();
    let said = world.drain_held();
    assert!(said.out.contains("painted it blue"), "{said}");
    let said = world.must(&["summary"]);
    for told in [
        "ada · 2 landed · 3 steps",
        "painted it blue",
        "mend the roof (src/b)",
        "held, blocked",
        "look into it (c)",
    ] {
        assert!(said.out.contains(told), "{told}: {said}");
    }
    let one = world.must(&["summary", "t-2", "--json"]);
    let document: Value = serde_json::from_str(&one.out).unwrap();
    let work = &document["agents"][0]["work"];
    assert_eq!(work.as_array().unwrap().len(), 1);
    assert_eq!(
        (
            &work[0]["came_to"],
            &work[0]["git"]["files"][0],
            &work[0]["summary"]
        ),
        (&Value::from("landed"), &Value::from("src/b"), &Value::Null)
    );
}

#[test]
fn without_an_engine_nothing_is_said_to_go_on_by_itself() {
    let world = World::with(|s| s.agents = "count = 2".to_owned());
    world.ticket("t-1").agent(ASKS).write();
    world.ticket("t-2").agent(SLEEPS).write();
    let engine = world.engine();
    world.wait_for("t-1", ASKING);
    world.wait_for("t-2", ASLEEP);
    let agents = || {
        let said = world.must(&["ps"]).out;
        let lines: Vec<String> = said.lines().map(str::to_owned).collect();
        let below = |id: &str| {
            let at = lines.iter().position(|line| line.contains(id)).unwrap();
            (lines[at].clone(), lines[at + 1].clone())
        };
        [below("t-1"), below("t-2")]
    };
    kill(engine);
    let hint = "no engine runs here: `crew run` starts one, and it goes on then";
    for args in [&["answer", "t-1", "red"][..], &["wake", "t-2"]] {
        let said = world.must(args).out;
        assert!(said.contains(hint), "{args:?}: {said}");
    }
    for (row, below) in agents() {
        assert!(row.contains("◌") && row.contains("waiting"), "{row}");
        let says = "waits for its next step, and goes on when an engine runs again (`crew run`)";
        assert!(below.contains(says), "{below}");
    }
    let queue = world.must(&["queue"]).out;
    let ps = world.json(&["ps"]);
    for (nth, id) in ["t-1", "t-2"].into_iter().enumerate() {
        let row = queue.lines().find(|line| line.contains(id)).unwrap();
        assert!(row.contains("waits, step"), "{row}");
        assert_eq!(ps["agents"][nth]["state"], "waiting");
    }
    world.drain_all();
}

#[test]
fn an_answer_reaches_the_agent_without_what_only_a_terminal_understands() {
    let world = World::new();
    world.in_session();
    world.ticket("t-1").agent(ASKS).write();
    world.drain_held();
    let pasted = "all:\n\techo red\u{1b}[2J\u{7}\n";
    assert_eq!(world.crew_fed(&["answer", "t-1"], pasted).code, Some(0));
    world.drain_all();
    let told = world.prompt("t-1", 2);
    assert!(told.contains("\n\nall:\n\techo red\n\n"), "{told:?}");
}

/// What somebody else mends meanwhile is not to be mended any more.
#[test]
fn doctor_looks_again_when_it_had_to_wait() {
    let world = World::new();
    world.ticket("t-1").agent(DONE).write();
    world.drain_all();
    let open_to =
        |mode| fs::set_permissions(world.project(".crew"), fs::Permissions::from_mode(mode)).unwrap();
    open_to(0o755);
    let held = git::Lock::take_for_command(&world.project(".git/crew.lock")).unwrap();
    let mut doctor = world.start_at(&world.path("project"), &["doctor", "--fix"]);
    world.wait("it waits", || doctor.said().err.contains("waiting for a command"));
    open_to(0o700);
    drop(held);
    let said = doctor.end();
    assert_eq!(said.code, Some(0), "{said}");
    assert!(!said.out.contains("mended"), "{said}");
}

#[test]
fn an_answer_to_an_earlier_question_is_not_taken_for_one_to_the_next() {
    let world = World::new();
    let asks = "case $RUN in 1) echo 'QUESTION: red or blue?' ;; 2) echo 'QUESTION: how many?' ;; *) work b second; echo DONE ;; esac";
    world.ticket("t-1").agent(asks).write();
    assert_eq!(world.drain().code, Some(3));
    assert_eq!(typed(&inbox(&world)[0])[0], "crew answer t-1 --question 1 \"…\"");
    world.must(&["answer", "t-1", "--question", "1", "blue"]);
    assert_eq!(world.drain().code, Some(3));
    assert_eq!(typed(&inbox(&world)[0])[0], "crew answer t-1 --question 2 \"…\"");
    // Somebody else has answered the first one, and this person has not looked since.
    let said = world.crew(&["answer", "t-1", "--question", "1", "red"]);
    assert_ne!(said.code, Some(0), "{said}");
    for part in [
        "question 1 about t-1 is not open any more",
        "question 2 is: how many?",
    ] {
        assert!(said.err.contains(part), "{part}: {said}");
    }
    let said = world.crew(&["answer", "t-1", "--question", "3", "red"]);
    assert!(said.err.contains("has not asked question 3 about t-1"), "{said}");
    world.must(&["answer", "t-1", "--question", "2", "seven"]);
    world.drain_all();
    let told = world.prompt("t-1", 3);
    assert!(
        told.contains("seven") && told.contains("blue") && !told.contains("Answer: red"),
        "{told}"
    );
    assert_eq!(world.state("t-1").questions, 2);
}
