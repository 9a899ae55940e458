//! The list of all kinds of agent client.

use crate::kind::Kind;
use crate::{claude, command};

/// Every kind of agent client. The kind whose output has no format of its own is the last.
pub static KINDS: [Kind; 2] = [claude::KIND, command::KIND];

/// The kind of this name, which is the one in the settings and the one that is recorded for a run.
pub fn kind(name: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.name == name)
}
