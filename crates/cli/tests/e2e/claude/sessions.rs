//! One conversation over several steps, and what becomes of it when the client dies or refuses it.

use serde_json::json;

use testkit::scene::Scene;

#[test]
fn a_second_step_goes_on_with_the_conversation_of_the_first() {
    let scene = Scene::new();
    let script = json!([
        { "bash": "echo one > one" },
        { "text": "The first part is there." },
        { "bash": "echo two > two" },
        { "text": "SUMMARY: wrote both parts\nDONE" },
    ]);
    scene.ticket("t-1", &script);
    scene.drain_all();

    assert_eq!(scene.steps(), [0, 1, 2, 3]);
    assert_eq!(scene.sessions().len(), 1);
    assert_eq!(scene.world.count("t-1", "step_finished"), 2);
    let told = scene.server.requests().pop().unwrap().user_texts().join("\n");
    assert!(told.contains("Work on t-1 by the script."), "{told}");
    assert!(told.contains("step 2 of"), "{told}");
    for file in ["one", "two"] {
        assert_eq!(scene.world.on_main(file), Some(format!("{file}\n")));
    }
}
