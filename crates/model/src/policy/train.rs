//! The merge train: which branch is merged on which, which prefix is checked, and what a verdict leads to.
//!
//! Each entry is merged on the one ahead of it, so the verdict on an entry is the verdict on the prefix up
//! to it. A prefix that passes lands by one move of the target. One that fails is cut in two parts, or in
//! three by two runs at once, until the first entry is found with which it fails. What failed with others
//! ahead of it is tried once more when they have landed: only an entry that fails by itself is at fault.

#[cfg(test)]
mod tests;

use std::time::Duration;

use crate::{TicketId, Time};

/// How long a batch that is not full waits for a branch that is being merged, since the last one joined it.
pub const WAIT: Duration = Duration::from_secs(2);

/// How many runs look for an entry at fault at once, however many slots there are: more runs would be paid
/// for less and less time.
const MOST_CUTS: usize = 2;

/// An entry of the train that is not landing, the first one first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// The ticket.
    pub ticket: &'a TicketId,
    /// The verdict on the prefix up to it.
    pub trial: Trial,
    /// The time at which it joined the train.
    pub joined_at: Time,
}

/// The verdict on a prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trial {
    /// None, and no checks run on it.
    Untried,
    /// Its checks run.
    Running,
    /// It passed.
    Passed,
    /// It failed.
    Failed,
}

/// What stands behind the entries, and ahead of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Queue<'a> {
    /// The next ticket that may be merged on the last entry.
    pub next: Option<&'a TicketId>,
    /// Whether a branch is being merged at this moment.
    pub is_building: bool,
    /// Whether a ticket verifies only its commitments before it may be merged on the last entry.
    pub is_coming: bool,
    /// Whether a batch ahead of all entries is landing.
    pub is_landing: bool,
}

/// The limits of one plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The most entries that one run of the checks decides on, at this moment.
    pub size: usize,
    /// The time.
    pub now: Time,
}

/// A thing to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Merge this ticket's branch on the last entry, or on the target where there is none.
    Couple {
        /// The ticket.
        ticket: TicketId,
    },
    /// Run the checks on this entry.
    Try {
        /// The entry.
        ticket: TicketId,
    },
    /// End the checks of this entry: their verdict is not needed any more.
    Cancel {
        /// The entry.
        ticket: TicketId,
    },
    /// Move the target to this entry.
    Land {
        /// The entry, on which the checks have passed.
        tip: TicketId,
    },
    /// Run the checks once more on this entry, which failed with entries ahead that have passed and landed
    /// since: the verdict is on it alone.
    TryAlone {
        /// The entry.
        ticket: TicketId,
    },
}

/// The things to do now, and when to look again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The things to do, in order.
    pub steps: Vec<Step>,
    /// When a batch that is not full stops waiting for more.
    pub wake_at: Option<Time>,
}

/// The next steps of the train. `slots`: the number of runs of checks that may be under way at once.
#[must_use]
pub fn plan(entries: &[Entry<'_>], queue: Queue<'_>, slots: usize, window: Window) -> Plan {
    let mut plan = Plan::default();
    let id = |at: usize| entries[at].ticket.clone();
    let is = |at: usize, trial: Trial| entries[at].trial == trial;
    let last_passed = (0..entries.len()).rev().find(|at| is(*at, Trial::Passed));
    // A verdict on a prefix that is about to land is of no use.
    let moot = (0..last_passed.unwrap_or(0)).filter(|at| is(*at, Trial::Running));
    plan.steps.extend(moot.map(|at| Step::Cancel { ticket: id(at) }));
    if let Some(at) = last_passed.filter(|_| !queue.is_landing) {
        plan.steps.push(Step::Land { tip: id(at) });
        return plan;
    }
    let first = last_passed.map_or(0, |at| at + 1);
    let failed = (first..entries.len()).find(|at| is(*at, Trial::Failed));
    if let Some(failed) = failed {
        let behind = failed + 1..entries.len();
        let moot = behind.filter(|at| is(*at, Trial::Running));
        plan.steps.extend(moot.map(|at| Step::Cancel { ticket: id(at) }));
        if failed == first {
            // While the entries ahead land, a failure would still be that of all.
            if first == 0 && !queue.is_landing {
                plan.steps.push(Step::TryAlone { ticket: id(failed) });
            }
        } else if !(first..failed).any(|at| is(at, Trial::Running)) {
            // One of `first ..= failed` is at fault: cut them in equal parts, with a run for each cut.
            let suspects = failed - first + 1;
            let cuts = slots.min(MOST_CUTS).min(suspects - 1);
            plan.steps.extend((1..=cuts).map(|cut| Step::Try {
                ticket: id(first + (suspects * cut).div_ceil(cuts + 1) - 1),
            }));
        }
        return plan;
    }
    try_batches(&mut plan, (entries, first), queue, slots, window);
    let has_room = entries.len() < window.size * (slots + 1);
    if let Some(next) = queue.next.filter(|_| has_room && !queue.is_building) {
        plan.steps.push(Step::Couple { ticket: next.clone() });
    }
    plan
}

/// Orders the checks of the batches that are due, as far as slots are free.
fn try_batches(
    plan: &mut Plan,
    (entries, first): (&[Entry<'_>], usize),
    queue: Queue<'_>,
    slots: usize,
    window: Window,
) {
    let running = |at: &usize| entries[*at].trial == Trial::Running;
    let mut under_way = (first..entries.len()).filter(running).count();
    let last = (first..entries.len()).rev().find(running);
    let mut start = last.map_or(first, |at| at + 1);
    let is_more_coming = queue.is_building || queue.is_coming || queue.next.is_some();
    while under_way < slots && start < entries.len() {
        let end = entries.len().min(start + window.size);
        let is_full = end - start == window.size;
        let waits_until = match under_way {
            _ if is_full => None,
            // Nothing runs: only a branch that is about to come is worth a wait.
            0 if is_more_coming => Some(entries[end - 1].joined_at + WAIT),
            0 => None,
            // The batch ahead is at its checks: this one has time to grow, as long as it does.
            _ => Some(entries[end - 1].joined_at + WAIT),
        };
        if let Some(until) = waits_until.filter(|until| *until > window.now) {
            plan.wake_at = Some(until);
            return;
        }
        plan.steps.push(Step::Try {
            ticket: entries[end - 1].ticket.clone(),
        });
        under_way += 1;
        start = end;
    }
}

/// The size of the window after a batch has passed, or an entry was found at fault.
#[must_use]
pub fn resized(size: usize, is_green: bool, most: usize) -> usize {
    let size = match is_green {
        true => size + 1,
        false => size / 2,
    };
    size.clamp(1, most)
}
