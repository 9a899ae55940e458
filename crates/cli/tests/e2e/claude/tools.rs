//! crew's tools in the real client: it starts the server by itself, and the model calls them by name.

use std::fs;

use serde_json::json;

use testkit::scene::Scene;

#[test]
fn the_client_calls_crews_tools_and_its_result_stands() {
    let scene = Scene::new();
    let script = json!([
        { "write": ["greeting", "hello\n"] },
        { "tool": "mcp__crew__team_comment", "input": { "text": "the greeting is written" } },
        { "tool": "mcp__crew__submit_work", "input": { "summary": "greets", "acceptance_test_result": "read it" } },
        { "text": "BLOCKED: I have changed my mind" },
    ]);
    scene.ticket("t-1", &script);
    scene.drain_all();
    assert_eq!(scene.world.landed(), ["t-1"]);
    assert_eq!(scene.steps(), [0, 1, 2, 3]);
    assert_eq!(
        (
            scene.world.count("t-1", "commented"),
            scene.world.count("t-1", "called")
        ),
        (1, 1)
    );
    let file = fs::read_to_string(scene.world.ticket_file("t-1")).unwrap();
    assert!(file.contains("\n> the greeting is written\n"), "{file}");
    assert_eq!(scene.world.count("t-1", "edited"), 0);
}

#[test]
fn a_question_by_a_tool_is_answered_in_the_next_step() {
    let scene = Scene::new();
    let script = json!([
        { "tool": "mcp__crew__ask", "input": { "question": "red or blue?" } },
        { "text": "I wait." },
        { "write": ["colour", "blue\n"] },
        { "tool": "mcp__crew__submit_work", "input": { "summary": "painted" } },
        { "text": "That is all." },
    ]);
    scene.ticket("t-1", &script);
    scene.world.drain_held();
    scene.world.must(&["answer", "t-1", "blue"]);
    scene.drain_all();
    assert_eq!(scene.world.landed(), ["t-1"]);
    assert_eq!(scene.world.count("t-1", "answered"), 1);
}

/// The server dies: whether the client starts it again or not, the work is submitted.
#[test]
fn an_agent_whose_server_was_killed_submits_all_the_same() {
    let scene = Scene::new();
    let kill = "for p in /proc/[0-9]*; do if tr '\\0' ' ' < $p/cmdline 2>/dev/null | grep -q ' mcp $' && tr '\\0' '\\n' < \
                $p/environ 2>/dev/null | grep -qx \"CREW_RUN_ID=$CREW_RUN_ID\"; then kill -9 ${p#/proc/} && touch \"$GATES/killed\"; fi; done";
    let script = json!([
        { "write": ["greeting", "hello\n"] },
        { "bash": kill },
        { "tool": "mcp__crew__submit_work", "input": { "summary": "greets" } },
        { "text": "SUMMARY: greets\n\nDONE" },
    ]);
    scene.ticket("t-1", &script);
    scene.drain_all();
    assert_eq!(scene.world.landed(), ["t-1"]);
    assert!(scene.world.path("gates/killed").exists());
}
