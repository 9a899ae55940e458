//! Answers: the client gets what the script says.

use model_server::{End, Route, Server};
use serde_json::json;

use crate::client::{ask, turn};

#[test]
fn a_script_is_played_step_by_step() {
    let server = Server::start().unwrap();
    let prompt =
        json!({ "role": "user", "content": r#"@@[{"bash":"ls"},{"text":"DONE","usage":{"out":9}}]@@"# });
    let first = turn(&server, &json!([prompt]));
    assert_eq!((first.status, first.whole), (200, true));
    assert!(
        first.head.contains("content-type: text/event-stream"),
        "{}",
        first.head
    );
    let kinds: Vec<String> = first
        .events()
        .iter()
        .map(|event| event["type"].to_string())
        .collect();
    assert_eq!(kinds.first().unwrap(), "\"message_start\"");
    assert_eq!(kinds.last().unwrap(), "\"message_stop\"");
    let call = first
        .events()
        .into_iter()
        .find(|event| event["type"] == "content_block_start")
        .unwrap();
    assert_eq!(call["content_block"]["name"], "Bash");

    let called = json!({ "role": "assistant", "content": [call["content_block"]] });
    let result = json!({ "role": "user", "content": [{ "type": "tool_result", "content": "a b c" }] });
    let second = turn(&server, &json!([prompt, called, result]));
    let end = second
        .events()
        .into_iter()
        .find(|event| event["type"] == "message_delta")
        .unwrap();
    assert_eq!(
        (&end["delta"]["stop_reason"], &end["usage"]["output_tokens"]),
        (&json!("end_turn"), &json!(9))
    );

    let asked = server.requests();
    let steps: Vec<_> = asked
        .iter()
        .map(|request| (request.step, request.ask, request.end))
        .collect();
    assert_eq!(
        steps,
        [
            (Some(0), 1, Some(End::Complete)),
            (Some(1), 1, Some(End::Complete))
        ]
    );
    assert_eq!(asked[1].session.as_deref(), Some("s-1"));
    assert_eq!(asked[1].user_texts().len(), 2);
    assert!(server.problems().is_empty());
}

#[test]
fn a_client_that_asks_for_no_stream_gets_one_body() {
    let server = Server::start().unwrap();
    let body = json!({ "model": "m", "messages": [{ "role": "user", "content": r#"@@[{"text":"hi"}]@@"# }] });
    let answer = ask(&server, "POST", "/v1/messages", &body.to_string()).json();
    assert_eq!(answer["content"], json!([{ "type": "text", "text": "hi" }]));
}

#[test]
fn what_is_not_known_is_told_and_logged() {
    let server = Server::start().unwrap();
    assert_eq!(ask(&server, "HEAD", "/", "").status, 200);
    assert_eq!(
        ask(&server, "POST", "/v1/messages/count_tokens", "{}").json()["input_tokens"],
        0
    );
    assert!(server.problems().is_empty());
    assert_eq!(ask(&server, "GET", "/nothing", "").status, 404);
    let last = server.requests().pop().unwrap();
    assert_eq!((last.route, last.status), (Route::Unknown, 404));
    assert_eq!(server.problems().len(), 1);
}

#[test]
fn what_a_test_got_wrong_is_an_error_with_its_reason() {
    let server = Server::start().unwrap();
    let said = |text: &str| turn(&server, &json!([{ "role": "user", "content": text }]));
    for (text, why) in [
        ("no script at all", "no user text"),
        (r#"@@[{"txt":"a"}]@@"#, "unknown field `txt`"),
        (r#"@@[{"text":"a"}"#, "never closed"),
        ("@@[]@@", "the script has 0 steps"),
    ] {
        let answer = said(text);
        assert_eq!(answer.status, 400);
        let message = answer.json()["error"]["message"].to_string();
        assert!(message.contains(why), "{message}");
        let problem = server.problems().pop().unwrap();
        assert!(problem.contains(why), "{problem}");
    }
    assert_eq!(ask(&server, "POST", "/v1/messages", "no json").status, 400);
    assert_eq!(server.problems().len(), 5);
}

#[test]
fn the_log_is_also_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.jsonl");
    let server = Server::start_at(0, Some(&path)).unwrap();
    turn(
        &server,
        &json!([{ "role": "user", "content": r#"@@[{"text":"hi"}]@@"# }]),
    );
    drop(server);
    let text = std::fs::read_to_string(&path).unwrap();
    let last: serde_json::Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    assert_eq!(
        (&last["step"], &last["end"], &last["body"]),
        (&json!(0), &json!("complete"), &json!(null))
    );
}
