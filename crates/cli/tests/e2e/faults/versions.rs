//! F25: a journal that a newer crew wrote. Every command that reads it refuses it, and not a byte of it
//! changes.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _};
use store::{Append, Journal as _, Location, NewEvent, Seq};

use testkit::world::{DONE, World};

/// What reads the journal, or would write to it.
const COMMANDS: &[&[&str]] = &[
    &["run", "--until-idle"],
    &["ps"],
    &["queue"],
    &["inbox"],
    &["events", "--all"],
    &["events", "--leader", "--all"],
    &["history", "t-1"],
    &["explain", "t-1"],
    &["summary", "--all"],
    &["cost"],
    &["spawn"],
    &["drop", "t-1", "because"],
    &["retry", "t-1"],
    &["clean", "--yes"],
    &["clean", "--older", "1d"],
    &["doctor"],
    &["assign", "ada", "t-2"],
    &["delegate", "ada", "look around"],
    &["answer", "t-1", "yes"],
    &["approve", "t-1"],
    &["waive", "t-1", "because"],
    &["wake", "t-1"],
    &["say", "t-1", "words"],
    &["mode", "t-1", "plan"],
    &["bait", "t-1"],
    &["reap", "ada"],
    &["rewind", "t-1", "--at", "1"],
    &["kill", "ada"],
    &["cleanup", "ada"],
    &["merge", "t-1"],
    &["revert", "t-1"],
    &["reject", "t-1", "because"],
    &["commit-to", "t-1", "it is there", "--", "true"],
    &["train"],
    &["checks"],
    &["peek", "ada"],
    &["logs", "ada"],
    &["path", "t-1"],
    &["diff", "t-1"],
    &["web", "--port", "0"],
    &["notify", "--once"],
];

/// What needs no journal; `dashboard`, which asks for a terminal before it looks at anything; and `stop`, for
/// an engine that such a journal does not have.
const WITHOUT: &[&str] = &[
    "init",
    "demo",
    "dashboard",
    "stop",
    "diagram",
    "ticket",
    "tool",
    "mcp",
    "config",
    "completions",
    "man",
    "help",
];

/// The commands that crew has.
fn commands(world: &World) -> BTreeSet<String> {
    let help = world.must(&["--help"]).out;
    let (_, commands) = help.split_once("Every day:\n").unwrap();
    let (commands, _) = commands.split_once("Options:\n").unwrap();
    let names = commands.lines().filter_map(|line| line.strip_prefix("  "));
    names
        .filter(|line| !line.starts_with(' '))
        .map(|line| line.split_whitespace().next().unwrap().to_owned())
        .collect()
}

/// As a newer crew would leave it.
fn change(journal: &Path, sql: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let options = SqliteConnectOptions::new().filename(journal);
        let mut newer = options.connect().await.unwrap();
        let sql = AssertSqlSafe(sql.to_owned());
        sqlx::raw_sql(sql).execute(&mut newer).await.unwrap();
        newer.close().await.unwrap();
    });
}

/// Every byte of it, with what is in its log.
fn bytes(world: &World) -> (Vec<u8>, Vec<u8>) {
    let journal = fs::read(world.project(".crew/journal.db")).unwrap();
    let log = fs::read(world.project(".crew/journal.db-wal")).unwrap_or_default();
    (journal, log)
}

/// Adds an event of a kind that a newer crew knows.
fn add_unknown_event(journal: &Path) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let journal = store::open(&Location::file(journal)).await.unwrap().0;
        let last = journal.head().await.unwrap().0 - 1;
        let last = journal.events(Seq(last), 1).await.unwrap().remove(0);
        let stream = journal.load(&last.stream).await.unwrap().unwrap();
        let event = NewEvent {
            kind: "beamed".to_owned(),
            body: "{\"beamed\":{}}".to_owned(),
            schema: last.schema,
            cause: None,
            state_after: "\"beamed\"".to_owned(),
            effects: Vec::new(),
        };
        let append = Append {
            events: vec![event],
            ..Append::new(stream.id, stream.version, last.at)
        };
        journal.append(vec![append]).await.unwrap();
        journal.close().await;
    });
}

fn refused_by_all(change: impl FnOnce(&Path), says: &str) {
    let world = World::new();
    let known: BTreeSet<String> = COMMANDS
        .iter()
        .map(|args| args[0])
        .chain(WITHOUT.iter().copied())
        .map(str::to_owned)
        .collect();
    assert_eq!(commands(&world), known);
    // Without it a notifier has nobody to tell, and looks at nothing.
    let to = world.path("home/.config/crew/notify.toml");
    fs::create_dir_all(to.parent().unwrap()).unwrap();
    fs::write(to, "[[to]]\ncommand = [\"true\"]\n").unwrap();
    world.ticket("t-1").agent(DONE).write();
    world.drain_all();
    let tips = world.git(&["for-each-ref"]);
    let journal = world.project(".crew/journal.db");
    let whole = fs::read(&journal).unwrap();
    change(&journal);
    let before = bytes(&world);
    world.ticket("t-2").agent(DONE).write();
    for args in COMMANDS {
        let said = world.crew(args);
        assert_ne!(said.code, Some(0), "{args:?}: {said}");
        assert!(said.all().contains(says), "{args:?}: {said}");
        assert!(bytes(&world) == before, "{args:?} wrote to it");
    }
    assert_eq!(world.git(&["for-each-ref"]), tips);
    assert_eq!(world.runs("t-2"), 0);
    // The way back: a copy that was made before.
    fs::write(&journal, whole).unwrap();
    world.drain_all();
    assert_eq!(world.landed(), ["t-1", "t-2"]);
    world.must(&["doctor", "--deep"]);
}

#[test]
fn a_newer_schema_is_refused_by_every_command() {
    let newer = "UPDATE meta SET value = '99' WHERE key = 'schema'";
    refused_by_all(|journal| change(journal, newer), "the journal has schema 99");
}

#[test]
fn an_unknown_event_is_refused_by_every_command() {
    refused_by_all(add_unknown_event, "beamed");
}
