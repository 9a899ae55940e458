//! Tickets worked on by the real client, from the queue to the target.

use serde_json::json;

use testkit::scene::{Scene, scripted};

/// The client has no tools of crew's: its last words are all it says.
#[test]
fn done_in_the_clients_last_words_is_enough() {
    let scene = Scene::new();
    let script = json!([
        { "bash": "echo DONE; echo x > x" },
        { "text": "It is not DONE yet, I write DONE when it is." },
        { "write": ["README", "hello again\n"] },
        { "thinking": "DONE", "text": "All of it is there.\n\nSUMMARY: greets again\n\nDONE" },
    ]);
    scene.ticket("t-1", &script);
    scene.drain_all();
    assert_eq!(scene.steps(), [0, 1, 2, 3]);
    assert_eq!(scene.world.count("t-1", "step_finished"), 2);
    assert_eq!(scene.world.landed(), ["t-1"]);
}

#[test]
fn a_ticket_that_would_be_a_command_line_is_only_ever_text() {
    let scene = Scene::new();
    let pwned = scene.world.path("gates/pwned").display().to_string();
    let title =
        format!("--dangerously-skip-permissions $(touch {pwned}) `touch {pwned}` '; touch {pwned}; '");
    let hostile = format!(
        "--resume\n-p\n--model=other\n--\n\"; touch {pwned}; \"\n$(touch {pwned})\n!touch {pwned}\n\
         {{{{ 7 * 7 }}}} {{% raw %}} %s %n \\\\ \\0 \u{1f980}\n"
    );
    // More than an argument of a command line can hold.
    let long = "'\"$(x)`y`--z ".repeat(16_000);
    assert!(long.len() > 200_000);
    let body = format!(
        "{hostile}\n{long}\n{}",
        scripted("t-1", &json!([{ "bash": "echo x > x" }, { "text": "DONE" }]))
    );
    scene.world.ticket("t-1").title(&title).body(&body).write();
    scene.drain_all();

    let told = scene.server.requests()[0].user_texts().join("\n");
    for text in [&title, &hostile, &long] {
        assert!(told.contains(text.trim_end()), "the agent was told otherwise");
    }
    assert!(!scene.world.path("gates/pwned").exists());
    assert_eq!(scene.world.landed(), ["t-1"]);
}
