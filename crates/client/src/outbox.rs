//! The outbox: the effects that the journal has ordered and that are not done.

use std::collections::BTreeSet;

use model::ticket::Effect;
use model::view::Failing;
use model::{TicketId, Time};
use store::Ledger;

use crate::error::Result;

/// The facts about the outbox that the queue and the inbox depend on.
#[derive(Debug, Default)]
pub struct Outbox {
    /// The effects that crew has to carry out and cannot.
    pub failing: Vec<Failing>,
    /// The tickets whose file crew has not written yet: until then, the file is no person's word.
    pub unwritten: BTreeSet<TicketId>,
}

impl Outbox {
    /// Reads the outbox; an empty one where there is no journal.
    ///
    /// # Errors
    /// The journal cannot be read.
    pub async fn read(ledger: Option<&Ledger>) -> Result<Self> {
        let Some(ledger) = ledger else {
            return Ok(Self::default());
        };
        let pending = ledger.pending(Time(i64::MAX)).await?.into_iter();
        let of_file = pending.filter(|ordered| matches!(ordered.effect, Effect::WriteFile(_)));
        Ok(Self {
            failing: ledger.failing().await?,
            unwritten: of_file.map(|ordered| ordered.ticket).collect(),
        })
    }
}
