//! The checkouts of checks: which are used, and which one the next run has.

use std::collections::BTreeSet;

use model::TicketId;
use model::ticket::{CheckSlot, Checks, Ticket};

use super::Core;

impl Core {
    /// The checkouts that runs of checks have. One whose checks have not begun has none yet, nor has one
    /// whose checks are paused and are another engine's.
    fn used_slots(&self) -> BTreeSet<CheckSlot> {
        let has_begun = |checks: &&Checks| checks.runs > 0;
        let goes_on = |ticket: &Ticket| ticket.check_run().is_some() || self.may_land(&ticket.id);
        self.at_work()
            .filter(|ticket| ticket.held.is_none() && goes_on(ticket))
            .filter_map(|ticket| Some(ticket.checks().filter(has_begun)?.slot))
            .collect()
    }

    /// Whether a run of another ticket's checks is under way in a checkout.
    fn is_slot_of_another(&self, id: &TicketId, slot: CheckSlot) -> bool {
        let mut others = self.at_work().filter(|ticket| ticket.id != *id);
        others.any(|other| other.check_run().is_some_and(|run| run.slot == slot))
    }

    /// The first checkout that is free.
    pub(super) fn free_slot(&self) -> Option<CheckSlot> {
        let used = self.used_slots();
        let mut slots = (1..=self.settings.train.slots).map(CheckSlot);
        slots.find(|slot| !used.contains(slot))
    }

    /// The number of checkouts that are neither used nor kept for a ticket that is being merged for its own
    /// checks.
    pub(super) fn free_slots(&self) -> usize {
        let is_kept = |ticket: &&Ticket| {
            let has_begun = ticket.checks().is_some_and(|checks| checks.runs > 0);
            ticket.held.is_none() && !has_begun && self.is_beside(ticket)
        };
        let kept = self.at_work().filter(is_kept).count();
        let slots = self.settings.train.slots as usize;
        slots.saturating_sub(self.used_slots().len() + kept)
    }

    /// The checkout of the next run of these checks. All runs of one ticket's checks have the same; while
    /// they were paused, an engine that was up for one command may have given it to another ticket's.
    pub(super) fn slot_of(&self, id: &TicketId, checks: &Checks) -> Option<CheckSlot> {
        match checks.runs {
            0 => self.free_slot(),
            _ => Some(checks.slot).filter(|slot| !self.is_slot_of_another(id, *slot)),
        }
    }
}
