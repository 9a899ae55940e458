//! Spending: running sums of what tickets have cost, since budgets are compared after every input.

use std::collections::{BTreeMap, BTreeSet};

use model::TicketId;
use model::ticket::Ticket;
use model::time::Day;

/// The running sums.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spending {
    /// Of all tickets, by day, in millionths of a US dollar. Wide enough that no sum of theirs overflows.
    days: BTreeMap<Day, u128>,
    /// Tickets that are not done and have cost something since their budget was granted.
    tickets: BTreeSet<TicketId>,
}

impl Spending {
    /// A ticket is about to be what it is now; `old` is what it was.
    pub(crate) fn moved(&mut self, old: Option<&Ticket>, new: &Ticket) {
        if old.is_none_or(|old| old.spent.days != new.spent.days) {
            for (day, cost) in old.into_iter().flat_map(|old| &old.spent.days) {
                let sum = self.days.entry(*day).or_default();
                *sum = sum.saturating_sub(u128::from(*cost));
            }
            for (day, cost) in &new.spent.days {
                let sum = self.days.entry(*day).or_default();
                *sum = sum.saturating_add(u128::from(*cost));
            }
            self.days.retain(|_, sum| *sum > 0);
        }
        if new.spent.since_grant_micro_usd > 0 && !new.is_done() {
            self.tickets.insert(new.id.clone());
        } else {
            self.tickets.remove(&new.id);
        }
    }

    /// A ticket is not looked at any more.
    pub(crate) fn forgotten(&mut self, ticket: &Ticket) {
        for (day, cost) in &ticket.spent.days {
            let sum = self.days.entry(*day).or_default();
            *sum = sum.saturating_sub(u128::from(*cost));
        }
        self.days.retain(|_, sum| *sum > 0);
        self.tickets.remove(&ticket.id);
    }

    /// Tickets that are not done and have cost something since their budget was granted.
    pub(crate) fn tickets(&self) -> impl Iterator<Item = &TicketId> {
        self.tickets.iter()
    }

    /// As [`model::policy::budget::of_day`].
    pub(crate) fn of_day(&self, day: Day) -> u64 {
        let sum = self.days.get(&day).copied().unwrap_or_default();
        u64::try_from(sum).unwrap_or(u64::MAX)
    }
}
