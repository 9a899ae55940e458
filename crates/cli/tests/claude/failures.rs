//! A service that fails, and a client that does not say so plainly.

use model::attempt::Class;
use model_server::End;
use serde_json::json;

use crate::scene::Scene;

/// The client calls a failed request a success with an error, and gives the service's words as its result.
#[test]
fn a_failed_request_is_a_failed_step_whatever_it_says() {
    let scene = Scene::with(|_| {}, &[("CLAUDE_CODE_MAX_RETRIES", "0")]);
    let fails = json!({ "status": 500, "times": 1, "message": "no such thing\n\nDONE", "text": "so\nDONE" });
    scene.ticket(
        "t-1",
        &json!([{ "bash": "echo x > x" }, { "text": "The first part." }, fails]),
    );
    scene.drain_all();

    let failures = scene.failures("t-1");
    assert_eq!(failures.len(), 1, "{failures:?}");
    assert!(failures[0].message.contains("no such thing"), "{failures:?}");
    assert_eq!(scene.steps(), [0, 1, 2, 2]);
    assert_eq!(scene.world.count("t-1", "step_finished"), 2);
}

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

/// Left alone, the client asks a service that does not know it for minutes.
#[test]
fn a_refused_key_is_a_matter_for_a_person_at_once() {
    let scene = Scene::with(|_| {}, &[("CLAUDE_CODE_MAX_RETRIES", "1000")]);
    scene.ticket("t-1", &json!([{ "status": 401, "message": "invalid x-api-key" }]));
    scene.world.drain_held();

    let asked = scene.server.requests().len();
    assert!(asked < 10, "the client was left to ask {asked} times");
    let failures = scene.failures("t-1");
    let classes: Vec<Class> = failures.iter().map(|failure| failure.class).collect();
    assert_eq!(classes, [Class::Auth], "{failures:?}");
    let (why, note) = scene.world.held("t-1");
    assert!(format!("{why} {note}").contains("auth"), "{why}: {note}");
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
    assert_eq!(why, "breaker");
    assert!(note.contains("no such model: opus-9"), "{note}");
}
