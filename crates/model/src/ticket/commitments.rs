//! The commitments of a ticket: which of them its work has still to meet, and what a person is asked about
//! them.

use super::{Clearance, Stage, State, Ticket, Why};
use crate::Oid;
use crate::commitment::{By, Commitment, Promise};

impl Ticket {
    /// The promises of its file that count.
    pub fn listed(&self) -> impl Iterator<Item = &Promise> {
        let listed = self.commitments.iter().filter(|one| one.by == By::Ticket);
        listed.map(|one| &one.promise)
    }

    /// True if its file lists exactly the promises that count.
    #[must_use]
    pub fn lists(&self, promises: &[Promise]) -> bool {
        self.listed().count() == promises.len()
            && promises.iter().all(|one| self.listed().any(|it| it == one))
    }

    /// Takes over the promises of its file: those that it has keep their number and verdict.
    pub(super) fn take_listed(&mut self, promises: &[Promise]) {
        self.commitments
            .retain(|one| one.by != By::Ticket || promises.contains(&one.promise));
        for promise in promises {
            if !self.listed().any(|it| it == promise) {
                self.promise(By::Ticket, promise.clone());
            }
        }
    }

    /// Adds a commitment.
    pub(super) fn promise(&mut self, by: By, promise: Promise) {
        let last = self.commitments.iter().map(|one| one.id).max();
        let id = last.unwrap_or(0) + 1;
        self.commitments.push(Commitment::new(id, by, promise));
    }

    /// The commitment of this number.
    #[must_use]
    pub fn commitment(&self, id: u32) -> Option<&Commitment> {
        self.commitments.iter().find(|one| one.id == id)
    }

    /// True if it has a commitment with these words and this command.
    #[must_use]
    pub fn has_promised(&self, promise: &Promise) -> bool {
        self.commitments.iter().any(|one| one.promise == *promise)
    }

    /// The commitments that the work at this tip is not known to meet.
    pub fn unmet(&self, tip: &Oid) -> impl Iterator<Item = &Commitment> {
        self.commitments.iter().filter(|one| !one.is_met_on(tip))
    }

    /// The number of its commitments that the work at this tip meets, and of all: `2/3`; none where it has
    /// none.
    #[must_use]
    pub fn commitments_met(&self, tip: &Oid) -> Option<(usize, usize)> {
        let all = self.commitments.len();
        (all > 0).then(|| (all - self.unmet(tip).count(), all))
    }

    /// True if a person has let the work at this tip pass, whatever it meets.
    #[must_use]
    pub fn is_waived_at(&self, tip: &Oid) -> bool {
        let State::Verify(verify) = &self.state else {
            return false;
        };
        matches!(verify.clearance(tip), Some(Clearance::Waived { .. }))
    }

    /// The question to a person without whose word the work at this tip does not go on; none where its
    /// commitments need no word.
    #[must_use]
    pub fn commitments_question(&self, tip: &Oid) -> Option<String> {
        let id = &self.id;
        if self.proposed.is_some() {
            return Some(format!(
                "the commitments in its file were changed while an agent had it: `crew approve {id}` lets them count"
            ));
        }
        let mut without = self.unmet(tip).filter(|one| one.promise.run.is_none());
        let first = without.next()?;
        let more = without.count();
        let more = match more {
            0 => String::new(),
            more => format!(", and {more} more"),
        };
        Some(format!(
            "no command verifies the commitment “{}”{more}: `crew approve {id}` says that the work meets it; a command in \
             the ticket's file verifies it without you",
            first.promise.says
        ))
    }

    /// The branch's tip that `crew approve` is a word on: that of the paths that wait, else of its candidate.
    #[must_use]
    pub fn tip_to_approve(&self) -> Option<&Oid> {
        match self.held.as_ref().map(|held| &held.why) {
            Some(Why::Paths { tip, .. }) => Some(tip),
            Some(_) | None => self.candidate().map(|candidate| &candidate.tip),
        }
    }

    /// True if `crew approve` is a word on its commitments.
    #[must_use]
    pub fn asks_about_commitments(&self) -> bool {
        let held = self.held.as_ref().map(|held| &held.why);
        self.proposed.is_some() && !matches!(held, Some(Why::Paths { .. }))
            || matches!(held, Some(Why::Commitments { .. }))
    }

    /// The reason for which no commitment can be added to it now.
    #[must_use]
    pub fn cannot_promise(&self) -> Option<&'static str> {
        if self.commitments.len() >= crate::commitment::MOST {
            return Some("it has 50 commitments, and no ticket may have more");
        }
        match &self.state {
            State::New => Some("it has not been created"),
            State::Open | State::InProgress(_) => None,
            State::Done(_) => Some("it is done"),
            State::Verify(verify) => match &verify.stage {
                Stage::Queued | Stage::Checking(_) => None,
                Stage::InTrain(_) => Some("it is in the merge train: ask again once it has left it"),
                Stage::Building => Some("it is being merged at this moment: ask again"),
                Stage::Reviewing { .. } | Stage::Landing { .. } | Stage::Proposed(_) => {
                    Some("its checks and commitments are passed")
                }
            },
        }
    }
}
