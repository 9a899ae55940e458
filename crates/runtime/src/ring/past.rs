//! What lies behind: set aside when it is over, and recalled when something asks for it.

use std::collections::BTreeSet;

use model::TicketId;

use super::Ring;
use crate::Result;

impl Ring {
    /// Takes up archived tickets that are asked for.
    pub(super) async fn recall(&mut self, ids: BTreeSet<TicketId>) -> Result<()> {
        if !self.has_archived || ids.is_empty() {
            return Ok(());
        }
        for (id, version, ticket) in self.ledger.archived(&ids).await? {
            self.core.recall(id, version, ticket);
        }
        Ok(())
    }

    /// Sets aside what lies behind, in the journal, the view and the core.
    pub(super) async fn put_aside(&mut self) -> Result<()> {
        let archived = match self.state_file.put_aside(&self.ledger, &self.core).await {
            Ok(archived) => archived,
            // It is derived, and kept another time.
            Err(error) if error.is_passing() => {
                tracing::debug!(%error, "what lies behind is set aside later");
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        self.has_archived |= !archived.is_empty();
        self.core.forget(&archived);
        Ok(())
    }
}
