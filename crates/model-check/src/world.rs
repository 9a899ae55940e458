//! The world outside the journal: the repository and the processes.

use crate::chain::{Chain, Chains, Commit};
use crate::journal::Ordered;
use crate::order::{CheckId, Order, ReviewId};
use crate::state::TICKETS;

/// The number of runs of an attempt that are distinguished.
const RUNS: u8 = 4;

/// One ticket's part of the world; a bit for each attempt, or for each run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Place {
    /// Workspaces that are there.
    pub(crate) spaces: u8,
    /// Attempts whose work is kept under a ref.
    pub(crate) kept: u8,
    /// Attempts that made something.
    pub(crate) made: u8,
    /// Processes that live.
    pub(crate) alive: u16,
    /// Runs that ended with `DONE`.
    pub(crate) finished: u16,
    /// Runs that ended in any other way.
    pub(crate) lost: u16,
    /// Runs that ended with a question.
    pub(crate) asked: u16,
    /// The attempt of the first ticket in whose workspace its agent works; 0: in one of its own.
    pub(crate) home: u8,
}

/// A check's process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Check {
    pub(crate) ticket: u8,
    pub(crate) run: CheckId,
    pub(crate) candidate: Chain,
    pub(crate) end: Option<CheckEnd>,
}

/// The end of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum CheckEnd {
    Passed,
    Failed,
    Lost,
}

/// A gatekeeper's process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Review {
    pub(crate) run: ReviewId,
    pub(crate) candidate: Chain,
    pub(crate) end: Option<ReviewEnd>,
}

/// The end of a gatekeeper's process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ReviewEnd {
    Approved,
    Rejected,
    Lost,
}

/// Everything outside the journal.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct World {
    pub(crate) target: Chain,
    /// Merged results that passed the checks, in order.
    pub(crate) passed: Vec<Chain>,
    /// The check that has the checkout, or had it last.
    pub(crate) check: Option<Check>,
    /// The last process of a gatekeeper at each ticket.
    pub(crate) reviews: [Option<Review>; TICKETS],
    /// Work that a gatekeeper has approved, in order.
    pub(crate) approved: Vec<Commit>,
    pub(crate) places: [Place; TICKETS],
    /// Children whose files are there; a bit for each.
    pub(crate) files: u8,
}

/// The report of an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Report {
    Ready,
    Spawned,
    NoWorkspace,
    Built {
        candidate: Chain,
        on: Chain,
        tip: u8,
    },
    NoCommits,
    Passed,
    Landed,
    NotLanded,
    Moved,
    InTheWay,
    /// It cannot be done now, and the ticket is held for that.
    CouldNotRun,
    Nothing,
    Unified,
    /// It failed, and is to be performed again.
    Again,
}

/// The bit of a run.
pub(crate) fn run(number: u8, run: u8) -> u16 {
    assert!(
        (1..=4).contains(&number) && (1..=RUNS).contains(&run),
        "the bounds let too much go wrong for the bits there are"
    );
    1 << ((number - 1) * RUNS + run - 1)
}

fn attempt(number: u8) -> u8 {
    assert!(
        (1..=8).contains(&number),
        "the bounds let too much go wrong for the bits there are"
    );
    1 << (number - 1)
}

impl World {
    /// Performs an effect. `edited`: a person's edits are in the way of a landing.
    pub(crate) fn perform(
        &mut self,
        effect: Ordered,
        edited: bool,
        swap: bool,
        chains: &mut Chains,
    ) -> Report {
        let ticket = effect.ticket;
        let target = self.target;
        let [of_first, ..] = self.places;
        let place = &mut self.places[usize::from(ticket)];
        match effect.order {
            Order::Prepare { number, .. } => {
                place.spaces |= attempt(number);
                Report::Ready
            }
            Order::Start { number, run: n, .. } => {
                let bit = run(number, n);
                if (place.alive | place.finished | place.lost | place.asked) & bit != 0 {
                    return Report::Spawned;
                }
                let is_there = match place.home {
                    0 => place.spaces & attempt(number) != 0,
                    home => of_first.spaces & attempt(home) != 0,
                };
                if !is_there {
                    return Report::NoWorkspace;
                }
                place.alive |= bit;
                Report::Spawned
            }
            Order::Stop { number, run: n } => {
                // One that has not begun is not stopped: a stop comes after the start.
                let bit = run(number, n);
                if place.alive & bit != 0 {
                    place.alive &= !bit;
                    place.lost |= bit;
                }
                Report::Nothing
            }
            Order::Build { number, .. } => {
                let steps = steps(place.finished, number);
                let there = (place.spaces | place.kept) & attempt(number) != 0;
                if steps == 0 || !there || chains.work_of(target, ticket).any(|work| work == (number, steps))
                {
                    return Report::NoCommits;
                }
                let work = Commit::Work {
                    ticket,
                    number,
                    steps,
                };
                Report::Built {
                    candidate: chains.on(target, work),
                    on: target,
                    tip: number << 4 | steps,
                }
            }
            Order::Check { candidate, run } => {
                if self
                    .check
                    .is_some_and(|check| (check.ticket, check.run) == (ticket, run))
                {
                    return Report::Spawned;
                }
                if self.passed.binary_search(&candidate).is_ok() {
                    return Report::Passed;
                }
                // The check that had the checkout is ended.
                self.check = Some(Check {
                    ticket,
                    run,
                    candidate,
                    end: None,
                });
                Report::Spawned
            }
            Order::StopCheck { run } => {
                let mine = |check: &&mut Check| (check.ticket, check.run) == (ticket, run);
                if let Some(check) = self.check.as_mut().filter(mine) {
                    check.end.get_or_insert(CheckEnd::Lost);
                }
                Report::Nothing
            }
            Order::Review { candidate, run } => {
                let last = &mut self.reviews[usize::from(ticket)];
                if last.is_none_or(|last| last.run != run) {
                    *last = Some(Review {
                        run,
                        candidate,
                        end: None,
                    });
                }
                Report::Spawned
            }
            Order::StopReview { run } | Order::RemoveReview { run } => {
                let last = self.reviews[usize::from(ticket)].as_mut();
                if let Some(review) = last.filter(|review| review.run == run) {
                    review.end.get_or_insert(ReviewEnd::Lost);
                }
                Report::Nothing
            }
            Order::Land { candidate } => {
                if chains.holds(target, candidate) {
                    return Report::Landed;
                }
                if swap && chains.parent(candidate) != target {
                    return Report::Moved;
                }
                if edited {
                    return Report::InTheWay;
                }
                self.target = candidate;
                Report::Landed
            }
            Order::Keep { number } => {
                if place.spaces & attempt(number) != 0 {
                    place.kept |= place.made & attempt(number);
                    place.spaces &= !attempt(number);
                }
                Report::Nothing
            }
            Order::Remove { number } => {
                place.spaces &= !attempt(number);
                Report::Nothing
            }
            Order::CreateChild { child } => {
                self.files |= 1 << child;
                Report::Nothing
            }
            Order::PrepareIn { of, .. } => {
                place.home = of;
                match of_first.spaces & attempt(of) {
                    0 => Report::NoWorkspace,
                    _ => Report::Ready,
                }
            }
            Order::Unify { .. } => Report::Unified,
        }
    }

    /// The check that runs ends, by itself or not.
    pub(crate) fn end_check(&mut self, by_itself: bool, chains: &Chains) {
        let Some(check) = &mut self.check else { return };
        let end = match (by_itself, chains.is_green(check.candidate)) {
            (false, _) => CheckEnd::Lost,
            (true, false) => CheckEnd::Failed,
            (true, true) => CheckEnd::Passed,
        };
        if end == CheckEnd::Passed
            && let Err(at) = self.passed.binary_search(&check.candidate)
        {
            self.passed.insert(at, check.candidate);
        }
        check.end = Some(end);
    }

    /// The gatekeeper at a ticket comes to an end.
    pub(crate) fn end_review(&mut self, ticket: u8, end: ReviewEnd, chains: &Chains) {
        let Some(review) = &mut self.reviews[usize::from(ticket)] else {
            return;
        };
        review.end = Some(end);
        if let (ReviewEnd::Approved, Some(work)) = (end, chains.commit(review.candidate))
            && let Err(at) = self.approved.binary_search(&work)
        {
            self.approved.insert(at, work);
        }
    }

    /// Ends a landing, and looks whether the target holds what was to land.
    pub(crate) fn end_landing(&self, candidate: Chain, chains: &Chains) -> Report {
        if chains.holds(self.target, candidate) {
            Report::Landed
        } else {
            Report::NotLanded
        }
    }

    /// A process ends with a question.
    pub(crate) fn ask(&mut self, ticket: u8, bit: u16) {
        let place = &mut self.places[usize::from(ticket)];
        place.alive &= !bit;
        place.asked |= bit;
    }

    /// A process ends, having done its work or not.
    pub(crate) fn end(&mut self, ticket: u8, bit: u16, well: bool) {
        let place = &mut self.places[usize::from(ticket)];
        place.alive &= !bit;
        let number = u8::try_from(bit.trailing_zeros() / u32::from(RUNS)).expect("below 4") + 1;
        if !well {
            place.lost |= bit;
            return;
        }
        place.finished |= bit;
        if place.spaces & attempt(number) != 0 {
            place.made |= attempt(number);
        }
    }
}

impl Place {
    /// Attempts that made something which is neither in a workspace nor kept.
    pub(crate) fn missing(&self) -> impl Iterator<Item = u8> {
        let gone = self.made & !(self.spaces | self.kept);
        (1..=8).filter(move |number| gone & attempt(*number) != 0)
    }
}

fn steps(finished: u16, number: u8) -> u8 {
    let mine = finished >> ((number - 1) * RUNS) & 0b1111;
    u8::try_from(mine.count_ones()).expect("at most four")
}
