//! The journal: an append-only record of every fact, behind one trait.
//!
//! A [`Journal`] keeps streams of events together with what they ordered (effects, timers, slots) and the inbox of
//! commands. An [`Append`] is one transaction: the facts, the state they lead to, and everything they order become
//! durable together or not at all. Payloads are opaque JSON text; their types belong to whoever appends them.

mod any;
mod append;
mod audit;
mod error;
mod journal;
mod ledger;
mod memory;
mod row;
pub mod samples;
mod sqlite;
mod value;

pub use any::Any;
pub use append::{Answer, Append, Appended, NewEvent, SlotChange, TimerChange};
pub use error::{Error, Result};
pub use journal::{Changes, Journal};
pub use ledger::{Asked, Fold, Ledger, Ordered, is_worth_it};
pub use memory::{Fault, Memory, Snapshot};
pub use row::{
    Command, Effect, Event, Folded, Folding, NewCommand, Pieces, Record, Slot, Stream, Submitted, Timer,
    Which,
};
pub use sqlite::{RELEASED, Sqlite};
pub use value::{CommandId, EffectId, Fence, Millis, Number, Seq, StreamId, TimerRef, Version};
