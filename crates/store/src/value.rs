//! The names and numbers that the journal is addressed by.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! name {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub String);

        impl $name {
            /// The name as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.to_owned())
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(text)
            }
        }
    };
}

macro_rules! number {
    ($(#[$doc:meta])* $name:ident($inner:ty)) => {
        $(#[$doc])*
        #[derive(
            Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
        )]
        #[serde(transparent)]
        pub struct $name(pub $inner);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

name! {
    /// Names a stream: one ticket with everything under it, or the project. Never empty.
    StreamId
}

name! {
    /// Names a command. It is also the command's idempotency key: one id is one command. Never empty.
    CommandId
}

number! {
    /// How many events a stream has; 0 is a stream that does not exist yet.
    Version(u64)
}

number! {
    /// The authority of one attempt over its stream. It only grows; a stream begins with 0.
    Fence(u64)
}

number! {
    /// An event's place in the whole journal: 1, 2, 3 … without a gap. 0 is "before the first".
    Seq(u64)
}

number! {
    /// A command's place in the inbox: 1, 2, 3 … 0 is "before the first".
    Number(u64)
}

number! {
    /// A point in time: milliseconds since 1970-01-01T00:00:00Z, as the caller's clock tells it. The journal has none.
    Millis(i64)
}

/// An entry of the outbox: the `index`-th effect (from 0) that the event `seq` ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct EffectId {
    /// The event that ordered the effect.
    pub seq: Seq,
    /// Its place among that event's effects, from 0.
    pub index: u32,
}

impl fmt::Display for EffectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.seq, self.index)
    }
}

/// One setting of a timer. Setting the same key again makes a new generation, and this one stale.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TimerRef {
    /// The stream that the timer belongs to.
    pub stream: StreamId,
    /// The timer's name within its stream.
    pub key: String,
    /// Which setting of it, from 1.
    pub generation: u64,
}
