//! Journals of every released schema, made by the crew that released it: today's opens them and says of them
//! what it always said. What makes the next one is in docs/design/journal.md.

use std::path::{Path, PathBuf};

use store::{Append, Journal as _, Millis, NewEvent, Seq, Sqlite, StreamId, Version};

use crate::commands::repo::Repo;

/// The journals that are kept, each with the schema that it was written with.
fn kept() -> Vec<(String, PathBuf)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/journals");
    let files = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut kept: Vec<(String, PathBuf)> = files
        .map(|path| (path.file_stem().unwrap().to_str().unwrap().to_owned(), path))
        .collect();
    kept.sort();
    kept
}

/// A repository whose journal is this one.
fn with_journal(journal: &Path) -> Repo {
    let repo =
        Repo::with_agent("echo mine > mine; git add mine; git commit --quiet --message work; echo DONE");
    let place = repo.root.join(".crew/journal.db");
    std::fs::create_dir_all(place.parent().unwrap()).unwrap();
    std::fs::copy(journal, place).unwrap();
    repo
}

#[test]
fn there_is_a_journal_of_every_released_schema() {
    let schemas: Vec<String> = kept().into_iter().map(|(schema, _)| schema).collect();
    let released: Vec<String> = (1..=store::RELEASED).map(|schema| schema.to_string()).collect();
    assert_eq!(schemas, released);
}

#[test]
fn a_journal_of_every_released_schema_opens_and_is_told_as_ever() {
    for (schema, journal) in kept() {
        let repo = with_journal(&journal);
        for args in [
            &["events", "--all"] as &[&str],
            &["ps"],
            &["queue", "--landed"],
            &["inbox"],
            &["cost", "--by", "attempt"],
            &["summary", "--all"],
            &["history", "t-1"],
        ] {
            let seen = repo.seen(args);
            assert!(seen.contains("\nexit 0\n"), "schema {schema}: {seen}");
            insta::assert_snapshot!(format!("journal_{schema}_{}", args[0]), seen);
        }
        let found = repo.crew(&["doctor"]);
        let journal: Vec<&str> = found
            .out
            .lines()
            .filter(|line| line.contains("events, whole"))
            .collect();
        assert_eq!(journal.len(), 1, "schema {schema}: {found}");
    }
}

#[test]
fn what_was_set_aside_is_told_as_if_it_had_not_been() {
    let (_, journal) = kept().remove(0);
    let repo = with_journal(&journal);
    let told = || {
        let asked: [&[&str]; 12] = [
            &["cost"],
            &["cost", "--by", "step"],
            &["cost", "--by", "attempt"],
            &["cost", "--by", "agent", "--json"],
            &["cost", "t-12"],
            &["summary", "--all"],
            &["summary", "t-7"],
            &["queue", "--landed"],
            &["history", "t-1"],
            &["explain", "t-2"],
            &["explain", "t-5", "--json"],
            &["retry", "t-2"],
        ];
        asked.map(|args| repo.seen(args))
    };
    let before = told();
    repo.crew(&["run", "--until-idle"]).ok();
    // Its agents are stood down and named anew by each engine; the tickets are all over, and stay as they
    // are.
    let after = told();
    for (before, after) in before.iter().zip(&after) {
        assert_eq!(before, after);
    }
    let aside = repo.crew(&["doctor"]);
    assert!(aside.out.contains("36 tickets are set aside"), "{aside}");
    // A person opens the file of one again: it goes on from where it was, and what it was is told with the
    // rest.
    repo.ticket("t-1", "Do it", "");
    repo.crew(&["run", "--until-idle"]).ok();
    let again = repo.crew(&["history", "t-1"]).ok();
    let (_, since) = again.out.split_once("opened again by").unwrap();
    assert!(since.contains("landed as"), "{again}");
    let summary = repo.crew(&["summary", "t-1"]).ok();
    assert_eq!(summary.out.matches("landed as").count(), 2, "{summary}");
}

/// An event as a newer crew might write it.
fn from_the_future(schema: u32, body: &str) -> Append {
    let event = NewEvent {
        kind: "beamed".to_owned(),
        body: body.to_owned(),
        schema,
        cause: None,
        state_after: "\"beamed\"".to_owned(),
        effects: Vec::new(),
    };
    Append {
        events: vec![event],
        ..Append::new("ticket/t-99", "ticket", Version(0), Millis(0))
    }
}

#[test]
fn an_event_of_a_newer_crew_is_refused_and_nothing_is_written() {
    for (schema, body, says) in [
        (99, "{}", "schema 99"),
        (1, "{\"beamed\":{}}", "unknown variant `beamed`"),
    ] {
        let (_, journal) = kept().remove(0);
        let repo = with_journal(&journal);
        let path = repo.root.canonicalize().unwrap().join(".crew/journal.db");
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let journal = Sqlite::open(&path).await.unwrap();
            let append = vec![from_the_future(schema, body)];
            journal.append(append).await.unwrap();
            journal.close().await;
        });
        let before = std::fs::read(&path).unwrap();
        for args in [&["run", "--until-idle"] as &[&str], &["ps"], &["cost"]] {
            let said = repo.crew(args);
            assert!(said.code != 0, "{said}");
            assert!(said.err.contains(says), "{said}");
        }
        assert!(std::fs::read(&path).unwrap() == before, "it was written to");
    }
}

/// What `crew explain` says of a ticket: its state, and why it is not given out.
fn explained(repo: &Repo, id: &str) -> (String, String) {
    let said = repo.crew(&["explain", id, "--json"]).ok().json();
    let text = |key: &str| said[key].as_str().unwrap().to_owned();
    (text("state"), text("says"))
}

#[test]
fn a_ticket_that_was_set_aside_can_be_recovered() {
    let (_, journal) = kept().remove(0);
    let repo = with_journal(&journal);
    repo.crew(&["run", "--until-idle"]).ok();
    assert!(repo.crew(&["doctor"]).out.contains("tickets are set aside"));
    let ended = |state: &str| {
        let mut ids = (1..=36).map(|n| format!("t-{n}"));
        ids.find(|id| explained(&repo, id).0 == state).unwrap()
    };
    let (failed, landed) = (ended("done/failed"), ended("done/landed"));
    repo.ticket("r-1", "Recover what failed", &format!("recovers: {failed}"));
    repo.ticket("r-2", "Recover what landed", &format!("recovers: {landed}"));
    let (_, says) = explained(&repo, "r-1");
    assert!(says.contains("nothing is in the way"), "{says}");
    let (_, says) = explained(&repo, "r-2");
    assert!(says.contains("not needed"), "{says}");
}

#[test]
fn a_ticket_whose_name_would_be_refused_today_is_still_read() {
    let (_, journal) = kept().remove(0);
    let repo = with_journal(&journal);
    let path = repo.root.join(".crew/journal.db");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let journal = Sqlite::open(&path).await.unwrap();
        let old = StreamId("ticket/t-1".to_owned());
        let rows = journal.events_of(&old, Seq(0), 1_000).await.unwrap();
        for (n, row) in (0..).zip(rows) {
            let event = NewEvent {
                kind: row.kind,
                body: row.body,
                schema: row.schema,
                cause: None,
                state_after: row.state_after.replace("\"t-1\"", "\"t-1.LOCK\""),
                effects: Vec::new(),
            };
            let append = Append {
                events: vec![event],
                ..Append::new("ticket/t-1.LOCK", "ticket", Version(n), row.at)
            };
            journal.append(vec![append]).await.unwrap();
        }
        journal.close().await;
    });
    for args in [
        &["ps"] as &[&str],
        &["queue"],
        &["events", "--all"],
        &["history", "t-1.LOCK"],
    ] {
        repo.crew(args).ok();
    }
    let found = repo.crew(&["doctor"]);
    assert!(found.out.contains("events, whole"), "{found}");
    repo.ticket("t-2.LOCK", "New", "");
    let said = repo.crew(&["queue"]).ok();
    let told = said.to_string();
    assert!(told.contains("'t-2.LOCK' cannot be a ticket's id"), "{told}");
}
