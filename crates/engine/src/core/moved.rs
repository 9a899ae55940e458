//! The moves of the target branch that are not crew's: each is recorded once.

use std::collections::BTreeSet;

use model::moved::{Commit, Commits, Moved, Tip};
use model::ticket::{Done, State, Ticket};
use model::{Oid, Time, project};

use super::Core;
use crate::input::{Expected, TargetMoved};

/// The most landings that are looked for in the target: an older one that is gone is the doctor's to name.
const MOST_LANDINGS: usize = 32;

impl Core {
    /// Where the target branch is, unless somebody but crew has moved it.
    #[must_use]
    pub fn expected_target(&self) -> Expected {
        let Some(tip) = self.tip() else {
            return Expected {
                seen: None,
                landed: Vec::new(),
            };
        };
        let mut landed: Vec<(Time, &Oid)> = self
            .tickets()
            .filter(|ticket| ticket.since >= tip.at)
            .filter_map(|ticket| Some((ticket.since, landed(ticket)?)))
            .collect();
        landed.sort_unstable();
        let old = landed.len().saturating_sub(MOST_LANDINGS);
        Expected {
            seen: Some(tip.commit.clone()),
            landed: landed.drain(old..).map(|(_, commit)| commit.clone()).collect(),
        }
    }

    /// The target branch was compared with where it was expected.
    pub(super) fn target_moved(&mut self, to: &Oid, moved: TargetMoved) {
        let TargetMoved {
            since,
            mut by_hand,
            mut from_remote,
            lost,
        } = moved;
        // Another look has recorded it meanwhile.
        if since.as_ref() != self.tip().map(|tip| &tip.commit) {
            return;
        }
        // A pull request that its host has merged, or a landing that was not reported yet.
        let crews: BTreeSet<&Oid> = self
            .tickets()
            .filter_map(|ticket| {
                let candidate = ticket.candidate().map(|candidate| &candidate.commit);
                candidate.or_else(|| landed(ticket))
            })
            .collect();
        let is_foreign = |commit: &Commit| !crews.contains(&commit.commit);
        by_hand.retain(is_foreign);
        from_remote.retain(is_foreign);
        let moved = Moved {
            to: Tip {
                branch: self.settings.project.target.clone(),
                commit: to.clone(),
                at: self.now,
            },
            by_hand: Commits::of(by_hand),
            from_remote: Commits::of(from_remote),
            remote: self.settings.land.pushes_to().map(str::to_owned),
            lost,
        };
        if since.is_some() && moved.is_first() {
            return;
        }
        self.apply_to_project(
            [project::Event::Moved(Box::new(moved))],
            "the target was looked at",
        );
    }

    /// Where the journal has the branch that is the target by the settings in force.
    fn tip(&self) -> Option<&Tip> {
        let tip = self.project().tip.as_deref();
        tip.filter(|tip| tip.branch == self.settings.project.target)
    }
}

/// The commit as which a ticket landed, if it did.
fn landed(ticket: &Ticket) -> Option<&Oid> {
    match &ticket.state {
        State::Done(Done::Landed { commit, .. } | Done::Replaced { commit, .. }) => Some(commit),
        State::Done(Done::Failed { .. } | Done::NotNeeded | Done::Dropped { .. } | Done::ClosedByPerson)
        | State::New
        | State::Open
        | State::InProgress(_)
        | State::Verify(_) => None,
    }
}
