//! The archive: tickets are archived when they are over, and restored when something asks for them.

use std::collections::BTreeSet;
use std::time::Duration;

use model::TicketId;

use super::Dispatcher;
use crate::{Result, clock, outputs};

/// Outputs are looked through this often: folders of old runs are many.
const TRIM: Duration = Duration::from_mins(10);

impl Dispatcher {
    /// Takes up archived tickets that are asked for.
    pub(super) async fn restore(&mut self, ids: BTreeSet<TicketId>) -> Result<()> {
        if !self.has_archived || ids.is_empty() {
            return Ok(());
        }
        for (id, version, ticket) in self.ledger.archived(&ids).await? {
            self.driver.restore(id, version, ticket);
        }
        Ok(())
    }

    /// Sets aside what lies behind, in the journal, the view and the core.
    pub(super) async fn archive_tickets(&mut self) -> Result<()> {
        let archived = match self.state_file.archive_tickets(&self.ledger).await {
            Ok(archived) => archived,
            // It is derived, and kept another time.
            Err(error) if error.is_passing() => {
                tracing::debug!(%error, "what lies behind is set aside later");
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        self.has_archived |= !archived.is_empty();
        self.driver.forget(&archived);
        Ok(())
    }

    /// Keeps what steps and checks have printed within its bound, beside everything else.
    pub(super) fn trim_outputs(&mut self) {
        let now = clock::now();
        if self.trimmed.is_some_and(|at| at + TRIM > now && at <= now) {
            return;
        }
        self.trimmed = Some(now);
        let over = self.driver.core().tickets().filter(|ticket| ticket.is_done());
        let mut closed: BTreeSet<TicketId> = over.map(|ticket| ticket.id.clone()).collect();
        closed.extend(self.state_file.archived().iter().cloned());
        let place = self.executor.place.clone();
        let most = u64::from(self.executor.settings.run.outputs_mib) << 20;
        self.executor.threads.begin_if_free(move || {
            outputs::forget_old_checks(&place, now);
            let removed = outputs::trim([&place.runs_dir, &place.check_runs_dir()], &closed, most);
            if removed > 0 {
                tracing::info!(
                    "the outputs of {removed} old runs were removed: there is a bound for all together"
                );
            }
        });
    }
}
