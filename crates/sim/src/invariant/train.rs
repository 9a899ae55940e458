//! Invariants of the merge train: a batch lands whole or not at all.

use std::collections::{BTreeMap, BTreeSet};

use model::ticket::{Batch, Event};
use model::{Oid, TicketId};

use super::{Checked, ensure};

/// The batches whose landing is under way, by their tips, and those that have just landed.
#[derive(Clone, Debug, Default)]
pub(super) struct Batches {
    landing: BTreeMap<TicketId, Batch>,
    landed: Vec<Batch>,
}

impl Batches {
    /// Takes in an event of a ticket.
    pub(super) fn note(&mut self, id: &TicketId, event: &Event) {
        if let Event::BatchLanding { tip, batch, .. } = event
            && tip == id
        {
            self.landing.insert(id.clone(), batch.clone());
        } else if let Event::Landed { .. } = event {
            self.landed.extend(self.landing.remove(id));
        } else if let Event::NotLanded
        | Event::TargetMoved
        | Event::Uncoupled { .. }
        | Event::BatchPutOff { .. } = event
        {
            self.landing.remove(id);
        }
    }

    /// All entries of a batch have landed once its tip has, and none before. `landed`: every commit that the
    /// journal calls landed.
    pub(super) fn are_whole(&mut self, landed: &BTreeSet<&Oid>) -> Checked {
        let all = "a batch lands whole or not at all";
        let count = |batch: &Batch| {
            batch
                .entries
                .iter()
                .filter(|it| landed.contains(&it.commit))
                .count()
        };
        for batch in std::mem::take(&mut self.landed) {
            ensure(count(&batch) == batch.entries.len(), all, || {
                format!("{} of {:?} have landed", count(&batch), batch.entries)
            })?;
        }
        for batch in self.landing.values() {
            ensure(count(batch) == 0, all, || {
                format!(
                    "{} of {:?} have landed before the tip",
                    count(batch),
                    batch.entries
                )
            })?;
        }
        Ok(())
    }
}
