//! A service that fails, and a client that does not say so plainly.

use model::attempt::Class;
use serde_json::json;

use testkit::scene::Scene;

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
