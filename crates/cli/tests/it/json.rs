//! Every document has the shape that docs/json.md promises.

use serde_json::Value;

use crate::support::Repo;

#[track_caller]
fn keys(value: &Value, wanted: &[&str]) {
    for key in wanted {
        assert!(value.get(key).is_some(), "no `{key}` in {value:#}");
    }
}

#[test]
fn every_look_is_one_document() {
    let repo = Repo::with_crew();
    repo.ticket("t-1", "One", "");
    repo.crew(&["spawn", "ada"]).ok();
    let json = |args: &[&str]| repo.crew(&[args, &["--json"]].concat()).ok().json();
    let ps = json(&["ps"]);
    keys(&ps, &["agents", "engine", "queue", "usage", "pause", "seq"]);
    keys(
        &ps["agents"][0],
        &[
            "name",
            "state",
            "symbol",
            "ticket",
            "step",
            "usage",
            "totals",
            "waits_for",
            "waits_until",
        ],
    );
    assert_eq!(
        (
            ps["agents"][0]["name"].as_str(),
            ps["agents"][0]["state"].as_str()
        ),
        (Some("ada"), Some("idle"))
    );
    let queue = json(&["queue"]);
    keys(
        &queue,
        &["counts", "tickets", "held", "landed", "problems", "pause"],
    );
    keys(
        &queue["tickets"][0],
        &[
            "id", "title", "type", "priority", "deps", "state", "agent", "labels", "why_not", "refusal",
        ],
    );
    keys(
        &json(&["explain", "t-1"]),
        &["ticket", "title", "state", "engine", "says", "refusal"],
    );
    let history = json(&["history", "ada"]);
    keys(
        &history["events"][0],
        &[
            "seq", "at", "stream", "kind", "cause", "says", "state", "event", "effects",
        ],
    );
    keys(
        &json(&["events"])["events"][0],
        &["seq", "at", "stream", "kind", "says", "event"],
    );
    keys(
        &json(&["peek", "ada"]),
        &["agent", "run", "ticket", "step", "lines", "errors"],
    );
    keys(&json(&["config"]), &["project", "run", "agents", "checks"]);
    keys(&json(&["config", "--schema"]), &["properties"]);
    keys(&json(&["diagram"]), &["machines"]);
    let cost = json(&["cost", "--by", "day"]);
    keys(&cost, &["by", "of", "lines", "total", "running"]);
    keys(&cost["total"], &["steps", "failed", "usage"]);
    keys(&json(&["stop"]), &["command", "accepted", "message"]);
    keys(&json(&["clean"]), &["cleaned", "kept"]);
}

#[test]
fn a_command_answers_as_a_document_and_a_refusal_too() {
    let repo = Repo::with_crew();
    let said = repo.crew(&["spawn", "ada", "--json"]).ok().json();
    assert_eq!(
        (said["accepted"].as_bool(), said["message"].as_str()),
        (Some(true), Some("spawned ada"))
    );
    let said = repo.crew(&["spawn", "ada", "--json"]);
    assert_eq!(said.code, 1, "{said}");
    assert_eq!(said.json()["accepted"], false);
}

#[test]
fn times_are_absolute_and_in_utc() {
    let repo = Repo::with_crew();
    repo.crew(&["spawn", "ada"]).ok();
    let at = repo.crew(&["events", "--json"]).ok().json()["events"][0]["at"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(
        at.len() == 20 && at.ends_with('Z') && at.as_bytes()[10] == b'T',
        "{at}"
    );
}
