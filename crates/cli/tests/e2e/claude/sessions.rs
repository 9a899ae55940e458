//! One conversation over several steps, and what becomes of it when the client dies or refuses it.

use model::attempt::Class;
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
