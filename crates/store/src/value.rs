//! The names and numbers of the journal that the model does not have.

use std::fmt;

use serde::{Deserialize, Serialize};

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

/// Names a command. It is also the command's idempotency key: one id is one command. Never empty.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CommandId(pub String);

impl CommandId {
    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for CommandId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<&str> for CommandId {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

number! {
    /// The number of events of a stream; 0 is a stream that does not exist yet.
    Version(u64)
}

number! {
    /// An event's place in the whole journal: 1, 2, 3 … without a gap. 0 is "before the first".
    Seq(u64)
}

number! {
    /// A command's place in the inbox: 1, 2, 3 … 0 is "before the first".
    Number(u64)
}
