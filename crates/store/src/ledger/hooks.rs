//! The state of a hook, as a note of the journal: how far its notices were delivered, and its last failure.

use model::Time;
use model::journal::State;
use model::view::{self, Notice};
use serde::{Deserialize, Serialize};

use super::{Ledger, Recorded, text};
use crate::{Error, Journal, Result, Version};

/// The state of a hook.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivered {
    /// The row up to which its notices were delivered; none for a hook that begins with the next row.
    pub after: Option<u64>,
    /// Its last failure; none since it went well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<FailedHook>,
}

/// A notice that a hook got and failed on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedHook {
    /// The notice, by its row.
    pub notice: u64,
    /// When it failed.
    pub at: Time,
    /// How, in words, with the end of what it printed: not sanitised.
    pub why: String,
}

impl<J: Journal> Ledger<J> {
    /// The notice that a row is, with the agent whose attempt is over with it; none for a row that is none.
    ///
    /// # Errors
    /// [`Error::Damaged`] where the row before it cannot be understood; the backend's failure.
    pub async fn notice(&self, row: &Recorded) -> Result<Option<Notice>> {
        let Some(mut notice) = view::notice(row.row()) else {
            return Ok(None);
        };
        if notice.agent.is_none() && notice.ticket.is_some() && row.version > 1 {
            let before = self.0.event_of(&row.stream, Version(row.version - 1)).await?;
            let before = before.map(|row| self.recorded(row)).transpose()?;
            if let Some(State::Ticket(ticket)) = before.map(|before| before.after) {
                notice.agent = ticket.attempt().map(|attempt| attempt.claim.agent.clone());
            }
        }
        Ok(Some(notice))
    }

    /// The state of the hook of this name.
    ///
    /// # Errors
    /// [`Error::Damaged`] where it cannot be understood; the backend's failure.
    pub async fn delivered(&self, hook: &str) -> Result<Delivered> {
        let Some(value) = self.0.meta(&key(hook)).await? else {
            return Ok(Delivered::default());
        };
        serde_json::from_str(&value).map_err(|_unreadable| Error::Damaged {
            what: format!("the state of the hook `{hook}` is recorded as `{value}`"),
        })
    }

    /// Notes the state of the hook of this name.
    ///
    /// # Errors
    /// The backend's failure.
    pub async fn set_delivered(&self, hook: &str, delivered: &Delivered) -> Result<()> {
        let value = text("the state of a hook", delivered)?;
        self.0.set_meta(&key(hook), &value).await
    }
}

fn key(hook: &str) -> String {
    format!("hook.{hook}")
}
