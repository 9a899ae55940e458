//! Journals of other crews: a fixture of every released schema, which today's crew opens and shows as ever,
//! and events of a newer crew, which today's refuses. How a fixture is made is in docs/design/journal.md.

use std::path::{Path, PathBuf};

use model::journal::Stream;
use model::{TicketId, Time};
use store::{Append, Journal as _, Location, NewEvent, Version, samples};

use crate::commands::repo::Repo;

/// The fixtures: the journals of released schemas, each with the number of its schema.
fn fixtures() -> Vec<(String, PathBuf)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/journals");
    let files = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let journals = files.filter(|path| path.extension().is_some_and(|extension| extension == "db"));
    let mut fixtures: Vec<(String, PathBuf)> = journals
        .map(|path| (path.file_stem().unwrap().to_str().unwrap().to_owned(), path))
        .collect();
    fixtures.sort();
    fixtures
}

/// A repository whose journal has every kind of event of today's crew.
fn with_every_event() -> Repo {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    on_its_own(async {
        let ledger = store::create(&Location::file(&path), "00000000-0000-4000-8000-000000000001").await;
        let ledger = ledger.unwrap();
        samples::every_event(&ledger).await.unwrap();
        ledger.close().await;
    });
    with_journal(&path)
}

fn on_its_own<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(work)
}

/// A repository whose journal is a copy of this one.
fn with_journal(journal: &Path) -> Repo {
    let repo =
        Repo::with_agent("echo mine > mine; git add mine; git commit --quiet --message work; echo DONE");
    let place = repo.root.join(".crew/journal.db");
    std::fs::create_dir_all(place.parent().unwrap()).unwrap();
    std::fs::copy(journal, place).unwrap();
    repo
}

#[test]
#[expect(clippy::reversed_empty_ranges, reason = "nothing is released yet")]
fn there_is_a_fixture_of_every_released_schema() {
    let schemas: Vec<String> = fixtures().into_iter().map(|(schema, _)| schema).collect();
    let released: Vec<String> = (1..=store::RELEASED).map(|schema| schema.to_string()).collect();
    assert_eq!(schemas, released);
}

/// Works the queue off. A ticket of the journal is over because it cannot be done, which waits for a person.
fn works_off(repo: &Repo) {
    let said = repo.crew(&["run", "--until-idle"]);
    assert_eq!(said.code, 3, "{said}");
}

/// What is asked of a journal, whatever wrote it.
const ASKED: [&[&str]; 7] = [
    &["events", "--all"],
    &["ps"],
    &["queue", "--landed"],
    &["inbox"],
    &["cost", "--by", "attempt"],
    &["summary", "--all"],
    &["history", "t-1"],
];

/// Asks for everything, and gives the answers.
fn answers(repo: &Repo) -> Vec<String> {
    let answers = ASKED.map(|args| {
        let seen = repo.seen(args);
        let code = if args == ["inbox"] { 3 } else { 0 };
        assert!(seen.contains(&format!("\nexit {code}\n")), "{seen}");
        seen
    });
    let found = repo.crew(&["doctor"]);
    let whole = found.out.lines().filter(|line| line.contains("events, whole"));
    assert_eq!(whole.count(), 1, "{found}");
    answers.into()
}

#[test]
fn a_journal_of_every_released_schema_opens_and_gives_the_answers_that_it_always_gave() {
    for (schema, journal) in fixtures() {
        for (seen, args) in answers(&with_journal(&journal)).iter().zip(ASKED) {
            insta::assert_snapshot!(format!("journal_{schema}_{}", args[0]), seen);
        }
    }
}

#[test]
fn a_journal_with_every_kind_of_event_is_shown_by_every_command() {
    let answers = answers(&with_every_event());
    assert!(
        answers.iter().any(|seen| seen.contains("landed as")),
        "{answers:?}"
    );
}

#[test]
fn what_was_set_aside_is_told_as_if_it_had_not_been() {
    let repo = with_every_event();
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
    works_off(&repo);
    // Its agents are stood down and named anew by each engine; the tickets are all over, and stay as they
    // are.
    let after = told();
    for (before, after) in before.iter().zip(&after) {
        assert_eq!(before, after);
    }
    let aside = repo.crew(&["doctor"]);
    assert!(aside.out.contains("tickets are archived"), "{aside}");
    // A person opens the file of one again: it goes on from where it was, and what it was is told with the
    // rest.
    let landings = |repo: &Repo| {
        let summary = repo.crew(&["summary", "t-1"]).ok();
        summary.out.matches("landed as").count()
    };
    let before = landings(&repo);
    repo.ticket("t-1", "Do it", "");
    works_off(&repo);
    let again = repo.crew(&["history", "t-1"]).ok();
    let (_, since) = again.out.split_once("opened again by").unwrap();
    assert!(since.contains("landed as"), "{again}");
    assert_eq!(landings(&repo), before + 1);
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
        ..Append::new(
            Stream::Ticket(TicketId::new("t-99").unwrap()),
            Version(0),
            Time(0),
        )
    }
}

#[test]
fn an_event_of_a_newer_crew_is_refused_and_nothing_is_written() {
    for (schema, body, says) in [
        (99, "{}", "schema 99"),
        (1, "{\"beamed\":{}}", "unknown variant `beamed`"),
    ] {
        let repo = with_every_event();
        let path = repo.root.canonicalize().unwrap().join(".crew/journal.db");
        on_its_own(async {
            let journal = store::open(&Location::file(&path)).await.unwrap().0;
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
    let repo = with_every_event();
    works_off(&repo);
    assert!(repo.crew(&["doctor"]).out.contains("tickets are archived"));
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
