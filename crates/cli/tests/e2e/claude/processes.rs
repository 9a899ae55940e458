//! Clients and engines that are killed in the middle of a tool call.

use serde_json::json;

use testkit::scene::{Scene, until_open};

/// A command that says that it runs, and then waits for a gate.
fn busy(gate: &str) -> String {
    format!("echo x > x; : > \"$GATES/busy\"; {}", until_open(gate))
}

#[test]
fn a_killed_client_leaves_nothing_running() {
    let scene = Scene::new();
    let script = json!([{ "text": "The first part." }, { "bash": busy("never") }, { "text": "DONE" }]);
    scene.ticket("t-1", &script);
    let mut engine = scene.world.engine();
    scene
        .world
        .wait("the tool runs", || scene.world.path("gates/busy").exists());
    let tools = || {
        let processes = scene.world.processes().into_iter();
        processes.filter(|process| process.contains("python3")).count()
    };
    assert!(tools() > 0);
    scene.kill_client(1);
    scene.world.wait("the step has failed", || {
        scene.world.count("t-1", "step_failed") == 1
    });
    assert_eq!(tools(), 0, "the client's tool lives on");

    scene.world.wait("it landed", || scene.world.is_landed("t-1"));
    scene.world.must(&["stop"]);
    engine.end();
    scene.world.assert_at_rest();
    scene.assert_no_problem();
    assert_eq!(scene.sessions().len(), 1, "the conversation went on");
    assert_eq!(scene.steps(), [0, 1, 2]);
}

#[test]
fn a_client_that_outlives_its_engine_is_adopted() {
    let scene = Scene::new();
    scene.ticket("t-1", &json!([{ "bash": busy("go") }, { "text": "DONE" }]));
    let mut engine = scene.world.engine();
    scene
        .world
        .wait("the tool runs", || scene.world.path("gates/busy").exists());
    let client = scene.client();
    engine.signal("KILL");
    engine.end();

    let mut second = scene.world.engine();
    scene.world.wait("the second engine is there", || {
        scene.world.crew(&["ps"]).out.contains("t-1")
    });
    assert_eq!(scene.client(), client);
    scene.world.open("go");
    scene.world.wait("it landed", || scene.world.is_landed("t-1"));
    scene.world.must(&["stop"]);
    second.end();
    scene.world.assert_at_rest();
    scene.assert_no_problem();

    assert_eq!(scene.steps(), [0, 1], "nothing was asked twice");
    assert_eq!(scene.world.count("t-1", "step_started"), 1);
    assert_eq!(scene.failures("t-1"), []);
}
