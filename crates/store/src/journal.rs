//! The traits of a backend: the journal, and the archive of views.

use std::future::Future;

use crate::{
    Append, Appended, CachedView, Command, CommandId, Effect, EffectId, Error, Event, NewCommand, NewView,
    Number, Record, Result, Seq, Slot, Stream, StreamId, Submitted, Subscription, Time, Timer, Version,
    Which,
};

/// A durable, append-only record of facts with the effects that they order.
///
/// A write that returned `Ok` is durable. Every check of a write is made in the transaction that writes.
/// Listings are ordered, and paged by their last element and a limit.
pub trait Journal: Send + Sync {
    /// Writes the whole batch in one transaction, or nothing of it, and returns a result for each append, in
    /// order.
    ///
    /// Checks, in this order, each against the state that the batch's earlier appends left: idempotency key,
    /// version, fence,
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

    /// Archives a stream: it is left out of [`Which::Live`], and stays whole. The next append to it makes it
    /// live again.
    ///
    /// # Errors
    /// [`Error::NotFound`].
    fn archive(&self, stream: &StreamId) -> impl Future<Output = Result<()>> + Send;

    /// The archived ones of these streams; a stream that does not exist is left out.
    fn archived(&self, streams: &[StreamId]) -> impl Future<Output = Result<Vec<Stream>>> + Send;

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

    /// The event that gave a stream this version; `None` when none did. The cost grows with the events of the
    /// stream since.
    ///
    /// # Errors
    /// [`Error::Damaged`] where the event is missing.
    fn event_of(
        &self,
        stream: &StreamId,
        version: Version,
    ) -> impl Future<Output = Result<Option<Event>>> + Send;

    /// The place of the last event; 0 when there is none.
    fn head(&self) -> impl Future<Output = Result<Seq>> + Send;

    /// Subscribes to every write from now on, of this process and of others.
    fn subscribe(&self) -> Subscription;

    /// Waits until there is an event after the given place, and returns the place of the last one.
    fn wait(&self, after: Seq) -> impl Future<Output = Result<Seq>> + Send {
        async move {
            let mut subscription = self.subscribe();
            loop {
                let head = self.head().await?;
                if head > after {
                    return Ok(head);
                }
                subscription.changed().await?;
            }
        }
    }

    /// Effects that are not done and may be tried now, in the order in which they were ordered.
    fn pending(&self, now: Time, limit: u32) -> impl Future<Output = Result<Vec<Effect>>> + Send;

    /// The time at which the next effect that waits for another try may be tried; `None` when none waits.
    fn next_run(&self) -> impl Future<Output = Result<Option<Time>>> + Send;

    /// One effect, done or not.
    fn effect(&self, effect: EffectId) -> impl Future<Output = Result<Option<Effect>>> + Send;

    /// Notes that an effect was tried without success, when it may be tried again, and why it failed, where
    /// the failure does not pass by itself: the reason stands until the next try.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::AlreadyDone`].
    fn tried(
        &self,
        effect: EffectId,
        run_at: Time,
        why: Option<String>,
    ) -> impl Future<Output = Result<()>> + Send;

    /// Notes that an effect is finished, without a fact to report. One that is done stays as it is.
    ///
    /// # Errors
    /// [`Error::NotFound`].
    fn done(&self, effect: EffectId, at: Time) -> impl Future<Output = Result<()>> + Send;

    /// Timers that are due, the longest due first.
    fn due(&self, now: Time, limit: u32) -> impl Future<Output = Result<Vec<Timer>>> + Send;

    /// The time at which the next timer is due; `None` when none is set.
    fn next_due(&self) -> impl Future<Output = Result<Option<Time>>> + Send;

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
    /// [`Error::NotFound`]; [`Error::AlreadyAnswered`] when the outcome is another one.
    fn answer(&self, id: &CommandId, outcome: String, at: Time) -> impl Future<Output = Result<()>> + Send;

    /// A note about the journal itself, such as `id`, which its creator gave it.
    fn meta(&self, key: &str) -> impl Future<Output = Result<Option<String>>> + Send;

    /// Sets a note about the journal itself.
    ///
    /// # Errors
    /// [`Error::Invalid`] for `id` and `schema`, which are the journal's own.
    fn set_meta(&self, key: &str, value: &str) -> impl Future<Output = Result<()>> + Send;

    /// Reads everything and returns the rows that do not agree, in words; empty when all is well. Slow on a
    /// large journal.
    ///
    /// # Errors
    /// Only when the journal cannot be read to its end.
    fn verify(&self) -> impl Future<Output = Result<Vec<String>>> + Send;

    /// Waits for the writes that have begun, and closes the journal: a later call may fail with
    /// [`Error::Closed`]. Not needed for durability: a write that was answered is durable.
    fn close(&self) -> impl Future<Output = ()> + Send;
}

/// The archive: the view of a journal up to an event, as a cache, and the parts of it that belong to archived
/// streams. All of it is derived from the events.
pub trait ViewArchive: Send + Sync {
    /// Caches a view in place of the one before, with records of the streams that it leaves out. Archives
    /// every stream with a record of its version that has no effect to be done and no timer, and returns
    /// those. `None`: nothing is written, since the cached view has the same shape and goes further.
    ///
    /// # Errors
    /// [`Error::Invalid`] for text that is not JSON.
    fn save_view(
        &self,
        view: NewView,
        records: Vec<Record>,
    ) -> impl Future<Output = Result<Option<Vec<StreamId>>>> + Send;

    /// The cached view; `None` when there is none.
    fn cached_view(&self) -> impl Future<Output = Result<Option<CachedView>>> + Send;

    /// A piece of the cached view, by its number; `None` when there is none: its view has been replaced.
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
