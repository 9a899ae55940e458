//! The rows of a journal, as values.

use std::fmt::Debug;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::append::{json, named};
use crate::{
    AgentName, CommandId, EffectId, Fence, Number, Result, Seq, StreamId, TicketId, Time, TimerRef, Version,
};

/// A stream as its last event left it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stream {
    /// Its name.
    pub id: StreamId,
    /// The number of its events.
    pub version: Version,
    /// Its current fence.
    pub fence: Fence,
    /// Its state after its last event, JSON.
    pub state: String,
    /// True if it is archived: left out of [`Which::Live`], still whole.
    pub archived: bool,
}

/// The streams that a listing gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Which {
    /// Streams that are not archived.
    Live,
    /// Only those that were archived.
    Archived,
    /// All of them.
    All,
}

impl Which {
    /// True if a stream with this `archived` mark is wanted.
    pub(crate) fn wants(self, archived: bool) -> bool {
        match self {
            Self::Live => !archived,
            Self::Archived => archived,
            Self::All => true,
        }
    }
}

/// A fact, as it was appended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// Its place in the journal.
    pub seq: Seq,
    /// Its stream.
    pub stream: StreamId,
    /// The stream's version with it: 1 for the stream's first event.
    pub version: Version,
    /// The time at which it happened, by the appender's clock.
    pub at: Time,
    /// The cause, in words that the appender chose.
    pub cause: Option<String>,
    /// Its name.
    pub kind: String,
    /// The version of `body`'s shape; readers upcast older ones.
    pub schema: u32,
    /// The event, JSON.
    pub body: String,
    /// The stream's state after it, JSON.
    pub state_after: String,
}

/// The view of a journal up to an event, as a cache in pieces. Derived from the events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CachedView {
    /// The shape of the pieces, and of the records: a reader that knows another shape makes the view anew.
    pub shape: u32,
    /// The last event in it.
    pub seq: Seq,
    /// The number of its first piece; the others follow. No piece of another view has one of these numbers.
    pub first: u64,
    /// The number of pieces.
    pub pieces: u64,
}

/// A view to be cached.
#[derive(Clone, Debug)]
pub struct NewView {
    /// As in [`CachedView`].
    pub shape: u32,
    /// As in [`CachedView`].
    pub seq: Seq,
    /// All of it.
    pub pieces: Arc<dyn Pieces>,
}

impl NewView {
    /// True if the cached view goes further.
    pub(crate) fn is_behind(&self, cached: CachedView) -> bool {
        self.shape == cached.shape && self.seq < cached.seq
    }
}

/// The pieces of a view, each made when it is written: all of them together are as large as the view.
pub trait Pieces: Debug + Send + Sync {
    /// Each piece, JSON. Asked again when a transaction is begun again.
    fn each(&self) -> Box<dyn Iterator<Item = Result<String>> + Send + '_>;
}

impl Pieces for Vec<String> {
    fn each(&self) -> Box<dyn Iterator<Item = Result<String>> + Send + '_> {
        Box::new(self.iter().cloned().map(Ok))
    }
}

/// The part of a view that belongs to a stream which the view leaves out. It counts while the view lists the
/// stream as archived.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The stream.
    pub stream: StreamId,
    /// The stream's version then.
    pub version: Version,
    /// The part that is read of many streams at once, JSON.
    pub brief: String,
    /// Everything else, JSON.
    pub rest: String,
}

/// An effect in the outbox.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effect {
    /// Its place.
    pub id: EffectId,
    /// The stream whose event ordered it.
    pub stream: StreamId,
    /// The effect, JSON.
    pub body: String,
    /// The number of times that it was tried.
    pub attempts: u32,
    /// Not before this; `None` until it was tried once: a new effect never waits for a clock.
    pub run_at: Option<Time>,
    /// The reason for which the last try failed, in words; `None` where that is to pass by itself.
    pub why: Option<String>,
    /// The time at which it was finished; `None` while it is not.
    pub done_at: Option<Time>,
}

/// A timer that is set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timer {
    /// The timer, and the number of its setting.
    pub timer: TimerRef,
    /// The time at which it is due.
    pub due: Time,
}

/// An agent at a ticket. No agent is in two slots, and no claim: the attempt at a ticket and each review of
/// it have a fence of their own.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Slot {
    /// The agent.
    pub agent: AgentName,
    /// Its ticket.
    pub ticket: TicketId,
    /// The fence under which it was taken.
    pub fence: Fence,
}

/// A command to be put into the inbox.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewCommand {
    /// Its name, chosen by the asker; asking twice with one id is asking once.
    pub id: CommandId,
    /// The person who asks.
    pub by: String,
    /// When, by the asker's clock.
    pub at: Time,
    /// The command, JSON.
    pub body: String,
}

impl NewCommand {
    /// Refuses a command that no backend may write.
    pub(crate) fn check(&self) -> Result<()> {
        named("command id", self.id.as_str())?;
        json("command", self.id.as_str(), &self.body)
    }
}

/// A command in the inbox.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Command {
    /// Its place in the inbox.
    pub number: Number,
    /// Its name.
    pub id: CommandId,
    /// The person who asked.
    pub by: String,
    /// When, by the asker's clock.
    pub at: Time,
    /// The command, JSON.
    pub body: String,
    /// The answer, JSON; `None` while it is pending.
    pub outcome: Option<String>,
    /// The time at which it was answered, by the answerer's clock.
    pub answered_at: Option<Time>,
}

/// A command that is in the inbox for sure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Submitted {
    /// The command as the inbox has it: for a repeated id, the first one.
    pub command: Command,
    /// True if the id was there already; then nothing was written.
    pub repeated: bool,
}
