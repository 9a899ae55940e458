//! The kinds of clients: each is found by its name, and reads its runs without any settings.

use std::collections::{BTreeMap, BTreeSet};

use harness::environment::Environment;
use harness::{Error, KINDS, Outcome, Reader, Session, Table};
use process::{Captured, Exit, Reason, Stream};

fn outcome(mut reader: Box<dyn Reader>, output: &str) -> Outcome {
    let exit = Exit {
        reason: Reason::Exited,
        code: Some(0),
        signal: None,
        started_at: 1,
        ended_at: 2,
        out: Captured::default(),
        err: Captured::default(),
        survivors: 0,
    };
    reader.feed(Stream::Out, output.as_bytes());
    reader.end(&exit).1
}

#[test]
fn every_kind_is_found_by_its_own_name() {
    let names: BTreeSet<&str> = KINDS.iter().map(|kind| kind.name).collect();
    assert_eq!(names.len(), KINDS.len());
    for name in names {
        assert_eq!(harness::kind(name).map(|kind| kind.name), Some(name));
    }
    assert!(harness::kind("Claude").is_none());
}

#[test]
fn a_client_names_its_kind_and_the_kind_reads_its_runs_as_the_client_does() {
    let table = Table {
        name: "mine".to_owned(),
        root: "/project".into(),
        ..Table::default()
    };
    let output = "{\"type\":\"system\"}\nDONE\n";
    let mut outcomes = Vec::new();
    for kind in &KINDS {
        let client = kind.client(&table, &Environment::new()).unwrap();
        assert_eq!(client.kind(), kind.name);
        let by_client = outcome(client.reader(&Session::default()), output);
        let by_kind = outcome(kind.reader(&Session::default(), None), output);
        assert_eq!(by_client, by_kind, "{}", kind.name);
        outcomes.push(by_kind);
    }
    assert_ne!(
        outcomes[0], outcomes[1],
        "the kinds read the same output differently"
    );
}

#[test]
fn a_client_inherits_what_its_kind_needs_and_its_table_may_not_set_crews_variables() {
    let ours = Environment::from([
        ("CLAUDE_CONFIG_DIR".into(), "/login".into()),
        ("SECRET".into(), "canary".into()),
    ]);
    let mut table = Table {
        name: "mine".to_owned(),
        command: vec!["x".to_owned()],
        root: "/project".into(),
        ..Table::default()
    };
    for (name, inherits) in [("claude", true), ("command", false)] {
        let client = harness::kind(name).unwrap().client(&table, &ours).unwrap();
        let shown = format!("{client:?}");
        assert_eq!(shown.contains("/login"), inherits, "{name}");
        assert!(!shown.contains("canary"), "{name}");
    }
    table.env = BTreeMap::from([("CREW_STEP".to_owned(), "7".to_owned())]);
    for kind in &KINDS {
        assert!(matches!(kind.client(&table, &ours), Err(Error::Reserved { .. })));
    }
}
