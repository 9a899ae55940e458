//! Actors: who did something.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::RunId;

/// The author of an event or a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Actor {
    /// A person, by a command.
    Person {
        /// The name of the user who ran the command.
        name: String,
    },
    /// A change of the ticket's file: nobody knows who made it.
    File,
    /// The engine itself.
    Engine,
    /// An agent, in one of its steps.
    Agent {
        /// The run of the step.
        run: RunId,
    },
    /// A program of `[hooks]`, by a command.
    Hook {
        /// The hook's key in the settings.
        key: String,
    },
}

/// The beginning of the name in which a hook's program gives commands. No user is called so.
const HOOK: &str = "the hook ";

impl Actor {
    /// A person of this user name.
    pub fn person(name: impl Into<String>) -> Self {
        Actor::Person { name: name.into() }
    }

    /// Who gives a command in this name: a person, or a hook's program.
    #[must_use]
    pub fn named(name: &str) -> Self {
        match name.strip_prefix(HOOK) {
            Some(key) => Actor::Hook { key: key.to_owned() },
            None => Actor::person(name),
        }
    }
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Actor::Person { name } => f.write_str(name),
            Actor::File => f.write_str("an edit of its file"),
            Actor::Engine => f.write_str("crew"),
            Actor::Agent { run } => write!(f, "the agent, in its run {run}"),
            Actor::Hook { key } => write!(f, "{HOOK}{key}"),
        }
    }
}
