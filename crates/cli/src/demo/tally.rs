//! The tally of a demonstration while it runs: a fold over the journal's rows.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use model::attempt::{self, AfterStop, Class, Signal};
use model::journal::{Fact, State, Stream};
use model::ticket::Event;
use model::{Oid, TicketId, Time};
use store::Recorded;

/// The counts.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// When the engine began.
    pub(crate) begun: Option<Time>,
    /// The last moment of all.
    pub(crate) ended: Option<Time>,
    /// Every ticket that was seen.
    pub(crate) tickets: BTreeMap<TicketId, Counts>,
    /// In the order of their landing.
    pub(crate) landed: Vec<TicketId>,
    /// Merged results that were checked.
    pub(crate) checked: u32,
    /// The most that landed by one move of the target.
    pub(crate) batch: usize,
}

/// The counts of one ticket.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) title: String,
    pub(crate) priority: u8,
    pub(crate) needs: BTreeSet<TicketId>,
    pub(crate) claimed: Option<Time>,
    pub(crate) landed: Option<(Time, Oid)>,
    /// Parts of it that were given to other agents.
    pub(crate) parts: usize,
    /// Whether it is such a part itself.
    pub(crate) is_part: bool,
    /// Steps that were begun.
    pub(crate) steps: u32,
    /// Steps that failed, and were begun again.
    pub(crate) failed: u32,
    pub(crate) crashed: u32,
    pub(crate) hung: u32,
    pub(crate) asked: u32,
    pub(crate) answered: u32,
    pub(crate) checks_failed: u32,
    pub(crate) conflicts: u32,
    pub(crate) rejected: u32,
    /// Commitments that were not met at first.
    pub(crate) unmet: u32,
    /// Whether it landed by the same move of the target as another.
    pub(crate) shared: bool,
}

impl Counts {
    /// How long it took, from its claim to its landing.
    pub(crate) fn took(&self) -> Option<Duration> {
        let (landed, _) = self.landed.as_ref()?;
        Some(landed.since(self.claimed?))
    }
}

impl Tally {
    /// Counts the next row.
    pub(crate) fn take(&mut self, fold: &Recorded) {
        self.begun.get_or_insert(fold.at);
        self.ended = Some(fold.at);
        let (Stream::Ticket(id), Fact::Ticket(event), State::Ticket(after)) =
            (&fold.stream, &fold.fact, &fold.after)
        else {
            return;
        };
        let counts = self.tickets.entry(id.clone()).or_default();
        counts.title.clone_from(&after.spec.title);
        counts.priority = after.spec.priority;
        counts.needs.clone_from(&after.spec.deps);
        counts.is_part = after.delegated().is_some();
        match event {
            Event::Claimed { at, .. } => {
                counts.claimed.get_or_insert(*at);
            }
            Event::Landed { commit } => {
                counts.landed = Some((fold.at, commit.clone()));
                self.landed.push(id.clone());
            }
            Event::LandedWithParent { commit, .. } => counts.landed = Some((fold.at, commit.clone())),
            Event::ChecksPassed { .. } | Event::TrialPassed { .. } | Event::TrialFailed { .. } => {
                self.checked += 1;
            }
            Event::BatchLanding { batch, .. } => {
                counts.shared = batch.entries.len() > 1;
                self.batch = self.batch.max(batch.entries.len());
            }
            Event::CommitmentUnmet { .. } => counts.unmet += 1,
            Event::Rejected { .. } => counts.rejected += 1,
            Event::ChecksFailed { .. } => {
                self.checked += 1;
                counts.checks_failed += 1;
            }
            Event::Conflicted { .. } => counts.conflicts += 1,
            Event::Attempt(event) => counts.attempt(event),
            _ => {}
        }
    }

    /// How long it all took.
    pub(crate) fn took(&self) -> Duration {
        match (self.begun, self.ended) {
            (Some(begun), Some(ended)) => ended.since(begun),
            _ => Duration::ZERO,
        }
    }

    /// One figure over all tickets.
    pub(crate) fn sum(&self, figure: impl Fn(&Counts) -> u32) -> u32 {
        self.tickets.values().map(figure).sum()
    }
}

impl Counts {
    fn attempt(&mut self, event: &attempt::Event) {
        match event {
            attempt::Event::StepStarted { .. } => self.steps += 1,
            attempt::Event::StepFinished {
                signal: Signal::Asked { .. },
                ..
            } => self.asked += 1,
            attempt::Event::Answered { .. } => self.answered += 1,
            attempt::Event::Delegated { children } => self.parts += children.len(),
            attempt::Event::StepFailed { failure, .. } => {
                self.failed += 1;
                if matches!(failure.class, Class::Crash | Class::Lost) {
                    self.crashed += 1;
                }
            }
            attempt::Event::StopOrdered {
                then: AfterStop::Retry { .. },
            } => self.hung += 1,
            _ => {}
        }
    }
}
