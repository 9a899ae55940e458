//! The real client in a team: it delegates, sleeps, spends, and is killed in the middle of a call.

use std::collections::BTreeSet;
use std::fs;

use model_server::Request;
use serde_json::{Value, json};

use testkit::scene::{Scene, scripted, until_open};
use testkit::world::Engine;

/// Whether a request is of the agent that has this ticket.
fn is_told(request: &Request, id: &str) -> bool {
    let begins = format!("Your task is ticket {id},");
    request.user_texts().iter().any(|text| text.contains(&begins))
}

/// The tools of crew's that the client of a ticket's agent offered to the model, by their plain names.
fn offered(scene: &Scene, id: &str) -> BTreeSet<String> {
    let requests = scene.server.requests().into_iter();
    let of_ticket = requests.filter(|request| is_told(request, id));
    let tools = of_ticket.flat_map(|request| request.body["tools"].as_array().cloned().unwrap_or_default());
    let names = tools.filter_map(|tool| {
        let name = tool["name"].as_str()?.strip_prefix("mcp__crew__")?;
        Some(name.to_owned())
    });
    names.collect()
}

/// A call of one of crew's tools, as a step of a script.
fn call(tool: &str, input: &Value) -> Value {
    json!({ "tool": format!("mcp__crew__{tool}"), "input": input })
}

#[test]
fn a_leader_delegates_two_tasks_and_the_three_tickets_close_together() {
    let scene = Scene::new();
    let first = json!([
        { "write": ["one", "one\n"] },
        call("submit_work", &json!({ "summary": "wrote one" })),
        { "text": "That is all." },
    ]);
    let second = json!([
        { "bash": "cat one > two && echo two >> two" },
        call("delegate", &json!({ "tasks": [{ "title": "The rest" }] })),
        { "text": "SUMMARY: wrote two\n\nDONE" },
    ]);
    let tasks = json!({ "tasks": [
        { "title": "The first half", "task": scripted("the first half", &first) },
        { "title": "The second half", "task": scripted("the second half", &second), "acceptance": "two is there" },
    ] });
    let whole = json!([
        call("delegate", &tasks),
        { "text": "I wait for them." },
        call("team_list", &json!({})),
        { "bash": "cat two > whole" },
        call("submit_work", &json!({ "summary": "both halves" })),
        { "text": "That is all." },
    ]);
    let body = scripted("the whole", &whole);
    scene
        .world
        .ticket("t-1")
        .line("tags: [leader]")
        .body(&body)
        .write();
    scene.drain_all();

    assert_eq!(scene.world.landed(), ["t-1"]);
    assert_eq!(scene.world.on_main("whole").as_deref(), Some("one\ntwo\n"));
    for id in ["t-1", "t-1-c1", "t-1-c2"] {
        assert_eq!(scene.world.state_name(id), "done/landed");
        assert_eq!(scene.world.front(id, "status"), "closed");
        assert_eq!(scene.failures(id), []);
    }
    assert_eq!(scene.world.count("t-1-c1", "called"), 1);
    assert_eq!(scene.world.count("t-1", "delegated"), 1);
    let of_a_leader = ["delegate", "team_kill", "team_list"].map(str::to_owned);
    let (leader, child) = (offered(&scene, "t-1"), offered(&scene, "t-1-c1"));
    assert_eq!(
        leader.difference(&child).cloned().collect::<Vec<_>>(),
        of_a_leader
    );
    assert!(child.contains("submit_work"), "{child:?}");
    let told = |id: &str| {
        let mut requests = scene.server.requests().into_iter();
        let last = requests.rfind(|request| is_told(request, id));
        last.unwrap().body["messages"].to_string()
    };
    assert!(told("t-1").contains("wrote one") && told("t-1").contains("wrote two"));
    // What it is not offered, its client refuses by itself.
    assert!(told("t-1-c2").contains("No such tool available: mcp__crew__delegate"));
}

/// The calls that stand in the folders of all runs.
fn asked(scene: &Scene) -> usize {
    let runs = fs::read_dir(scene.world.project(".crew/runs"))
        .into_iter()
        .flatten()
        .flatten();
    let asks = runs.flat_map(|run| {
        fs::read_dir(run.path().join("asks"))
            .into_iter()
            .flatten()
            .flatten()
    });
    asks.filter(|ask| ask.path().extension().is_some_and(|ending| ending == "json"))
        .count()
}

/// A command that says that it runs, and then waits for a gate of the same name.
fn pause(gate: &str) -> String {
    format!(": > \"$GATES/at-{gate}\"; {}", until_open(gate))
}

/// Freezes the engine at a gate, has the agent call behind it, and then does this before the call is
/// answered.
fn before_an_answer(scene: &Scene, engine: &Engine, gate: &str, then: impl FnOnce()) {
    let world = &scene.world;
    world.wait("the agent is at the gate", || {
        world.path("gates").join(format!("at-{gate}")).exists()
    });
    let before = asked(scene);
    engine.signal("STOP");
    world.open(gate);
    world.wait("it has called", || asked(scene) > before);
    then();
    engine.signal("CONT");
}

#[test]
fn an_engine_that_dies_in_the_middle_of_a_call_wakes_the_agent_once() {
    let scene = Scene::new();
    let script = json!([
        { "write": ["one", "one\n"] },
        call("sleep_until", &json!({ "until": "1s", "why": "the build has ended then" })),
        { "text": "I wait." },
        { "write": ["two", "two\n"] },
        call("submit_work", &json!({ "summary": "one and two" })),
        { "text": "That is all." },
    ]);
    scene.ticket("t-1", &script);
    scene.world.around("CREW_FAILPOINT_AT", "call.asked");
    assert_eq!(scene.world.engine().end().signal, Some(9));
    scene.world.around("CREW_FAILPOINT_AT", "");
    scene.drain_all();

    assert_eq!(scene.world.landed(), ["t-1"]);
    assert_eq!(scene.steps(), [0, 1, 2, 3, 4, 5], "nothing is paid for twice");
    assert_eq!(scene.sessions().len(), 1);
    assert_eq!(scene.failures("t-1"), []);
    for (fact, times) in [("step_started", 2), ("called", 2), ("woken", 1)] {
        assert_eq!(scene.world.count("t-1", fact), times, "{fact}");
    }
    let told = scene.server.requests().pop().unwrap().user_texts().join("\n");
    assert!(told.contains("the build has ended then"), "{told}");
}

#[test]
fn a_call_counts_once_where_its_server_or_its_client_dies_before_the_answer() {
    let scene = Scene::new();
    let script = json!([
        { "bash": pause("a") },
        call("team_comment", &json!({ "text": "the first" })),
        { "bash": pause("b") },
        call("team_comment", &json!({ "text": "the second" })),
        { "write": ["made", "made\n"] },
        { "bash": pause("c") },
        call("submit_work", &json!({ "summary": "made it" })),
    ]);
    scene.ticket("t-1", &script);
    let mut engine = scene.world.engine();
    before_an_answer(&scene, &engine, "a", || {
        let servers = scene
            .world
            .processes()
            .into_iter()
            .filter(|process| process.ends_with(" mcp "));
        let servers: Vec<String> = servers.collect();
        let [server] = servers.as_slice() else {
            panic!("{servers:?}");
        };
        let pid = server.split(':').next().unwrap();
        let status = scene.world.program("kill").args(["-KILL", pid]).status();
        assert!(status.unwrap().success());
    });
    before_an_answer(&scene, &engine, "b", || scene.kill_client(4));
    before_an_answer(&scene, &engine, "c", || scene.kill_client(7));
    scene.world.wait("it landed", || scene.world.is_landed("t-1"));
    scene.world.must(&["stop"]);
    engine.end();
    scene.world.assert_at_rest();
    scene.assert_no_problem();

    assert_eq!(scene.steps(), [0, 1, 2, 3, 4, 5, 6], "nothing is paid for twice");
    assert_eq!(scene.sessions().len(), 1);
    for (fact, times) in [
        ("step_started", 2),
        ("step_failed", 1),
        ("commented", 2),
        ("called", 1),
    ] {
        assert_eq!(scene.world.count("t-1", fact), times, "{fact}");
    }
    let used = scene.used("t-1");
    assert!(used.iter().all(|used| used.output_tokens > 0), "{used:?}");
    assert_eq!(scene.world.on_main("made").as_deref(), Some("made\n"));
}

#[test]
fn a_child_that_spends_its_parents_budget_has_no_further_step_and_neither_has_its_parent() {
    let scene = Scene::with(
        |settings| settings.top = "[budget]\nticket_usd = 1.0".to_owned(),
        &[],
    );
    let dear = json!([
        { "write": ["one", "one\n"], "usage": { "in": 300_000, "out": 100 } },
        { "text": "The first part.", "usage": { "in": 10, "out": 1 } },
        { "text": "DONE" },
    ]);
    let tasks = json!({ "tasks": [
        { "title": "The first half", "task": scripted("the first half", &dear) },
        { "title": "The second half", "task": "Nobody begins it." },
    ] });
    let whole = json!([call("delegate", &tasks), { "text": "I wait for them." }, { "text": "DONE" }]);
    let body = scripted("the whole", &whole);
    scene
        .world
        .ticket("t-1")
        .line("tags: [leader]")
        .body(&body)
        .write();
    scene.world.drain_held();
    scene.assert_no_problem();

    assert_eq!(scene.world.held("t-1").0, "budget");
    assert_eq!(scene.steps(), [0, 1, 0, 1], "no step begins once all is spent");
    for id in ["t-1-c1", "t-1-c2"] {
        assert_eq!(scene.world.state_name(id), "done/dropped");
    }
}

/// A client that starts, and whose server of crew's tools does not.
#[test]
fn a_server_that_does_not_start_is_told_to_people_and_the_agents_words_count() {
    let wrapper = r#"for file; do case "$file" in */mcp.json) sed -i 's|"command":"[^"]*"|"command":"/bin/false"|' "$file" ;; esac; done
exec "$@""#;
    let scene = Scene::started_by(Some(wrapper), |_| {}, &[]);
    let script = json!([
        { "write": ["made", "made\n"] },
        call("submit_work", &json!({ "summary": "made it" })),
        { "text": "The tools of crew are not there.\n\nSUMMARY: made it\nDONE" },
    ]);
    scene.ticket("t-1", &script);
    scene.drain_all();
    assert_eq!(scene.world.landed(), ["t-1"]);
    assert_eq!(scene.steps(), [0, 1, 2]);
    assert_eq!(scene.world.count("t-1", "called"), 0);
    let logs = scene.world.must(&["logs", "t-1"]).out;
    assert!(
        logs.contains("crew's tools could not be started for this step"),
        "{logs}"
    );
}
