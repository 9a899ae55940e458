//! Tools: what an agent calls in the middle of its step counts, once, before the step's end.

use std::fs;

use testkit::world::World;

/// Calls a tool, and keeps the answer and the exit code.
pub(crate) const TOOL: &str = r#"tool() { code=0; "$CREW_TOOL" tool "$@" >> "$LOGS/answers" 2>&1 || code=$?; echo "exit $code" >> "$LOGS/answers"; }
"#;

fn script(calls: &str) -> String {
    format!("{TOOL}{calls}")
}

fn answers(world: &World) -> String {
    fs::read_to_string(world.path("logs/answers")).unwrap_or_default()
}

/// How often the file of the ticket has this line.
fn noted(world: &World, id: &str, line: &str) -> usize {
    let file = fs::read_to_string(world.ticket_file(id)).unwrap();
    file.lines().filter(|one| *one == line).count()
}

#[test]
fn the_first_result_stands_whatever_the_agent_says_and_does_afterwards() {
    let world = World::new();
    let calls = r#"work a x
tool team_comment '{"text": "half way\nand on"}'
tool report_progress '{"text": "nearly there"}'
tool submit_work '{"summary": "adds the file a", "acceptance_test_result": "read it"}'
tool report_blocked '{"why": "no"}'
tool team_comment '{"text": "one more"}'
echo BLOCKED: no
exit 3"#;
    world.ticket("t-1").agent(&script(calls)).write();
    world.drain_all();
    assert_eq!(world.landed(), ["t-1"]);
    let answers = answers(&world);
    let codes: Vec<&str> = answers.lines().filter(|line| line.starts_with("exit")).collect();
    assert_eq!(
        codes,
        ["exit 0", "exit 0", "exit 0", "exit 1", "exit 0"],
        "{answers}"
    );
    assert!(
        answers.contains("your first result stands (submit_work)"),
        "{answers}"
    );
    for line in ["> half way", "> and on", "> one more"] {
        assert_eq!(noted(&world, "t-1", line), 1, "{line}");
    }
    for (fact, times) in [
        ("commented", 2),
        ("called", 2),
        ("step_finished", 1),
        ("step_failed", 0),
        ("edited", 0),
    ] {
        assert_eq!(world.count("t-1", fact), times, "{fact}");
    }
    let message = world.git(&["log", "-1", "--format=%B", "main"]);
    assert!(
        message.contains("adds the file a") && message.contains("Acceptance test: read it"),
        "{message}"
    );
    let history = world.must(&["history", "t-1"]).out;
    assert!(
        history.contains("half way") && history.contains("submits its work"),
        "{history}"
    );
}

#[test]
fn an_agent_that_stays_after_its_result_is_stopped_and_its_work_is_submitted() {
    let world = World::with(|s| s.run = "exit_within = \"1s\"".to_owned());
    let calls =
        "work a x\ntool submit_work '{\"summary\": \"done\"}'\nwhile :; do echo talking; sleep 0.2; done";
    world.ticket("t-1").agent(&script(calls)).write();
    world.drain_all();
    assert_eq!((world.landed(), world.runs("t-1")), (vec!["t-1".to_owned()], 1));
    assert_eq!(world.count("t-1", "stop_ordered"), 1);
}

#[test]
fn a_question_and_a_sleep_end_the_step_as_the_words_do() {
    let world = World::new();
    let calls = r#"case "$RUN" in
1) tool ask '{"question": "red or blue?"}' ;;
2) tool sleep_until '{"until": "1s", "why": "the paint dries"}' ;;
*) work a x; tool submit_work '{"summary": "painted"}' ;;
esac
exit 1"#;
    world.ticket("t-1").agent(&script(calls)).write();
    world.drain_held();
    let inbox = world.crew(&["inbox"]).out;
    assert!(inbox.contains("red or blue?"), "{inbox}");
    world.must(&["answer", "t-1", "blue"]);
    world.drain_all();
    assert_eq!((world.landed(), world.runs("t-1")), (vec!["t-1".to_owned()], 3));
    assert!(world.prompt("t-1", 2).contains("blue"));
    assert!(world.prompt("t-1", 3).contains("the paint dries"));
    assert!(answers(&world).contains("the answer opens your next step: end your turn now"));
}

#[test]
fn a_promise_by_a_tool_is_kept_like_any_other() {
    let world = World::new();
    let calls = r#"work a x
tool add_commitment '{"says": "a is there", "run": ["test", "-e", "a"]}'
tool add_commitment '{"says": "a flies", "run": ["no-such-program"]}'
tool submit_work '{"summary": "adds a"}'"#;
    world.ticket("t-1").agent(&script(calls)).write();
    world.drain_all();
    assert_eq!(
        (world.landed(), world.count("t-1", "commitment_added")),
        (vec!["t-1".to_owned()], 1)
    );
    let answers = answers(&world);
    assert!(
        answers.contains("checks do not find the program no-such-program"),
        "{answers}"
    );
}

#[test]
fn what_is_not_the_agents_own_to_call_is_refused_and_leaves_no_row() {
    let world = World::new();
    let calls = r#"ask() { printf '%s' "$2" > "$CREW_RUN_DIR/asks/.$1.new"; mv "$CREW_RUN_DIR/asks/.$1.new" "$CREW_RUN_DIR/asks/$1.json"; }
rows() { ls "$CREW_RUN_DIR/answers" | wc -l; }
call='"tool":"team_comment","arguments":{"text":"x"}'
ask forged "{\"token\":\"0000\",\"ticket\":\"t-1\",$call}"
ask other "{\"token\":\"$CREW_TOKEN\",\"ticket\":\"t-2\",$call}"
ask verdict "{\"token\":\"$CREW_TOKEN\",\"ticket\":\"t-1\",\"tool\":\"approve_work\",\"arguments\":{\"acceptance_test\":\"x\"}}"
ask leader "{\"token\":\"$CREW_TOKEN\",\"ticket\":\"t-1\",\"tool\":\"delegate\",\"arguments\":{\"tasks\":[{\"title\":\"x\"}]}}"
ask torn '{"token":'
head -c 10000000 /dev/zero | tr '\0' x > "$CREW_RUN_DIR/asks/.large.new"
mv "$CREW_RUN_DIR/asks/.large.new" "$CREW_RUN_DIR/asks/large.json"
ln -s /etc/passwd "$CREW_RUN_DIR/asks/link.json"
n=0; until [ "$(rows)" -ge 7 ]; do n=$((n+1)); [ $n -lt 600 ] || exit 9; sleep 0.1; done
cat "$CREW_RUN_DIR"/answers/*.json > "$LOGS/refusals"
head -c 10000000 /dev/zero | tr '\0' x | sed 's/.*/{"text":"&"}/' > big; tool team_comment - < big; rm big
tool team_comment 'no json'
tool team_comment '{"txt": "x"}'
tool team_comment '[]'
tool sleep_until '{"until": "2020-01-01T00:00:00Z", "why": "x"}'
tool team_kill '{"ticket": "t-2"}'
tool fly '{}'
env -u CREW_RUN_DIR "$CREW_TOOL" tool ticket_show >> "$LOGS/answers" 2>&1 || echo "exit $?" >> "$LOGS/answers"
tool ticket_show
"$CREW_TOOL" tool > "$LOGS/tools"
work a x; echo DONE"#;
    world.ticket("t-1").agent(&script(calls)).write();
    world.ticket("t-2").agent("work b x; echo DONE").write();
    world.drain_all();
    assert!(world.is_landed("t-1") && world.is_landed("t-2"));
    let tools = fs::read_to_string(world.path("logs/tools")).unwrap();
    assert!(
        tools.starts_with("ticket_show\n") && tools.contains("\nsubmit_work\n"),
        "{tools}"
    );
    assert!(!tools.contains("\ndelegate\n"), "{tools}");
    let refusals = fs::read_to_string(world.path("logs/refusals")).unwrap();
    assert_eq!(refusals.matches("\"accepted\":false").count(), 7, "{refusals}");
    for why in [
        "the token is not that of this run",
        "you work on t-1, and can call for no other ticket",
        "approve_work is not for a worker",
        "delegate is for agents that may delegate, and on this ticket you may not",
        "it is no call",
        "more than 65536 bytes is too large",
    ] {
        assert!(refusals.contains(why), "{why}: {refusals}");
    }
    let answers = answers(&world);
    for why in [
        "bytes is too long",
        "are no JSON",
        "unknown field `txt`",
        "its arguments are no object",
        "`until` has passed",
        "team_kill is for agents that may delegate",
        "there is no tool",
        "CREW_RUN_DIR is not set",
        "id: t-1",
    ] {
        assert!(answers.contains(why), "{why}: {answers}");
    }
    let codes: Vec<&str> = answers.lines().filter(|line| line.starts_with("exit")).collect();
    assert_eq!(
        codes,
        [
            "exit 1", "exit 2", "exit 1", "exit 1", "exit 1", "exit 1", "exit 1", "exit 2", "exit 0"
        ],
        "{answers}"
    );
    for id in ["t-1", "t-2"] {
        assert_eq!(
            world.count(id, "commented") + world.count(id, "called"),
            0,
            "{id}"
        );
    }
}

#[test]
fn a_step_calls_a_hundred_times_at_most_and_states_its_result_all_the_same() {
    let world = World::new();
    let calls = r#"i=0; while [ $i -lt 101 ]; do i=$((i+1)); tool report_progress "{\"text\": \"at $i\"}"; done
work a x; tool submit_work '{"summary": "adds a"}'"#;
    world.ticket("t-1").agent(&script(calls)).write();
    world.drain_all();
    assert_eq!((world.count("t-1", "called"), world.runs("t-1")), (101, 1));
    let answers = answers(&world);
    assert!(
        answers.contains("this step has called 100 times, and 100 are the most"),
        "{answers}"
    );
    assert_eq!(answers.matches("exit 1\n").count(), 1, "{answers}");
}

/// Where an engine dies between a call and its answer.
const DEATHS: &[&str] = &[
    "call.seen",
    "call.asked",
    "inbox.read",
    "decided.commented",
    "durable.commented",
    "begun.add_note",
    "performed.add_note",
    "decided.ticket_made",
    "durable.ticket_made",
    "begun.create_ticket",
    "performed.create_ticket",
    "decided.called",
    "durable.called",
    "call.answered",
];
/// Where an agent's process dies as it calls.
const SENDER: &str = "call.sent";

/// Whether nobody passes this point but the tests of this file.
pub(crate) fn has(point: &str) -> bool {
    let elsewhere = ["inbox.read", "begun.add_note", "performed.add_note"];
    point == SENDER || DEATHS.contains(&point) && !elsewhere.contains(&point)
}

#[test]
fn a_call_counts_once_wherever_the_engine_dies() {
    let world = World::new();
    // Calls that an engine finds together are one batch, in which it can die only once.
    let calls = r#"answered() { until [ "$(ls "$CREW_RUN_DIR/answers" | wc -l)" -ge "$1" ]; do sleep 0.05; done; }
tool team_comment '{"text": "half way"}'; answered 1
tool create_ticket '{"title": "More"}'; answered 2
work a x
tool submit_work '{"summary": "done"}'
exit 1"#;
    world.ticket("t-1").agent(&script(calls)).write();
    world.script("t-1-n1", "work b x; echo DONE");
    // Each of these ends the first engine that comes by.
    let passed = world.path("passed");
    fs::create_dir(&passed).unwrap();
    world.around("CREW_FAILPOINT_AT", DEATHS.join(","));
    world.around("CREW_FAILPOINT_LOG", &passed);
    let mut died = 0;
    while world.crew(&["run", "--until-idle"]).signal == Some(9) {
        died += 1;
    }
    assert_eq!(died, DEATHS.len());
    assert_eq!(world.landed(), ["t-1", "t-1-n1"]);
    assert_eq!(world.runs("t-1"), 1);
    assert_eq!(
        (world.count("t-1", "commented"), world.count("t-1", "ticket_made")),
        (1, 1)
    );
    assert_eq!(noted(&world, "t-1", "> half way"), 1);
    assert_eq!(answers(&world).matches("exit 0").count(), 3);
}

/// The program that calls dies before it has an answer, and its agent with it.
#[test]
fn a_call_of_an_agent_that_is_killed_counts_and_so_does_what_it_spent() {
    let world = World::new();
    let calls = r#"echo '{"crew":"usage","cost_usd":0.25}'
dying() { CREW_FAILPOINT_AT=call.sent "$CREW_TOOL" tool "$@" || kill -9 $$; }
case "$RUN" in
1) dying team_comment '{"text": "my last"}' ;;
*) work a x; dying submit_work '{"summary": "adds a"}' ;;
esac"#;
    world.ticket("t-1").agent(calls).write();
    world.drain_all();
    assert_eq!((world.landed(), world.runs("t-1")), (vec!["t-1".to_owned()], 2));
    for (fact, times) in [
        ("commented", 1),
        ("called", 1),
        ("step_failed", 1),
        ("step_finished", 1),
    ] {
        assert_eq!(world.count("t-1", fact), times, "{fact}");
    }
    assert_eq!(noted(&world, "t-1", "> my last"), 1);
    let total = world.json(&["cost", "t-1"])["total"].clone();
    assert_eq!(total["usage"]["cost_micro_usd"], 500_000, "{total}");
}

#[test]
fn what_is_called_while_no_engine_runs_counts_when_one_does() {
    let world = World::new();
    let calls = "touch \"$GATES/began\"\nuntil_there \"$GATES/go\"\nwork a x\n\
                 tool team_comment '{\"text\": \"alone\"}'\ntool submit_work '{\"summary\": \"done\"}'\n\
                 touch \"$GATES/ended\"\nexit 1";
    world.ticket("t-1").agent(&script(calls)).write();
    let mut engine = world.engine();
    world.wait("it began", || world.path("gates/began").exists());
    world.must(&["stop", "--leave"]);
    engine.end();
    world.open("go");
    world.wait("it has ended", || world.path("gates/ended").exists());
    world.drain_all();
    assert_eq!((world.landed(), world.runs("t-1")), (vec!["t-1".to_owned()], 1));
    assert_eq!(
        (world.count("t-1", "commented"), noted(&world, "t-1", "> alone")),
        (1, 1)
    );
    let answers = answers(&world);
    assert_eq!(
        answers.matches("it counts when crew runs").count(),
        2,
        "{answers}"
    );
}

#[test]
fn a_gatekeeper_gives_its_verdict_by_a_tool() {
    let world = World::with(|s| s.top = "[review]\nwhen = \"always\"\n".to_owned());
    let calls = r#"if [ "$CREW_ROLE" = gatekeeper ]; then
  tool submit_work '{"summary": "mine"}'
  tool approve_work '{"acceptance_test": "read all of it"}'
  tool reject_work '{"reason": "no"}'
  echo DONE
  exit 1
fi
work a x; echo DONE"#;
    world.ticket("t-1").agent(&script(calls)).write();
    world.drain_all();
    assert_eq!(world.landed(), ["t-1"]);
    assert_eq!(
        (
            world.count("t-1", "verdict_noted"),
            world.count("t-1", "review_called")
        ),
        (1, 1)
    );
    let answers = answers(&world);
    assert!(
        answers.contains("submit_work is not for a gatekeeper"),
        "{answers}"
    );
    assert!(
        answers.contains("your first result stands (approve_work)"),
        "{answers}"
    );
    assert!(world.must(&["history", "t-1"]).out.contains("read all of it"));
    let logs = world.must(&["logs", "t-1"]).out;
    for part in [
        "> crew approve_work: read all of it … taken",
        "> crew reject_work: no … refused: your first result stands (approve_work)",
        "✗ does not count: DONE (the call approve_work stands)",
        "» DONE",
    ] {
        assert!(logs.contains(part), "{part}: {logs}");
    }
}

#[test]
fn an_agent_makes_tickets_that_name_it_and_are_reviewed_as_its_own_is() {
    let world = World::with(|s| s.top = "[review]\nwhen = { labels = [\"risky\"] }\n".to_owned());
    let calls = r#"if [ "$CREW_ROLE" = gatekeeper ]; then tool approve_work '{"acceptance_test": "read it"}'; exit; fi
tool create_ticket '{"title": "x", "deps": ["t-0"]}'
i=0; while [ $i -lt 11 ]; do i=$((i+1)); tool create_ticket "{\"title\": \"Part $i\", \"acceptance\": \"b is there\"}"; done
tool create_ticket '{"title": "two\nlines"}'
work a x; echo DONE"#;
    world
        .ticket("t-1")
        .line("tags: [risky, big]")
        .agent(&script(calls))
        .write();
    for n in 1..=10 {
        let work = format!(
            "if [ \"$CREW_ROLE\" = gatekeeper ]; then tool approve_work '{{\"acceptance_test\": \"x\"}}'; exit; fi\nwork b{n} x; echo DONE"
        );
        world.script(&format!("t-1-n{n}"), &script(&work));
    }
    world.drain_all();
    assert_eq!(world.landed().len(), 11);
    assert_eq!(world.front("t-1-n1", "made_by"), "ada");
    assert_eq!(world.front("t-1-n1", "tags"), "[risky]");
    assert_eq!(world.count("t-1-n10", "approved"), 1);
    let answers = answers(&world);
    assert!(answers.contains("made t-1-n10"), "{answers}");
    for why in [
        "this step has made 10 tickets, which are the most",
        "there is no ticket t-0",
        "`title` is one line",
    ] {
        assert!(answers.contains(why), "{why}: {answers}");
    }
}

#[test]
fn a_note_by_the_command_for_tickets_goes_the_same_way() {
    let world = World::new();
    let calls = "\"$CREW_TOOL\" ticket add-note t-1 'by hand' > \"$LOGS/answers\"\nwork a x; echo DONE";
    world.ticket("t-1").agent(calls).write();
    world.drain_all();
    assert_eq!(
        (world.count("t-1", "commented"), noted(&world, "t-1", "> by hand")),
        (1, 1)
    );
    assert_eq!(answers(&world), "noted on t-1\n");
}

#[test]
fn the_last_progress_of_the_running_step_is_on_every_surface() {
    let world = World::new();
    let calls = r#"if [ "$RUN" = 1 ]; then
work a x
tool report_progress '{"text": "1 of 5 tests written"}'
tool report_progress '{"text": "3 of 5 tests written"}'
touch "$GATES/said"; until_there "$GATES/go"
else
touch "$GATES/second"; until_there "$GATES/end"; echo DONE
fi"#;
    world.ticket("t-1").agent(&script(calls)).write();
    let mut engine = world.engine();
    world.wait("it has reported", || world.path("gates/said").exists());
    let agent = world.agent_of("t-1");
    let says = "3 of 5 tests written";
    assert_eq!(world.json(&["ps"])["agents"][0]["progress"]["text"], says);
    assert_eq!(world.json(&["explain", "t-1"])["progress"]["text"], says);
    assert_eq!(world.json(&["peek", &agent])["progress"]["text"], says);
    for args in [&["ps"][..], &["explain", "t-1"], &["peek", &agent]] {
        let shown = world.must(args).out;
        assert!(shown.contains(&format!("reports: {says}")), "{shown}");
        assert!(!shown.contains("reports: 1 of 5"), "{shown}");
    }
    world.open("go");
    world.wait("its next step runs", || world.path("gates/second").exists());
    assert!(world.json(&["ps"])["agents"][0]["progress"].is_null());
    world.open("end");
    world.wait("t-1 lands", || world.is_landed("t-1"));
    world.must(&["stop"]);
    engine.end();
}

#[test]
fn a_tool_is_called_from_a_folder_that_the_agent_has_removed() {
    let world = World::new();
    let calls =
        "work a x\nmkdir build; cd build; rmdir ../build\ntool submit_work '{\"summary\": \"built it\"}'";
    world.ticket("t-1").agent(&script(calls)).write();
    world.drain_all();
    assert!(
        answers(&world).contains("your work is submitted"),
        "{}",
        answers(&world)
    );
    assert_eq!(world.runs("t-1"), 1);
}
