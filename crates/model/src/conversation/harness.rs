//! The harness of a conversation: its agent client.

use serde::{Deserialize, Serialize};

use crate::SessionId;
use crate::settings::HarnessKind;

/// A harness as a conversation records it.
///
/// The settings may change while a run goes on. The record is enough to read the output of the run: the kind
/// names the reader of the output, even when the settings name no such harness any more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HarnessId {
    /// The name of its table in the settings.
    pub name: String,
    /// The kind of the client.
    pub kind: HarnessKind,
}

/// The change of a conversation to another harness, because the settings do not name its own any more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HarnessChange {
    /// The harness that the conversation goes on with.
    pub to: HarnessId,
    /// The id of the new session: another client does not know the old one.
    pub fresh: SessionId,
}
