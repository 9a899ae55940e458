//! Faults of the service, as the client meets them.

use std::io::Read as _;
use std::time::Duration;

use model_server::{End, Server};
use serde_json::{Value, json};

use crate::client::{request, send, turn};

const PATIENCE: Duration = Duration::from_secs(60);

fn prompt(script: &Value) -> Value {
    json!([{ "role": "user", "content": format!("@@{script}@@") }])
}

#[test]
fn a_failure_comes_so_often_and_no_more() {
    let server = Server::start().unwrap();
    let said = prompt(
        &json!([{ "status": 429, "times": 2, "retry_after": 7, "message": "slow down", "text": "x" }]),
    );
    for _ in 0..2 {
        let answer = turn(&server, &said);
        assert_eq!(answer.status, 429);
        assert!(answer.head.contains("retry-after: 7"), "{}", answer.head);
        assert_eq!(
            answer.json()["error"],
            json!({ "type": "rate_limit_error", "message": "slow down" })
        );
    }
    assert_eq!(turn(&server, &said).status, 200);
    let asks: Vec<u32> = server.requests().iter().map(|request| request.ask).collect();
    assert_eq!(asks, [1, 2, 3]);
    assert!(server.problems().is_empty());
}

#[test]
fn a_cut_stream_breaks_off() {
    let server = Server::start().unwrap();
    let said = prompt(&json!([{ "cut": true, "times": 1, "text": "said at last" }]));
    let answer = turn(&server, &said);
    assert!(!answer.whole);
    assert!(!answer.body.contains("said at last"), "{}", answer.body);
    assert_eq!(server.requests()[0].end, Some(End::Cut));
    let answer = turn(&server, &said);
    assert!(
        answer.whole && answer.body.contains("said at last"),
        "{}",
        answer.body
    );
}

#[test]
fn a_client_that_leaves_a_stalled_stream_is_seen_to_leave() {
    let server = Server::start().unwrap();
    let said = prompt(&json!([{ "stall_ms": 3_600_000, "text": "never said" }]));
    let mut connection = send(&server, "POST", "/v1/messages", &request(&said));
    let mut first = [0; 64];
    connection.read_exact(&mut first).unwrap();
    assert_eq!(server.requests()[0].end, None);
    drop(connection);
    assert!(server.wait(PATIENCE, |requests| requests[0].end == Some(End::ClientGone)));
}

#[test]
fn a_client_that_runs_in_a_circle_is_stopped() {
    let server = Server::start().unwrap();
    let said = prompt(&json!([{ "text": "again" }]));
    for _ in 0..60 {
        assert_eq!(turn(&server, &said).status, 200);
    }
    assert_eq!(turn(&server, &said).status, 400);
    assert!(
        server.problems()[0].contains("61 times"),
        "{:?}",
        server.problems()
    );
}

#[test]
fn a_dropped_service_is_gone() {
    let server = Server::start().unwrap();
    let said = prompt(&json!([{ "delay_ms": 3_600_000, "text": "never said" }]));
    let mut connection = send(&server, "POST", "/v1/messages", &request(&said));
    assert!(server.wait(PATIENCE, |requests| {
        requests.iter().any(|request| request.ask == 1)
    }));
    let address = server.url().trim_start_matches("http://").to_owned();
    drop(server);
    let mut rest = Vec::new();
    let _ = connection.read_to_end(&mut rest);
    assert!(rest.is_empty());
    assert!(std::net::TcpStream::connect(address).is_err());
}
