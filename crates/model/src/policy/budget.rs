//! Budgets: the amounts that a ticket and a day may cost (`[budget]`), and the consequences of spending them.
//!
//! A step's price is known when it has ended. A step is started while something is left, and none when
//! nothing is: the amount spent exceeds a budget by at most one step of each agent that runs.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::money::Usd;
use crate::ticket::Ticket;
use crate::time::Day;
use crate::{TicketId, Time};

/// The percentage of a budget from which on an agent is asked to come to an end.
const WARN_PERCENT: u128 = 80;

/// The number of days of which a ticket's state keeps the cost: today, and one for a clock that was set back.
const DAYS: usize = 2;

/// The amount spent of a budget; in words, `$4.10 of $5.00`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Budget {
    /// Spent, in millionths of a US dollar.
    pub spent_micro_usd: u64,
    /// The budget, in millionths of a US dollar.
    pub limit_micro_usd: u64,
}

/// The state of a budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// There is no budget, or less than 80 % of it are spent.
    Free,
    /// 80 % are spent: the next prompt says so.
    Low(Budget),
    /// All is spent: no step is started.
    Spent(Budget),
}

/// The cost of a ticket's steps, as far as budgets need it. It is kept in the ticket's state, so that no
/// journal is read for it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spent {
    /// The cost since it was created or a person last granted its budget anew, over all attempts; in
    /// millionths of a US dollar.
    pub since_grant_micro_usd: u64,
    /// The cost on each of the latest days on which a step of it ended; in millionths of a US dollar.
    pub days: BTreeMap<Day, u64>,
}

/// No step of any ticket is started for a while: the day's budget is spent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pause {
    /// The amount spent when that was noticed. Steps that ran then come on top.
    pub budget: Budget,
    /// The next day's beginning.
    pub until: Time,
}

impl Budget {
    /// The rest of the budget, in millionths of a US dollar.
    #[must_use]
    pub fn left(self) -> u64 {
        self.limit_micro_usd.saturating_sub(self.spent_micro_usd)
    }
}

impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} of {}",
            Usd(self.spent_micro_usd),
            Usd(self.limit_micro_usd)
        )
    }
}

impl fmt::Display for Pause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the day's budget is spent ({}): no step is started before {}",
            self.budget, self.until
        )
    }
}

impl Spent {
    /// True if nothing is spent.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// A step ended at `at` and cost so much.
    pub fn add(&mut self, at: Time, cost_micro_usd: u64) {
        if cost_micro_usd == 0 {
            return;
        }
        self.since_grant_micro_usd = self.since_grant_micro_usd.saturating_add(cost_micro_usd);
        let today = self.days.entry(at.day()).or_default();
        *today = today.saturating_add(cost_micro_usd);
        while self.days.len() > DAYS {
            self.days.pop_first();
        }
    }
}

/// The state of a budget of which `spent` of `limit` is used; without a limit everything is free.
#[must_use]
pub fn stands(spent_micro_usd: u64, limit: Option<Usd>) -> Standing {
    let Some(Usd(limit_micro_usd)) = limit else {
        return Standing::Free;
    };
    let budget = Budget {
        spent_micro_usd,
        limit_micro_usd,
    };
    if spent_micro_usd >= limit_micro_usd {
        Standing::Spent(budget)
    } else if u128::from(spent_micro_usd) * 100 >= u128::from(limit_micro_usd) * WARN_PERCENT {
        Standing::Low(budget)
    } else {
        Standing::Free
    }
}

/// The cost of all steps that ended on `day`, in millionths of a US dollar.
#[must_use]
pub fn of_day(tickets: &BTreeMap<TicketId, Arc<Ticket>>, day: Day) -> u64 {
    let spent = tickets.values().filter_map(|ticket| ticket.spent.days.get(&day));
    spent.fold(0, |sum, cost| sum.saturating_add(*cost))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn limits() -> impl Strategy<Value = u64> {
        prop_oneof![1..100u64, 1..50_000_000u64, Just(u64::MAX)]
    }

    proptest! {
        #[test]
        fn the_three_standings_share_the_whole_line(spent in any::<u64>(), limit in limits()) {
            let budget = Budget { spent_micro_usd: spent, limit_micro_usd: limit };
            let eighty = u128::from(limit) * 80;
            let wanted = match u128::from(spent) * 100 {
                hundredths if hundredths >= u128::from(limit) * 100 => Standing::Spent(budget),
                hundredths if hundredths >= eighty => Standing::Low(budget),
                _ => Standing::Free,
            };
            prop_assert_eq!(stands(spent, Some(Usd(limit))), wanted);
            prop_assert_eq!(stands(spent, None), Standing::Free);
        }

        #[test]
        fn spend_exceeds_a_budget_by_at_most_one_step(limit in limits(), steps in prop::collection::vec(0..20_000_000u64, 0..60)) {
            let mut spent = Spent::default();
            let mut dearest = 0;
            for cost in steps {
                if let Standing::Spent(_) = stands(spent.since_grant_micro_usd, Some(Usd(limit))) {
                    break;
                }
                dearest = dearest.max(cost);
                spent.add(Time(0), cost);
            }
            prop_assert!(u128::from(spent.since_grant_micro_usd) <= u128::from(limit) + u128::from(dearest));
        }

        #[test]
        fn days_add_up_and_midnight_begins_a_new_one(costs in prop::collection::vec((0..50i64, 0..1000u64), 0..40)) {
            let mut spent = Spent::default();
            let mut by_day: BTreeMap<i64, u64> = BTreeMap::new();
            let mut hour = 0;
            for (hours, cost) in costs {
                hour += hours;
                spent.add(Time(hour * 3_600_000), cost);
                *by_day.entry(hour.div_euclid(24)).or_default() += cost;
            }
            let today = hour.div_euclid(24);
            let kept = spent.days.get(&Day(today)).copied().unwrap_or_default();
            prop_assert_eq!(kept, by_day.get(&today).copied().unwrap_or_default());
            prop_assert_eq!(spent.since_grant_micro_usd, by_day.values().sum::<u64>());
            prop_assert!(spent.days.len() <= 2);
        }
    }

    #[test]
    fn a_budget_shows_how_much_of_it_is_spent() {
        let budget = Budget {
            spent_micro_usd: 4_100_000,
            limit_micro_usd: 5_000_000,
        };
        assert_eq!(budget.to_string(), "$4.10 of $5.00");
        assert_eq!(budget.left(), 900_000);
        let until = Time(1_767_323_045_000).day().next().begins();
        let pause = Pause { budget, until };
        assert!(
            pause.to_string().ends_with("before 2026-01-03T00:00:00Z"),
            "{pause}"
        );
    }
}
