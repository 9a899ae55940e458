//! The backend that was chosen when the program ran: the one place that names them all.

use std::future::Future;

use crate::{
    Append, Appended, CachedView, Command, CommandId, Effect, EffectId, Event, Journal, Memory, NewCommand,
    NewView, Number, Record, Result, Seq, Slot, Sqlite, Stream, StreamId, Submitted, Subscription, Time,
    Timer, Version, ViewArchive, Which,
};

/// A journal of a kind that is chosen when the program runs. Clones are handles to one journal.
#[derive(Clone, Debug)]
pub enum Any {
    /// In memory.
    Memory(Memory),
    /// In a SQLite file.
    Sqlite(Sqlite),
}

impl From<Memory> for Any {
    fn from(journal: Memory) -> Self {
        Self::Memory(journal)
    }
}

impl From<Sqlite> for Any {
    fn from(journal: Sqlite) -> Self {
        Self::Sqlite(journal)
    }
}

/// The trait once more, each method handed on to the backend.
macro_rules! hand_on {
    ($(fn $method:ident(&self $(, $arg:ident: $type:ty)*) -> $output:ty;)*) => {
        $(
            fn $method(&self $(, $arg: $type)*) -> impl Future<Output = Result<$output>> + Send {
                async move {
                    match self {
                        Self::Memory(journal) => journal.$method($($arg),*).await,
                        Self::Sqlite(journal) => journal.$method($($arg),*).await,
                    }
                }
            }
        )*
    };
}

impl Journal for Any {
    hand_on! {
        fn append(&self, batch: Vec<Append>) -> Vec<Appended>;
        fn load(&self, stream: &StreamId) -> Option<Stream>;
        fn streams(&self, which: Which, after: Option<&StreamId>, limit: u32) -> Vec<Stream>;
        fn archive(&self, stream: &StreamId) -> ();
        fn archived(&self, streams: &[StreamId]) -> Vec<Stream>;
        fn events(&self, after: Seq, limit: u32) -> Vec<Event>;
        fn events_of(&self, stream: &StreamId, after: Seq, limit: u32) -> Vec<Event>;
        fn event_of(&self, stream: &StreamId, version: Version) -> Option<Event>;
        fn head(&self) -> Seq;
        fn pending(&self, now: Time, limit: u32) -> Vec<Effect>;
        fn next_run(&self) -> Option<Time>;
        fn effect(&self, effect: EffectId) -> Option<Effect>;
        fn tried(&self, effect: EffectId, run_at: Time, why: Option<String>) -> ();
        fn done(&self, effect: EffectId, at: Time) -> ();
        fn due(&self, now: Time, limit: u32) -> Vec<Timer>;
        fn next_due(&self) -> Option<Time>;
        fn timers_of(&self, stream: &StreamId) -> Vec<Timer>;
        fn slots(&self) -> Vec<Slot>;
        fn submit(&self, command: NewCommand) -> Submitted;
        fn pending_commands(&self, after: Number, limit: u32) -> Vec<Command>;
        fn command(&self, id: &CommandId) -> Option<Command>;
        fn answer(&self, id: &CommandId, outcome: String, at: Time) -> ();
        fn meta(&self, key: &str) -> Option<String>;
        fn set_meta(&self, key: &str, value: &str) -> ();
        fn verify(&self) -> Vec<String>;
    }

    fn subscribe(&self) -> Subscription {
        match self {
            Self::Memory(journal) => journal.subscribe(),
            Self::Sqlite(journal) => journal.subscribe(),
        }
    }

    async fn close(&self) {
        match self {
            Self::Memory(journal) => journal.close().await,
            Self::Sqlite(journal) => journal.close().await,
        }
    }
}

impl ViewArchive for Any {
    hand_on! {
        fn save_view(&self, view: NewView, records: Vec<Record>) -> Option<Vec<StreamId>>;
        fn cached_view(&self) -> Option<CachedView>;
        fn piece(&self, number: u64) -> Option<String>;
        fn record(&self, stream: &StreamId) -> Option<Record>;
        fn records(&self, after: Option<&StreamId>, limit: u32) -> Vec<Record>;
        fn briefs(&self, after: Option<&StreamId>, limit: u32) -> Vec<Record>;
    }
}
