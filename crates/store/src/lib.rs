//! The journal: an append-only record of every fact, behind one trait.
//!
//! A [`Journal`] has streams of events together with the effects, timers and slots that they ordered, and the
//! inbox of commands. An [`Append`] is one transaction: the facts, the state they lead to, and everything
//! they order become durable together or not at all. Payloads are opaque JSON text: the [`Ledger`] gives them
//! their types. A [`ViewArchive`] beside it caches the view that frontends show.
//!
//! [`open()`] hides the backend: nothing outside this crate names SQLite.

mod any;
mod append;
mod audit;
mod error;
mod journal;
mod ledger;
mod memory;
mod open;
mod row;
pub mod samples;
mod sqlite;
mod subscription;
mod value;

pub use any::Any;
pub use append::{Answer, Append, Appended, NewEvent, SlotChange, TimerChange};
pub use error::{Error, Result};
pub use journal::{Journal, ViewArchive};
pub use ledger::{Delivered, FailedHook, Ledger, Recorded, is_worth_archiving};
pub use memory::{Fault, Memory, Snapshot};
pub use open::{Location, create, open, open_to_read};
pub use row::{
    CachedView, Command, Effect, Event, NewCommand, NewView, Pieces, Record, Slot, Stream, Submitted, Timer,
    Which,
};
pub use sqlite::{RELEASED, Sqlite};
pub use subscription::Subscription;
pub use value::{CommandId, Number, Seq, Version};

use model::journal::{EffectId, Stream as StreamId, TimerRef};
use model::{AgentName, Fence, TicketId, Time};
