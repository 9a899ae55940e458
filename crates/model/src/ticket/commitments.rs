//! The commitments of a ticket: which of them its work has still to meet, and what a person is asked about
//! them.

use super::{CheckCommand, CheckTask, Checks, Clearance, Fingerprint, Secret, Stage, State, Ticket, Why};
use crate::commitment::{self, By, Commitment, Promise};
use crate::{Oid, TicketId};

/// The reason for which a ticket that an agent delegated has no commitments.
pub const PART_PROMISES_NOTHING: &str =
    "it is a part of another ticket, whose work is verified as a whole: the commitment belongs there";

/// The command by which a person approves of a ticket at a tip.
#[must_use]
pub fn approve_command(id: &TicketId, tip: Option<&Oid>) -> String {
    match tip {
        Some(tip) => format!("crew approve {id} --tip {}", tip.short()),
        None => format!("crew approve {id}"),
    }
}

impl Ticket {
    /// The promises of its file that count.
    pub fn listed(&self) -> impl Iterator<Item = &Promise> {
        let listed = self.commitments.iter().filter(|one| one.by == By::Ticket);
        listed.map(|one| &one.promise)
    }

    /// True if its file lists exactly the promises that count. Of a part of another ticket none does.
    #[must_use]
    pub fn lists(&self, promises: &[Promise]) -> bool {
        let has = |one: &Promise| self.listed().any(|it| it == one);
        self.delegated.is_some() || self.listed().count() == promises.len() && promises.iter().all(has)
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

    /// Takes over the promises of its file that count. Shell text in a ticket that an agent made waits for a
    /// person's word.
    pub(super) fn take_from_file(&mut self, promises: &[Promise]) {
        if self.delegated.is_some() {
            return;
        }
        let is_shell = |one: &Promise| matches!(one.run, Some(CheckCommand::Shell(_)));
        let is_agents = self.spec.made_by.is_some();
        let (waits, counts): (Vec<Promise>, Vec<Promise>) = promises
            .iter()
            .cloned()
            .partition(|one| is_agents && is_shell(one) && !self.listed().any(|it| it == one));
        self.take_listed(&counts);
        self.unconfirmed = (!waits.is_empty()).then(|| promises.to_vec());
    }

    /// The promises of its file that do not count before a person has said so.
    pub fn waiting_promises(&self) -> impl Iterator<Item = &Promise> {
        let waiting = self.unconfirmed.iter().flatten();
        waiting.filter(|one| !self.listed().any(|it| it == *one))
    }

    /// The promises that count, and that its file lists no more: a person has not said so yet.
    pub fn leaving_promises(&self) -> impl Iterator<Item = &Promise> {
        let waiting = self.unconfirmed.as_deref();
        self.listed()
            .filter(move |one| waiting.is_some_and(|waiting| !waiting.contains(one)))
    }

    /// The difference that `crew approve` makes to the commitments of its file, a line each.
    #[must_use]
    pub fn waiting_words(&self) -> Vec<String> {
        let new = self.waiting_promises().map(|one| format!("new: {one}"));
        let gone = self.leaving_promises().map(|one| format!("taken out: {one}"));
        new.chain(gone).collect()
    }

    /// True if it is held since a commitment that its file lists could not be run: its file is to be mended.
    #[must_use]
    pub fn has_unusable_promise(&self) -> bool {
        let is_held = self
            .held
            .as_ref()
            .is_some_and(|held| held.why == Why::CouldNotRun);
        let checks = self
            .checks()
            .filter(|checks| checks.next() == Some(CheckTask::Commitment));
        let one = checks
            .and_then(Checks::owed)
            .and_then(|owed| self.commitment(owed.id));
        is_held && one.is_some_and(|one| one.by == By::Ticket)
    }

    /// The reason for which promises of its file do not count yet, as a sentence without a full stop; none
    /// where all count.
    #[must_use]
    pub fn why_promises_wait(&self) -> Option<String> {
        self.unconfirmed.as_ref()?;
        let is_shell = |one: &Promise| matches!(one.run, Some(CheckCommand::Shell(_)));
        Some(match &self.spec.made_by {
            Some(agent) if self.waiting_promises().all(is_shell) => {
                format!(
                    "{agent}, no person, made this ticket, and shell text in its commitments does not count yet"
                )
            }
            Some(_) | None => {
                "the commitments in its file were changed while an agent had it, and do not count yet"
                    .to_owned()
            }
        })
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

    /// The commitments that the work at this tip is not known to meet, and has to.
    pub fn unmet(&self, tip: &Oid) -> impl Iterator<Item = &Commitment> {
        let has_to = |one: &&Commitment| one.waived.is_none() && !one.is_met_on(tip);
        self.commitments.iter().filter(has_to)
    }

    /// The commitments that its work was found not to meet, where that may be the reason for which it is
    /// held: a person may waive each by its number.
    pub fn broken_commitments(&self) -> impl Iterator<Item = &Commitment> {
        let is_reason = match self.held.as_ref().map(|held| &held.why) {
            Some(Why::NoProgress) => {
                let of = self.repeat.as_ref().map(|repeat| &repeat.of);
                matches!(of, Some(Fingerprint::Commitment { .. }))
            }
            Some(Why::Failed) => true,
            Some(_) | None => false,
        };
        let is_broken = |one: &&Commitment| one.waived.is_none() && one.state == commitment::State::Failed;
        self.commitments
            .iter()
            .filter(move |_| is_reason)
            .filter(is_broken)
    }

    /// Those of them that no command verifies: a gatekeeper or a person names them as met.
    pub fn unnamed(&self, tip: &Oid) -> impl Iterator<Item = &Commitment> {
        self.unmet(tip).filter(|one| one.promise.run.is_none())
    }

    /// The number of its commitments that the work at this tip meets, of those that it has to meet, and of
    /// all; none where it has none.
    #[must_use]
    pub fn commitments_met(&self, tip: &Oid) -> Option<(usize, usize, usize)> {
        let all = self.commitments.len();
        let due = self.commitments.iter().filter(|one| one.waived.is_none()).count();
        (all > 0).then(|| (due - self.unmet(tip).count(), due, all))
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
        if let Some(why) = self.why_promises_wait() {
            return Some(format!("{why}: `crew approve {id}` lets them count"));
        }
        let mut without = self.unnamed(tip);
        let first = without.next()?;
        let more = without.count();
        let more = match more {
            0 => String::new(),
            more => format!(", and {more} more"),
        };
        Some(format!(
            "no command verifies the commitment “{}”{more}: `crew approve {id}` says that the work meets it; or write a \
             command into the ticket's file, which counts once `crew approve {id}` says so",
            first.promise.says
        ))
    }

    /// The branch's tip that `crew approve` is a word on: that of the paths that wait, else of its candidate.
    #[must_use]
    pub fn tip_to_approve(&self) -> Option<&Oid> {
        match self.held.as_ref().map(|held| &held.why) {
            Some(Why::Paths { tip, .. } | Why::Secrets { tip, .. } | Why::Tests { tip, .. }) => Some(tip),
            Some(_) | None => self.candidate().map(|candidate| &candidate.tip),
        }
    }

    /// What looks like secrets in its work, and waits for a person's word.
    #[must_use]
    pub fn secrets_to_approve(&self) -> &[Secret] {
        match self.held.as_ref().map(|held| &held.why) {
            Some(Why::Secrets { secrets, .. }) => secrets,
            Some(_) | None => &[],
        }
    }

    /// The command by which a person approves of it, for the tip that there is now: were the branch to move
    /// on, it would be refused.
    #[must_use]
    pub fn approve_command(&self) -> String {
        approve_command(&self.id, self.tip_to_approve())
    }

    /// True if `crew approve` is a word on its commitments.
    #[must_use]
    pub fn asks_about_commitments(&self) -> bool {
        let held = self.held.as_ref().map(|held| &held.why);
        self.unconfirmed.is_some()
            && !matches!(
                held,
                Some(Why::Paths { .. } | Why::Secrets { .. } | Why::Tests { .. })
            )
            || matches!(held, Some(Why::Commitments { .. }))
    }

    /// The reason for which no commitment can be added to it now.
    #[must_use]
    pub fn cannot_promise(&self) -> Option<&'static str> {
        if self.delegated.is_some() {
            return Some(PART_PROMISES_NOTHING);
        }
        if self.commitments.len() >= commitment::MOST {
            return Some("it has 50 commitments, and no ticket may have more");
        }
        self.cannot_change_commitments()
    }

    /// The reason for which its commitments cannot change now.
    #[must_use]
    pub(super) fn cannot_change_commitments(&self) -> Option<&'static str> {
        match &self.state {
            State::New => Some("it has not been created"),
            State::Open | State::InProgress(_) => None,
            State::Done(_) => Some("it is done"),
            State::Verify(verify) => match &verify.stage {
                Stage::Queued | Stage::Checking(_) => None,
                Stage::InTrain(_) => Some("it is in the merge train: ask again once it has left it"),
                Stage::Unified { .. } => Some("its work is its parent's: commit to that one"),
                Stage::Building => Some("it is being merged at this moment: ask again"),
                Stage::Reviewing { .. } | Stage::Landing { .. } | Stage::Proposed(_) => {
                    Some("its checks and commitments are passed")
                }
            },
        }
    }
}
