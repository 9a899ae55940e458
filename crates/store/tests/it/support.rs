//! Support for the tests: the backends, and short ways to write an append.

use std::path::PathBuf;

use model::journal::Stream;
use model::{TicketId, Time};
use store::{
    Append, Command, Effect, Event, Journal, Memory, NewCommand, NewEvent, Number, Seq, Slot, Sqlite, Timer,
    Version, ViewArchive, Which,
};
use tempfile::TempDir;

/// A kind of journal, and how to come back to one after the process that had it is gone.
pub(crate) trait Backend: Sized {
    type Journal: Journal + ViewArchive + Clone + 'static;

    async fn fresh() -> (Self, Self::Journal);

    async fn reopen(&self, journal: Self::Journal) -> Self::Journal;
}

pub(crate) struct InMemory;

impl Backend for InMemory {
    type Journal = Memory;

    async fn fresh() -> (Self, Memory) {
        (Self, Memory::new("journal-1"))
    }

    async fn reopen(&self, journal: Memory) -> Memory {
        Memory::restored(&journal.snapshot())
    }
}

pub(crate) struct InFile {
    folder: TempDir,
}

impl InFile {
    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("crew").join("journal.db")
    }
}

impl Backend for InFile {
    type Journal = Sqlite;

    async fn fresh() -> (Self, Sqlite) {
        let backend = Self {
            folder: TempDir::new().unwrap(),
        };
        let journal = Sqlite::create(&backend.path(), "journal-1").await.unwrap();
        (backend, journal)
    }

    async fn reopen(&self, journal: Sqlite) -> Sqlite {
        drop(journal);
        Sqlite::open(&self.path()).await.unwrap()
    }
}

/// The stream of the ticket with this id.
pub(crate) fn stream(id: &str) -> Stream {
    Stream::Ticket(TicketId::new(id).unwrap())
}

/// One fact of kind `happened`; the state after is its number.
pub(crate) fn append(stream: &str, expected: u64) -> Append {
    Append {
        events: vec![event("happened", expected + 1)],
        ..Append::new(self::stream(stream), Version(expected), Time(1_000))
    }
}

pub(crate) fn event(kind: &str, n: u64) -> NewEvent {
    NewEvent {
        kind: kind.to_owned(),
        body: format!("{{\"n\":{n}}}"),
        schema: 1,
        cause: None,
        state_after: format!("{{\"count\":{n}}}"),
        effects: Vec::new(),
    }
}

/// One fact that orders these effects.
pub(crate) fn ordering(stream: &str, expected: u64, effects: &[&str]) -> Append {
    let mut append = append(stream, expected);
    append.events[0].effects = effects.iter().map(|effect| format!("\"{effect}\"")).collect();
    append
}

pub(crate) fn command(id: &str) -> NewCommand {
    NewCommand {
        id: id.into(),
        by: "someone".to_owned(),
        at: Time(5),
        body: "{\"do\":\"it\"}".to_owned(),
    }
}

/// Everything that a journal shows.
#[derive(Debug, PartialEq)]
pub(crate) struct Shown {
    streams: Vec<store::Stream>,
    events: Vec<Event>,
    pending: Vec<Effect>,
    timers: Vec<Timer>,
    slots: Vec<Slot>,
    commands: Vec<Command>,
    next_run: Option<Time>,
    next_due: Option<Time>,
    note: Option<String>,
}

pub(crate) async fn shown(journal: &impl Journal) -> Shown {
    let forever = Time(i64::MAX);
    Shown {
        streams: journal.streams(Which::All, None, 10_000).await.unwrap(),
        events: journal.events(Seq(0), 10_000).await.unwrap(),
        pending: journal.pending(forever, 10_000).await.unwrap(),
        timers: journal.due(forever, 10_000).await.unwrap(),
        slots: journal.slots().await.unwrap(),
        commands: journal.pending_commands(Number(0), 10_000).await.unwrap(),
        next_run: journal.next_run().await.unwrap(),
        next_due: journal.next_due().await.unwrap(),
        note: journal.meta("note").await.unwrap(),
    }
}

/// The journal finds nothing wrong with itself.
pub(crate) async fn assert_sound(journal: &impl Journal) {
    assert_eq!(journal.verify().await.unwrap(), Vec::<String>::new());
}
