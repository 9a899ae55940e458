//! The client's rarer ways: each takes as long as the client takes to give up, or several clients.

use model::attempt::Class;
use model_server::End;
use serde_json::json;

use crate::claude::usage::tokens;
use testkit::scene::{Scene, until_open};

/// The client waits for a silent service for ever; crew does not.
#[test]
fn a_stream_that_stalls_is_stopped_and_the_work_goes_on_anew() {
    let scene = Scene::with(|s| s.run = "stall_after = \"3s\"".to_owned(), &[]);
    let stalls = json!({ "stall_ms": 3_600_000, "times": 1, "text": "so\nDONE" });
    scene.ticket("t-1", &json!([{ "bash": "echo x > x" }, stalls]));
    scene.drain_all();

    assert_eq!(scene.steps(), [0, 1, 0, 1]);
    let ends: Vec<_> = scene
        .server
        .requests()
        .iter()
        .filter_map(|request| request.end)
        .collect();
    assert_eq!(
        ends,
        [End::Complete, End::ClientGone, End::Complete, End::Complete]
    );
    assert_eq!(scene.sessions().len(), 2);
    assert_eq!(scene.world.landed(), ["t-1"]);
}

#[test]
fn a_service_that_asks_to_wait_is_waited_for_and_no_error_is_counted() {
    let scene = Scene::with(|_| {}, &[("CLAUDE_CODE_MAX_RETRIES", "0")]);
    let limited =
        json!({ "status": 429, "times": 1, "retry_after": 2, "message": "slow down", "text": "DONE" });
    scene.ticket("t-1", &json!([{ "bash": "echo x > x" }, limited]));
    scene.drain_all();

    let failures = scene.failures("t-1");
    let classes: Vec<Class> = failures.iter().map(|failure| failure.class).collect();
    assert_eq!(classes, [Class::RateLimited], "{failures:?}");
    assert_eq!(scene.world.landed(), ["t-1"]);
    let left = scene.errors_left("t-1");
    assert_eq!(left, [model::policy::failure::ERRORS], "an error was counted");
}

#[test]
fn a_short_wait_is_left_to_the_client() {
    let scene = Scene::new();
    let limited =
        json!({ "status": 429, "times": 1, "retry_after": 1, "message": "slow down", "text": "DONE" });
    scene.ticket("t-1", &json!([{ "bash": "echo x > x" }, limited]));
    scene.drain_all();

    assert_eq!(scene.failures("t-1"), []);
    assert_eq!(scene.steps(), [0, 1, 1]);
}

/// The service fails in the middle of the first step: the session has the task by then.
#[test]
fn a_first_step_that_fails_half_way_is_only_told_to_go_on() {
    let scene = Scene::with(|_| {}, &[("CLAUDE_CODE_MAX_RETRIES", "0")]);
    let fails = json!({ "status": 500, "times": 1, "message": "no such thing", "text": "so\nDONE" });
    scene.ticket("t-1", &json!([{ "bash": "echo x > x" }, fails]));
    scene.drain_all();

    assert_eq!(scene.failures("t-1").len(), 1);
    assert_eq!(scene.sessions().len(), 1, "the conversation went on");
    let requests = scene.server.requests();
    let told = requests.last().unwrap().user_texts().join("\n");
    assert_eq!(told.matches("The ticket says:").count(), 1, "{told}");
    assert!(told.contains("Go on with ticket t-1 (step 1"), "{told}");
    assert_eq!(scene.steps(), [0, 1, 1]);
}

/// A request that the service calls invalid is the same again however often it is made.
#[test]
fn an_invalid_request_is_made_three_times_at_most() {
    let scene = Scene::with(|_| {}, &[("CLAUDE_CODE_MAX_RETRIES", "0")]);
    scene.ticket(
        "t-1",
        &json!([{ "status": 400, "message": "no such model: opus-9" }]),
    );
    scene.world.drain_held();

    assert_eq!(scene.failures("t-1").len(), 3);
    let (why, note) = scene.world.held("t-1");
    assert_eq!(why, "no_progress");
    assert!(note.contains("no such model: opus-9"), "{note}");
}

/// The client keeps a session only from its first words on: one that dies before has none to resume.
#[test]
fn a_client_that_dies_before_its_transcript_is_given_the_task_again() {
    let wrapper = r#"[ -e "$GATES/died" ] || { : > "$GATES/died"; kill -KILL $$; }
exec "$@""#;
    let scene = Scene::started_by(Some(wrapper), |_| {}, &[]);
    scene.ticket("t-1", &json!([{ "bash": "echo x > x" }, { "text": "DONE" }]));
    scene.drain_all();

    let failures = scene.failures("t-1");
    assert_eq!(failures[0].class, Class::Lost, "{failures:?}");
    let others: Vec<Class> = failures[1..].iter().map(|failure| failure.class).collect();
    assert!(
        others.is_empty() || others == [Class::SessionMissing],
        "{failures:?}"
    );
    assert_eq!(scene.steps(), [0, 1]);
    assert_eq!(scene.world.on_main("x").as_deref(), Some("x\n"));
}

/// The other side of the window: the transcript is there, and crew does not know of it.
#[test]
fn a_session_that_is_in_use_is_left_for_a_new_one() {
    let wrapper = r#"if [ ! -e "$GATES/prompt" ]; then
    cat > "$GATES/prompt"
    "$@" < "$GATES/prompt" > /dev/null
    exec "$@" < "$GATES/prompt"
fi
exec "$@""#;
    let scene = Scene::started_by(Some(wrapper), |_| {}, &[]);
    scene.ticket("t-1", &json!([{ "bash": "echo x >> x" }, { "text": "DONE" }]));
    scene.drain_all();

    let failures = scene.failures("t-1");
    let classes: Vec<Class> = failures.iter().map(|failure| failure.class).collect();
    assert_eq!(classes, [Class::SessionInUse], "{failures:?}");
    assert_eq!(scene.steps(), [0, 1, 0, 1]);
    assert_eq!(scene.sessions().len(), 2);
    assert_eq!(scene.world.landed(), ["t-1"]);
}

#[test]
fn a_killed_step_is_charged_and_the_next_one_not_again() {
    let scene = Scene::new();
    let waits = format!("echo x > x; : > \"$GATES/busy\"; {}", until_open("never"));
    let script = json!([
        { "text": "The first part.", "usage": { "in": 1000, "out": 100 } },
        { "bash": waits, "usage": { "in": 5000, "out": 500 } },
        { "text": "The second part.", "usage": { "in": 1000, "out": 100 } },
        { "text": "DONE", "usage": { "in": 1000, "out": 100 } },
    ]);
    scene.ticket("t-1", &script);
    let mut engine = scene.world.engine();
    scene
        .world
        .wait("the tool runs", || scene.world.path("gates/busy").exists());
    scene.kill_client(1);
    scene.world.wait("it landed", || scene.world.is_landed("t-1"));
    scene.world.must(&["stop"]);
    engine.end();
    scene.assert_no_problem();

    assert_eq!(
        tokens(&scene, "t-1"),
        [(1000, 100), (5000, 500), (1000, 100), (1000, 100)]
    );
    let cost: Vec<u64> = scene.used("t-1").iter().map(|used| used.cost_micro_usd).collect();
    assert!(
        cost[2].abs_diff(cost[0]) <= 2 && cost[3].abs_diff(cost[0]) <= 2,
        "{cost:?}"
    );
}

#[test]
fn four_tickets_are_landed_by_two_clients() {
    let scene = Scene::with(|s| s.agents = "count = 2".to_owned(), &[]);
    // The first two wait for each other: they are at work at once.
    for (id, other) in [("t-1", "t-2"), ("t-2", "t-1")] {
        let meets = format!(": > \"$GATES/{id}\"; {} && echo {id} > {id}", until_open(other));
        scene.ticket(id, &json!([{ "bash": meets }, { "text": "DONE" }]));
    }
    for id in ["t-3", "t-4"] {
        scene.ticket(
            id,
            &json!([{ "bash": format!("echo {id} > {id}") }, { "text": format!("{id} is there\nDONE") }]),
        );
    }
    scene.drain_all();

    let mut landed = scene.world.landed();
    landed.sort();
    assert_eq!(landed, ["t-1", "t-2", "t-3", "t-4"]);
    for id in &landed {
        assert_eq!(scene.world.on_main(id), Some(format!("{id}\n")));
        assert_eq!(scene.failures(id), []);
    }
    assert_eq!(scene.sessions().len(), 4);
}
