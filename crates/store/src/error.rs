//! The errors of a journal.

use std::path::PathBuf;
use std::sync::Arc;

use crate::{AgentName, CommandId, EffectId, Fence, Slot, StreamId, TicketId, TimerRef, Version};

/// The result of asking a journal.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The reason of a refusal or a failure. Nothing was written, unless a variant's doc states the opposite.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Someone else appended first: load the stream, decide again.
    #[error("stream `{stream}` is at version {found}, not at the expected {expected}")]
    VersionConflict {
        /// The stream.
        stream: StreamId,
        /// The version that the append expected.
        expected: Version,
        /// The stream's version.
        found: Version,
    },
    /// The append's authority over the stream has passed to someone else, or the new one is not greater.
    #[error("stream `{stream}` has fence {current}; {given} is stale")]
    StaleFence {
        /// The stream.
        stream: StreamId,
        /// The append's fence.
        given: Fence,
        /// The stream's fence.
        current: Fence,
    },
    /// The timer was set anew, cancelled or spent since.
    #[error("timer `{}` of stream `{}` is not set in generation {}", timer.key, timer.stream, timer.generation)]
    StaleTimer {
        /// The setting that the append came with.
        timer: TimerRef,
    },
    /// The agent is at another ticket, or another agent has the same claim.
    #[error("agent `{agent}` cannot take ticket `{ticket}`: agent `{}` is at ticket `{}`", by.agent, by.ticket)]
    SlotTaken {
        /// The agent that wanted the slot.
        agent: AgentName,
        /// For which ticket.
        ticket: TicketId,
        /// The slot that is in the way.
        by: Slot,
    },
    /// The effect was reported before.
    #[error("effect {effect} is done already")]
    AlreadyDone {
        /// The effect.
        effect: EffectId,
    },
    /// The command was answered before.
    #[error("command `{command}` is answered already")]
    AlreadyAnswered {
        /// The command.
        command: CommandId,
    },
    /// One idempotency key for two streams: a bug of the appender.
    #[error("idempotency key `{key}` belongs to stream `{stream}`")]
    KeyReused {
        /// The key.
        key: String,
        /// The stream of its first append.
        stream: StreamId,
    },
    /// There is no such thing.
    #[error("no {what} in the journal")]
    NotFound {
        /// The missing thing, in words.
        what: String,
    },
    /// A value that no journal may hold.
    #[error("{what} is refused")]
    Invalid {
        /// The value, in words.
        what: String,
    },
    /// Another process kept the journal locked for too long.
    #[error("the journal is locked by another process")]
    Busy,
    /// No room on the disk.
    #[error("no room on the disk for the journal")]
    Full,
    /// The journal's file is not whole.
    #[error("the journal is damaged: {what}")]
    Damaged {
        /// The damage, in words.
        what: String,
    },
    /// The journal was written by a newer crew.
    #[error("the journal has schema {found}; this crew knows up to {known}")]
    NewerSchema {
        /// The journal's.
        found: i64,
        /// The newest known here.
        known: i64,
    },
    /// There is no journal at this path.
    #[error("no journal at `{}`", path.display())]
    Missing {
        /// The path.
        path: PathBuf,
    },
    /// The last writes are in the log next to the journal, and can be read only where files can be written.
    #[error("{} cannot be read where nothing can be written: the last writes are in its -wal", path.display())]
    Sealed {
        /// The journal.
        path: PathBuf,
    },
    /// The journal was written by an older crew, and cannot be brought up to date.
    #[error("{} has schema {found}, of an older crew, and cannot be brought up to date where nothing can be written", path.display())]
    OlderSchema {
        /// The journal.
        path: PathBuf,
        /// Its schema.
        found: usize,
    },
    /// Something else than a file stands where the journal belongs.
    #[error("{} is no file", path.display())]
    NoFile {
        /// The path.
        path: PathBuf,
    },
    /// There is no journal at this path, but there are files that belong to one.
    #[error("{} is missing, its {beside} is here", path.display())]
    Halved {
        /// The path.
        path: PathBuf,
        /// The end of the other file's name.
        beside: &'static str,
    },
    /// Another file, or none, stands where the journal was opened: a write would go nowhere.
    #[error("{} was deleted or replaced while it was in use", path.display())]
    Replaced {
        /// The path.
        path: PathBuf,
    },
    /// The system refused. An append that fails so may still be durable: repeat it with its key.
    #[error("{doing}: input or output failed")]
    Io {
        /// The action that failed.
        doing: String,
        /// The system's answer.
        #[source]
        source: Arc<std::io::Error>,
    },
    /// The database refused. An append that fails so may still be durable: repeat it with its key.
    #[error("{doing}: the database failed")]
    Database {
        /// The action that failed.
        doing: &'static str,
        /// The database's answer.
        #[source]
        source: Arc<dyn std::error::Error + Send + Sync>,
    },
    /// The journal was closed. An append that was under way may still be durable.
    #[error("the journal is closed")]
    Closed,
}

impl Error {
    /// A remedy that a person can apply, where there is one.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Busy => Some("another crew command is writing; try again when it has finished"),
            Self::Full => Some("free some space on the journal's disk; everything accepted is safe"),
            Self::Damaged { .. } => Some(
                "keep a copy of .crew/journal.db with its -wal and -shm files; restore a backup, or move all three away and \
                 begin a new one with `crew run`, which ends what the old one left running: branches, rescue refs and ticket \
                 files are not in it",
            ),
            Self::NoFile { .. } => {
                Some("the journal is kept in a file of this name: look what it is, and move it away")
            }
            Self::Sealed { .. } => Some(
                "look at it where .crew can be written: there the -wal is taken over; or copy the repository, with .crew in it, \
                 to where it can be",
            ),
            Self::OlderSchema { .. } => Some(
                "look at it once where .crew can be written: there it is brought up to date; or copy the repository, with .crew in \
                 it, to where it can be",
            ),
            Self::Halved { .. } => Some(
                "put it back, or move the -wal and -shm files away too and begin a new one with `crew run`: without them it lacks the \
                 last writes, and beside a new one they damage it",
            ),
            Self::Replaced { .. } => Some(
                "nothing more is begun. Put the old file back with its -wal and -shm files, if there still is one; `crew run` goes on \
                 with that file, or begins a new journal from the tickets' files",
            ),
            Self::NewerSchema { .. } => Some("use the crew version that wrote it, or a newer one"),
            Self::Io { .. } => Some("see that the disk and the folder's permissions are in order"),
            Self::VersionConflict { .. }
            | Self::StaleFence { .. }
            | Self::StaleTimer { .. }
            | Self::SlotTaken { .. }
            | Self::AlreadyDone { .. }
            | Self::AlreadyAnswered { .. }
            | Self::KeyReused { .. }
            | Self::NotFound { .. }
            | Self::Missing { .. }
            | Self::Invalid { .. }
            | Self::Database { .. }
            | Self::Closed => None,
        }
    }

    /// True if the cause may go away, by itself or by a person's hand, and leaves the journal whole: no room,
    /// no descriptors, another's lock. The caller then reads the journal again later, and decides anew.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        matches!(self, Self::Busy | Self::Full | Self::Io { .. })
    }

    /// True if the write may be durable all the same. Resolve it by repeating it with its key, or by reading.
    #[must_use]
    pub fn is_ambiguous(&self) -> bool {
        matches!(
            self,
            Self::Io { .. } | Self::Database { .. } | Self::Closed | Self::Full
        )
    }
}
