//! The trait that every backend is behind.

use std::future::Future;

use tokio::sync::watch;

use crate::{
    Append, Appended, Command, CommandId, Effect, EffectId, Error, Event, Folded, Folding, Millis,
    NewCommand, Number, Record, Result, Seq, Slot, Stream, StreamId, Submitted, Timer, Version, Which,
};

/// A durable, append-only record of facts with what they order.
///
/// What a write answered `Ok` to is durable. Every check of a write is made in the transaction that writes. Listings
/// are ordered, and paged by their last element and a limit.
pub trait Journal: Send + Sync {
    /// Writes the whole batch in one transaction, or nothing of it, and gives a result for each append, in order.
    ///
    /// Checks, in this order, each against what the batch's earlier appends did: idempotency key, version, kind, fence,
    /// `fires`, `completes`, `slots`, `answers`.
    ///
    /// # Errors
    /// The first check that failed; [`Error::Invalid`] before any; or the backend's failure
    /// (see [`Error::is_ambiguous`]).
    fn append(&self, batch: Vec<Append>) -> impl Future<Output = Result<Vec<Appended>>> + Send;

    /// The stream as it is now; `None` when there is none.
    fn load(&self, stream: &StreamId) -> impl Future<Output = Result<Option<Stream>>> + Send;

    /// Streams by id, after the given one.
    fn streams(
        &self,
        which: Which,
        after: Option<&StreamId>,
        limit: u32,
    ) -> impl Future<Output = Result<Vec<Stream>>> + Send;

    /// Sets a stream aside; it stays whole, and an append brings it back.
    ///
    /// # Errors
    /// [`Error::NotFound`].
    fn archive(&self, stream: &StreamId) -> impl Future<Output = Result<()>> + Send;

    /// Those of these streams that were archived; what is not there is left out.
    fn archived(&self, streams: &[StreamId]) -> impl Future<Output = Result<Vec<Stream>>> + Send;

    /// Keeps what was folded, with what was taken out of it, in place of what was kept before. Archives every stream with a
    /// record that has its version, and that nothing is left to be done in, and gives those. `None`: nothing is kept, as one of
    /// the same shape that goes further is.
    ///
    /// # Errors
    /// [`Error::Invalid`] for text that is not JSON.
    fn put_aside(
        &self,
        folding: Folding,
        records: Vec<Record>,
    ) -> impl Future<Output = Result<Option<Vec<StreamId>>>> + Send;

    /// What was folded last; `None` when nothing was.
    fn folded(&self) -> impl Future<Output = Result<Option<Folded>>> + Send;

    /// A piece of what was folded, by its number; `None` when there is none: what it was of has been replaced.
    fn piece(&self, number: u64) -> impl Future<Output = Result<Option<String>>> + Send;

    /// The record of a stream; `None` when it never had one.
    fn record(&self, stream: &StreamId) -> impl Future<Output = Result<Option<Record>>> + Send;

    /// Records by stream, after the given one.
    fn records(
        &self,
        after: Option<&StreamId>,
        limit: u32,
    ) -> impl Future<Output = Result<Vec<Record>>> + Send;

    /// As [`records`](Self::records), without the rest of each, which is then empty.
    fn briefs(
        &self,
        after: Option<&StreamId>,
        limit: u32,
    ) -> impl Future<Output = Result<Vec<Record>>> + Send;

    /// The tail: events after a place, of all streams, in order.
    fn events(&self, after: Seq, limit: u32) -> impl Future<Output = Result<Vec<Event>>> + Send;

    /// The events of one stream after one of them, or from its first on (0), in order.
    ///
    /// # Errors
    /// [`Error::Damaged`] where they do not follow each other.
    fn events_of(
        &self,
        stream: &StreamId,
        after: Seq,
        limit: u32,
    ) -> impl Future<Output = Result<Vec<Event>>> + Send;

    /// The event that gave a stream this version; `None` when none did. It costs what came since.
    ///
    /// # Errors
    /// [`Error::Damaged`] where it is not there.
    fn event_of(
        &self,
        stream: &StreamId,
        version: Version,
    ) -> impl Future<Output = Result<Option<Event>>> + Send;

    /// The place of the last event; 0 when there is none.
    fn head(&self) -> impl Future<Output = Result<Seq>> + Send;

    /// A watch that tells of every write to this journal, in this process, and of every [`poke`](Self::poke).
    fn changes(&self) -> Changes;

    /// A hint that another process may have written: wakes whoever waits, to look again.
    fn poke(&self);

    /// Waits until there is an event after the given place, and gives the place of the last one.
    fn wait(&self, after: Seq) -> impl Future<Output = Result<Seq>> + Send {
        async move {
            let mut changes = self.changes();
            loop {
                let head = self.head().await?;
                if head > after {
                    return Ok(head);
                }
                changes.changed().await?;
            }
        }
    }

    /// Effects that are not done and may be tried now, in the order in which they were ordered.
    fn pending(&self, now: Millis, limit: u32) -> impl Future<Output = Result<Vec<Effect>>> + Send;

    /// When the next effect that waits for another try may be tried; `None` when none waits.
    fn next_run(&self) -> impl Future<Output = Result<Option<Millis>>> + Send;

    /// One effect, done or not.
    fn effect(&self, effect: EffectId) -> impl Future<Output = Result<Option<Effect>>> + Send;

    /// Notes that an effect was tried without success, when it may be tried again, and why it failed, where that does not pass by
    /// itself: it stands until the next try.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::AlreadyDone`].
    fn tried(
        &self,
        effect: EffectId,
        run_at: Millis,
        why: Option<String>,
    ) -> impl Future<Output = Result<()>> + Send;

    /// Notes that an effect is finished, without a fact to report. One that is done stays as it is.
    ///
    /// # Errors
    /// [`Error::NotFound`].
    fn done(&self, effect: EffectId, at: Millis) -> impl Future<Output = Result<()>> + Send;

    /// Timers that are due, the longest due first.
    fn due(&self, now: Millis, limit: u32) -> impl Future<Output = Result<Vec<Timer>>> + Send;

    /// When the next timer is due; `None` when none is set.
    fn next_due(&self) -> impl Future<Output = Result<Option<Millis>>> + Send;

    /// The timers that are set in a stream, by key.
    fn timers_of(&self, stream: &StreamId) -> impl Future<Output = Result<Vec<Timer>>> + Send;

    /// The slots that are taken, by agent.
    fn slots(&self) -> impl Future<Output = Result<Vec<Slot>>> + Send;

    /// Puts a command into the inbox. An id that is there already gives the first command, unchanged.
    ///
    /// # Errors
    /// [`Error::Invalid`], or the backend's failure: submit it again with its id.
    fn submit(&self, command: NewCommand) -> impl Future<Output = Result<Submitted>> + Send;

    /// Commands without an answer, after a place in the inbox, in order.
    fn pending_commands(
        &self,
        after: Number,
        limit: u32,
    ) -> impl Future<Output = Result<Vec<Command>>> + Send;

    /// A command with its answer, if it has one; `None` when there is no such command.
    fn command(&self, id: &CommandId) -> impl Future<Output = Result<Option<Command>>> + Send;

    /// Answers a command without a fact. WriteMeta twice with the same outcome is answering once.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::AlreadySettled`] when the outcome is another one.
    fn settle(&self, id: &CommandId, outcome: String, at: Millis) -> impl Future<Output = Result<()>> + Send;

    /// A note about the journal itself, such as `id`, which its creator gave it.
    fn meta(&self, key: &str) -> impl Future<Output = Result<Option<String>>> + Send;

    /// Sets a note about the journal itself.
    ///
    /// # Errors
    /// [`Error::Invalid`] for `id` and `schema`, which are the journal's own.
    fn set_meta(&self, key: &str, value: &str) -> impl Future<Output = Result<()>> + Send;

    /// Reads everything and tells what does not agree, in words; empty when all is well. Slow on a large journal.
    ///
    /// # Errors
    /// Only when the journal cannot be read to its end.
    fn verify(&self) -> impl Future<Output = Result<Vec<String>>> + Send;
}

/// A watch on a journal. It misses no change: one that came before [`changed`](Self::changed) was called counts.
#[derive(Debug)]
pub struct Changes(watch::Receiver<u64>);

impl Changes {
    /// Waits for a change since the last call, or since the watch began.
    ///
    /// # Errors
    /// [`Error::Closed`] when the journal is gone.
    pub async fn changed(&mut self) -> Result<()> {
        self.0.changed().await.map_err(|_gone| Error::Closed)
    }
}

/// The other end of [`Changes`].
#[derive(Debug)]
pub(crate) struct Bell(watch::Sender<u64>);

impl Bell {
    pub(crate) fn new() -> Self {
        Self(watch::Sender::new(0))
    }

    pub(crate) fn ring(&self) {
        self.0.send_modify(|rings| *rings = rings.wrapping_add(1));
    }

    /// How often it rang.
    #[cfg(test)]
    pub(crate) fn rings(&self) -> u64 {
        *self.0.borrow()
    }

    pub(crate) fn changes(&self) -> Changes {
        Changes(self.0.subscribe())
    }
}

/// Refuses a change to a note that is the journal's own.
pub(crate) fn own(key: &str) -> Result<()> {
    crate::append::named("note", key)?;
    match key {
        "id" | "schema" => Err(Error::Invalid {
            what: format!("a change of the journal's own note `{key}`"),
        }),
        _ => Ok(()),
    }
}
