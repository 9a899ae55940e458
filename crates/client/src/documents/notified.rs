//! What a notifier had a program tell.

use schemars::JsonSchema;
use serde::Serialize;

/// A message that a program of `notify.toml` was given.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Notified {
    /// The program, as `notify.toml` names it.
    pub program: String,
    /// The message's id: the item's own where it tells of one item; `null` with `--test`.
    pub id: Option<String>,
    /// The message's title; `null` with `--test`.
    pub title: Option<String>,
    /// How the program failed, in a line; `null` where it has taken the message.
    pub failure: Option<String>,
}
